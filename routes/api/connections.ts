import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { listLimit } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { connectionShape, endConnection, listConnections, signOut } from '../../src/features/oauth/connections.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** Connected apps, and signing out of them. Rules D-038 to D-052. */

export const CONNECTION_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/me/connections',
    summary: 'The apps that are connected to the account, newest first.',
    credential: 'app',
    permission: ['account:manage'],
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(connectionShape),
    handler: ({ services, who, query }) => listConnections(services, who, query),
  }),

  accountRoute({
    method: 'DELETE',
    path: '/me/connections/:id',
    params: { id: PARAMETERS.connection },
    summary: 'Disconnects an app: ends its grant and its tokens.',
    credential: 'app',
    permission: ['account:manage'],
    status: 204,
    handler: ({ services, who, params }) => endConnection(services, who, params.id),
  }),

  accountRoute({
    method: 'POST',
    path: '/me/sign-out',
    summary: 'Signs out the calling app, or everything.',
    notes:
      'Without a body only the calling app is signed out. With `everywhere` every grant, personal access token and browser session ends, and every app session when one of them calls.',
    credential: 'app',
    deleted_too: true,
    status: 204,
    body: z
      .object({
        everywhere: z
          .boolean('must be true or false')
          .optional()
          .describe('True: everything, not the calling app alone.'),
      })
      .optional(),
    example: { everywhere: true },
    handler: ({ services, who, body }) => signOut(services, who, { everywhere: body?.everywhere === true }),
  }),
];
