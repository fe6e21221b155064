import { type Decision, DONE, type Effect, messagesOf } from '../actor.js';
import { type Account, type MeaningSwitch, ofAccount, updated } from './account_state.js';

/** Whether recall also finds what means the same in other words, by vectors of what was said. Rule K-275. */

/** The index of a partition's accounts whose vectors are to follow the switch. */
export const MEANING_INDEX = { owner: 'vectors', index: 'switched' };

const NEVER_SWITCHED: MeaningSwitch = { is_on: true, changes: 0 };

export function meaningOf({ meaning }: Pick<Account, 'meaning'>): MeaningSwitch {
  return meaning ?? NEVER_SWITCHED;
}

export const meaningMessages = messagesOf<Account>()({
  switch_meaning: ofAccount((state, { is_on }: { is_on: boolean }, { self, now_ms }): Decision<Account, Account> => {
    const before = meaningOf(state);
    if (is_on === before.is_on) return { reply: state };
    const next = { ...state, meaning: { is_on, changes: before.changes + 1 } };
    const due: Effect = { effect: 'add_to_index', ...MEANING_INDEX, member: self, order: now_ms };
    return { reply: next, next, effects: [updated(self, ['recall_settings']), due] };
  }),

  /** All vectors follow the switch as it was after so many changes. */
  meaning_applied: ofAccount((state, { changes }: { changes: number }, { self }): Decision<Account, typeof DONE> => {
    if (meaningOf(state).changes !== changes) return { reply: DONE };
    return { reply: DONE, effects: [{ effect: 'remove_from_index', ...MEANING_INDEX, member: self }] };
  }),
});
