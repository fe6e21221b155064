import type { Decision, Effect } from './actor.js';

/**
 * To whatever lies with an account that is being erased and stands on one of its lists: it ends without a word, and
 * leaves the list. What has ended already leaves the list all the same.
 */
export type EraseMessage = { type: 'erase'; account_id: string; list: string };

export function erased(
  { account_id, list }: EraseMessage,
  { member, effects = [] }: { member: string; effects?: Effect[] },
): Decision<never, { done: true }> {
  return {
    reply: { done: true },
    next: null,
    effects: [
      ...effects,
      { effect: 'remove_from_index', owner: account_id, index: list, member },
      { effect: 'delete' },
    ],
  };
}
