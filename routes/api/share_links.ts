import { z } from 'zod';
import { LINK_PARTS } from '../../actors/accounts/share_link.js';
import { listCursor } from '../../src/access/cursors.js';
import { listLimit, uuid, whole } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { createLink, endLink, listLinks, shareLinkShape } from '../../src/features/links/share_links.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** Links by which others read a recording. docs/choices.md, "Links to recordings". */

const DAYS_MAX = LIMITS.link_days_max;

export const SHARE_LINK_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'POST',
    path: '/audio/streams/:id/links',
    params: { id: PARAMETERS.stream },
    summary: 'Makes a link by which anybody who has it reads the recording.',
    notes: 'It shows the text with the names of who speaks, and nothing else of the account. It ends by itself.',
    credential: 'app',
    permission: ['account:manage'],
    own_apps: true,
    sharing: true,
    status: 201,
    body: z.object({
      shows: z
        .array(z.enum(LINK_PARTS, `must be ${LINK_PARTS.join(' or ')}`), 'must be a list of parts')
        .max(LINK_PARTS.length, 'names more parts than there are')
        .default(['summary'])
        .describe('What it shows beside the text.'),
      days: whole({ min: 1, max: DAYS_MAX }).default(LIMITS.link_days_default).describe('How long it lasts, in days.'),
    }),
    answer: shareLinkShape,
    refusals: ['CONFLICT', 'NOT_FOUND'],
    handler: ({ services, who, params, body }) => createLink(services, who, { stream_id: params.id, ...body }),
  }),

  accountRoute({
    method: 'GET',
    path: '/me/links',
    summary: 'The links to recordings that have not ended, newest first.',
    credential: 'app',
    permission: ['account:manage'],
    own_apps: true,
    query: z.object({
      limit: listLimit,
      cursor: listCursor,
      stream_id: uuid.optional().describe('Only those to this recording.'),
    }),
    answer: pageShape(shareLinkShape),
    handler: ({ services, who, query }) => listLinks(services, who, query),
  }),

  accountRoute({
    method: 'DELETE',
    path: '/me/links/:id',
    params: { id: PARAMETERS.share_link },
    summary: 'Ends a link to a recording.',
    credential: 'app',
    permission: ['account:manage'],
    own_apps: true,
    status: 204,
    handler: ({ services, who, params }) => endLink(services, who, params.id),
  }),
];
