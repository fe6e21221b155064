import { z } from 'zod';
import { CLIENT_INDEX, type ClientState } from '../../../../actors/oauth/client.js';
import { type PageQuery, type Position, pageOf } from '../../../access/cursors.js';
import { AUTH_METHODS } from '../../../access/oauth_client.js';
import { moment } from '../../../access/response_schemas.js';
import { PARTITIONS } from '../../../domain/ids.js';
import { Refused, refuse } from '../../../domain/refusals.js';
import type { FeatureServices } from '../../services.js';
import type { ClientRecord, Clients } from './clients.js';
import { scopesOfRegistered } from './third_party_scopes.js';

/** OAuth clients, as staff see and change them. */

const UNKNOWN = refuse('NOT_FOUND', 'There is no such client.');

export const clientShape = z
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

type ClientView = z.infer<typeof clientShape>;

/** A page of all clients: our own first, then the newest. */
export async function listClients(
  services: Pick<FeatureServices, 'store'> & { clients: Clients },
  { limit, cursor: after }: PageQuery,
): Promise<{ items: ClientView[]; cursor: string | null }> {
  const positions = await positionsOf(services, { after, limit: limit + 1 });
  const { rows, cursor } = pageOf(positions, limit);
  const found = await Promise.all(rows.map(({ member }) => services.clients.inspect(member)));
  // One that has ended since the list was read is no more.
  return { items: found.flatMap((record) => (record === null ? [] : [clientView(services, record)])), cursor };
}

export async function readClient(services: { clients: Clients }, client_id: string): Promise<ClientView> {
  const found = await services.clients.inspect(client_id);
  if (found === null) throw new Refused(UNKNOWN);
  return clientView(services, found);
}

/** Registers a client by hand; the secret of a confidential one is shown this once. */
export async function makeClient(
  services: { clients: Clients },
  {
    scopes,
    confidential,
    ...named
  }: { name: string; redirect_uris: string[]; scopes: string[]; confidential: boolean },
): Promise<ClientView & { client_secret?: string }> {
  const token_endpoint_auth_method = confidential ? 'client_secret_basic' : 'none';
  const made = await services.clients.make(
    { ...named, ...scopesOfRegistered(scopes), token_endpoint_auth_method },
    'staff',
  );
  const { client_secret } = made;
  return { ...clientView(services, made), ...(client_secret === null ? {} : { client_secret }) };
}

/** Gives a confidential client another secret; the old one works for one more day, unless it ends `at_once`. */
export async function rotateClientSecret(
  services: { clients: Clients },
  { client_id, at_once }: { client_id: string; at_once: boolean },
): Promise<ClientView & { client_secret: string }> {
  const { client, state, client_secret } = await services.clients.rotateSecret(client_id, { at_once });
  return { ...clientView(services, { client, state }), client_secret };
}

export async function setClientDisabled(
  services: { clients: Clients },
  { client_id, disabled }: { client_id: string; disabled: boolean },
): Promise<ClientView> {
  return clientView(services, await services.clients.setDisabled(client_id, disabled));
}

/**
 * Positions of clients in the list of all: our own first, then the newest. Clients of the file take the highest
 * positions, so that one order and one cursor serve both.
 */
async function positionsOf(
  { clients, store }: Pick<FeatureServices, 'store'> & { clients: Clients },
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

/** A client as staff see it; for its secrets only how many are valid, and until when. */
function clientView({ clients }: { clients: Clients }, record: ClientRecord): ClientView {
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
