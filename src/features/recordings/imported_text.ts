import { pageOf } from '../../../actors/transcripts/transcript_page.js';
import type { PublishedTurn, Word } from '../../../actors/transcripts/transcript_state.js';
import { partitionOfId } from '../../domain/ids.js';
import { LIMITS } from '../../domain/limits.js';
import type { TranscriptFile, TranscriptLine } from '../../domain/transcript_files/transcript_file.js';
import { randomId } from '../../engine/random/random.js';
import type { Actors } from '../../engine/runtime/actors.js';
import type { Fence } from '../../engine/store/store.js';

/** The text of a recording that came as a file. */

const CONTACTS_STEP = 200;
/** Names that programs give to voices. */
const LABELS = /^(speaker|spk|sprecher|unknown|unbekannt|participant|guest)?[ _-]?[a-z]?\d{0,4}$/i;

type BroughtRecording = {
  account_id: string;
  stream: { id: string; workspace_id: string; source_id: string; captured_at_ms: number };
  /** Whether somebody looks into what is said. */
  insights: boolean;
  fences: Fence[];
};
type BringDeps = { actors: Pick<Actors, 'contacts' | 'transcript'>; clock: { now(): number } };

/** Publishes the lines as turns, ten minutes at a time. Each step that was done before changes nothing. */
export async function bringText(
  deps: BringDeps,
  { account_id, stream: { id, ...stream }, insights, fences }: BroughtRecording,
  { lines, speakers, length_ms, language }: TranscriptFile & { language: string | null },
): Promise<void> {
  const contacts = await contactsOf(deps, { account_id, fences }, speakers);
  const actor = deps.actors.transcript(id);
  const parts = partsOf(lines);
  for (let page = 0; page * LIMITS.transcript_page_ms < length_ms; page++) {
    const part = parts.get(page) ?? [];
    const from_ms = page * LIMITS.transcript_page_ms;
    const to_ms = Math.min(from_ms + LIMITS.transcript_page_ms, length_ms);
    const run_id = randomId({ partition: partitionOfId(id), now_ms: deps.clock.now() });
    const turns = part.map((line) => turnOf(line, { language, to_ms }));
    const of = { ...stream, account_id, end_ms: null };
    await actor.bring_text({ stream: of, from_ms, to_ms, run_id, turns, contacts, insights }, fences);
  }
}

function partsOf(lines: readonly TranscriptLine[]): Map<number, TranscriptLine[]> {
  const parts = new Map<number, TranscriptLine[]>();
  for (const line of lines) {
    const page = pageOf(line.start_ms);
    const part = parts.get(page);
    if (part === undefined) parts.set(page, [line]);
    else part.push(line);
  }
  return parts;
}

function turnOf(
  { start_ms, end_ms, speaker, text, words }: TranscriptLine,
  { language, to_ms }: { language: string | null; to_ms: number },
): PublishedTurn {
  return {
    start_ms,
    end_ms: Math.min(end_ms, to_ms + LIMITS.window_tolerance_ms),
    text,
    ...(speaker !== null && { speaker }),
    ...(language !== null && { language }),
    ...(words !== undefined && { words: words.map((word): Word => [word.text, word.start_ms, word.end_ms, null]) }),
  };
}

/** The contacts of speakers who have a name, by that name; those whom the account does not know yet are made. */
async function contactsOf(
  { actors, clock }: BringDeps,
  { account_id, fences }: { account_id: string; fences: Fence[] },
  speakers: readonly string[],
): Promise<Record<string, string>> {
  const wanted = new Map(speakers.filter((name) => !LABELS.test(name)).map((name) => [name.toLowerCase(), name]));
  const found: [label: string, contact_id: string][] = [];
  const contacts = actors.contacts(account_id);
  let after: { order: number; id: string } | undefined;
  for (let looked = 0; wanted.size > 0 && looked < LIMITS.contacts_per_account_max; ) {
    const listed = await contacts.list({ range: { after, descending: true, limit: CONTACTS_STEP } });
    for (const { id, name, merged_into } of listed.contacts) {
      const label = name === null || merged_into !== null ? undefined : wanted.get(name.toLowerCase());
      if (label === undefined) continue;
      found.push([label, id]);
      wanted.delete(label.toLowerCase());
    }
    looked += listed.looked;
    if (listed.last === undefined || listed.looked < CONTACTS_STEP) break;
    after = listed.last;
  }
  for (const name of wanted.values()) {
    const contact_id = randomId({ partition: partitionOfId(account_id), now_ms: clock.now() });
    await contacts.create({ contact_id, name: name.slice(0, LIMITS.contact_name_chars_max), is_self: false }, fences);
    found.push([name, contact_id]);
  }
  return Object.fromEntries(found);
}
