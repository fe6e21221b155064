import { LIMITS } from '../../src/domain/limits.js';
import { nameTime } from '../../src/domain/name_time.js';
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
  type RangeQuery,
  type RecordQuery,
} from '../actor.js';
import { dueIndexEffects, GIVEN_UP, isLastTry, type JobFailure, workerMessages } from '../job.js';
import {
  endedRecords,
  failedImport,
  forgetAt,
  IMPORTS,
  importOf,
  isBefore,
  knownImport,
  knownRecord,
  pieceBytes,
  REFS,
  recordOf,
  waiting,
  withEnded,
  withOpen,
  withoutOpen,
  wrongOffset,
} from './import_records.js';
import {
  type Began,
  type ClaimedImport,
  type EndedImport,
  IMPORTS_INDEX,
  type Import,
  type Imports,
  type MeasuredAudio,
  type OpenImport,
} from './imports_state.js';

const IMPORTS_FORGOTTEN_MAX = 100; // ours: with one commit

export type ImportsMessage = MessageOf<typeof imports>;

/** The next work for a worker. */
export type ImportWork =
  | { work: 'process'; item: ClaimedImport }
  /** The pieces of an import that has ended. */
  | { work: 'remove'; import_id: string; pieces: number }
  | { work: 'none' };
type OfImport = { import_id: string };
type HeldImport = OfImport & { claim: string };
type OneImport = Decision<Imports, Import>;
type NewImport = Omit<Import, 'stage' | 'created_at_ms'> & {
  /** Begins anew if the import under this reference is the one named here. */
  instead_of?: string;
};
type Piece = OfImport & { offset: number; stream_id: string };
/** `only_open`: neither done nor failed. */
type ImportsQuery = { range: RangeQuery; only_open?: boolean | undefined };
type ImportJob = { tries: number; item: ClaimedImport };
const DAY_MS = 24 * 3_600_000;
const NEW: Imports = { open: [], removing: [], forget_at_ms: null };
const NO_IMPORT = refuse('NOT_FOUND', 'There is no such import.');
const OTHER_CONTENT = refuse('CONFLICT', 'This import_ref is registered with other content.');
const TOO_MANY = refuse(
  'CONFLICT',
  `An account has at most ${LIMITS.imports_open_max} imports at once; finish or delete some.`,
);
const TOO_LARGE = refuse(
  'CONFLICT',
  `Imports that are not done have at most ${LIMITS.import_bytes_open_max} bytes together; finish or delete some.`,
);
const HAS_FAILED = refuse('CONFLICT', 'The import has failed; delete it and begin anew.');
const BECOMES_RECORDING = refuse('CONFLICT', 'The import becomes a recording at this moment; delete that.');
const NOT_YOURS = refuse('CONFLICT', 'Another worker has this import, or it has ended.');

const IMPORT_TRIES = { tries_max: LIMITS.import_tries_max, rests_ms: LIMITS.import_retries_ms };
const LOST = { code: GIVEN_UP, message: 'It was begun several times and never came to its end.' };
const EXPIRED = { code: 'UPLOAD_EXPIRED', message: 'The rest of the file did not come within a day.' };

const ofHeldImport = given((state: Imports | null, _facts: Facts, { import_id }: HeldImport): Imports | Refusal =>
  state?.open.some(({ id }) => id === import_id) ? state : NO_IMPORT,
);

/** An import is a job once all its bytes have arrived. */
const importJobs = workerMessages<Imports, HeldImport, ImportJob, JobFailure & { message: string }>({
  given: ofHeldImport,
  not_held: NOT_YOURS,
  tries: IMPORT_TRIES,
  held(state, named) {
    const item = heldImport(state, named);
    return item && { until_ms: item.stage.lease_until_ms, job: { tries: item.stage.tries, item } };
  },
  prolonged(state, { job: { item }, until_ms: lease_until_ms }, facts) {
    return changed(withOpen(state, { ...item, stage: { ...item.stage, lease_until_ms } }), facts);
  },
  rested(state, { job: { item } }, not_before_ms, facts) {
    return changed(withOpen(state, waiting(item, { not_before_ms })), facts);
  },
  released(state, { job: { item } }, facts) {
    const again = { not_before_ms: facts.now_ms, tries: item.stage.tries - 1 };
    return changed(withOpen(state, waiting(item, again)), facts);
  },
  failed(state, { job: { item } }, { code, message }, facts) {
    return ended(state, failedImport(item, { code, message }), facts);
  },
});

