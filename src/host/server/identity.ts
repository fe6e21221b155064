import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { LRUCache } from 'lru-cache';
import { KnownCallers } from '../../access/principal.js';
import type { Issuer } from '../../domain/audiences.js';
import { RateLimits } from '../../engine/limits/rate_limits.js';
import type { SharedWindows } from '../../engine/limits/shared_windows.js';
import { RecentlyUsed } from '../../engine/pools/recently_used.js';
import { AccessTokens } from '../../engine/secrets/access_tokens.js';
import { SERVER_KEYS_CHANNEL, ServerKeyRotation } from '../../engine/secrets/server_key_rotation.js';
import type { ServerKeys } from '../../engine/secrets/server_keys.js';
import { SigningKeys } from '../../engine/secrets/signing_keys.js';
import { ClientDocuments } from '../../features/oauth/client_documents.js';
import { Clients } from '../../features/oauth/clients/clients.js';
import {
  APP_CLIENT_ID,
  type FirstPartyClient,
  openFirstPartyClients,
  WrongFirstPartyClients,
} from '../../features/oauth/clients/first_party_clients.js';
import { RegisteredClients } from '../../features/oauth/clients/registered_clients.js';
import type { Settings } from '../settings.js';
import { CannotStart, type Start } from './start.js';
import type { Entities, Foundation } from './storage.js';

const OPERATOR_TOKENS_WRONG_PER_MINUTE = 10; // ours: wrong bearer tokens on the operator port, per network
const OPERATOR_SIGN_INS_PER_MINUTE = 10; // ours: wrong tokens at the operators' page, per network

const OPERATOR_GUESSES_KEPT_MAX = 1_000; // ours: wrong bearer tokens that were counted

/** The services that know apps and operators. */
export type IdentityServices = {
  clients: Clients;
  client_documents: ClientDocuments;
  known_callers: KnownCallers;
  signing_keys: SigningKeys;
  access_tokens: AccessTokens;
  server_key_rotation: ServerKeyRotation;
  /** Bearer token of the operator port. */
  ops_token: string;
  /** Bearer token of content workers, which admits to little of that port. */
  worker_token: string;
  /** Connections on which one of these tokens was shown. */
  operator_connections: WeakSet<Socket>;
  /** Wrong operator tokens; those at the operators' page are counted also where RATE_LIMITS is off. */
  operator_tries: RateLimits<'operator_sign_ins' | 'operator_tokens'>;
  /** Wrong operator tokens that were counted already, as hashes. */
  operator_guesses: LRUCache<string, true>;
};

/** The clients of the operator's file, whose faults stop the start, and those that were registered. */
export async function openClients(
  { settings, log }: Start,
  { keys, clock, records, actors, base_url }: Foundation & Entities & { base_url: () => string },
): Promise<Clients> {
  const first_party = await firstPartyClients(settings, keys, log);
  return new Clients({ first_party, base_url, registered: new RegisteredClients(records), actors, keys, clock });
}

function openClientDocuments({ settings, shutdown }: Start): ClientDocuments {
  const { brand_names, webhook_proxy: proxy } = settings;
  const documents = new ClientDocuments({ brand_names, proxy });
  shutdown.add(() => documents.close());
  return documents;
}

export function startServerKeyRotation(
  { settings, log, shutdown }: Start,
  { redis, keys, clock }: { redis: Redis } & Pick<Foundation, 'keys' | 'clock'>,
): ServerKeyRotation {
  const announce = () => redis.publish(SERVER_KEYS_CHANNEL, '');
  const rotation = new ServerKeyRotation({ folder: settings.keys_dir, keys, now: clock.now, announce, log });
  rotation.start();
  shutdown.add(() => rotation.stop());
  return rotation;
}

export async function openIdentity(
  start: Start,
  { keys, clock, actors }: Foundation & Entities,
  parts: Pick<IdentityServices, 'clients' | 'server_key_rotation'> & {
    issuerUrl: (issuer: Issuer) => string;
    shared: SharedWindows | null;
  },
): Promise<IdentityServices> {
  const { settings } = start;
  const { issuerUrl, shared, ...made } = parts;
  const signing_keys = new SigningKeys({ actors, keys, now: clock.now });
  const operator_tokens = settings.rate_limits ? OPERATOR_TOKENS_WRONG_PER_MINUTE : Number.POSITIVE_INFINITY;
  const tries = { operator_sign_ins: OPERATOR_SIGN_INS_PER_MINUTE, operator_tokens };
  return {
    ...made,
    client_documents: openClientDocuments(start),
    known_callers: new KnownCallers(),
    signing_keys,
    access_tokens: new AccessTokens({ signing_keys, now: clock.now, issuerUrl }),
    ops_token: settings.ops_token ?? (await ownToken(settings, 'ops_token')),
    worker_token: settings.worker_token ?? (await ownToken(settings, 'worker_token')),
    operator_connections: new WeakSet(),
    operator_tries: new RateLimits(tries, { on: true, shared }),
    operator_guesses: new RecentlyUsed(OPERATOR_GUESSES_KEPT_MAX),
  };
}

async function firstPartyClients(settings: Settings, keys: ServerKeys, log: Start['log']): Promise<FirstPartyClient[]> {
  const found = await openFirstPartyClients(settings, keys).catch((error: unknown) => {
    throw error instanceof WrongFirstPartyClients ? new CannotStart(error.message) : error;
  });
  const nowhere = found.filter(
    ({ client: { client_id, native, redirect_uris } }) =>
      client_id !== APP_CLIENT_ID && !native && redirect_uris.length === 0,
  );
  if (nowhere.length > 0) {
    const clients = nowhere.map(({ client }) => client.client_id);
    log.warn({ file: settings.first_party_clients, clients }, 'nobody can sign in to these without redirect URIs');
  }
  return found;
}

/** A token of this data folder, made on first start; the first process wins. */
async function ownToken({ data_dir }: Settings, name: 'ops_token' | 'worker_token'): Promise<string> {
  const file = join(data_dir, name);
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
  await link(draft, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(draft);
  return (await readFile(file, 'utf8')).trim();
}
