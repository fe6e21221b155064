import { LIMITS } from '../src/domain/limits.js';
import { refuse, unreachable } from '../src/domain/refusals.js';
import type { Account, LivingToken } from './account_state.js';
import type { Decision, Effect } from './actor.js';
import type { NewPersonalAccessToken, PersonalAccessTokenMessage } from './personal_access_token.js';

/** An account's part in its personal access tokens: how many there are, and which still hold. Interface: "Credentials accepted". */
export type TokenMessage =
  | {
      type: 'add_token';
      token_id: string;
      token: Omit<NewPersonalAccessToken, 'account_id' | 'born' | 'created_at_ms'>;
    }
  | { type: 'revoke_token'; token_id: string };

export type TokenReply = { done: true } | { created_at_ms: number };
type RevokedBecause = 'user' | 'sign_out_everywhere' | 'account_deleted';

const DONE = { done: true } as const;
const TOO_MANY = refuse(
  'CONFLICT',
  `An account has at most ${LIMITS.tokens_per_account_max} personal access tokens; revoke one first.`,
);
const NO_TOKEN = refuse('NOT_FOUND', 'There is no such personal access token.');

export function decideToken(state: Account, message: TokenMessage, now_ms: number): Decision<Account, TokenReply> {
  const living = state.tokens.filter((token) => isLiving(token, now_ms));
  switch (message.type) {
    case 'add_token': {
      const { token_id, token } = message;
      const known = living.find(({ id }) => id === token_id);
      if (known !== undefined) return { reply: { created_at_ms: known.created_at_ms } };
      if (living.length >= LIMITS.tokens_per_account_max) return { reply: TOO_MANY };
      const { last_four, expires_at_ms } = token;
      const added: LivingToken = { id: token_id, last_four, created_at_ms: now_ms, expires_at_ms };
      const born = { account: state.lives.account, tokens: state.lives.tokens };
      const made = { ...token, account_id: state.id, created_at_ms: now_ms, born };
      const open: PersonalAccessTokenMessage = { type: 'open', token: made };
      return {
        reply: { created_at_ms: now_ms },
        next: { ...state, tokens: [...living, added] },
        effects: [
          event(state.id, added, 'personal_access_token.created', {}),
          { effect: 'notify', to: { kind: 'personal_access_token', id: token_id }, message: open },
        ],
      };
    }
    case 'revoke_token': {
      const revoked = living.filter(({ id }) => id === message.token_id);
      if (revoked.length === 0) return { reply: NO_TOKEN };
      const tokens = living.filter(({ id }) => id !== message.token_id);
      return { reply: DONE, next: { ...state, tokens }, effects: endTokens(state, revoked, 'user') };
    }
    default:
      return unreachable(message);
  }
}

/** Every token that still holds ends, each with an event of its own; one that has expired just goes. */
export function revokeAllTokens(state: Account, because: RevokedBecause, now_ms: number): Effect[] {
  const living = state.tokens.filter((token) => isLiving(token, now_ms));
  return endTokens(state, living, because);
}

export function isLiving({ expires_at_ms }: LivingToken, now_ms: number): boolean {
  return expires_at_ms === null || now_ms < expires_at_ms;
}

function endTokens(state: Account, tokens: LivingToken[], reason: RevokedBecause): Effect[] {
  const end: PersonalAccessTokenMessage = { type: 'end' };
  return tokens.flatMap((token): Effect[] => [
    event(state.id, token, 'personal_access_token.revoked', { reason }),
    { effect: 'notify', to: { kind: 'personal_access_token', id: token.id }, message: end },
  ]);
}

function event(
  account_id: string,
  { id, last_four, expires_at_ms }: LivingToken,
  type: 'personal_access_token.created' | 'personal_access_token.revoked',
  more: { reason?: RevokedBecause },
): Effect {
  const expires_at = expires_at_ms === null ? null : new Date(expires_at_ms).toISOString();
  return { effect: 'append_event', account_id, type, resource_id: id, data: { last_four, expires_at, ...more } };
}
