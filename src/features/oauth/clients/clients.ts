import { hash } from 'node:crypto';
import { type ClientSecret, type ClientState, isTouchDue } from '../../../../actors/oauth/client.js';
import type { Client } from '../../../access/oauth_client.js';
import { isId } from '../../../domain/ids.js';
import { Refused, refuse } from '../../../domain/refusals.js';
import { RecentlyUsed } from '../../../engine/pools/recently_used.js';
import { randomBytes, randomId, randomPartition } from '../../../engine/random/random.js';
import type { Actors, EntityOf } from '../../../engine/runtime/actors.js';
import type { ServerKeys } from '../../../engine/secrets/server_keys.js';
import type { Clock } from '../../../engine/time/clock.js';
import { clientSecretHash, isClientSecret, randomClientSecret } from './client_secrets.js';
import { documentClient, isDocumentId } from './document_client.js';
import { APP_CALLBACK_PATH, APP_CLIENT_ID, type FirstPartyClient } from './first_party_clients.js';
import { matchesRegistered } from './redirect_uris.js';
import type { RegisteredClient, RegisteredClients } from './registered_clients.js';

/** The fields of a new client; `Clients` makes its id and its secret. */
export type NewClient = Omit<RegisteredClient, 'client_id'>;

/** A client with all that staff see of it. `state` is null for an unchanged client of the file. */
export type ClientRecord = { client: Client; state: ClientState | null };

export type MadeClient = ClientRecord & { state: ClientState; client_secret: string | null };

/** The number of proven secrets that are remembered: a client's secret is hashed once, not with every request. */
const PROVEN_MAX = 1_000;
const PROVEN_KEY_BYTES = 32;

/** A secret that was proven: its client, and which of the stored hashes is its own. */
export type ProvenSecret = { client_id: string; hash: string };

const UNKNOWN = refuse('NOT_FOUND', 'There is no such client.');
const NO_SECRET = refuse('CONFLICT', 'This client is public: it has no secret.');

/** All OAuth clients: those of the operator's file, and those that were registered. */
export class Clients {
  readonly #first_party: ReadonlyMap<string, FirstPartyClient>;
  readonly #base_url: () => string;
  readonly #registered: RegisteredClients;
  readonly #actors: Actors;
  readonly #keys: ServerKeys;
  readonly #clock: Clock;
  /** By a hash of the header that contained the secret, under a key that only this process has. */
  readonly #proven = new RecentlyUsed<ProvenSecret>(PROVEN_MAX);
  readonly #proven_key = Buffer.from(randomBytes(PROVEN_KEY_BYTES)).toString('hex');

  constructor(parts: {
    first_party: readonly FirstPartyClient[];
    /** The address of this server; the port may be known only once it listens. */
    base_url: () => string;
    registered: RegisteredClients;
    actors: Actors;
    keys: ServerKeys;
    clock: Clock;
  }) {
    this.#first_party = new Map(parts.first_party.map((entry) => [entry.client.client_id, entry]));
    this.#base_url = parts.base_url;
    this.#registered = parts.registered;
    this.#actors = parts.actors;
    this.#keys = parts.keys;
    this.#clock = parts.clock;
  }

  /** A client that may act now; null if it is unknown, has ended or is disabled. Throws StoreUnavailable. */
  async find(client_id: string): Promise<Client | null> {
    const found = await this.inspect(client_id);
    return found === null || isDisabled(found) ? null : found.client;
  }

  /** The client's fixed fields, such as its name, whether or not it may act now. Throws StoreUnavailable. */
  async registration(client_id: string): Promise<Client | null> {
    const first = this.#ofFile(client_id);
    if (first !== null) return first;
    if (isDocumentId(client_id)) return documentClient(client_id);
    if (!isId(client_id)) return null; // before it becomes part of a key
    const registered = await this.#registered.find(client_id);
    return registered === null ? null : { ...registered, party: 'third', native: false };
  }

  /** A client with its state, also a disabled one. Throws StoreUnavailable. */
  async inspect(client_id: string): Promise<ClientRecord | null> {
    const client = await this.registration(client_id);
    if (client === null) return null;
    if (isDocumentId(client_id)) return { client, state: null };
    const { state } = await this.#actor(client_id).view();
    return client.party === 'first' || state !== null ? { client, state } : null;
  }

  /** The secret that a header has proven before; null if there is none. */
  provenBy(header: string): ProvenSecret | null {
    return this.#proven.get(this.#nameOf(header)) ?? null;
  }

  /** The client of a secret that was proven before, if the client may act and the hash is still valid. */
  async authenticateProven({ client_id, hash }: ProvenSecret): Promise<Client | null> {
    const found = await this.inspect(client_id);
    if (found === null || isDisabled(found)) return null;
    if (!this.goodSecrets(found).some((good) => good.hash === hash)) return null;
    this.#noteUse(found);
    return found.client;
  }