/** Rules K-150 to K-157; docs/choices.md, "Imports". */
export const imports = defineActor<Imports>()({
  kind: 'imports',
  home: 'id',
  schema: 1,
  messages: {
    /** The source of recordings whose import names none. `instead_of`: a deleted source. */
    default_source(
      state,
      { new_source_id, instead_of }: { new_source_id: string; instead_of?: string },
    ): Decision<Imports, { source_id: string }> {
      const known = state?.source_id;
      if (known !== undefined && known !== instead_of) return { reply: { source_id: known } };
      return { reply: { source_id: new_source_id }, next: { ...(state ?? NEW), source_id: new_source_id } };
    },

    /** A repetition gets the first import, with its name, time and source. */
    register: {
      records: ({ import_ref }: NewImport): RecordQuery[] => [{ collection: REFS, id: import_ref }],
      further: ({ import_ref }: NewImport, _state, read) => knownRecord(import_ref, read),
      decide(before, { instead_of, ...announced }: NewImport, facts): OneImport {
        const state = before ?? NEW;
        const known = knownImport(state, announced.import_ref, facts);
        if (known !== undefined && known.id !== instead_of) {
          const is_same = known.sha256 === announced.sha256 && known.size_bytes === announced.size_bytes;
          return { reply: is_same ? known : OTHER_CONTENT };
        }
        if (state.open.length >= LIMITS.imports_open_max) return { reply: TOO_MANY };
        const open_bytes = state.open.reduce((sum, { size_bytes }) => sum + size_bytes, announced.size_bytes);
        if (open_bytes > LIMITS.import_bytes_open_max) return { reply: TOO_LARGE };
        // From here on it succeeds.
        const { now_ms } = facts;
        const expires_at_ms = now_ms + LIMITS.import_upload_life_ms;
        const stage = { status: 'uploading' as const, received_bytes: 0, expires_at_ms };
        const made: OpenImport = { ...announced, created_at_ms: now_ms, stage };
        const { next, effects } = changed({ ...state, open: [...state.open, made] }, facts);
        return { reply: made, next, effects: [...(known === undefined ? [] : forgotten(known)), ...effects] };
      },
    },

    view: {
      reads: true,
      records: ({ import_id }: OfImport) => [recordOf(import_id)],
      decide: (state, { import_id }: OfImport, facts): OneImport => ({
        reply: importOf(state, import_id, facts) ?? NO_IMPORT,
      }),
    },

    /** Newest first. */
    list: {
      records: ({ range, only_open }: ImportsQuery) => (only_open ? [] : [{ collection: IMPORTS, range }]),
      decide(state, { range: { after, limit }, only_open }: ImportsQuery, facts) {
        const open = (state?.open ?? []).map((value) => ({ id: value.id, order: value.created_at_ms, value }));
        const rest = open.filter((one) => after === undefined || isBefore(one, after));
        const ended = only_open ? [] : facts.range<EndedImport>(IMPORTS);
        const rows: { id: string; order: number; value: Import }[] = [...ended, ...rest];
        return { reply: { imports: rows.sort((a, b) => (isBefore(a, b) ? 1 : -1)).slice(0, limit) } };
      },
    },

    /** A piece is stored in the blob store. After the last one a worker continues. */
    received: {
      records: ({ import_id }: OfImport) => [recordOf(import_id)],
      decide(state, { import_id, offset, stream_id }: Piece, facts): OneImport {
        const found = importOf(state, import_id, facts);
        if (state === null || found === undefined) return { reply: NO_IMPORT };
        if (found.stage.status === 'failed') return { reply: HAS_FAILED };
        const refused = wrongOffset(found, offset);
        if (refused !== null) return { reply: refused };
        const { stage } = found;
        if (stage.status !== 'uploading' || offset < stage.received_bytes) return { reply: found };
        // From here on it succeeds.
        const { now_ms } = facts;
        const received_bytes = offset + pieceBytes(found, offset);
        const is_last = received_bytes === found.size_bytes;
        const expires_at_ms = now_ms + LIMITS.import_upload_life_ms;
        const next: OpenImport = {
          ...found,
          stage: is_last
            ? { status: 'waiting', stream_id, tries: 0, not_before_ms: now_ms }
            : { ...stage, received_bytes, expires_at_ms },
        };
        return { reply: next, ...changed(withOpen(state, next), facts) };
      },
    },

    /** Ends an import that is no recording yet, or forgets one that has ended. */
    delete: {
      records: ({ import_id }: OfImport) => [recordOf(import_id)],
      decide(state, { import_id }: OfImport, facts): DoneDecision<Imports> {
        const found = importOf(state, import_id, facts);
        if (state === null || found === undefined) return { reply: NO_IMPORT };
        const { stage } = found;
        if (stage.status === 'done' || stage.status === 'failed') return { reply: DONE, effects: forgotten(found) };
        if ('measured' in stage && stage.measured !== undefined) return { reply: BECOMES_RECORDING };
        return { reply: DONE, ...changed(withoutOpen(state, found), facts) };
      },
    },

    /** The imports whose pieces may lie in the blob store. */
    keeping: {
      reads: true,
      decide: (state, _: unknown) => ({
        reply: { kept: [...(state?.open ?? []), ...(state?.removing ?? [])].map(({ id }) => id) },
      }),
    },

    // From workers:

    /** Takes what is due. */
    claim(before, { claim }: { claim: string }, facts): Decision<Imports, ImportWork> {
      const state = before ?? NEW;
      const [removed] = state.removing;
      if (removed !== undefined) {
        const reply = { work: 'remove' as const, import_id: removed.id, pieces: removed.pieces };
        return { reply, ...changed(state, facts) };
      }
      const due = state.open.find((one) => dueAt(one) <= facts.now_ms);
      if (due === undefined || due.stage.status === 'uploading') {
        // Only so that its place in the index is true again.
        return { reply: { work: 'none' }, ...changed(state, facts) };
      }
      const { stream_id, tries, measured } = due.stage;
      if (isLastTry(tries, IMPORT_TRIES))
        return { reply: { work: 'none' }, ...ended(state, failedImport(due, LOST), facts) };
      const begun = { stream_id, tries: tries + 1, ...(measured !== undefined && { measured }) };
      const lease_until_ms = facts.now_ms + LIMITS.import_lease_ms;
      const item: ClaimedImport = { ...due, stage: { ...begun, status: 'processing', claim, lease_until_ms } };
      return { reply: { work: 'process', item }, ...changed(withOpen(state, item), facts) };
    },

    prolong: importJobs.prolong,
    fail: importJobs.fail,
    release: importJobs.release,

    /** The file was decoded; it becomes a recording from here on. */
    measured: ofHeldImport(
      (state, { measured, ...named }: HeldImport & { measured: MeasuredAudio }, facts): DoneDecision<Imports> => {
        const item = heldImport(state, named);
        if (item === null) return { reply: NOT_YOURS };
        return { reply: DONE, ...changed(withOpen(state, { ...item, stage: { ...item.stage, measured } }), facts) };
      },
    ),

    /** The recording exists, with all its audio. */
    finish: ofHeldImport((state, named: HeldImport, facts): DoneDecision<Imports> => {
      const item = heldImport(state, named);
      if (item === null) return { reply: NOT_YOURS };
      const { stream_id, measured } = item.stage;
      const { captured_at, by } = began(item, measured?.length_ms ?? 0);
      const stage = { status: 'done' as const, stream_id, began: { captured_at, by } };
      return { reply: DONE, ...ended(state, { ...item, stage }, facts) };
    }),

    /** The pieces are removed. */
    removed(before, { import_id }: OfImport, facts): DoneDecision<Imports> {
      if (before === null) return { reply: DONE };
      const removing = before.removing.filter(({ id }) => id !== import_id);
      return { reply: DONE, ...changed({ ...before, removing }, facts) };
    },

    /** A reminder: an upload has expired, or an import is to be forgotten. */
    look: {
      records: (): RecordQuery[] => [{ collection: IMPORTS, range: { limit: IMPORTS_FORGOTTEN_MAX } }],
      decide(before, _: unknown, facts): DoneDecision<Imports> {
        if (before === null) return { reply: DONE };
        const { now_ms } = facts;
        const known = facts.range<EndedImport>(IMPORTS).map(({ value }) => value);
        const effects = known.filter((one) => now_ms >= forgetAt(one)).flatMap(forgotten);
        const oldest = known.find((one) => now_ms < forgetAt(one));
        const is_more = known.length === IMPORTS_FORGOTTEN_MAX;
        let state: Imports = { ...before, forget_at_ms: oldest ? forgetAt(oldest) : is_more ? now_ms : null };
        for (const one of before.open) {
          if (one.stage.status !== 'uploading' || now_ms < one.stage.expires_at_ms) continue;
          const failed = failedImport(one, EXPIRED);
          state = withEnded(state, failed);
          effects.push(...endedRecords(failed));
        }
        const looked = changed(state, facts);
        return { reply: DONE, next: looked.next, effects: [...effects, ...looked.effects] };
      },
    },

    /** Ends with its account; the pieces go with their folder. */
    erase(state, _: unknown, { self }): Decision<Imports, { left: boolean }> {
      if (state === null) return { reply: { left: false } };
      const effects: Effect[] = [
        { effect: 'delete_collection', collection: IMPORTS },
        { effect: 'delete_collection', collection: REFS },
        { effect: 'remove_from_index', ...IMPORTS_INDEX, member: self },
        { effect: 'cancel_reminder', name: LOOK },
        { effect: 'delete' },
      ];
      return { reply: { left: false }, next: null, effects };
    },
  },

  invariant({ open }) {
    if (open.length > LIMITS.imports_open_max) return 'too many imports';
    return open.some(({ stage, size_bytes }) => stage.status === 'uploading' && stage.received_bytes >= size_bytes)
      ? 'an import has all its bytes and awaits more'
      : null;
  },
});

