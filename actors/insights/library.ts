import { addCounts, type Counts, type Cutoffs, type Expire, type Swept } from '../../src/domain/retention.js';
import { SEARCH_INDEX } from '../../src/domain/search/places.js';
import type { Bucket } from '../../src/domain/workspaces.js';
import { DONE, type DoneDecision, defineActor, type Effect, type MessageOf } from '../actor.js';
import { type Erase, erased } from '../erase.js';
import type { LibraryOwner } from './item_records.js';
import { handMessages } from './library_by_hand.js';
import { conversationMessages } from './library_conversations.js';
import { editMessages } from './library_edits.js';
import { expiryMessages } from './library_expiry.js';
import { begin, forgetInsights, LIBRARIES, NO_LIBRARY } from './library_items.js';
import { jobMessages } from './library_jobs.js';
import { moveOutMessages } from './library_move_out.js';
import { publicationMessages } from './library_publication.js';
import { queryMessages } from './library_queries.js';
import { roleMessages } from './library_roles.js';
import type { Library } from './library_state.js';
import { suggestionMessages } from './library_suggestions.js';
import { takeInMessages } from './library_take_in.js';
import { withdrawalMessages } from './library_withdrawal.js';

export type LibraryMessage = MessageOf<typeof library>;

/** Sent to the sweep of its workspace. */
export type LibraryNews =
  /** The library's part of a sweep is done. */
  | { type: 'part_swept'; sweep_id: string; counts: Counts }
  /** The account is erased. */
  | { type: 'recorder_gone'; account_id: string };

export { LIBRARIES };

/** Notifies the library of what one commit removes, for whatever has records that expire. */
export function countRemoved({ library_id, sweep_id }: Expire, bucket: Bucket, count: number): Effect {
  const message: Swept = { type: 'swept', sweep_id, bucket, count };
  return { effect: 'notify', to: { kind: 'library', id: library_id }, message };
}

export const library = defineActor<Library>()({
  kind: 'library',
  home: 'id',
  schema: 1,
  messages: {
    ...queryMessages,
    ...suggestionMessages,
    ...handMessages,
    ...roleMessages,
    ...editMessages,
    ...conversationMessages,
    ...withdrawalMessages,
    ...jobMessages,
    ...publicationMessages,
    ...expiryMessages,
    ...moveOutMessages,
    ...takeInMessages,

    view: { reads: true, decide: (state) => ({ reply: state ?? NO_LIBRARY }) },

    // From its workspace's sweep:
    open(state, place: LibraryOwner, facts): DoneDecision<Library> {
      if (state !== null) return { reply: DONE };
      const { library: next, effects } = begin(place, facts);
      return { reply: DONE, next, effects };
    },

    /** Begins the library's part of a sweep. Removals commit only while the library's fence is open. */
    sweep(state, { workspace_id, sweep_id, began_at_ms, cutoffs }: BeginPart, { self }): DoneDecision<Library> {
      // It is erased: nothing of the account is left there.
      if (state === null) return { reply: DONE, effects: [partSwept(workspace_id, { sweep_id, counts: {} })] };
      if (state.sweep !== null) return { reply: DONE };
      const { account_id } = state;
      const job = { job: 'sweep_library' as const, library_id: self, account_id, sweep_id };
      return {
        reply: DONE,
        next: { ...state, sweep: { sweep_id, began_at_ms, cutoffs, counts: {}, drained: false } },
        effects: [
          { effect: 'delete_fence', id: self },
          { effect: 'enqueue_job', job_id: `${self}:${sweep_id}`, job },
        ],
      };
    },

    /** The workspace is deleted. */
    workspace_gone(state, _: unknown, { self: member }): DoneDecision<Library> {
      if (state === null) return { reply: DONE };
      const { account_id, workspace_id } = state;
      const job = { job: 'forget_voices' as const, account_id, workspace_id };
      const forget: Effect = { effect: 'enqueue_job', job_id: `forget_voices:${member}`, job };
      return erased({ account_id, list: LIBRARIES }, { member, effects: [...ended(member, state), forget] });
    },

    // From what removed something, in the same commit:
    swept(state, { bucket, count }: Omit<Swept, 'type'>): DoneDecision<Library> {
      if (state === null || state.sweep === null) return { reply: DONE };
      const counts = addCounts(state.sweep.counts, { [bucket]: count });
      return { reply: DONE, next: { ...state, sweep: { ...state.sweep, counts } } };
    },

    // From the worker that walks the due lists:
    /**
     * Nothing is left to remove for this sweep. The message to itself arrives after all counts, since messages of one
     * partition keep their order.
     */
    drain(state, { sweep_id }: { sweep_id: string }, { self }): DoneDecision<Library> {
      if (state?.sweep?.sweep_id !== sweep_id || state.sweep.drained) return { reply: DONE };
      const message: LibraryMessage = { type: 'drained', sweep_id };
      return {
        reply: DONE,
        next: { ...state, sweep: { ...state.sweep, drained: true } },
        effects: [
          { effect: 'close_fence', id: self },
          { effect: 'notify', to: { kind: 'library', id: self }, message },
        ],
      };
    },

    // From itself:
    drained(state, { sweep_id }: { sweep_id: string }): DoneDecision<Library> {
      if (state?.sweep?.sweep_id !== sweep_id) return { reply: DONE };
      const { counts } = state.sweep;
      return {
        reply: DONE,
        next: { ...state, sweep: null },
        effects: [partSwept(state.workspace_id, { sweep_id, counts })],
      };
    },

    /** Ends with its account. */
    erase(state, input: Erase, { self: member }) {
      if (state === null) return erased(input, { member, effects: ended(member, null) });
      const { account_id, workspace_id, sweep } = state;
      const effects: Effect[] = [
        ...ended(member, state),
        ...(sweep === null ? [] : [partSwept(workspace_id, sweep)]),
        tellSweep(workspace_id, { type: 'recorder_gone', account_id }),
      ];
      return erased(input, { member, effects });
    },
  },
});

type BeginPart = { workspace_id: string; sweep_id: string; began_at_ms: number; cutoffs: Cutoffs };

function ended(library_id: string, state: Library | null): Effect[] {
  return [
    { effect: 'delete_fence', id: library_id },
    { effect: 'delete_index', owner: library_id, index: SEARCH_INDEX },
    ...(state?.insights === undefined ? [] : forgetInsights(state, library_id)),
  ];
}

function partSwept(workspace_id: string, { sweep_id, counts }: { sweep_id: string; counts: Counts }): Effect {
  return tellSweep(workspace_id, { type: 'part_swept', sweep_id, counts });
}

function tellSweep(workspace_id: string, message: LibraryNews): Effect {
  return { effect: 'notify', to: { kind: 'sweep', id: workspace_id }, message };
}