  /**
   * The client that a request comes from, if it may act and this is a valid secret of it, or it has none and sends
   * none; null otherwise. Secrets are compared in constant time; `header` contained this one. Records the use of the
   * client. Throws StoreUnavailable.
   */
  async authenticate(
    { client_id, secret }: { client_id: string; secret: string | null },
    header?: string,
  ): Promise<Client | null> {
    const found = await this.inspect(client_id);
    if (found === null || isDisabled(found)) return null;
    if ((found.client.token_endpoint_auth_method === 'none') !== (secret === null)) return null;
    if (secret !== null) {
      const good = this.goodSecrets(found).filter(({ hash }) =>
        isClientSecret(this.#keys, { client_id, secret }, hash),
      );
      const [first] = good;
      if (first === undefined) return null;
      if (header !== undefined) this.#proven.set(this.#nameOf(header), { client_id, hash: first.hash });
    }
    this.#noteUse(found);
    return found.client;
  }

  /** Makes a third-party client. Throws StoreUnavailable. */
  async make(made: NewClient, origin: 'staff' | 'registered'): Promise<MadeClient> {
    const client_id = randomId({ partition: randomPartition(), now_ms: this.#clock.now() });
    const client_secret = made.token_endpoint_auth_method === 'none' ? null : randomClientSecret();
    const secret_hash =
      client_secret === null ? null : clientSecretHash(this.#keys, { client_id, secret: client_secret });
    // First what it is: without its state nobody can find it, and a record that stays behind drops by itself.
    await this.#registered.save({ client_id, ...made }, { kept: origin === 'staff' });
    const { state } = await this.#actor(client_id).register({ origin, secret_hash });
    if (state === null) throw new Error('a client that was registered has no state');
    return { client: { client_id, ...made, party: 'third', native: false }, state, client_secret };
  }

  /** Gives a confidential client another secret. The old one works for a while, unless it is to end at once. */
  async rotateSecret(
    client_id: string,
    { at_once }: { at_once: boolean },
  ): Promise<ClientRecord & { client_secret: string }> {
    const client = await this.registration(client_id);
    if (client === null) throw new Refused(UNKNOWN);
    if (client.token_endpoint_auth_method === 'none') throw new Refused(NO_SECRET);
    const client_secret = randomClientSecret();
    const file_hashes = this.#first_party.get(client_id)?.secret_hashes;
    const turned = await this.#actor(client_id).rotate_secret({
      hash: clientSecretHash(this.#keys, { client_id, secret: client_secret }),
      at_once,
      file_hashes: file_hashes === undefined ? null : [...file_hashes],
    });
    return { client, ...turned, client_secret };
  }

  /** Disables or enables a client, at once and everywhere. */
  async setDisabled(client_id: string, disabled: boolean): Promise<ClientRecord> {
    const client = await this.registration(client_id);
    if (client === null) throw new Refused(UNKNOWN);
    const in_file = client.party === 'first';
    const actor = this.#actor(client_id);
    const turned = await (disabled ? actor.disable({ in_file }) : actor.enable({ in_file }));
    return { client, ...turned };
  }

  /** The client ids of the file, in its order. */
  firstPartyIds(): string[] {
    return [...this.#first_party.keys()];
  }

  /** The valid secrets: those of the file until staff have rotated one; afterwards the file's are ignored. */
  goodSecrets({ client, state }: ClientRecord): ClientSecret[] {
    const now_ms = this.#clock.now();
    if (state !== null && state.secrets.length > 0) {
      return state.secrets.filter(({ until_ms }) => until_ms === null || now_ms < until_ms);
    }
    const of_file = this.#first_party.get(client.client_id)?.secret_hashes ?? [];
    return of_file.map((hash) => ({ hash, until_ms: null }));
  }

  /** A client of the file. Our own pages sign in through one of them, which redirects back to this server. */
  #ofFile(client_id: string): Client | null {
    const client = this.#first_party.get(client_id)?.client ?? null;
    if (client === null || client_id !== APP_CLIENT_ID) return client;
    const callback = this.#base_url() + APP_CALLBACK_PATH;
    return client.redirect_uris.includes(callback)
      ? client
      : { ...client, redirect_uris: [...client.redirect_uris, callback] };
  }

  #nameOf(header: string): string {
    return hash('sha256', this.#proven_key + header, 'base64');
  }

  /** The caller does not wait; a use that could not be recorded is recorded with the next one. */
  #noteUse({ client: { client_id, party }, state }: ClientRecord): void {
    if (isDocumentId(client_id) || !isTouchDue(state?.last_used_at_ms ?? null, this.#clock.now())) return;
    const note = async () => {
      if (state?.origin === 'registered') await this.#registered.renew(client_id);
      await this.#actor(client_id).used({ in_file: party === 'first' });
    };
    note().catch(() => {});
  }

  #actor(client_id: string): EntityOf<'client'> {
    return this.#actors.client(client_id);
  }
}

/** Whether a request may redirect to this address; for first-party clients it must equal a registered one exactly. */
export function isRedirectOf({ party, redirect_uris }: Client, requested: string): boolean {
  return party === 'first'
    ? redirect_uris.includes(requested)
    : redirect_uris.some((registered) => matchesRegistered(registered, requested));
}

function isDisabled({ state }: ClientRecord): boolean {
  return state !== null && state.disabled_at_ms !== null;
}
