import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { listLimit, trimmedText } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import {
  createSource,
  deleteSource,
  listSources,
  renameSource,
  sourceShape,
  viewSource,
} from '../../src/features/recordings/sources.js';
import { READS_STREAMS, WRITES_STREAMS } from '../../src/features/recordings/stream_access.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

const SOURCE_NAME_CHARS_MAX = 80; // ours: as a name of an account

const name = trimmedText(SOURCE_NAME_CHARS_MAX).nullable();

/** Where an account's recordings come from. Rules K-001 and K-002. */
export const SOURCE_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/sources',
    summary: 'Where recordings come from, newest first.',
    credential: 'account',
    permission: READS_STREAMS,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(sourceShape),
    handler: ({ services, who, query }) => listSources(services, who, query),
  }),

  accountRoute({
    method: 'POST',
    path: '/sources',
    summary: 'Makes a source.',
    credential: 'account',
    permission: WRITES_STREAMS,
    status: 201,
    body: z.object({ name: name.default(null) }),
    answer: sourceShape,
    refusals: ['CONFLICT'],
    handler: ({ services, who, body }) => createSource(services, who, body.name),
  }),

  accountRoute({
    method: 'GET',
    path: '/sources/:id',
    params: { id: PARAMETERS.source },
    summary: 'A source.',
    credential: 'account',
    permission: READS_STREAMS,
    answer: sourceShape,
    handler: ({ services, who, params }) => viewSource(services, who, params.id),
  }),

  accountRoute({
    method: 'PATCH',
    path: '/sources/:id',
    params: { id: PARAMETERS.source },
    summary: 'Renames a source.',
    credential: 'account',
    permission: WRITES_STREAMS,
    body: z.object({ name }),
    answer: sourceShape,
    handler: ({ services, who, params, body }) => renameSource(services, who, { id: params.id, name: body.name }),
  }),

  accountRoute({
    method: 'DELETE',
    path: '/sources/:id',
    params: { id: PARAMETERS.source },
    summary: 'Deletes a source.',
    notes: 'Its streams stay, and no event reports them any more.',
    credential: 'account',
    permission: WRITES_STREAMS,
    status: 204,
    handler: ({ services, who, params }) => deleteSource(services, who, params.id),
  }),
];
