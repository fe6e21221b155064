import { z } from 'zod';
import { CLIENT_INDEX, type ClientState } from '../../actors/oauth/client.js';
import { listCursor, type Position, pageOf } from '../../src/access/cursors.js';
import { AUTH_METHODS } from '../../src/access/oauth_client.js';
import { listLimit } from '../../src/access/request_schemas.js';
import { moment, pageShape } from '../../src/access/response_schemas.js';
import { PARTITIONS } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { refuse, throwRefusal } from '../../src/domain/refusals.js';
import { clientName } from '../../src/features/oauth/clients/client_names.js';
import type { ClientRecord } from '../../src/features/oauth/clients/clients.js';
import { redirectUri } from '../../src/features/oauth/clients/redirect_uris.js';
import { countingScopes, scopesOfRegistered } from '../../src/features/oauth/clients/third_party_scopes.js';
import { operatorRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** OAuth clients, as staff see and change them. */

const UNKNOWN = refuse('NOT_FOUND', 'There is no such client.');

const scopeName = z
  .string('must be text')
  .refine((name) => countingScopes([name]).length > 0, 'must be a scope that a third-party client can have');

const clientShape = z
  .strictObject({
    client_id: z.string().describe('What the client calls itself.'),
    name: z.string(),
    party: z.enum(['first', 'third']).describe('first: one of our own.'),
    origin: z
      .enum(['file', 'staff', 'registered'])
      .describe('Where it comes from: the file of our own clients, staff, or a registration.'),
    redirect_uris: z.array(z.string()).describe('Where people may be sent back to.'),
    scopes: z.array(z.string()).describe('What it may ask for.'),
    token_endpoint_auth_method: z.enum(AUTH_METHODS).describe('How it authenticates: none is a public client.'),
    native: z.boolean().describe('Whether it signs people in by itself, without a browser.'),
    disabled: z.boolean().describe('Whether staff have disabled it.'),
    disabled_at: moment.nullable().describe('When they did; null unless it is disabled.'),
    registered_at: moment.nullable().describe('When it was made; null for one of the file.'),
    last_used_at: moment.nullable().describe('To the day.'),
    secrets: z
      .array(z.strictObject({ until: moment.nullable().describe('When it ends; null for one that does not.') }))
      .describe('Those that are good.'),
  })
  .meta({ id: 'OauthClient' });

export const STAFF_CLIENT_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/clients',
    summary: 'OAuth clients: our own first, then the newest.',
    credential: 'operator',
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(clientShape),
    async handler({ services, query: { limit, cursor } }) {
      const places = await placesOf(services, { after: cursor, limit: limit + 1 });
      const { rows, cursor: next } = pageOf(places, limit);
      const found = await Promise.all(rows.map(({ member }) => services.clients.inspect(member)));
      // One that has ended since the list was read is no more.
      return {
        items: found.flatMap((record) => (record === null ? [] : [clientView(services, record)])),
        cursor: next,
      };
    },
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/clients/:client',
    summary: 'An OAuth client.',
    credential: 'operator',
    answer: clientShape,
    refusals: ['NOT_FOUND'],
    async handler({ services, params }) {
      const found = await services.clients.inspect(params.client as string);
      return found === null ? throwRefusal(UNKNOWN) : clientView(services, found);
    },
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
    async handler({ services, body: { name, redirect_uris, scopes, confidential } }) {
      const token_endpoint_auth_method = confidential ? 'client_secret_basic' : 'none';
      const made = await services.clients.make(
        { name, redirect_uris, ...scopesOfRegistered(scopes), token_endpoint_auth_method },
        'staff',
      );
      const { client_secret } = made;
      return { ...clientView(services, made), ...(client_secret === null ? {} : { client_secret }) };
    },
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/clients/:client/secret',
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
    async handler({ services, params, body }) {
      const client_id = params.client as string;
      const turned = await services.clients.rotateSecret(client_id, body);
      const { client, state, client_secret } = turned;
      return { ...clientView(services, { client, state }), client_secret };
    },
  }),

  ...(['disable', 'enable'] as const).map((action) =>
    operatorRoute({
      method: 'POST',
      path: `/ops/clients/:client/${action}`,
      summary: action === 'disable' ? 'Ends what a client may do, at once.' : 'Lets a client act again.',
      credential: 'operator',
      answer: clientShape,
      refusals: ['NOT_FOUND'],
      async handler({ services, params }): Promise<unknown> {
        const turned = await services.clients.setDisabled(params.client as string, action === 'disable');
        return clientView(services, turned);
      },
    }),
  ),
];

/**
 * Where clients stand in the list of all: our own first, then the newest. Those of the file take the highest places, so
 * that one order and one cursor do for both.
 */
async function placesOf(
  { clients, store }: Services,
  { after, limit }: { after: Position | undefined; limit: number },
): Promise<Position[]> {
  const { owner, index } = CLIENT_INDEX;
  const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition);
  const lists = await Promise.all(
    partitions.map((partition) => store.list({ owner, partition }, index, { after, descending: true, limit })),
  );
  const own = clients
    .firstPartyIds()
    .map((member, index) => ({ member, order: Number.MAX_SAFE_INTEGER - index }))
    .filter(({ order }) => after === undefined || order < after.order);
  return [...own, ...lists.flat()].sort((a, b) => b.order - a.order || (a.member < b.member ? 1 : -1)).slice(0, limit);
}

/** A client as staff see it; of its secrets only how many are good, and until when. */
function clientView({ clients }: Services, record: ClientRecord): z.infer<typeof clientShape> {
  const { client, state } = record;
  const { client_id, name, party, redirect_uris, scopes, token_endpoint_auth_method, native } = client;
  return {
    client_id,
    name,
    party,
    origin: originOf(record),
    redirect_uris: [...redirect_uris],
    scopes: [...scopes],
    token_endpoint_auth_method,
    native,
    disabled: state !== null && state.disabled_at_ms !== null,
    disabled_at: timeOf(state?.disabled_at_ms),
    registered_at: party === 'first' ? null : timeOf(state?.registered_at_ms),
    last_used_at: timeOf(state?.last_used_at_ms),
    secrets: clients.goodSecrets(record).map(({ until_ms }) => ({ until: timeOf(until_ms) })),
  };
}

function originOf({ client, state }: ClientRecord): ClientState['origin'] {
  return client.party === 'first' ? 'file' : (state?.origin ?? 'registered');
}

function timeOf(at_ms: number | null | undefined): string | null {
  return at_ms === null || at_ms === undefined ? null : new Date(at_ms).toISOString();
}
