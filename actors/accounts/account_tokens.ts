import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, type Effect, messagesOf } from '../actor.js';
import { type Account, type LivingToken, ofAccount } from './account_state.js';
import type { NewPersonalAccessToken, PersonalAccessTokenMessage } from './personal_access_token.js';

type RevokedBecause = 'user' | 'sign_out_everywhere' | 'account_deleted';

const TOO_MANY = refuse(
  'CONFLICT',
  `An account has at most ${LIMITS.tokens_per_account_max} personal access tokens; revoke one first.`,
);
const NO_TOKEN = refuse('NOT_FOUND', 'There is no such personal access token.');

/**
 * The personal access tokens of an account: their number, and which are valid. docs/rules.md, "Personal access tokens".
 */
export const tokenMessages = messagesOf<Account>()({
  add_token: ofAccount((state, { token_id, token }: NewToken, { now_ms }): Decision<Account, CreatedAt> => {
    const living = livingTokens(state, now_ms);
    const known = living.find(({ id }) => id === token_id);
    if (known !== undefined) return { reply: { created_at_ms: known.created_at_ms } };
    if (living.length >= LIMITS.tokens_per_account_max) return { reply: TOO_MANY };
    const { last_four, expires_at_ms } = token;
    const added: LivingToken = { id: token_id, last_four, created_at_ms: now_ms, expires_at_ms };
    const issued_under = { account: state.epochs.account, tokens: state.epochs.tokens };
    const made = { ...token, account_id: state.id, created_at_ms: now_ms, issued_under };
    return {
      reply: { created_at_ms: now_ms },
      next: { ...state, tokens: [...living, added] },
      effects: [
        event(state.id, added, 'personal_access_token.created', {}),
        notifyToken(token_id, { type: 'open', token: made }),
      ],
    };
  }),

  revoke_token: ofAccount((state, { token_id }: { token_id: string }, { now_ms }): Decision<Account, typeof DONE> => {
    const living = livingTokens(state, now_ms);
    const revoked = living.filter(({ id }) => id === token_id);
    if (revoked.length === 0) return { reply: NO_TOKEN };
    const tokens = living.filter(({ id }) => id !== token_id);
    return { reply: DONE, next: { ...state, tokens }, effects: endTokens(state, revoked, 'user') };
  }),
});

type CreatedAt = { created_at_ms: number };
type NewToken = {
  token_id: string;
  token: Omit<NewPersonalAccessToken, 'account_id' | 'issued_under' | 'created_at_ms'>;
};

function livingTokens({ tokens }: Account, now_ms: number): LivingToken[] {
  return tokens.filter((token) => isLiving(token, now_ms));
}

/** Ends every valid token with an event of its own, and removes expired ones. */
export function revokeAllTokens(state: Account, because: RevokedBecause, now_ms: number): Effect[] {
  return endTokens(state, livingTokens(state, now_ms), because);
}

export function isLiving({ expires_at_ms }: LivingToken, now_ms: number): boolean {
  return expires_at_ms === null || now_ms < expires_at_ms;
}

function endTokens(state: Account, tokens: LivingToken[], reason: RevokedBecause): Effect[] {
  return tokens.flatMap((token): Effect[] => [
    event(state.id, token, 'personal_access_token.revoked', { reason }),
    notifyToken(token.id, { type: 'end' }),
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

function notifyToken(id: string, message: PersonalAccessTokenMessage): Effect {
  return { effect: 'notify', to: { kind: 'personal_access_token', id }, message };
}
