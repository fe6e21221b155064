import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { listLimit, trimmedText, uuid } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import {
  changeContact,
  contactShape,
  createContact,
  deleteContact,
  deleteVoice,
  listContacts,
  mergeContact,
  readContact,
} from '../../src/features/transcripts/contacts.js';
import { readSpoken, spokenShape } from '../../src/features/transcripts/spoken.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** The people that recordings hear. Rule K-006; docs/choices.md, "Contacts". */

const READS = ['turns:read'] as const;
const WRITES = ['turns:write'] as const;

const is_self = z.boolean().describe("Whether it is the account's own person; another stops being it.");
const name = trimmedText(LIMITS.contact_name_chars_max);

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
    handler: ({ services, who, query }) => listContacts(services, who, query),
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
    handler: ({ services, who, body }) => createContact(services, who, body),
  }),

  accountRoute({
    method: 'GET',
    path: '/contacts/:id',
    params: { id: PARAMETERS.contact },
    summary: 'A contact.',
    notes: 'One that was merged into another is still there, and says into which.',
    credential: 'account',
    permission: READS,
    answer: contactShape,
    handler: ({ services, who, params }) => readContact(services, who, params.id),
  }),

  accountRoute({
    method: 'GET',
    path: '/contacts/:id/spoken',
    params: { id: PARAMETERS.contact },
    summary: 'How much a contact said, and when it was heard last.',
    notes: 'Of one that was merged into another, what that one said. It counts in the newest 100 recordings.',
    credential: 'account',
    permission: READS,
    answer: spokenShape,
    handler: ({ services, who, params }) => readSpoken(services, who, params.id),
  }),

  accountRoute({
    method: 'PATCH',
    path: '/contacts/:id',
    params: { id: PARAMETERS.contact },
    summary: "Renames a contact, or says whether it is the account's own person.",
    notes: 'At most one contact is: it stops being whoever was it before.',
    credential: 'account',
    permission: WRITES,
    body: z.object({ name: name.optional(), is_self: is_self.optional() }),
    answer: contactShape,
    refusals: ['CONFLICT'],
    handler: ({ services, who, params, body }) => changeContact(services, who, { contact_id: params.id, ...body }),
  }),

  accountRoute({
    method: 'DELETE',
    path: '/contacts/:id',
    params: { id: PARAMETERS.contact },
    summary: 'Deletes a contact, and all that was merged into it.',
    notes: 'Its turns stay, and show no contact any more.',
    credential: 'account',
    permission: WRITES,
    status: 204,
    refusals: ['TOO_MANY_REQUESTS'],
    handler: ({ services, who, params }) => deleteContact(services, who, params.id),
  }),

  accountRoute({
    method: 'POST',
    path: '/contacts/:id/merge',
    params: { id: PARAMETERS.contact },
    summary: 'Makes a contact a part of another.',
    notes: 'Its turns show the other from then on, which gets its voice, and its name where it has none.',
    credential: 'account',
    permission: WRITES,
    status: 200,
    body: z.object({ into: uuid.describe('The contact that stays.') }),
    answer: contactShape,
    refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
    handler: ({ services, who, params, body }) => mergeContact(services, who, { contact_id: params.id, ...body }),
  }),

  accountRoute({
    method: 'DELETE',
    path: '/contacts/:id/voice',
    params: { id: PARAMETERS.contact },
    summary: "Forgets a contact's voice.",
    notes: 'It is not recognised any more until somebody says again who it is.',
    credential: 'account',
    permission: WRITES,
    status: 204,
    handler: ({ services, who, params }) => deleteVoice(services, who, params.id),
  }),
];
