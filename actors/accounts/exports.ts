import { LIMITS } from '../../src/domain/limits.js';
import { type Refusal, refuse } from '../../src/domain/refusals.js';
import {
  type Decision,
  DONE,
  type DoneDecision,
  defineActor,
  type Effect,
  type Facts,
  given,
  type MessageOf,
} from '../actor.js';
import { dueIndexEffects, isLastTry, type JobFailure, workerMessages } from '../job.js';
import {
  type Archived,
  EXPORTS_INDEX,
  type Export,
  type ExportFailure,
  type ExportProgress,
  type ExportStage,
  type Exports,
  type RunningExport,
} from './exports_state.js';

const EXPORTS_KNOWN_MAX = 150; // ours: of one account, those of staff too; the account's own are 93 at most

export type ExportsMessage = MessageOf<typeof exports>;

/** The next work for a worker. */
export type ExportWork =
  | { work: 'make'; export: RunningExport }
  /** The bytes of an export that is gone. */
  | { work: 'remove'; export_id: string }
  | { work: 'none' };

const NEW: Exports = { items: [], asked_at_ms: [], removing: [] };
const NO_EXPORT = refuse('NOT_FOUND', 'There is no such export.');
const NOT_YOURS = refuse('CONFLICT', 'Somebody else makes this export, or it is made.');
const ONE_AT_A_TIME = refuse('CONFLICT', 'An export is being made already; wait for it, or delete it.');
const TOO_MANY = refuse('CONFLICT', `At most ${EXPORTS_KNOWN_MAX} exports of an account are known; delete some.`);
const LOST: ExportFailure = { code: 'INTERRUPTED', message: 'It was begun several times and never came to its end.' };

type ByWhom = Export['by'];
type Requested = Pick<Export, 'by' | 'audio' | 'files'> & { export_id: string; account_epoch: number };
/** `progress`: how much is done, if the message says so. */
type HeldExport = { export_id: string; claim: string; progress?: ExportProgress };
type ExportJob = { tries: number; item: RunningExport };

const EXPORT_TRIES = { tries_max: LIMITS.export_tries_max, rests_ms: [] };

const ofHeldExport = given((state: Exports | null, { now_ms }: Facts, { export_id }: HeldExport): Exports | Refusal => {
  const now = standing(state, now_ms);
  return now.items.some(({ id }) => id === export_id) ? now : NO_EXPORT;
});

/** Exports are jobs. A worker whose lease has ended is lost, and its archive is not accepted. */
const exportJobs = workerMessages<Exports, HeldExport, ExportJob, JobFailure & ExportFailure>({
  given: ofHeldExport,
  not_held: NOT_YOURS,
  tries: EXPORT_TRIES,
  held(state, named) {
    const item = heldExport(state, named);
    return item && { until_ms: item.stage.lease_until_ms, job: { tries: item.stage.tries, item } };
  },
  prolonged(state, { job: { item }, until_ms: lease_until_ms }, facts) {
    return withStage(state, { ...item, stage: { ...item.stage, lease_until_ms } }, facts);
  },
  released(state, { job: { item } }, facts) {
    const { account_epoch, attempt, tries } = item.stage;
    return withStage(state, { ...item, stage: { status: 'pending', account_epoch, attempt, tries: tries - 1 } }, facts);
  },
  failed(state, { job: { item } }, { code, message }, facts) {
    return withStage(state, { ...item, stage: { status: 'failed', code, message } }, facts);
  },
});

