import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import type { TokenPermission } from '../../src/domain/scopes.js';
import { DONE, defineActor, given, type MessageOf } from '../actor.js';
import { CANCEL_EXPIRY, scheduleExpiry } from '../expiry.js';

/**
 * A token that a person made for a program. Its account decides whether it is valid; this entity holds its permissions
 * and the keyed hash of its value.
 */
export type PersonalAccessToken = NewPersonalAccessToken & { last_used_at_ms: number | null };

export type NewPersonalAccessToken = {
  account_id: string;
  name: string;
  permissions: TokenPermission[];
  last_four: string;
  created_at_ms: number;
  expires_at_ms: number | null;
  secret_hash: string;
  /** The credential epochs of the account and of its tokens that it was issued under. */
  issued_under: { account: number; tokens: number };
};

export type PersonalAccessTokenMessage = MessageOf<typeof personalAccessToken>;

const ENDED = refuse('UNAUTHORIZED', 'The personal access token has ended.');

const live = given((state: PersonalAccessToken | null, { now_ms }) =>
  state === null || hasExpired(state, now_ms) ? ENDED : state,
);

export const personalAccessToken = defineActor<PersonalAccessToken>()({
  kind: 'personal_access_token',
  home: 'id',
  schema: 1,
  messages: {
    open(state, { token }: { token: NewPersonalAccessToken }) {
      if (state !== null) return { reply: DONE };
      const { expires_at_ms } = token;
      const effects = expires_at_ms === null ? [] : [scheduleExpiry(expires_at_ms)];
      return { reply: DONE, next: { ...token, last_used_at_ms: null }, effects };
    },

    view: { reads: true, decide: live((token) => ({ reply: token })) },

    /** Records a use; the caller has compared the value with `secret_hash`. */
    use: {
      reads: true,
      decide: live((token, _: unknown, { now_ms }) => {
        const { last_used_at_ms } = token;
        if (last_used_at_ms !== null && now_ms < last_used_at_ms + LIMITS.touch_every_ms) return { reply: token };
        const next = { ...token, last_used_at_ms: now_ms };
        return { reply: next, next };
      }),
    },

    end(state) {
      if (state === null) return { reply: DONE };
      return { reply: DONE, next: null, effects: state.expires_at_ms === null ? [] : [CANCEL_EXPIRY] };
    },

    run_out: () => ({ reply: DONE, next: null }),
  },
});

function hasExpired({ expires_at_ms }: PersonalAccessToken, now_ms: number): boolean {
  return expires_at_ms !== null && now_ms >= expires_at_ms;
}
