import { defaultPipeline } from '../../../../actors/insights/context.js';
import { pipelineOf } from '../../../../actors/insights/context_state.js';
import type { ClaimedJob } from '../../../../actors/insights/library_jobs.js';
import {
  INSIGHTS_INDEX,
  type InsightTally,
  type LeftOut,
  type MadeBy,
  type Unsettled,
} from '../../../../actors/insights/library_state.js';
import type { JobFailure } from '../../../../actors/job.js';
import { insightId, partitionOfId } from '../../../domain/ids.js';
import { LIMITS } from '../../../domain/limits.js';
import { orNull, Refused, refuse, throwRefusal } from '../../../domain/refusals.js';
import { newClaimToken } from '../../../engine/jobs/claim_token.js';
import { type DueMembersDeps, NotNow } from '../../../engine/jobs/due_members.js';
import { type ClaimedWork, type JobName, JobQueue, type JobResult, NO_JOB } from '../../../engine/jobs/job_queue.js';
import type { Metrics } from '../../../engine/metrics/metrics.js';
import { randomId } from '../../../engine/random/random.js';
import type { Actors } from '../../../engine/runtime/actors.js';
import type { Runtime } from '../../../engine/runtime/runtime.js';
import { isFenceBroken } from '../../../engine/runtime/runtime_refusals.js';
import type { ServerKeys } from '../../../engine/secrets/server_keys.js';
import type { Fence } from '../../../engine/store/store.js';
import { ownerStatus } from '../../recordings/workspace_status.js';
import type { InsightEngine } from '../engines/insight_engine.js';
import { digestOfTurns, type InsightInput } from '../engines/insight_input.js';
import { checkedInsights } from './checked_insights.js';
import { findConversations } from './conversation_boundaries.js';
import { ENGLISH_ONLY } from './insight_failures.js';
import { inputOfJob, type Owner } from './job_input.js';
import { recordingSummaries } from './recording_summaries.js';
import { refreshRoles } from './suggestion_roles.js';
import { surroundingSpeech } from './surrounding_speech.js';

const CONVERSATION_QUIET_MS = 10 * 60_000; // ours: when nothing came for so long, what is said is all there is

const PREFIX = 'i.';
const LAYERS = ['insights.access', 'transcripts.access'] as const;
const GONE = refuse('GONE', 'The recording, its account or its insights layer is gone; drop the job.');
const OTHER_TURNS = refuse('CONFLICT', 'The turns of this job have changed since it was claimed; it comes again.');

type InsightJobsDeps = DueMembersDeps & {
  actors: Actors;
  runtime: Pick<Runtime, 'invalidations' | 'caches'>;
  keys: Pick<ServerKeys, 'keyIds' | 'keyedHashWith'>;
  metrics: Metrics;
  /** Summarizes each recording of a conversation of several, whichever engine analysed the whole. */
  built_in: InsightEngine;
};

/** A conversation to analyse. Its claim holds the token and a digest of the turns. */
export type InsightWork = ClaimedWork & {
  /** The start of the conversation. */
  stream_id: string;
  pipeline_id: string;
  /** The name of the pipeline's engine. */
  engine: string;
  conversation_id: string;
  /** The engine that made the present conversation; null if there is none. */
  made_by: MadeBy | null;
  input: InsightInput;
};

/** The result of a job, as a worker sends it. */
export type InsightResult = JobResult & {
  raw: unknown;
  made_by: MadeBy;
  engine: string | null;
  /** The parts of the answer that its reader has left out. */
  left_out?: LeftOut;
  /** Why the result comes from another engine than the pipeline's. */
  failure?: { code: string; engine: string };
};

/** The jobs of conversations, which libraries store. */
export class InsightJobs extends JobQueue<InsightWork, InsightResult, InsightTally> {
  readonly #deps: InsightJobsDeps;

  constructor(deps: InsightJobsDeps) {
    super(deps, {
      index: INSIGHTS_INDEX,
      prefix: PREFIX,
      per_account_max: LIMITS.insight_jobs_per_account_max,
      complaint: 'a conversation could not be looked into; it is tried again',
    });
    this.#deps = deps;
  }