/** docs/choices.md, "Files and exports". */
export const exports = defineActor<Exports>()({
  kind: 'exports',
  home: 'id',
  schema: 1,
  messages: {
    /** Newest first. */
    list: {
      reads: true,
      decide: (state, { by }: { by: ByWhom }, { now_ms }) => ({
        reply: {
          exports: standing(state, now_ms)
            .items.filter((one) => one.by === by)
            .reverse(),
        },
      }),
    },

    view: {
      reads: true,
      decide(state, { export_id, by }: { export_id: string; by: ByWhom }, { now_ms }): Decision<Exports, Export> {
        const found = standing(state, now_ms).items.find((one) => one.id === export_id && one.by === by);
        return { reply: found ?? NO_EXPORT };
      },
    },

    /** Lists every export and file to which bytes in the blob store may belong. */
    keeping: {
      reads: true,
      decide: (state, _: unknown, { now_ms }) => ({ reply: { kept: kept(standing(state, now_ms)) } }),
    },

    request(state, { export_id, by, audio, files, account_epoch }: Requested, facts): Decision<Exports, Export> {
      const before = standing(state, facts.now_ms);
      const known = before.items.find(({ id }) => id === export_id);
      if (known !== undefined) return { reply: known };
      const refused = refusalOf(before, by, facts);
      if (refused !== null) return { reply: refused };
      // From here on it succeeds.
      const stage: ExportStage = { status: 'pending', account_epoch, attempt: 0, tries: 0 };
      const made: Export = { id: export_id, by, audio, files, created_at_ms: facts.now_ms, stage };
      const asked_at_ms = by === 'account' ? [...before.asked_at_ms, facts.now_ms] : before.asked_at_ms;
      return { reply: made, ...changed({ ...before, items: [...before.items, made], asked_at_ms }, facts) };
    },

    delete(state, { export_id, by }: { export_id: string; by: ByWhom }, facts): DoneDecision<Exports> {
      const before = standing(state, facts.now_ms);
      const found = before.items.find((one) => one.id === export_id && one.by === by);
      if (found === undefined) return { reply: NO_EXPORT };
      const items = before.items.filter((one) => one !== found);
      const removing = hasBytes(found) ? [...before.removing, export_id] : before.removing;
      return { reply: DONE, ...changed({ ...before, items, removing }, facts) };
    },

    // From workers:

    /** Takes what is due. */
    claim(state, { claim }: { claim: string }, facts): Decision<Exports, ExportWork> {
      const before = standing(state, facts.now_ms);
      const [export_id] = before.removing;
      if (export_id !== undefined) return { reply: { work: 'remove', export_id }, ...changed(before, facts) };
      const pending = before.items.find(({ stage }) => stage.status === 'pending');
      if (pending?.stage.status !== 'pending') {
        // Only so that its place in the index is true again.
        return { reply: { work: 'none' }, ...changed(before, facts) };
      }
      const { account_epoch, attempt, tries } = pending.stage;
      const begun = { account_epoch, attempt: attempt + 1, tries: tries + 1 };
      const lease_until_ms = facts.now_ms + LIMITS.export_lease_ms;
      const progress = { records: 0, bytes: 0 };
      const running: RunningExport = {
        ...pending,
        stage: { ...begun, status: 'running', claim, lease_until_ms, progress },
      };
      return { reply: { work: 'make', export: running }, ...changed(withItem(before, running), facts) };
    },

    prolong: exportJobs.prolong,
    fail: exportJobs.fail,
    release: exportJobs.release,

    finish: ofHeldExport(
      (state, { archived, ...named }: HeldExport & { archived: Archived }, facts): DoneDecision<Exports> => {
        const known = state.items.find(({ id }) => id === named.export_id);
        if (known?.stage.status === 'ready' && known.stage.claim === named.claim) return { reply: DONE };
        const item = heldExport(state, named);
        if (item === null) return { reply: NOT_YOURS };
        const { attempt, claim } = item.stage;
        const expires_at_ms = facts.now_ms + LIMITS.export_kept_ms;
        const stage: ExportStage = { status: 'ready', claim, attempt, expires_at_ms, ...archived };
        return { reply: DONE, ...withStage(state, { ...item, stage }, facts) };
      },
    ),

    /** The bytes of the export are removed. */
    removed(state, { export_id }: { export_id: string }, facts): DoneDecision<Exports> {
      const before = standing(state, facts.now_ms);
      const removing = before.removing.filter((id) => id !== export_id);
      return { reply: DONE, ...changed({ ...before, removing }, facts) };
    },

    /** A reminder: a deadline has passed. */
    look: (state, _: unknown, facts): DoneDecision<Exports> => ({
      reply: DONE,
      ...changed(standing(state, facts.now_ms), facts),
    }),

    /** Ends with its account; the bytes go with their folder. */
    erase(state, _: unknown, { self }): Decision<Exports, { left: boolean }> {
      if (state === null) return { reply: { left: false } };
      return { reply: { left: false }, next: null, effects: [...unscheduled(self), { effect: 'delete' }] };
    },
  },

  invariant({ items }) {
    if (items.length > EXPORTS_KNOWN_MAX) return 'too many exports';
    for (const by of ['account', 'staff'] as const)
      if (items.filter((one) => one.by === by && isUnderWay(one)).length > 1) return 'two exports are made at once';
    return null;
  },
});

function refusalOf({ items, asked_at_ms }: Exports, by: ByWhom, { now_ms }: Facts): Refusal | null {
  if (items.some((one) => one.by === by && isUnderWay(one))) return ONE_AT_A_TIME;
  const [oldest] = asked_at_ms;
  if (by === 'account' && oldest !== undefined && asked_at_ms.length >= LIMITS.exports_per_day_max) {
    const retry_after_s = Math.ceil((oldest + LIMITS.exports_window_ms - now_ms) / 1000);
    return refuse('TOO_MANY_REQUESTS', `At most ${LIMITS.exports_per_day_max} exports a day are made.`, {
      retry_after_s,
    });
  }
  return items.length >= EXPORTS_KNOWN_MAX ? TOO_MANY : null;
}

