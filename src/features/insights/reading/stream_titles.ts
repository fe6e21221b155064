import { onRecording } from '../../../../actors/insights/summary.js';
import { listCursor, type Page } from '../../../access/cursors.js';
import type { Principal } from '../../../access/principal.js';
import { libraryId } from '../../../domain/ids.js';
import { LIMITS } from '../../../domain/limits.js';
import { orNull, Refused, refuse } from '../../../domain/refusals.js';
import { withNotes } from '../../recordings/stream_notes.js';
import { type MarkedQuery, markedStreams, withTags } from '../../recordings/stream_tags.js';
import { listStreams, type StreamQuery, type StreamView } from '../../recordings/streams.js';
import type { FeatureServices } from '../../services.js';
import { withSpeakers } from '../../transcripts/stream_speakers.js';
import { somePages, type TranscriptReader } from '../../transcripts/transcript_pages.js';
import { contactAsked } from '../../transcripts/turn_lists.js';
import { cleanText } from '../engines/clean_text.js';
import type { EvidenceReader } from '../library/evidence_reader.js';
import { evidenceReader, type FoundItem, standingItem } from './insight_access.js';

/**
 * Titles and first lines of recordings, taken from their conversations, and lists of recordings by them. Rules K-185
 * and K-240; docs/choices.md, "Insights".
 */

const FIRST_LINE_CHARS_MAX = 200; // ours: of a recording, in a list

const SENTENCES = new Intl.Segmenter('en', { granularity: 'sentence' });
/** The number of pages of a transcript in which the first words are looked for. */
const PAGES_LOOKED = 3;

const NEEDED = ['turns:read', 'insights:read'] as const;

const NO_TRANSCRIPTS = refuse('FORBIDDEN', 'Recordings of a contact need the permission turns:read.');
const UNTITLED = { title_suggested: null, first_line: null };

/** Streams with their suggested titles and first lines; nulls for callers who may not read these. */
export async function withSuggestedTitles(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  streams: readonly StreamView[],
): Promise<StreamView[]> {
  const may_read = NEEDED.every((permission) => who.permissions.includes(permission));
  if (!may_read) return streams.map((stream) => ({ ...stream, ...UNTITLED }));
  const reader = evidenceReader(services, who);
  const owned = await ownStreams(services, who, streams);
  const longest = await longestOn(services, who, owned);
  return Promise.all(
    streams.map(async (stream) => {
      // Whoever shares a workspace reads none of what others' conversations say.
      if (!owned.includes(stream)) return { ...stream, ...UNTITLED };
      const found = longest.get(stream.id) ?? null;
      return { ...stream, ...(await suggestedBy(services, reader, { stream, found })) };
    }),
  );
}

/** Details of a stream that a list shows on request. */
export type StreamDetail = 'title_suggested' | 'speakers' | 'tags' | 'notes';

/** `from`, `to`: bounds of its start. `q`: a part of its own or suggested title. `contact_id`: a speaker. */
type FoundStreamsQuery = StreamQuery &
  MarkedQuery & {
    from?: string | undefined;
    to?: string | undefined;
    q?: string | undefined;
    include: readonly StreamDetail[];
  };

/** A page of streams that pass, newest first. It may be short if few of many pass. */
export async function findStreams(
  services: Pick<FeatureServices, 'actors' | 'runtime' | 'store'>,
  who: Principal,
  { limit, ...query }: FoundStreamsQuery,
): Promise<Page<StreamView>> {
  if (query.contact_id !== undefined && !who.permissions.includes('turns:read')) throw new Refused(NO_TRANSCRIPTS);
  const contact_id = (await contactAsked(services, who, query.contact_id))?.id;
  const wanted = { ...query, contact_id };
  const { from, to, q, tag, starred } = query;
  const is_narrow = [from, to, q, tag, starred, contact_id].some((filter) => filter !== undefined);
  const items: StreamView[] = [];
  let { cursor } = query;
  for (let looked = 0; ; looked += limit) {
    // No more than are still missing: a cursor leads on behind all that was looked at.
    const page = await listStreams(services, who, { ...wanted, cursor, limit: limit - items.length });
    items.push(...(await passing(services, who, wanted, page.items)));
    const is_enough = !is_narrow || items.length >= limit || looked >= LIMITS.streams_scanned_max;
    if (page.cursor === null || is_enough) return { items, cursor: page.cursor };
    cursor = listCursor.parse(page.cursor);
  }
}

