import { libraryId, ownerOfPrivateWorkspace } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import {
  addCounts,
  type Counts,
  type Cutoffs,
  cutoffsOf,
  nextSweepAt,
  retentionApplied,
} from '../../src/domain/retention.js';
import { KEEP_FOR_EVER, keepsForEver, type Retention } from '../../src/domain/workspaces.js';
import { DONE, type DoneDecision, defineActor, type Effect, type Facts, type MessageOf } from '../actor.js';
import { type Erase, erased } from '../erase.js';
import type { LibraryMessage, LibraryNews } from '../insights/library.js';

/**
 * The hourly sweep of a workspace; its id is the workspace's. It begins a sweep, has the library of each account that has
 * recorded there do its part, and records what they removed. docs/areas.md, "The retention sweep".
 */
export type Sweep = {
  /** As the workspace's settings have told it last. */
  retention: Retention;
  /** Its account is deleted, and may be restored: nothing is removed meanwhile. */
  paused: boolean;
  /** The number of sweeps that were begun; a sweep's id is its number. */
  begun: number;
  running: RunningSweep | null;
};

export type RunningSweep = {
  sweep_id: string;
  began_at_ms: number;
  cutoffs: Cutoffs;
  counts: Counts;
  /** Libraries that have not answered. */
  waiting: number;
  /** Where telling them has come to; null when all are told. */
  told_to: { order: number; id: string } | null;
};

export type SweepMessage = MessageOf<typeof sweep>;

/** The settings of a sweep, sent to it with every change. */
export type SweepSettings = {
  retention: Retention;
  paused: boolean;
  /** The owner of a private workspace, who alone records there. */
  owner?: string;
};

/** Sent to the account, or to the shared workspace and by that to each of its members: what a sweep has removed. */
export type RetentionNews = {
  type: 'retention_applied';
  workspace_id: string;
  data: ReturnType<typeof retentionApplied>;
};

/** Sent to the shared workspace: it tells of the account again should it record there once more. */
export type RecorderNews = { type: 'recorder_gone'; account_id: string };

const NO_SWEEP = refuse('NOT_FOUND', 'There is no such sweep.');
/** Collection `recorders`, by account, in the order in which they were told. */
const RECORDERS = 'recorders';
/** The list of sweeps of an account's private workspaces. */
export const SWEEPS = 'sweeps';

/** Tells a workspace's sweep. */
export function tellSweep(workspace_id: string, message: SweepMessage): Effect {
  return { effect: 'notify', to: { kind: 'sweep', id: workspace_id }, message };
}

export const sweep = defineActor<Sweep>()({
  kind: 'sweep',
  home: 'id',
  schema: 1,
  messages: {
    view: { reads: true, decide: (state) => ({ reply: state ?? NO_SWEEP }) },

    /** Accounts that have recorded there, the first ones first. */
    recorders: {
      reads: true,
      records: ({ limit }: { limit: number }) => [{ collection: RECORDERS, range: { limit } }],
      decide: (_, __: { limit: number }, facts) => ({
        reply: { accounts: facts.range(RECORDERS).map(({ id }) => id) },
      }),
    },

    // From its workspace, or the account whose private workspace it is:
    settings: {
      records: ({ owner }: SweepSettings) => (owner === undefined ? [] : [recorderRecord(owner)]),
      decide(state, { retention, paused, owner }: SweepSettings, facts): DoneDecision<Sweep> {
        const next: Sweep = { ...(state ?? NEW), retention, paused };
        const effects = [...(owner === undefined ? [] : recorder(owner, facts)), ...nextTick(next, facts)];
        return { reply: DONE, next, effects };
      },
    },

    /** The account has recorded there. */
    recorder: {
      records: ({ account_id }: SweepRecorder) => [recorderRecord(account_id)],
      decide: (state, { account_id }: SweepRecorder, facts): DoneDecision<Sweep> => ({
        reply: DONE,
        next: state ?? NEW,
        effects: recorder(account_id, facts),
      }),
    },

    /** The workspace is deleted: libraries are told some at a time, and nothing is left. */
    workspace_gone(state, _: unknown, { now_ms }): DoneDecision<Sweep> {
      if (state === null) return { reply: DONE };
      return { reply: DONE, next: null, effects: [noTick(), shedAt(now_ms)] };
    },

    // From libraries:
    /** Its account is erased. */
    recorder_gone(state, { account_id }: LibraryNewsOf<'recorder_gone'>, { self: id }): DoneDecision<Sweep> {
      if (state === null) return { reply: DONE };
      const message: RecorderNews = { type: 'recorder_gone', account_id };
      return {
        reply: DONE,
        effects: [
          { effect: 'delete_record', collection: RECORDERS, id: account_id },
          ...(isPrivate(id) ? [] : [{ effect: 'notify' as const, to: { kind: 'workspace', id }, message }]),
        ],
      };
    },

    part_swept(state, { sweep_id, counts }: LibraryNewsOf<'part_swept'>, { self }): DoneDecision<Sweep> {
      if (state?.running?.sweep_id !== sweep_id) return { reply: DONE };
      const { running } = state;
      const came = { ...running, counts: addCounts(running.counts, counts), waiting: running.waiting - 1 };
      return settled(self, { ...state, running: came });
    },

    // From itself:
    tick: {
      records: () => recordersAfter(null),
      decide(state, _: unknown, facts): DoneDecision<Sweep> {
        if (state === null || !isDue(state)) return { reply: DONE };
        if (state.running !== null) return { reply: DONE, effects: nextTick(state, facts) };
        const { certain_ms, now_ms } = facts;
        const begun = state.begun + 1;
        const running: RunningSweep = {
          sweep_id: String(begun),
          began_at_ms: now_ms,
          cutoffs: cutoffsOf(state.retention, certain_ms),
          counts: {},
          waiting: 0,
          told_to: null,
        };
        return tellParts({ ...state, begun }, running, facts);
      },
    },

    tell_more: {
      records: (_: unknown, state) => recordersAfter(state?.running?.told_to ?? null),
      decide(state, _: unknown, facts): DoneDecision<Sweep> {
        const running = state?.running ?? null;
        return state === null || running === null || running.told_to === null
          ? { reply: DONE }
          : tellParts(state, running, facts);
      },
    },

    shed: {
      records: () => recordersAfter(null),
      decide(state, _: unknown, facts): DoneDecision<Sweep> {
        if (state !== null) return { reply: DONE };
        const rows = facts.range(RECORDERS);
        const told = rows.flatMap(({ id }): Effect[] => [
          { effect: 'delete_record', collection: RECORDERS, id },
          tellLibrary(facts.self, id, { type: 'workspace_gone' }),
        ]);
        const rest: Effect = rows.length < LIMITS.sweep_parts_told_max ? { effect: 'delete' } : shedAt(facts.now_ms);
        return { reply: DONE, effects: [...told, rest] };
      },
    },

    // From who erases the account whose private workspace it is:
    erase: (_, input: Erase, { self: member }) =>
      erased(input, {
        member,
        effects: [
          { effect: 'delete_collection', collection: RECORDERS },
          noTick(),
          { effect: 'cancel_reminder', name: 'tell_more' },
        ],
      }),
  },

  invariant: ({ running }) => (running !== null && running.waiting < 0 ? 'more answers than libraries' : null),
});

