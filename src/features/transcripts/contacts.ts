import { z } from 'zod';
import { CONTACTS_MEMBER } from '../../../actors/transcripts/announcement_index.js';
import type { SeenContact } from '../../../actors/transcripts/contact_merges.js';
import type { VoiceView } from '../../../actors/transcripts/contacts_state.js';
import { type Page, type PageQuery, type Position, pageOf, writeCursor } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import { id, moment, momentOrNull } from '../../access/response_schemas.js';
import { partitionOfId } from '../../domain/ids.js';
import { LIMITS } from '../../domain/limits.js';
import { foldText, looked } from '../../domain/search/words.js';
import { randomId } from '../../engine/random/random.js';
import type { FeatureServices } from '../services.js';
import type { Announcements } from './announcements.js';

/** The people whose voices are in recordings. Rule K-006; docs/choices.md, "Contacts". */

/** The number of contacts that are read at once if few may have the name. */
const SCAN_STEP = 200;

export const contactShape = z
  .strictObject({
    id,
    name: z.string().nullable().describe('Null for somebody who was recognised and whom nobody has named yet.'),
    is_self: z.boolean().describe("Whether it is the account's own person."),
    merged_into: id
      .nullable()
      .describe('The contact that this one became a part of; null for one that stands for itself.'),
    voice: z
      .strictObject({
        state: z
          .enum(['none', 'recognized', 'expired'])
          .describe('recognized: heard again, it is known; expired: the workspace does not keep the voice any longer.'),
        last_matched_at: moment.nullable().describe('When it was last recognised.'),
        removed_at: moment.nullable().describe('When it expired.'),
      })
      .describe('How well its voice is known.'),
    created_at: moment,
    updated_at: moment.describe('When a person last changed it.'),
  })
  .meta({ id: 'Contact' });

export type ContactView = z.infer<typeof contactShape>;

/** A page of an account's contacts, newest first. */
export async function listContacts(
  services: Pick<FeatureServices, 'actors'>,
  { account_id }: Principal,
  query: ContactsQuery,
): Promise<Page<ContactView>> {
  const page = await pageOfContacts(services, account_id, query);
  const ids = page.rows.map((contact) => contact.id);
  const found = await services.actors.contacts(account_id).voice_views({ ids });
  const items = page.rows.map((row) => contactView({ ...row, voice: found.voices[row.id] ?? row.voice }));
  return { items, cursor: page.cursor };
}

/** Makes a contact. */
export async function createContact(
  { actors, clock }: Pick<FeatureServices, 'actors' | 'clock'>,
  { account_id, fences }: Principal,
  { name, is_self }: { name: string; is_self: boolean },
): Promise<ContactView> {
  const contact_id = randomId({ partition: partitionOfId(account_id), now_ms: clock.now() });
  const created = await actors.contacts(account_id).create({ contact_id, name, is_self }, fences);
  return contactView(created);
}

/** A contact, also one that was merged into another. */
export async function readContact(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id }: Principal,
  contact_id: string,
): Promise<ContactView> {
  const contact = await actors.contacts(account_id).view({ contact_id });
  return contactView(contact);
}

/** Renames a contact, or changes whether it is the account's own person. */
export async function changeContact(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id, fences }: Principal,
  change: { contact_id: string; name?: string | undefined; is_self?: boolean | undefined },
): Promise<ContactView> {
  const changed = await actors.contacts(account_id).change(change, fences);
  return contactView(changed);
}

/** Deletes a contact, and all contacts that were merged into it. */
export async function deleteContact(
  services: Pick<FeatureServices, 'actors'> & { announcements: Announcements },
  { account_id, fences }: Principal,
  contact_id: string,
): Promise<void> {
  const contacts = services.actors.contacts(account_id);
  const { merged_into } = await contacts.view({ contact_id });
  await contacts.delete({ contact_id, merged_into }, fences);
  await announce(services, account_id);
}

/** Merges a contact into another, and returns that one. */
export async function mergeContact(
  services: Pick<FeatureServices, 'actors'> & { announcements: Announcements },
  { account_id, fences }: Principal,
  { contact_id, into }: { contact_id: string; into: string },
): Promise<ContactView> {
  const merged = await services.actors.contacts(account_id).merge({ contact_id, into }, fences);
  await announce(services, account_id);
  return contactView(merged);
}

/** Deletes a contact's voice data. */
export async function deleteVoice(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id, fences }: Principal,
  contact_id: string,
): Promise<void> {
  await actors.contacts(account_id).delete_voice({ contact_id }, fences);
}

/** Turns show the change already; their events follow, most of them before the answer. */
function announce({ announcements }: { announcements: Announcements }, account_id: string): Promise<void> {
  return announcements.offer(CONTACTS_MEMBER + account_id);
}

/** `q`: only contacts whose name contains this, in any letter case. */
export type ContactsQuery = PageQuery & { q?: string | undefined };
type ContactRow = SeenContact & Position;

/** A page, newest first; stops, with its cursor, after reading many contacts with few matches. */
async function pageOfContacts(
  { actors }: Pick<FeatureServices, 'actors'>,
  account_id: string,
  { limit, cursor, q }: ContactsQuery,
): Promise<{ rows: ContactRow[]; cursor: string | null }> {
  const wanted = q === undefined ? null : foldedName(q);
  const step = wanted === null ? limit + 1 : SCAN_STEP;
  let after = cursor === undefined ? undefined : { order: cursor.order, id: cursor.member };
  const found: ContactRow[] = [];
  for (let looked = 0; found.length <= limit; ) {
    if (looked >= LIMITS.contacts_scanned_max && after !== undefined)
      return { rows: found, cursor: writeCursor({ order: after.order, member: after.id }) };
    const listed = await actors.contacts(account_id).list({ range: { after, descending: true, limit: step } });
    found.push(
      ...listed.contacts.filter(
        (row) => wanted === null || (row.name !== null && foldedName(row.name).includes(wanted)),
      ),
    );
    looked += listed.looked;
    if (listed.last === undefined || listed.looked < step) break;
    after = listed.last;
  }
  return pageOf(found, limit);
}

/** A name in the form for comparison. */
function foldedName(text: string): string {
  return looked(foldText(text));
}

function contactView({ voice, created_at_ms, updated_at_ms, ...contact }: SeenContact): ContactView {
  const { id, name, is_self, merged_into } = contact;
  return {
    id,
    name,
    is_self,
    merged_into,
    voice: voiceView(voice),
    created_at: new Date(created_at_ms).toISOString(),
    updated_at: new Date(updated_at_ms).toISOString(),
  };
}

function voiceView(voice: VoiceView): ContactView['voice'] {
  return {
    state: voice.state,
    last_matched_at: momentOrNull(voice.state === 'none' ? null : voice.last_matched_at_ms),
    removed_at: momentOrNull(voice.state === 'expired' ? voice.removed_at_ms : null),
  };
}
