import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import {
  type Decision,
  DONE,
  type DoneDecision,
  type Facts,
  given,
  messagesOf,
  type Read,
  type RecordQuery,
} from '../actor.js';
import { GIVEN_UP, isLastTry, workerMessages } from '../job.js';
import { keptPipeline } from './context_state.js';
import { itemIn, itemRecord } from './item_records.js';
import { NO_LIBRARY, Writing } from './library_items.js';
import { spansOf } from './library_spans.js';
import {
  type Conversation,
  type ConversationSpan,
  type InsightJob,
  type InsightRun,
  insightKey,
  type Library,
  type Span,
  type Unsettled,
} from './library_state.js';

/** The jobs of a library: conversations that workers look into. docs/architecture.md, "Jobs". */

const UNSETTLED_DUE_MAX = 8; // ours: recordings told to a worker at once
const RUNS_KEPT_MAX = 50; // ours: of one recording

export const NOT_HELD = refuse('CONFLICT', 'This job is not yours: its claim was lost, or it is done.');
const NO_JOB = { job: null } as const;

/** `pipeline`: the number of the default one. */
type JobClaim = { token: string; run_id: string; lease_ms: number; pipeline?: number };
type HeldInsightJob = { job: number; token: string };
type ClaimedInsightJob = InsightJob & Required<Pick<InsightJob, 'claim'>>;
export type ClaimedJob = InsightJob & { conversation_item: Conversation | null };
type ClaimReply = {
  job: ClaimedJob | null;
  library: Pick<Library, 'account_id' | 'workspace_id'>;
};

type HeldReply = { job: ClaimedJob; library: ClaimReply['library'] };

export const ofLibrary = given((state: Library | null) => state ?? NO_LIBRARY);

const JOB_TRIES = { tries_max: LIMITS.insight_job_tries_max, rests_ms: LIMITS.insight_job_retries_ms };

/** A conversation to be analysed is a job, stored as a record. Its order is when it may be claimed. */
const insightJobs = workerMessages<Library, HeldInsightJob, ClaimedInsightJob>({
  given: ofLibrary,
  not_held: NOT_HELD,
  tries: JOB_TRIES,
  records: ({ job }) => [jobRecord(job)],
  further: runsOf,
  held(_, named, turn) {
    const job = heldJob(named, turn);
    return job === null ? null : { until_ms: job.claim.until_ms, job };
  },
  prolonged(state, { job, until_ms }, facts) {
    return changed(state, facts, (writing) => putJob(writing, { ...job, claim: { ...job.claim, until_ms } }, until_ms));
  },
  rested(state, { job: { claim: _, ...job } }, not_before_ms, facts) {
    return changed(state, facts, (writing) => putJob(writing, job, not_before_ms));
  },
  released(state, { job: { claim: _, ...job } }, facts) {
    return changed(state, facts, (writing) => putJob(writing, { ...job, tries: job.tries - 1 }, facts.now_ms));
  },
  failed(state, { job: { claim, ...job } }, { code, engine = null }, facts) {
    return changed(state, facts, (writing) => endJob(writing, job, failedRun(claim, code, engine)));
  },
});