type SweepRecorder = { account_id: string };
type LibraryNewsOf<Name extends LibraryNews['type']> = Omit<Extract<LibraryNews, { type: Name }>, 'type'>;

const NEW: Sweep = { retention: KEEP_FOR_EVER, paused: false, begun: 0, running: null };

function recorderRecord(id: string) {
  return { collection: RECORDERS, id };
}

function recordersAfter(after: { order: number; id: string } | null) {
  return [{ collection: RECORDERS, range: { after: after ?? undefined, limit: LIMITS.sweep_parts_told_max } }];
}

/** Takes an account in that has recorded there, once. */
function recorder(account_id: string, facts: Facts): Effect[] {
  const { self, now_ms } = facts;
  if (facts.record(RECORDERS, account_id) !== undefined) return [];
  return [
    { effect: 'put_record', collection: RECORDERS, id: account_id, value: {}, order: now_ms },
    tellLibrary(self, account_id, { type: 'open', account_id, workspace_id: self }),
    ...(isPrivate(self)
      ? [{ effect: 'add_to_index' as const, owner: account_id, index: SWEEPS, member: self, order: now_ms }]
      : []),
  ];
}

/** Tells the next libraries to begin their part, and itself again while there are more. */
function tellParts(state: Sweep, running: RunningSweep, facts: Facts): DoneDecision<Sweep> {
  const { self, now_ms } = facts;
  const rows = facts.range(RECORDERS);
  const { sweep_id, began_at_ms, cutoffs } = running;
  const part = { type: 'sweep' as const, workspace_id: self, sweep_id, began_at_ms, cutoffs };
  const last = rows.at(-1);
  const is_all = rows.length < LIMITS.sweep_parts_told_max || last === undefined;
  const told = {
    ...running,
    waiting: running.waiting + rows.length,
    told_to: is_all ? null : { order: last.order, id: last.id },
  };
  const more: Effect = {
    effect: 'schedule_reminder',
    name: 'tell_more',
    at_ms: now_ms,
    message: { type: 'tell_more' },
  };
  const { next, effects = [], reply } = settled(self, { ...state, running: told });
  return {
    reply,
    next: next ?? state,
    effects: [
      ...rows.map(({ id }) => tellLibrary(self, id, part)),
      ...(is_all ? [] : [more]),
      ...nextTick(state, facts),
      ...effects,
    ],
  };
}

/** Ends a sweep whose libraries have all answered, and says what it has removed, if anything. */
function settled(workspace_id: string, state: Sweep): DoneDecision<Sweep> {
  const { running } = state;
  if (running === null || running.told_to !== null || running.waiting > 0) return { reply: DONE, next: state };
  const data = retentionApplied(running.cutoffs, running.counts);
  const next = { ...state, running: null };
  if (data.changed_fields.length === 0) return { reply: DONE, next };
  const news: RetentionNews = { type: 'retention_applied', workspace_id, data };
  const owner = ownerOfPrivateWorkspace(workspace_id);
  const to = owner === null ? { kind: 'workspace', id: workspace_id } : { kind: 'account', id: owner.account_id };
  return { reply: DONE, next, effects: [{ effect: 'notify', to, message: news }] };
}

function isPrivate(workspace_id: string): boolean {
  return ownerOfPrivateWorkspace(workspace_id) !== null;
}

function isDue({ retention, paused }: Sweep): boolean {
  return !paused && !keepsForEver(retention);
}

function nextTick(state: Sweep, { self, now_ms }: Facts): Effect[] {
  if (!isDue(state)) return [noTick()];
  const at_ms = nextSweepAt(self, now_ms);
  return [{ effect: 'schedule_reminder', name: 'tick', at_ms, message: { type: 'tick' } }];
}

function noTick(): Effect {
  return { effect: 'cancel_reminder', name: 'tick' };
}

function shedAt(at_ms: number): Effect {
  return { effect: 'schedule_reminder', name: 'shed', at_ms, message: { type: 'shed' } };
}

function tellLibrary(workspace_id: string, account_id: string, message: LibraryMessage): Effect {
  return { effect: 'notify', to: { kind: 'library', id: libraryId(account_id, workspace_id) }, message };
}
