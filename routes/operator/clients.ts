import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { listLimit } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { clientName } from '../../src/features/oauth/clients/client_names.js';
import {
  clientShape,
  listClients,
  makeClient,
  readClient,
  rotateClientSecret,
  setClientDisabled,
} from '../../src/features/oauth/clients/clients_for_staff.js';
import { redirectUri } from '../../src/features/oauth/clients/redirect_uris.js';
import { countingScopes } from '../../src/features/oauth/clients/third_party_scopes.js';
import { PARAMETERS } from '../path_parameters.js';
import { operatorRoute, type Route } from '../rows.js';

/** OAuth clients, as staff see and change them. */

const scopeName = z
  .string('must be text')
  .refine((name) => countingScopes([name]).length > 0, 'must be a scope that a third-party client can have');

export const STAFF_CLIENT_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/clients',
    summary: 'OAuth clients: our own first, then the newest.',
    credential: 'operator',
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(clientShape),
    handler: ({ services, query }) => listClients(services, query),
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/clients/:client',
    params: { client: PARAMETERS.client },
    summary: 'An OAuth client.',
    credential: 'operator',
    answer: clientShape,
    refusals: ['NOT_FOUND'],
    handler: ({ services, params }) => readClient(services, params.client),
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/clients',
    summary: 'Registers an OAuth client by hand.',
    notes: 'The secret of a confidential one is shown in this answer alone.',
    credential: 'operator',
    status: 201,
    body: z.strictObject({
      // Staff may give our own name to a client: it is theirs to know whose it is.
      name: clientName,
      redirect_uris: z
        .array(redirectUri, 'must be a list of addresses')
        .min(1, 'must name at least one address')
        .max(LIMITS.redirect_uris_max, `must name at most ${LIMITS.redirect_uris_max} addresses`)
        .describe('Where people may be sent back to.'),
      scopes: z
        .array(scopeName, 'must be a list of scope names')
        .max(100)
        .transform((names) => [...new Set(names)])
        .default([])
        .describe('What it may ask for; when none is named, all that a third party can have.'),
      confidential: z.boolean('must be true or false').default(false).describe('Whether it gets a secret.'),
    }),
    answer: clientShape.extend({
      client_secret: z.string().optional().describe('Of a confidential one; shown this once.'),
    }),
    example: { name: 'Meeting Notes', redirect_uris: ['https://app.example/callback'], scopes: ['turns:read'] },
    handler: ({ services, body }) => makeClient(services, body),
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/clients/:client/secret',
    params: { client: PARAMETERS.client },
    summary: 'Gives a confidential client another secret.',
    notes: 'The one before works for a day more, unless it is to end at once.',
    credential: 'operator',
    body: z
      .strictObject({
        at_once: z.boolean('must be true or false').default(false).describe('Whether the one before ends now.'),
      })
      .default({ at_once: false }),
    answer: clientShape.extend({ client_secret: z.string().describe('The new one; shown this once.') }),
    refusals: ['NOT_FOUND', 'CONFLICT'],
    handler: ({ services, params, body: { at_once } }) =>
      rotateClientSecret(services, { client_id: params.client, at_once }),
  }),

  ...(['disable', 'enable'] as const).map((action) =>
    operatorRoute({
      method: 'POST',
      path: `/ops/clients/:client/${action}`,
      params: { client: PARAMETERS.client },
      summary: action === 'disable' ? 'Ends what a client may do, at once.' : 'Lets a client act again.',
      credential: 'operator',
      answer: clientShape,
      refusals: ['NOT_FOUND'],
      handler: ({ services, params }) =>
        setClientDisabled(services, { client_id: params.client, disabled: action === 'disable' }),
    }),
  ),
];