/** The state of the exports at a time, with the changes that have come due by then. */
function standing(state: Exports | null, now_ms: number): Exports {
  const { items, asked_at_ms, removing } = state ?? NEW;
  const gone: string[] = [];
  const next = items.flatMap((one): Export[] => {
    const now = itemAt(one, now_ms);
    if (now === null) return [];
    if (hasBytes(one) && !hasBytes(now)) gone.push(one.id);
    return [now];
  });
  return {
    items: next,
    asked_at_ms: asked_at_ms.filter((at_ms) => now_ms < at_ms + LIMITS.exports_window_ms),
    removing: [...removing, ...gone],
  };
}

/** Null for an unknown export. */
function itemAt(one: Export, now_ms: number): Export | null {
  const { stage } = one;
  if (stage.status === 'running' && now_ms >= stage.lease_until_ms) {
    const { account_epoch, attempt, tries } = stage;
    const is_lost = isLastTry(tries, EXPORT_TRIES);
    return {
      ...one,
      stage: is_lost ? { status: 'failed', ...LOST } : { status: 'pending', account_epoch, attempt, tries },
    };
  }
  if (stage.status === 'ready' && now_ms >= stage.expires_at_ms) return { ...one, stage: { status: 'expired' } };
  const is_over = stage.status === 'failed' || stage.status === 'expired';
  return is_over && now_ms >= one.created_at_ms + LIMITS.export_known_ms ? null : one;
}

function heldExport({ items }: Exports, { export_id, claim, progress }: HeldExport): RunningExport | null {
  const found = items.find(({ id }) => id === export_id);
  if (found?.stage.status !== 'running' || found.stage.claim !== claim) return null;
  return { ...found, stage: { ...found.stage, ...(progress !== undefined && { progress }) } };
}

function withStage(state: Exports, item: Export, facts: Facts): { next: Exports | null; effects: Effect[] } {
  const removing = hasBytes(item) ? state.removing : [...state.removing, item.id];
  return changed({ ...withItem(state, item), removing }, facts);
}

function withItem(state: Exports, item: Export): Exports {
  return { ...state, items: state.items.map((one) => (one.id === item.id ? item : one)) };
}

export function isUnderWay({ stage }: Export): boolean {
  return stage.status === 'pending' || stage.status === 'running';
}

/** Whether bytes of the export may lie in the blob store. */
function hasBytes({ stage }: Export): boolean {
  return stage.status === 'ready' || stage.status === 'running' || (stage.status === 'pending' && stage.attempt > 0);
}

/** The attempts whose parts are needed, by export id; none for an export that waits. */
function kept({ items }: Exports): Record<string, number> {
  return Object.fromEntries(
    items.flatMap(({ id, stage }) =>
      stage.status === 'running' || stage.status === 'ready' ? [[id, stage.attempt]] : [],
    ),
  );
}

/** The next state, and when a worker or the entity itself must act next. */
function changed(next: Exports, { self, now_ms }: Facts): { next: Exports | null; effects: Effect[] } {
  if (next.items.length === 0 && next.asked_at_ms.length === 0 && next.removing.length === 0)
    return { next: null, effects: [...unscheduled(self), { effect: 'delete' }] };
  const due_ms = Math.min(...next.items.map(dueAt), ...(next.removing.length > 0 ? [now_ms] : []));
  const look_ms = Math.min(
    ...next.items.map(overAt),
    ...next.asked_at_ms.map((at_ms) => at_ms + LIMITS.exports_window_ms),
  );
  const [, no_look] = unscheduled(self);
  const message: ExportsMessage = { type: 'look' };
  return {
    next,
    effects: [
      ...dueIndexEffects(
        { ...EXPORTS_INDEX, member: self },
        { is_ms: due_ms === Number.POSITIVE_INFINITY ? null : due_ms },
      ),
      look_ms === Number.POSITIVE_INFINITY
        ? no_look
        : { effect: 'schedule_reminder', name: 'look', at_ms: look_ms, message },
    ],
  };

  function dueAt({ stage }: Export): number {
    if (stage.status === 'pending') return now_ms;
    return stage.status === 'running' ? stage.lease_until_ms : Number.POSITIVE_INFINITY;
  }
}

/** The time at which an export expires or is forgotten; infinite before it has ended. */
function overAt({ stage, created_at_ms }: Export): number {
  if (stage.status === 'ready') return stage.expires_at_ms;
  const is_over = stage.status === 'failed' || stage.status === 'expired';
  return is_over ? created_at_ms + LIMITS.export_known_ms : Number.POSITIVE_INFINITY;
}

function unscheduled(member: string): [Effect, Effect] {
  return [
    { effect: 'remove_from_index', ...EXPORTS_INDEX, member },
    { effect: 'cancel_reminder', name: 'look' },
  ];
}
