import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { listLimit, trimmedLines } from '../../src/access/request_schemas.js';
import { count, no_cursor, pageShape } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import {
  contextItemShape,
  createContextItem,
  deleteContextItem,
  editContextItem,
  editProfile,
  listContextItems,
  listProfileRevisions,
  PROFILE_CHANGES,
  PROFILE_FIELDS,
  profileShape,
  readProfile,
  saveProfile,
} from '../../src/features/insights/context/profile.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/**
 * The profile that an account writes of itself, which pipelines are told. Rule K-013; docs/choices.md, "Pipelines and
 * profile".
 */

const READS = ['profile:read'] as const;
const WRITES = ['profile:write'] as const;

const text = trimmedLines(LIMITS.context_text_chars_max).describe('What pipelines are to know.');

export const PROFILE_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/profile',
    summary: 'What the account says of itself.',
    notes: 'Pipelines are told of it, and transcription of its vocabulary and language.',
    credential: 'account',
    permission: READS,
    answer: profileShape,
    handler: ({ services, who }) => readProfile(services, who),
  }),

  accountRoute({
    method: 'PUT',
    path: '/profile',
    summary: 'Saves a whole profile.',
    notes:
      'What is absent is empty from then on, but for `time_zone`, which stays. `revision` is the one that was read; where another was saved meanwhile, 409 has that one as `error.revision`. The same content saves nothing.',
    credential: 'account',
    permission: WRITES,
    body: z.object(PROFILE_FIELDS),
    answer: profileShape,
    refusals: ['CONFLICT'],
    handler: ({ services, who, body }) => saveProfile(services, who, body),
  }),

  accountRoute({
    method: 'PATCH',
    path: '/profile',
    summary: 'Saves a profile with some other fields.',
    notes: 'What is absent stays. `revision` counts as in `PUT /profile`.',
    credential: 'account',
    permission: WRITES,
    body: z.object(PROFILE_CHANGES),
    answer: profileShape,
    refusals: ['CONFLICT'],
    handler: ({ services, who, body }) => editProfile(services, who, body),
  }),

  accountRoute({
    method: 'GET',
    path: '/profile/revisions',
    summary: 'Profiles that were saved, newest first, with the present one.',
    notes: `The last ${LIMITS.profile_revisions_kept_max} are kept.`,
    credential: 'account',
    permission: READS,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(profileShape),
    handler: ({ services, who, query }) => listProfileRevisions(services, who, query),
  }),

  accountRoute({
    method: 'GET',
    path: '/profile/context',
    summary: 'What pipelines are told beside the profile, the oldest first.',
    credential: 'account',
    permission: READS,
    answer: z.strictObject({
      version: count.describe('Rises with each change of an item.'),
      items: z.array(contextItemShape),
      cursor: no_cursor,
    }),
    async handler({ services, who }) {
      const found = await listContextItems(services, who);
      return { ...found, cursor: null };
    },
  }),

  accountRoute({
    method: 'POST',
    path: '/profile/context',
    summary: 'Adds something that pipelines are to know.',
    notes: `An account has at most ${LIMITS.context_items_max} of them.`,
    credential: 'account',
    permission: WRITES,
    status: 201,
    body: z.object({ text }),
    answer: contextItemShape,
    refusals: ['CONFLICT'],
    handler: ({ services, who, body }) => createContextItem(services, who, body.text),
  }),

  accountRoute({
    method: 'PATCH',
    path: '/profile/context/:id',
    params: { id: PARAMETERS.profile_item },
    summary: 'Says it in other words.',
    credential: 'account',
    permission: WRITES,
    body: z.object({ text }),
    answer: contextItemShape,
    handler: ({ services, who, params, body }) => editContextItem(services, who, { id: params.id, ...body }),
  }),

  accountRoute({
    method: 'DELETE',
    path: '/profile/context/:id',
    params: { id: PARAMETERS.profile_item },
    summary: 'Takes it back.',
    credential: 'account',
    permission: WRITES,
    status: 204,
    handler: ({ services, who, params }) => deleteContextItem(services, who, params.id),
  }),
];
