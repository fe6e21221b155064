import { LIMITS } from '../src/domain/limits.js';
import { refuse, unreachable } from '../src/domain/refusals.js';
import { actorKind, type Decision, type Effect } from './actor.js';

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

export type SigningKeysMessage =
  | { type: 'view' }
  | {
      type: 'add';
      key: Pick<SigningKey, 'kid' | 'public_jwk' | 'sealed_private'>;
      /** `later`: after it was published for long enough. */
      signs_from: 'now' | 'later';
      /** The newest key that whoever adds this one has seen; null when there was none. */
      expected_newest_kid: string | null;
    }
  | { type: 'drop_dead' };

export type SigningKeysReply = SigningKeysState;

export const SIGNING_KEYS_ADDRESS = { kind: 'signing_keys', id: 'oauth' } as const;

/** Beyond a token's life, for clocks and for processes that have not yet heard of the successor. */
const SLACK_MS = 5 * 60_000;
/** The successor has signed for so long: no token of the key before it is alive. */
const KEPT_MS = LIMITS.oauth_access_life_ms + SLACK_MS;
/** More are alive only when somebody rotates again and again within an hour. */
const KEYS_MAX = 16;

export const signingKeys = actorKind<SigningKeysState, SigningKeysMessage, SigningKeysReply>({
  kind: SIGNING_KEYS_ADDRESS.kind,
  home: 'hash',
  schema: 1,
  reads: ['view'],

  decide(state, message, _facts, now_ms): Decision<SigningKeysState, SigningKeysReply> {
    const keys = livingKeys(state?.keys ?? [], now_ms);
    switch (message.type) {
      case 'view':
        return { reply: { keys } };

      case 'add': {
        // Another process was first: what it added is as good, and the asker goes on with that.
        if ((keys.at(-1)?.kid ?? null) !== message.expected_newest_kid) return { reply: { keys } };
        if (keys.length >= KEYS_MAX)
          return { reply: refuse('CONFLICT', `${KEYS_MAX} signing keys are alive; wait until tokens have run out.`) };
        const is_later = message.signs_from === 'later' && keys.length > 0;
        const signs_from_ms = is_later ? now_ms + LIMITS.signing_key_published_ahead_ms : now_ms;
        const next = { keys: [...keys, { ...message.key, made_at_ms: now_ms, signs_from_ms }] };
        return { reply: next, next, effects: dropLater(next.keys) };
      }

      case 'drop_dead': {
        if (state === null || keys.length === state.keys.length) return { reply: { keys } };
        return { reply: { keys }, next: { keys }, effects: dropLater(keys) };
      }
      default:
        return unreachable(message);
    }
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

function livingKeys(keys: readonly SigningKey[], now_ms: number): SigningKey[] {
  return keys.filter((_, index) => now_ms < deadAtMs(keys, index));
}

/** When no token that a key has signed can be alive any more; never, while it is the newest. */
function deadAtMs(keys: readonly SigningKey[], index: number): number {
  return Math.min(...keys.slice(index + 1).map(({ signs_from_ms }) => signs_from_ms)) + KEPT_MS;
}

function dropLater(keys: readonly SigningKey[]): Effect[] {
  const at_ms = Math.min(...keys.map((_, index) => deadAtMs(keys, index)));
  if (at_ms === Number.POSITIVE_INFINITY) return [];
  const message: SigningKeysMessage = { type: 'drop_dead' };
  return [{ effect: 'schedule_reminder', name: 'drop_dead', at_ms, message }];
}