const LOOK = 'look';

/** When the recording began, given its length. */
export function began(
  { name, captured_at, utc_offset_min, file_time, stage, created_at_ms }: Import,
  length_ms: number,
): Began {
  const offset = (of: number | undefined) => (of === undefined ? {} : { utc_offset_min: of });
  const before = (end_ms: number) => new Date(end_ms - length_ms).toISOString();
  if (captured_at !== null) return { captured_at, ...offset(utc_offset_min), by: 'caller' };
  const here = file_time?.utc_offset_min;
  const recorded = 'measured' in stage ? stage.measured?.recorded : undefined;
  if (recorded !== undefined)
    return { captured_at: recorded.captured_at, ...offset(recorded.utc_offset_min ?? here), by: 'metadata' };
  if (file_time === undefined) return { captured_at: before(created_at_ms), by: 'announcement' };
  const written_at = before(Date.parse(file_time.captured_at));
  const named_at = timeOfName({ name, created_at_ms }, file_time.utc_offset_min, Date.parse(written_at));
  return named_at === null
    ? { captured_at: written_at, ...offset(here), by: 'file_time' }
    : { captured_at: named_at, ...offset(here), by: 'file_name' };
}

/** Null where the name says nothing, no more than `written_ms` does, or a time that is still to come. */
function timeOfName(
  { name, created_at_ms }: Pick<Import, 'name' | 'created_at_ms'>,
  utc_offset_min: number,
  written_ms: number,
): string | null {
  const named = nameTime(name, utc_offset_min);
  if (named === null || named.ms > created_at_ms + DAY_MS) return null;
  return named.is_day && Math.abs(named.ms - written_ms) <= DAY_MS / 2 ? null : new Date(named.ms).toISOString();
}

