import { refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, messagesOf } from '../actor.js';
import { type Account, type CalendarAddress, ofAccount, updated } from './account_state.js';

/** The address by which a calendar program reads what is due. docs/choices.md, "What is due". */

const NO_ADDRESS = refuse('NOT_FOUND', 'There is no calendar address.');
const CHANGED = ['calendar'];

export const calendarMessages = messagesOf<Account>()({
  /** Makes an address; the one before ends. */
  make_calendar: ofAccount(
    (state, { secret_hash }: { secret_hash: string }, { self, now_ms }): Decision<Account, CalendarAddress> => {
      const calendar = { secret_hash, made_at_ms: now_ms, read_at_ms: null };
      return { reply: calendar, next: { ...state, calendar }, effects: [updated(self, CHANGED)] };
    },
  ),

  end_calendar: ofAccount((state, _: unknown, { self }): Decision<Account, typeof DONE> => {
    if (state.calendar === undefined) return { reply: NO_ADDRESS };
    const { calendar: _ended, ...next } = state;
    return { reply: DONE, next, effects: [updated(self, CHANGED)] };
  }),

  /** Notes that the address was read, unless it is another one by now. */
  calendar_read: ofAccount(
    (state, { secret_hash }: { secret_hash: string }, { now_ms }): Decision<Account, typeof DONE> => {
      const { calendar } = state;
      if (calendar?.secret_hash !== secret_hash) return { reply: DONE };
      return { reply: DONE, next: { ...state, calendar: { ...calendar, read_at_ms: now_ms } } };
    },
  ),
});