/** A stream with the details that were requested. */
export async function withDetails(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  streams: readonly StreamView[],
  include: readonly StreamDetail[],
): Promise<StreamView[]> {
  const titled = include.includes('title_suggested') ? await withSuggestedTitles(services, who, streams) : [...streams];
  const tagged = include.includes('tags') ? await withTags(services, who, titled) : titled;
  const noted = include.includes('notes') ? await withNotes(services, who, tagged) : tagged;
  return include.includes('speakers') ? withSpeakers(services, who, noted) : noted;
}

/** The streams of a page that pass, with their details. The cheapest filters come first. */
async function passing(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  { from, to, q, source_id, workspace_id, contact_id, include, ...marks }: Omit<FoundStreamsQuery, 'limit'>,
  streams: readonly StreamView[],
): Promise<StreamView[]> {
  const there = streams.filter(
    (stream) =>
      (from === undefined || stream.captured_at >= from) &&
      (to === undefined || stream.captured_at < to) &&
      (source_id === undefined || stream.source_id === source_id) &&
      (workspace_id === undefined || stream.workspace_id === workspace_id),
  );
  const marked = await markedStreams(services, who, marks, there);
  // The index has all that have ever shown a contact.
  const spoken = contact_id === undefined ? marked : await withSpeakers(services, who, marked);
  const said = spoken.filter(
    ({ speakers }) => contact_id === undefined || speakers?.some((one) => one.contact_id === contact_id),
  );
  const found = await withDetails(
    services,
    who,
    said.map(({ speakers: _, ...stream }) => stream),
    include,
  );
  const text = foldedText(q ?? '');
  return found.filter(({ title, title_suggested }) =>
    [title, title_suggested].some((one) => text === '' || foldedText(one ?? '').includes(text)),
  );
}

function foldedText(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

async function ownStreams(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id }: Principal,
  streams: readonly StreamView[],
): Promise<StreamView[]> {
  const owners = await Promise.all(streams.map(({ id }) => orNull(actors.stream(id).view(), 'NOT_FOUND')));
  return streams.filter((_, at) => owners[at]?.account_id === account_id);
}

/** The longest conversation of each stream, read with one message for each library. */
async function longestOn(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id }: Principal,
  streams: readonly StreamView[],
): Promise<Map<string, FoundItem<'conversation'>>> {
  const found = new Map<string, FoundItem<'conversation'>>();
  const workspaces = new Set(streams.map(({ workspace_id }) => workspace_id));
  await Promise.all(
    [...workspaces].map(async (workspace_id) => {
      const place = { library_id: libraryId(account_id, workspace_id), account_id, workspace_id };
      const stream_ids = streams.filter((stream) => stream.workspace_id === workspace_id).map(({ id }) => id);
      const { longest } = await actors.library(place.library_id).longest_on({ stream_ids });
      for (const { stream_id, number, item } of longest) found.set(stream_id, { place, number, item });
    }),
  );
  return found;
}

async function suggestedBy(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  reader: EvidenceReader,
  { stream, found }: { stream: StreamView; found: FoundItem<'conversation'> | null },
): Promise<{ title_suggested: string | null; first_line: string | null }> {
  const row = found === null ? null : await standingItem(reader, 'conversation', found);
  const item = row === null ? null : onRecording(row.item, stream.id);
  const { title = null, summary = null } = item ?? {};
  const [sentence] = item?.sentences ?? [];
  const told = sentence?.text ?? firstSentence(summary);
  return { title_suggested: title, first_line: told ?? firstSentence(await firstWords(services, reader, stream.id)) };
}

/** The first turn of a recording; null if nothing was said soon. */
async function firstWords(
  services: TranscriptReader,
  reader: EvidenceReader,
  stream_id: string,
): Promise<string | null> {
  const readable = await reader.readable(stream_id, null);
  if (readable === null) return null;
  const pages = await somePages(services, readable, { page: 0, limit: PAGES_LOOKED });
  return pages.flatMap(({ turns }) => turns)[0]?.text ?? null;
}

function firstSentence(text: string | null): string | null {
  const plain = cleanText(text ?? '');
  if (plain === '') return null;
  const [first] = SENTENCES.segment(plain);
  const line = (first?.segment ?? plain).trim();
  const characters = [...line];
  if (characters.length <= FIRST_LINE_CHARS_MAX) return line;
  return `${characters.slice(0, FIRST_LINE_CHARS_MAX - 1).join('')}…`;
}
