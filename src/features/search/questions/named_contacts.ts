import { transcriptIndexOf } from '../../../../actors/transcripts/transcript_state.js';
import type { Principal } from '../../../access/principal.js';
import { partitionOfId } from '../../../domain/ids.js';
import { type Refusal, Refused } from '../../../domain/refusals.js';
import { wordsIn } from '../../../domain/search/words.js';
import type { FeatureServices } from '../../services.js';
import type { Voices } from '../index/evaluate.js';
import type { HitReader } from './hit_reader.js';

const RECALL_NAMES_READ_MAX = 1_000; // ours: contacts, the newest, of whom a query may name some
const RECALL_NAMES_MAX = 4; // ours: contacts that a query names
const RECALL_TRANSCRIPTS_MAX = 100; // ours: the newest in which a contact that is named speaks

/** The contacts that a question names, and the contact of the account's own person. */
export type NamedContacts = { said_by: Map<number, Voices>; self_id: string | null };

/** The shortest first name that is looked for. */
const NAME_CHARS_MIN = 3;

/** By the place of the word that is a contact's first name: what that one says, in the newest recordings with it. */
export async function contactsNamed(
  services: Pick<FeatureServices, 'actors' | 'store'>,
  { account_id }: Principal,
  { words, reading }: { words: readonly string[]; reading: HitReader },
): Promise<NamedContacts> {
  const range = { descending: true, limit: RECALL_NAMES_READ_MAX };
  const listed = await services.actors.contacts(account_id).list({ range });
  const said_by = new Map<number, { contact_ids: Set<string>; speakers: Map<string, Set<number>> }>();
  let named = 0;
  for (const { id, name } of listed.contacts) {
    const [first] = wordsIn(name ?? '');
    const place = first === undefined || first.word.length < NAME_CHARS_MIN ? -1 : words.indexOf(first.word);
    if (place < 0 || named >= RECALL_NAMES_MAX) continue;
    named += 1;
    const voices = said_by.get(place) ?? { contact_ids: new Set(), speakers: new Map() };
    said_by.set(place, voices);
    voices.contact_ids.add(id);
    const refused = await addSpeakers(services, { account_id, contact_id: id, reading }, voices.speakers);
    if (refused !== null) throw new Refused(refused);
  }
  return { said_by, self_id: listed.contacts.find(({ is_self }) => is_self)?.id ?? null };
}

async function addSpeakers(
  { store }: Pick<FeatureServices, 'store'>,
  { account_id, contact_id, reading }: { account_id: string; contact_id: string; reading: HitReader },
  speakers: Map<string, Set<number>>,
): Promise<Refusal | null> {
  const place = { owner: account_id, partition: partitionOfId(account_id) };
  const range = { descending: true, limit: RECALL_TRANSCRIPTS_MAX };
  const rows = await store.list(place, transcriptIndexOf(contact_id), range);
  const readables = await Promise.all(rows.map(({ member }) => reading.readable(member)));
  for (const readable of readables) {
    for (const [number, speaker] of readable?.speakers ?? []) {
      const held = (speaker.into === undefined ? speaker : readable?.speakers.get(speaker.into))?.contact_id ?? null;
      const contact = held === null ? null : await reading.insights.contact(account_id, held);
      if (readable === null || contact?.id !== contact_id) continue;
      speakers.set(readable.id, (speakers.get(readable.id) ?? new Set()).add(number));
    }
  }
  return null;
}