export const jobMessages = messagesOf<Library>()({
  /** Lists what is due for a worker now, and corrects the library's place in the index of what is due. */
  due_work: {
    records: () => [
      { collection: 'unsettled', range: { limit: UNSETTLED_DUE_MAX + 1 } },
      { collection: 'jobs', range: { limit: 1 } },
    ],
    decide(state, _: unknown, facts): Decision<Library, { unsettled: Unsettled[]; has_job: boolean }> {
      if (state === null) return { reply: { unsettled: [], has_job: false } };
      const unsettled = facts.range<Unsettled>('unsettled');
      const [job] = facts.range<InsightJob>('jobs');
      const due = unsettled.filter(({ order }) => order <= facts.now_ms).slice(0, UNSETTLED_DUE_MAX);
      const reply = {
        unsettled: due.map(({ value }) => value),
        has_job: job !== undefined && job.order <= facts.now_ms,
      };
      const orders = [unsettled[0], job].flatMap((row) => row?.order ?? []);
      const writing = new Writing(state, facts);
      writing.setDue(orders.length === 0 ? null : Math.min(...orders));
      return writing.effects.length === 0 ? { reply } : writing.done(reply);
    },
  },

  /** Claims the conversation that has waited longest. `token`: random, made for this message. */
  claim_job: {
    records: (_: JobClaim) => [{ collection: 'jobs', range: { limit: 1 } }],
    further: (_: JobClaim, _state, read: Read): RecordQuery[] =>
      read
        .range<InsightJob>('jobs')
        .flatMap(({ value }) => [itemRecord('conversation', value.conversation), ...runsOf(value)]),
    decide: ofLibrary(
      (state, { token, run_id, lease_ms, pipeline }: JobClaim, facts): Decision<Library, ClaimReply> => {
        const library = { account_id: state.account_id, workspace_id: state.workspace_id };
        const [first] = facts.range<InsightJob>('jobs');
        if (first === undefined || first.order > facts.now_ms) return { reply: { ...NO_JOB, library } };
        const writing = new Writing(state, facts);
        const { claim: lost, ...waiting } = first.value;
        // A worker that says nothing when its lease ends has failed as well.
        if (isLastTry(waiting.tries, JOB_TRIES)) {
          endJob(writing, waiting, failedRun(lost ?? { run_id }, GIVEN_UP, null));
          return writing.done({ ...NO_JOB, library });
        }
        const until_ms = facts.now_ms + lease_ms;
        const by = waiting.pipeline_id === null ? keptPipeline(pipeline) : {};
        const job: InsightJob = { ...waiting, tries: waiting.tries + 1, claim: { token, run_id, until_ms, ...by } };
        putJob(writing, job, until_ms);
        const conversation_item = itemIn(facts, 'conversation', job.conversation) ?? null;
        return writing.done({ job: { ...job, conversation_item }, library });
      },
    ),
  },

  /** The job that a worker names. */
  held_job: {
    reads: true,
    records: ({ job }: HeldInsightJob) => [jobRecord(job), itemRecord('conversation', job)],
    decide: ofLibrary((state, held: HeldInsightJob, facts): { reply: HeldReply | typeof NOT_HELD } => {
      const job = heldJob(held, facts);
      if (job === null) return { reply: NOT_HELD };
      const conversation_item = itemIn(facts, 'conversation', job.conversation) ?? null;
      const { account_id, workspace_id } = state;
      return { reply: { job: { ...job, conversation_item }, library: { account_id, workspace_id } } };
    }),
  },

  prolong_job: insightJobs.prolong,
  job_failed: insightJobs.fail,
  release_job: insightJobs.release,

  /** Whether jobs of these streams are waiting. */
  waiting: {
    records: (_: { stream_ids: string[] }) => allWaiting(),
    decide(_, { stream_ids }: { stream_ids: string[] }, facts) {
      const are = (id: string) => stream_ids.includes(id);
      const waiting =
        facts.range<Unsettled>('unsettled').some(({ value }) => are(value.stream_id)) ||
        facts.range<InsightJob>('jobs').some(({ value }) => value.parts.some((part) => are(part.stream_id)));
      return { reply: { waiting } };
    },
  },

  /** Lists the ended jobs of a stream, the newest first, and its present jobs. */
  runs: {
    records: ({ stream_id }: { stream_id: string }) => [
      { collection: 'runs', id: stream_id },
      ...spansOf([{ stream_id }]),
    ],
    further: ({ stream_id }: { stream_id: string }, _state, read: Read): RecordQuery[] => jobsOn(stream_id, read),
    decide(_, { stream_id }: { stream_id: string }, facts) {
      const runs = facts.record<InsightRun[]>('runs', stream_id) ?? [];
      const jobs = jobsOn(stream_id, facts).flatMap(({ id }) => facts.record<InsightJob>('jobs', id) ?? []);
      return { reply: { runs: [...runs].reverse(), jobs } };
    },
  },

  /** Ends all jobs: the layer is off, or the account is gone. */
  drop_work(state, _: unknown, facts): DoneDecision<Library> {
    if (state === null || state.insights === undefined) return { reply: DONE };
    const writing = new Writing(state, facts);
    for (const collection of ['unsettled', 'jobs']) writing.effects.push({ effect: 'delete_collection', collection });
    writing.setDue(null);
    return writing.done(DONE);
  },
});

