import { refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, messagesOf } from '../actor.js';
import { type Account, type OmiAddress, ofAccount, updated } from './account_state.js';

/** The address to which omi sends conversations and audio. docs/choices.md, "omi". */

const NO_ADDRESS = refuse('NOT_FOUND', 'There is no such address.');
const OTHER_USER = refuse('FORBIDDEN', 'uid: must be the user from whom this address got its first body.', {
  details: [{ path: 'uid', message: 'must be the user from whom this address got its first body' }],
});
const CHANGED = ['omi'];
/** Bodies are noted so often at most. */
const NOTED_EVERY_MS = 60 * 60_000;

export const omiMessages = messagesOf<Account>()({
  /** Makes an address; the one before ends. */
  make_omi: ofAccount(
    (state, { secret_hash }: { secret_hash: string }, { self, now_ms }): Decision<Account, OmiAddress> => {
      const omi = { secret_hash, made_at_ms: now_ms, used_at_ms: null, uid: null };
      return { reply: omi, next: { ...state, omi }, effects: [updated(self, CHANGED)] };
    },
  ),

  end_omi: ofAccount((state, _: unknown, { self }): Decision<Account, typeof DONE> => {
    if (state.omi === undefined) return { reply: NO_ADDRESS };
    const { omi: _ended, ...next } = state;
    return { reply: DONE, next, effects: [updated(self, CHANGED)] };
  }),

  /** Takes a body of this user of omi. The first one binds the address to its user. */
  omi_used: ofAccount((state, { secret_hash, uid }: OmiUse, { now_ms }): Decision<Account, typeof DONE> => {
    const { omi } = state;
    if (omi?.secret_hash !== secret_hash) return { reply: NO_ADDRESS };
    if (omi.uid !== null && omi.uid !== uid) return { reply: OTHER_USER };
    if (isNoted(omi, now_ms)) return { reply: DONE };
    return { reply: DONE, next: { ...state, omi: { ...omi, uid, used_at_ms: now_ms } } };
  }),
});

type OmiUse = { secret_hash: string; uid: string };

function isNoted({ uid, used_at_ms }: OmiAddress, now_ms: number): boolean {
  return uid !== null && used_at_ms !== null && now_ms - used_at_ms < NOTED_EVERY_MS;
}
