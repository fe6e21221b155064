import { z } from 'zod';
import { CONTACTS_MEMBER } from '../../actors/transcripts/announcing.js';
import type { SeenContact } from '../../actors/transcripts/contacts.js';
import type { VoiceView } from '../../actors/transcripts/contacts_state.js';
import { listCursor, type Position, pageOf, writeCursor } from '../../src/access/cursors.js';
import { listLimit, trimmedText, uuid } from '../../src/access/request_schemas.js';
import { id, moment, momentOrNull, pageShape } from '../../src/access/response_schemas.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { foldText, looked } from '../../src/domain/search/words.js';
import { randomId } from '../../src/engine/runtime/random.js';
import { accountRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** The people that recordings hear. Rule K-006; docs/choices.md, "Contacts". */

const SCAN_STEP = 200;
const READS = ['turns:read'] as const;
const WRITES = ['turns:write'] as const;

const is_self = z.boolean().describe("Whether it is the account's own person; another stops being it.");
const name = trimmedText(LIMITS.contact_name_chars_max);

const contactShape = z
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

export const CONTACT_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/contacts',
    summary: "An account's contacts, newest first.",
    credential: 'account',
    permission: READS,
    query: z.object({
      limit: listLimit,
      cursor: listCursor,
      q: name.optional().describe('Only contacts whose name holds this, in any letter case.'),
    }),
    answer: pageShape(contactShape),
    handler: ({ services, who, query }) => listContacts(services, who.account_id, query),
  }),

  accountRoute({
    method: 'POST',
    path: '/contacts',
    summary: 'Makes a contact.',
    credential: 'account',
    permission: WRITES,
    status: 201,
    body: z.object({ name, is_self: is_self.default(false) }),
    answer: contactShape,
    refusals: ['CONFLICT'],
    async handler({ services, who: { account_id, fences }, body }) {
      const contact_id = randomId({ partition: partitionOfId(account_id), now_ms: services.clock.now() });
      return viewOf(await services.actors.contacts(account_id).create({ contact_id, ...body }, fences));
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/contacts/:id',
    summary: 'A contact.',
    notes: 'One that was merged into another is still there, and says into which.',
    credential: 'account',
    permission: READS,
    answer: contactShape,
    async handler({ services, who: { account_id }, params }) {
      return viewOf(await services.actors.contacts(account_id).view({ contact_id: params.id as string }));
    },
  }),

  accountRoute({
    method: 'PATCH',
    path: '/contacts/:id',
    summary: "Renames a contact, or says whether it is the account's own person.",
    notes: 'At most one contact is: it stops being whoever was it before.',
    credential: 'account',
    permission: WRITES,
    body: z.object({ name: name.optional(), is_self: is_self.optional() }),
    answer: contactShape,
    refusals: ['CONFLICT'],
    async handler({ services, who: { account_id, fences }, params, body }) {
      const change = { contact_id: params.id as string, ...body };
      return viewOf(await services.actors.contacts(account_id).change(change, fences));
    },
  }),

  accountRoute({
    method: 'DELETE',
    path: '/contacts/:id',
    summary: 'Deletes a contact, and all that was merged into it.',
    notes: 'Its turns stay, and show no contact any more.',
    credential: 'account',
    permission: WRITES,
    status: 204,
    refusals: ['TOO_MANY_REQUESTS'],
    async handler({ services, who: { account_id, fences }, params }) {
      const contacts = services.actors.contacts(account_id);
      const contact_id = params.id as string;
      const found = await contacts.view({ contact_id });
      const deleted = await contacts.delete({ contact_id, merged_into: found.merged_into }, fences);
      await announce(services, account_id);
      return deleted;
    },
  }),

  accountRoute({
    method: 'POST',
    path: '/contacts/:id/merge',
    summary: 'Makes a contact a part of another.',
    notes: 'Its turns show the other from then on, which gets its voice, and its name where it has none.',
    credential: 'account',
    permission: WRITES,
    status: 200,
    body: z.object({ into: uuid.describe('The contact that stays.') }),
    answer: contactShape,
    refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
    async handler({ services, who: { account_id, fences }, params, body: { into } }) {
      const merged = await services.actors
        .contacts(account_id)
        .merge({ contact_id: params.id as string, into }, fences);
      await announce(services, account_id);
      return viewOf(merged);
    },
  }),

  accountRoute({
    method: 'DELETE',
    path: '/contacts/:id/voice',
    summary: "Forgets a contact's voice.",
    notes: 'It is not recognised any more until somebody says again who it is.',
    credential: 'account',
    permission: WRITES,
    status: 204,
    async handler({ services, who: { account_id, fences }, params }) {
      return services.actors.contacts(account_id).delete_voice({ contact_id: params.id as string }, fences);
    },
  }),
];

/** A page of an account's contacts, newest first. */
export async function listContacts(
  services: Services,
  account_id: string,
  query: Filter,
): Promise<{ items: ContactView[]; cursor: string | null }> {
  const page = await pageOfContacts(services, account_id, query);
  const ids = page.rows.map((contact) => contact.id);
  const found = await services.actors.contacts(account_id).voice_views({ ids });
  const items = page.rows.map((row) => contactView({ ...row, voice: found.voices[row.id] ?? row.voice }));
  return { items, cursor: page.cursor };
}

/** Turns show the change already; their events follow, most of them before the answer. */
function announce({ announcements }: Services, account_id: string): Promise<void> {
  return announcements.offer(CONTACTS_MEMBER + account_id);
}

type Row = SeenContact & Position;
type Filter = { limit: number; cursor?: Position | undefined; q?: string | undefined };

/** A page, newest first; gives up, with its cursor, when it has looked over many and found few. */
async function pageOfContacts(
  { actors }: Services,
  account_id: string,
  { limit, cursor, q }: Filter,
): Promise<{ rows: Row[]; cursor: string | null }> {
  const wanted = q === undefined ? null : foldedName(q);
  const step = wanted === null ? limit + 1 : SCAN_STEP;
  let after = cursor === undefined ? undefined : { order: cursor.order, id: cursor.member };
  const found: Row[] = [];
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

/** A name as it is searched. */
function foldedName(text: string): string {
  return looked(foldText(text));
}

function viewOf(contact: SeenContact): z.infer<typeof contactShape> {
  return contactView(contact);
}

function contactView({ voice, created_at_ms, updated_at_ms, ...contact }: SeenContact): z.infer<typeof contactShape> {
  const { id, name, is_self, merged_into } = contact;
  return {
    ...{ id, name, is_self, merged_into, voice: voiceView(voice) },
    created_at: new Date(created_at_ms).toISOString(),
    updated_at: new Date(updated_at_ms).toISOString(),
  };
}

function voiceView(voice: VoiceView): z.infer<typeof contactShape>['voice'] {
  return {
    state: voice.state,
    last_matched_at: momentOrNull(voice.state === 'none' ? null : voice.last_matched_at_ms),
    removed_at: momentOrNull(voice.state === 'expired' ? voice.removed_at_ms : null),
  };
}
