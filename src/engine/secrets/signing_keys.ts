import { createPrivateKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import {
  type PublicJwk,
  SIGNING_KEYS_ID,
  type SigningKey,
  type SigningKeysState,
  signingKeyAt,
} from '../../../actors/oauth/signing_keys.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefused } from '../../domain/refusals.js';
import type { Actors, EntityOf } from '../runtime/actors.js';
import { isRetryable, StoreUnavailable } from '../store/store.js';
import type { ServerKeys } from './server_keys.js';

export const SIGNING_ALGORITHM = 'ES256';
const PURPOSE = 'oauth signing key';
/** After this the keys are looked up again before they are used. */
const FRESH_MS = 3_000;
/** While storage is away, keys sign so long: less than the slack that keys are kept for beyond their last token. */
const SIGNS_UNSEEN_MS = 4 * 60_000;
/** Unknown keys can't make us ask more often than this. */
const LOOKS_APART_MS = 1_000;
/** Callers that wait for the next such look at once; names of keys that nobody made must not pile up here. */
const WAITING_MAX = 1_000;
const ROTATE_TRIES = 5;

type Usable = SigningKey & { verifies_with: CryptoKey; signs_with: KeyObject };
type Seen = { keys: Usable[]; at_ms: number };

/** The signing keys of OAuth as this process knows them. Throws StoreUnavailable where it would have to guess. */
export class SigningKeys {
  readonly #actor: EntityOf<'signingKeys'>;
  readonly #server_keys: ServerKeys;
  readonly #now: () => number;
  #seen: Seen = { keys: [], at_ms: Number.NEGATIVE_INFINITY };
  #look: Promise<Seen> | null = null;
  #next_look: Promise<Seen> | null = null;
  #waiting = 0;

  constructor(parts: { actors: Actors; keys: ServerKeys; now: () => number }) {
    this.#actor = parts.actors.signingKeys(SIGNING_KEYS_ID);
    this.#server_keys = parts.keys;
    this.#now = parts.now;
  }

  /** The key to sign with now. */
  async signer(): Promise<{ kid: string; key: KeyObject }> {
    const found = signingKeyAt((await this.#fresh()).keys, this.#now()) as Usable | null;
    if (found === null) throw new Error('there is no signing key');
    return { kid: found.kid, key: found.signs_with };
  }

  /** The key of this name, or null when storage knows none. */
  async verifier(kid: string): Promise<CryptoKey | null> {
    const find = ({ keys }: Seen) => keys.find((key) => key.kid === kid)?.verifies_with ?? null;
    const known = find(this.#seen);
    if (known !== null) return known;
    // Another process may have made it a moment ago: only a look that begins from now on can say that nobody did.
    if (this.#waiting >= WAITING_MAX) throw new StoreUnavailable('too many tokens of unknown keys at once');
    this.#waiting += 1;
    try {
      return find(await this.#lookFromNow());
    } finally {
      this.#waiting -= 1;
    }
  }

  /** The keys in the JWKS: every key that valid tokens may be signed with, or soon will be. */
  async published(): Promise<(PublicJwk & { kid: string; use: 'sig'; alg: typeof SIGNING_ALGORITHM })[]> {
    const { keys } = await this.#fresh();
    return keys.map(({ kid, public_jwk }) => ({ ...public_jwk, kid, use: 'sig', alg: SIGNING_ALGORITHM }));
  }

  /** A new key that signs at once. Tokens of those before it stay valid until they expire. */
  async rotate(): Promise<{ kid: string }> {
    for (let tries = 0; tries < ROTATE_TRIES; tries++) {
      const { keys } = await this.#lookNow();
      const key = await this.#makeKey();
      const added = await this.#actor.add({
        key,
        signs_from: 'now',
        expected_newest_kid: keys.at(-1)?.kid ?? null,
      });
      await this.#see(added);
      if (added.keys.some(({ kid }) => kid === key.kid)) return { kid: key.kid };
    }
    throw new StoreUnavailable('signing keys change all the time');
  }

  async #fresh(): Promise<Seen> {
    const age_ms = this.#now() - this.#seen.at_ms;
    if (age_ms >= 0 && age_ms < FRESH_MS) return this.#seen;
    try {
      return await this.#lookNow();
    } catch (error) {
      const is_good = this.#seen.keys.length > 0 && age_ms < SIGNS_UNSEEN_MS;
      if (isRetryable(error) && is_good) return this.#seen;
      throw error;
    }
  }

  /** The look in progress, or a new one. */
  #lookNow(): Promise<Seen> {
    this.#look ??= this.#lookUp().finally(() => {
      this.#look = null;
    });
    return this.#look;
  }

  /** One that begins after this call, a while after the one before. */
  #lookFromNow(): Promise<Seen> {
    this.#next_look ??= (async () => {
      await this.#look?.catch(() => {});
      const wait_ms = this.#seen.at_ms + LOOKS_APART_MS - this.#now();
      if (wait_ms > 0) await new Promise((resolve) => setTimeout(resolve, Math.min(wait_ms, LOOKS_APART_MS)));
      this.#next_look = null;
      await this.#look?.catch(() => {});
      return this.#lookNow();
    })();
    return this.#next_look;
  }

  async #lookUp(): Promise<Seen> {
    const state = await this.#actor.view();
    const newest = state.keys.at(-1);
    if (newest !== undefined && this.#now() < succeedsAtMs(newest)) return this.#see(state);
    const key = await this.#makeKey();
    const expected_newest_kid = newest?.kid ?? null;
    try {
      return this.#see(await this.#actor.add({ key, signs_from: 'later', expected_newest_kid }));
    } catch (error) {
      // An old key signs as well as a young one; the next look tries again.
      if (isRefused(error) && newest !== undefined) return this.#see(state);
      throw error;
    }
  }

  /** Makes keys usable; those seen before already are. */
  async #see({ keys }: SigningKeysState): Promise<Seen> {
    const at_ms = this.#now();
    const known = new Map(this.#seen.keys.map((key) => [key.kid, key]));
    const usable = await Promise.all(keys.map(async (key) => known.get(key.kid) ?? this.#open(key)));
    this.#seen = { keys: usable, at_ms };
    return this.#seen;
  }

  async #open(key: SigningKey): Promise<Usable> {
    const opened = this.#server_keys.unseal(PURPOSE, key.sealed_private);
    if (opened === null) throw new Error(`the signing key ${key.kid} was sealed with server keys not known here`);
    const jwk = JSON.parse(Buffer.from(opened).toString('utf8')) as JWK;
    return {
      ...key,
      verifies_with: (await importJWK({ ...key.public_jwk }, SIGNING_ALGORITHM)) as CryptoKey,
      signs_with: createPrivateKey({ key: jwk as JsonWebKey, format: 'jwk' }),
    };
  }

  async #makeKey(): Promise<Pick<SigningKey, 'kid' | 'public_jwk' | 'sealed_private'>> {
    const { privateKey } = await generateKeyPair(SIGNING_ALGORITHM, { extractable: true });
    const jwk = await exportJWK(privateKey);
    const { kty, crv, x, y } = jwk as PublicJwk;
    const public_jwk: PublicJwk = { kty, crv, x, y };
    const sealed_private = this.#server_keys.seal(PURPOSE, Buffer.from(JSON.stringify(jwk)));
    return { kid: await calculateJwkThumbprint(public_jwk), public_jwk, sealed_private };
  }
}

/** When a key gets its successor, which then has the time to be published before it signs. */
function succeedsAtMs({ signs_from_ms }: SigningKey): number {
  return signs_from_ms + LIMITS.signing_key_life_ms - LIMITS.signing_key_published_ahead_ms;
}