  /** Claims the next conversation of a library; null if none is due. Throws if nothing can be done now. */
  async claimOf(library_id: string, lease_ms: number): Promise<InsightWork | null> {
    const { actors, now } = this.#deps;
    const library = actors.library(library_id);
    const owner = await orNull(library.view(), 'NOT_FOUND');
    if (owner === null) return null;
    const { status } = await ownerStatus(this.#deps, owner, LAYERS);
    if (status === 'account_closed') throw new NotNow();
    if (status !== 'open') {
      this.activity.dropped(status);
      await orNull(library.drop_work(), 'NOT_FOUND');
      return null;
    }
    const { unsettled = [], has_job = false } = (await orNull(library.due_work(), 'NOT_FOUND')) ?? {};
    for (const one of unsettled) await this.#settle(library_id, one);
    if (unsettled.length > 0) this.due.offer(library_id);
    else if (!has_job) return null;
    const { account_id } = owner;
    if (!this.hasRoom(account_id, library_id)) return null;
    const token = newClaimToken();
    const run_id = randomId({ partition: partitionOfId(library_id), now_ms: now() });
    const context = await orNull(actors.context(account_id).view(), 'NOT_FOUND');
    const pipeline = context === null ? 1 : defaultPipeline(context).number;
    const job = (await orNull(library.claim_job({ token, run_id, lease_ms, pipeline }), 'NOT_FOUND'))?.job ?? null;
    if (job === null) return null;
    this.due.offer(library_id);
    const found = await inputOfJob(this.#deps, job, owner);
    if (found === null) {
      const failed = { code: 'NOTHING_SAID', retry: false, engine: null };
      await orNull(library.job_failed({ job: job.number, token, ...failed }), 'NOT_FOUND');
      return null;
    }
    const { input, engine } = found;
    return this.handedOut({
      job: this.nameOf({ entity_id: library_id, number: job.number }),
      claim: `${token}.${digestOfTurns(input.turns)}`,
      run_id,
      tries: job.tries,
      lease_until_ms: job.claim?.until_ms ?? now() + lease_ms,
      account_id,
      stream_id: job.parts[0]?.stream_id ?? '',
      pipeline_id: pipelineOf({ ...job.claim, pipeline_id: job.pipeline_id }, owner),
      engine,
      conversation_id: job.conversation_item?.kept_id ?? insightId(library_id, 'conversation', job.conversation),
      made_by: job.conversation_item?.made_by ?? null,
      input,
    });
  }

  protected messagesOf({ entity_id, number: job }: JobName, claim: string) {
    const library = this.#deps.actors.library(entity_id);
    const { token } = heldIn(claim);
    return {
      prolong: (lease_ms: number) => library.prolong_job({ job, token, lease_ms }),
      fail: (failure: JobFailure) => library.job_failed({ job, token, ...failure }),
      release: () => library.release_job({ job, token }),
    };
  }

  protected async publishJob(job: JobName, result: InsightResult): Promise<InsightTally> {
    const { claim, digest, raw, made_by, engine, left_out, failure } = result;
    const { entity_id: library_id, number } = job;
    const { actors, keys, metrics, built_in } = this.#deps;
    const library = actors.library(library_id);
    const owner = (await orNull(library.view(), 'NOT_FOUND')) ?? throwRefusal(NO_JOB);
    const { token, turns } = heldIn(claim);
    const held = await orNull(library.held_job({ job: number, token }), 'CONFLICT');
    // It may be published already: then the same gets the same answer.
    if (held === null) return (await library.published({ token, digest })).tally;
    const fences = await this.#fences(owner, held.job);
    if (fences === null) return this.#gone(job);
    const found = await inputOfJob(this.#deps, held.job, owner);
    if (found === null || digestOfTurns(found.input.turns) !== turns) {
      await this.release(this.nameOf(job), claim);
      return found === null ? this.#gone(job) : throwRefusal(OTHER_TURNS);
    }
    const checked = checkedInsights(raw, { input: found.input, keys, made_by, left_out });
    if (!checked.ok) {
      const { path, message } = checked.refused;
      throw new Refused(
        refuse('BAD_REQUEST', 'The result is not what a result may be.', { details: [{ path, message }] }),
      );
    }
    const { insights } = checked;
    const by_recording = await recordingSummaries(insights.conversation, { input: found.input, keys, built_in });
    const result_told = { ...insights, conversation: { ...insights.conversation, by_recording } };
    const said = { job: number, token, digest, engine, failure: failure?.code, result: result_told };
    const published = await library.publish(said, fences).catch((error: unknown) => {
      if (isFenceBroken(error)) return null;
      throw error;
    });
    if (published === null) return this.#gone(job);
    this.over(job);
    // A speaker may have been named since the input was read.
    const heard = held.job.pipeline_id === null ? held.job.parts : [];
    for (const stream_id of new Set(heard.map((part) => part.stream_id)))
      await refreshRoles(this.#deps, stream_id, number);
    const { tally } = published;
    this.activity.published(tally, failure?.code === ENGLISH_ONLY ? undefined : failure);
    metrics.insights_published.inc({ kind: 'suggestion' }, tally.suggestions);
    metrics.insights_published.inc({ kind: 'memory' }, tally.memories);
    for (const [reason, count] of Object.entries(tally.dropped)) metrics.insights_dropped.inc({ reason }, count);
    return tally;
  }

  /** Finds conversations. A range that is still incomplete is searched again. */
  async #settle(library_id: string, unsettled: Unsettled): Promise<void> {
    const { actors, now } = this.#deps;
    const { stream_id, pipeline_id, heard, again, from_ms, to_ms, changed_at_ms } = unsettled;
    const library = actors.library(library_id);
    const quiet_ms = changed_at_ms + CONVERSATION_QUIET_MS;
    const is_over = now() >= quiet_ms;
    const settled = { stream_id, pipeline_id, heard, again };
    if (!is_over && (await this.#goesOn(unsettled))) {
      const nothing = { found: [], expired: [] };
      await orNull(
        library.settled({ ...settled, ...nothing, left: { from_ms, to_ms }, recheck_ms: quiet_ms }),
        'NOT_FOUND',
      );
      return;
    }
    const around = await surroundingSpeech(this.#deps, { stream_id, pipeline_id, from_ms, to_ms });
    if (around === null) {
      await orNull(library.settled({ ...settled, found: [], expired: [], left: null, recheck_ms: null }), 'NOT_FOUND');
      return;
    }
    const { found, left } = findConversations({ ...around, stream_id, from_ms, to_ms, is_over });
    const { expired } = around;
    const recheck_ms = left === null ? null : quiet_ms;
    await orNull(library.settled({ ...settled, found, expired, left, recheck_ms }), 'NOT_FOUND');
  }

  /**
   * Whether nothing there can be over, judged without reading its turns. Most searches in a recording in progress end
   * here.
   */
  async #goesOn({ stream_id, from_ms, to_ms }: Unsettled): Promise<boolean> {
    if (to_ms - from_ms >= LIMITS.conversation_gap_ms) return false;
    const { actors } = this.#deps;
    const stream = await orNull(actors.stream(stream_id).view(), 'NOT_FOUND');
    const transcript = stream === null ? null : await orNull(actors.transcript(stream_id).view(), 'NOT_FOUND');
    if (stream === null || transcript === null || stream.end_ms !== null) return false;
    return transcript.covered.every(([, end_ms]) => end_ms < to_ms + LIMITS.conversation_gap_ms);
  }

  /** The fences for a result; null if the result is no longer wanted. */
  async #fences(library: Owner, { parts }: ClaimedJob): Promise<Fence[] | null> {
    const owner = await ownerStatus(this.#deps, library, LAYERS);
    if (owner.status !== 'open') return null;
    const ids = new Set(parts.flatMap(({ stream_id, source_id }) => [source_id, stream_id]));
    return [owner.fence, ...[...ids].map((id): Fence => ({ fence: 'open', id }))];
  }

  /** Drops a job whose recording or layer is gone; the library removes it with its next claim. */
  #gone(job: JobName): never {
    this.activity.dropped('gone_meanwhile');
    this.over(job);
    throw new Refused(GONE);
  }
}

export function isInsightJob(name: string): boolean {
  return name.startsWith(PREFIX);
}

/** The token of a claim, and the digest of the turns that it was handed out with. */
function heldIn(claim: string): { token: string; turns: string } {
  const [token = '', turns = ''] = claim.split('.');
  return { token, turns };
}
