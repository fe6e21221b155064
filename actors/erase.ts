import type { Decision, Effect } from './actor.js';

/**
 * The message to every entity on the lists of an account that is being erased. The entity ends without an event and
 * leaves the list, as one that has ended already does.
 */
export type Erase = { account_id: string; list: string };

export function erased(
  { account_id, list }: Erase,
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
