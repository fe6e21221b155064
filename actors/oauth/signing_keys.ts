import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import { defineActor, type Effect, type MessageOf } from '../actor.js';

/**
 * The keys that OAuth access tokens are signed with: one entity for the whole deployment, so that processes agree. A
 * key is published before it signs, signs until a newer one does, and stays until the last token it signed is dead.
 */
export type SigningKeysState = {
  /** In the order they were added; the last is the newest. */
  keys: SigningKey[];
};

export type SigningKey = {
  kid: string;
  public_jwk: PublicJwk;
  /** The private key, sealed with the server keys. */
  sealed_private: Uint8Array;
  made_at_ms: number;
  signs_from_ms: number;
};

export type PublicJwk = { kty: 'EC'; crv: 'P-256'; x: string; y: string };

export type SigningKeysMessage = MessageOf<typeof signingKeys>;

type AddedKey = {
  key: Pick<SigningKey, 'kid' | 'public_jwk' | 'sealed_private'>;
  /** `later`: once it has been published for long enough. */
  signs_from: 'now' | 'later';
  /** The newest key that the caller has read; null if there was none. */
  expected_newest_kid: string | null;
};

/** The id of the only entity of this kind. */
export const SIGNING_KEYS_ID = 'oauth';

/** Beyond a token's validity, for clocks and for processes that have not read the successor yet. */
const SLACK_MS = 5 * 60_000;
/** How long the successor must have signed before a key is removed: no token of the old key is valid then. */
const KEPT_MS = LIMITS.oauth_access_life_ms + SLACK_MS;
/** More keys exist only if somebody rotates repeatedly within an hour. */
const KEYS_MAX = 16;

export const signingKeys = defineActor<SigningKeysState>()({
  kind: 'signing_keys',
  home: 'hash',
  schema: 1,
  messages: {
    view: { reads: true, decide: (state, _: unknown, { now_ms }) => ({ reply: { keys: livingKeys(state, now_ms) } }) },

    add(state, { key, signs_from, expected_newest_kid }: AddedKey, { now_ms }) {
      const keys = livingKeys(state, now_ms);
      // Another process was first: what it added is as good, and the asker continues with that.
      if ((keys.at(-1)?.kid ?? null) !== expected_newest_kid) return { reply: { keys } };
      if (keys.length >= KEYS_MAX)
        return { reply: refuse('CONFLICT', `${KEYS_MAX} signing keys are alive; wait until tokens have expired.`) };
      const is_later = signs_from === 'later' && keys.length > 0;
      const signs_from_ms = is_later ? now_ms + LIMITS.signing_key_published_ahead_ms : now_ms;
      const next = { keys: [...keys, { ...key, made_at_ms: now_ms, signs_from_ms }] };
      return { reply: next, next, effects: dropLater(next.keys) };
    },

    drop_dead(state, _: unknown, { now_ms }) {
      const keys = livingKeys(state, now_ms);
      if (state === null || keys.length === state.keys.length) return { reply: { keys } };
      return { reply: { keys }, next: { keys }, effects: dropLater(keys) };
    },
  },

  invariant({ keys }) {
    if (keys.length === 0) return 'no signing key';
    return new Set(keys.map(({ kid }) => kid)).size === keys.length ? null : 'two signing keys of one name';
  },
});

/** The key that signs at a time: the newest whose time has come. */
export function signingKeyAt(keys: readonly SigningKey[], now_ms: number): SigningKey | null {
  return keys.findLast(({ signs_from_ms }) => signs_from_ms <= now_ms) ?? null;
}

function livingKeys(state: SigningKeysState | null, now_ms: number): SigningKey[] {
  const keys = state?.keys ?? [];
  return keys.filter((_, index) => now_ms < deadAtMs(keys, index));
}

/** When every token of a key has expired; never for the newest key. */
function deadAtMs(keys: readonly SigningKey[], index: number): number {
  return Math.min(...keys.slice(index + 1).map(({ signs_from_ms }) => signs_from_ms)) + KEPT_MS;
}

function dropLater(keys: readonly SigningKey[]): Effect[] {
  const at_ms = Math.min(...keys.map((_, index) => deadAtMs(keys, index)));
  if (at_ms === Number.POSITIVE_INFINITY) return [];
  return [{ effect: 'schedule_reminder', name: 'drop_dead', at_ms, message: { type: 'drop_dead' } }];
}