function heldImport({ open }: Imports, { import_id, claim }: HeldImport): ClaimedImport | null {
  const found = open.find(({ id }) => id === import_id);
  return found?.stage.status === 'processing' && found.stage.claim === claim ? (found as ClaimedImport) : null;
}

function ended(state: Imports, item: EndedImport, facts: Facts): { next: Imports; effects: Effect[] } {
  const { next, effects } = changed(withEnded(state, item), facts);
  return { next, effects: [...endedRecords(item), ...effects] };
}

function forgotten({ id, import_ref }: Import): Effect[] {
  return [
    { effect: 'delete_record', collection: IMPORTS, id },
    { effect: 'delete_record', collection: REFS, id: import_ref },
  ];
}

function dueAt({ stage }: OpenImport): number {
  if (stage.status === 'waiting') return stage.not_before_ms;
  return stage.status === 'processing' ? stage.lease_until_ms : Number.POSITIVE_INFINITY;
}

/** The next state, and when a worker or the entity itself must act next. */
function changed(next: Imports, { self, now_ms }: Facts): { next: Imports; effects: Effect[] } {
  const { open, removing, forget_at_ms } = next;
  const due_ms = removing.length > 0 ? now_ms : Math.min(...open.map(dueAt));
  const expiries = open.flatMap(({ stage }) => (stage.status === 'uploading' ? [stage.expires_at_ms] : []));
  const look_ms = Math.min(...expiries, forget_at_ms ?? Number.POSITIVE_INFINITY);
  const message: ImportsMessage = { type: 'look' };
  return {
    next,
    effects: [
      ...dueIndexEffects(
        { ...IMPORTS_INDEX, member: self },
        { is_ms: due_ms === Number.POSITIVE_INFINITY ? null : due_ms },
      ),
      look_ms === Number.POSITIVE_INFINITY
        ? { effect: 'cancel_reminder', name: LOOK }
        : { effect: 'schedule_reminder', name: LOOK, at_ms: look_ms, message },
    ],
  };
}