const NOTHING_DROPPED: InsightRun['dropped'] = { unsupported: 0, duplicate: 0, protected: 0 };

export function jobRecord(number: number): RecordQuery {
  return { collection: 'jobs', id: insightKey(number) };
}

/** The job that a worker names. An expired lease counts until another worker has the job. */
export function heldJob(
  { job: number, token }: HeldInsightJob,
  facts: Pick<Facts, 'record'>,
): ClaimedInsightJob | null {
  const job = facts.record<InsightJob>('jobs', insightKey(number));
  return job?.claim?.token === token ? { ...job, claim: job.claim } : null;
}

function changed(state: Library, facts: Facts, write: (writing: Writing) => void) {
  const writing = new Writing(state, facts);
  write(writing);
  return writing.changed();
}

function failedRun(
  { run_id, pipeline }: { run_id: string; pipeline?: number },
  failure: string,
  engine: string | null,
) {
  return { status: 'failed' as const, run_id, engine, failure, dropped: NOTHING_DROPPED, ...keptPipeline(pipeline) };
}

export function putJob(writing: Writing, job: InsightJob, at_ms: number): void {
  writing.write('jobs', insightKey(job.number), { value: job, order: at_ms });
  writing.due(at_ms);
}

/** Reads the runs of a job's streams, to which its end is added. */
export function runsOf(job: { parts: Span[] } | null): RecordQuery[] {
  return streamsOf(job?.parts ?? []).map((id) => ({ collection: 'runs', id }));
}

/** Removes a job, and records in the runs of its streams how it ended. */
export function endJob(
  writing: Writing,
  job: InsightJob,
  ended: Pick<InsightRun, 'status' | 'run_id' | 'engine' | 'failure' | 'dropped' | 'pipeline'>,
): void {
  const { conversation, pipeline_id, tries, queued_at_ms, parts } = job;
  writing.drop('jobs', insightKey(job.number));
  for (const stream_id of streamsOf(parts)) {
    const of_stream = parts.filter((part) => part.stream_id === stream_id);
    const run: InsightRun = {
      ...ended,
      pipeline_id,
      conversation,
      tries,
      queued_at_ms,
      ended_at_ms: writing.facts.now_ms,
      from_ms: Math.min(...of_stream.map(({ start_ms }) => start_ms)),
      to_ms: Math.max(...of_stream.map(({ end_ms }) => end_ms)),
    };
    const runs = [...(writing.record<InsightRun[]>('runs', stream_id) ?? []), run];
    writing.write('runs', stream_id, { value: runs.slice(-RUNS_KEPT_MAX) });
  }
}

function allWaiting(): RecordQuery[] {
  return ['unsettled', 'jobs'].map((collection) => ({ collection, range: { limit: LIMITS.insights_waiting_max } }));
}

export function jobsOn(stream_id: string, read: Pick<Read, 'record'>): { collection: string; id: string }[] {
  const spans = read.record<ConversationSpan[]>('spans', stream_id) ?? [];
  const numbers = new Set(spans.map(({ conversation }) => conversation));
  return [...numbers]
    .slice(-LIMITS.insights_waiting_max)
    .map((number) => ({ collection: 'jobs', id: insightKey(number) }));
}

function streamsOf(parts: readonly Span[]): string[] {
  return [...new Set(parts.map(({ stream_id }) => stream_id))];
}
