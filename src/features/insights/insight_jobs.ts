import { isOpen } from '../../../actors/accounts/account_state.js';
import { defaultPipeline } from '../../../actors/insights/context.js';
import { pipelineOf } from '../../../actors/insights/context_state.js';
import type { ClaimedJob } from '../../../actors/insights/library_jobs.js';
import {
  INSIGHTS_INDEX,
  type InsightTally,
  type MadeBy,
  type Unsettled,
} from '../../../actors/insights/library_state.js';
import { insightId, isId, partitionOfId } from '../../domain/ids.js';
import { LIMITS } from '../../domain/limits.js';
import { isEnabled } from '../../domain/permissions.js';
import { isRefusal, type Refusal, refuse } from '../../domain/refusals.js';
import { DueEntities } from '../../engine/jobs/due_entities.js';
import type { DuePoll } from '../../engine/jobs/due_poll.js';
import { InHand } from '../../engine/jobs/in_hand.js';
import { CLOSED, EPOCH_ENDED } from '../../engine/runtime/activation.js';
import type { Actors } from '../../engine/runtime/actors.js';
import type { Metrics } from '../../engine/runtime/metrics.js';
import { randomBytes, randomId } from '../../engine/runtime/random.js';
import type { Runtime } from '../../engine/runtime/runtime.js';
import type { ServerKeys } from '../../engine/secrets/server_keys.js';
import { type Fence, type Store, StoreUnavailable } from '../../engine/store/store.js';
import { goneWorkspace } from '../recordings/standing_workspace.js';
import { checkedInsights } from './checked_insights.js';
import { conversationsOf } from './conversations_of.js';
import { heardAround } from './heard_streams.js';
import { InsightActivity } from './insight_activity.js';
import { digestOfTurns, type InsightInput } from './insight_input.js';
import { inputOfJob, type Owner } from './job_input.js';
import { standing } from './standing.js';

const TOKEN_BYTES = 12;
const NO_JOB = refuse('NOT_FOUND', 'There is no such job.');
const GONE = refuse('GONE', 'The recording, its account or its insights layer is gone; drop the job.');
const OTHER_TURNS = refuse('CONFLICT', 'The turns of this job have changed since it was claimed; it comes again.');

type Parts = {
  store: Store;
  poll: DuePoll;
  actors: Actors;
  runtime: Pick<Runtime, 'cacheEpoch'>;
  keys: Pick<ServerKeys, 'keyIds' | 'keyedHashWith'>;
  metrics: Metrics;
  log: { error(details: object, text: string): void };
  now: () => number;
};

/** A conversation to look into. `claim` is a secret between the server and who holds it. */
export type InsightWork = {
  job: string;
  claim: string;
  run_id: string;
  tries: number;
  lease_until_ms: number;
  account_id: string;
  /** Where the conversation begins. */
  stream_id: string;
  pipeline_id: string;
  /** The name of the engine that the pipeline wants. */
  engine: string;
  conversation_id: string;
  input: InsightInput;
};

/** What a worker says of a job. `digest`: of all of it; the same again gets the same answer. */
export type InsightResult = { claim: string; digest: string; raw: unknown; made_by: MadeBy; engine: string | null };

/** A job as its name tells it; claims hold the token and what the turns were. */
type JobOf = { library_id: string; number: number };
type Held = { token: string; turns: string };

/** Nothing can be done there now; it is looked at again after a while. */
class NotNow extends Error {
  override name = 'NotNow';
}

/**
 * Finds conversations where something was said, and hands them to whoever looks into them, here or on the operator port.
 * Which job is whose, libraries decide; this knows where to ask, and whether an account wants insights.
 */
export class InsightJobs {
  readonly #parts: Parts;
  readonly #in_hand: InHand;
  readonly due: DueEntities;
  readonly activity: InsightActivity;

  constructor(parts: Parts) {
    const { store, now, log, poll } = parts;
    this.#parts = parts;
    this.activity = new InsightActivity(now);
    const complain = (error: unknown) => {
      if (!(error instanceof NotNow || error instanceof StoreUnavailable))
        log.error({ err: error }, 'a conversation could not be looked into; it is tried again');
    };
    const due = new DueEntities({ store, now, poll, index: INSIGHTS_INDEX, complain });
    this.due = due;
    const ways = { rest: (id: string) => due.rest(id), wake: (id: string) => due.wake(id) };
    this.#in_hand = new InHand({ now, per_account_max: LIMITS.insight_jobs_per_account_max, ...ways });
  }

  /** Jobs that were handed out here and are not done. */
  get in_hand(): number {
    return this.#in_hand.size;
  }

  /** Up to so many conversations, which nobody else gets for that time. */
  async claim({ limit, lease_ms }: { limit: number; lease_ms: number }): Promise<InsightWork[]> {
    const found: InsightWork[] = [];
    for (const partition of await this.due.partitions()) {
      for (const library_id of await this.due.due(partition)) {
        const work = await this.due.tryOn(library_id, () => this.claimOf(library_id, lease_ms));
        if (work !== null) found.push(work);
        if (found.length >= limit) return found;
      }
    }
    return found;
  }

  /** The next conversation of a library, or null when none is due. Throws where nothing of it can be done now. */
  async claimOf(library_id: string, lease_ms: number): Promise<InsightWork | null> {
    const { actors, now } = this.#parts;
    const library = actors.library(library_id);
    const owner = standing(await library.view());
    if (owner === null) return null;
    const wanted = await this.#wanted(owner);
    if (wanted === 'waits') throw new NotNow();
    if (wanted !== 'open') {
      this.activity.dropped(wanted);
      standing(await library.drop_work());
      return null;
    }
    const { unsettled = [], has_job = false } = standing(await library.due_work()) ?? {};
    for (const one of unsettled) await this.#settle(library_id, one);
    if (unsettled.length > 0) this.due.offer(library_id);
    else if (!has_job) return null;
    const { account_id } = owner;
    if (!this.#in_hand.hasRoom(account_id, library_id)) return null;
    const token = Buffer.from(randomBytes(TOKEN_BYTES)).toString('base64url');
    const run_id = randomId({ partition: partitionOfId(library_id), now_ms: now() });
    const context = standing(await actors.context(account_id).view());
    const pipeline = context === null ? 1 : defaultPipeline(context).number;
    const job = standing(await library.claim_job({ token, run_id, lease_ms, pipeline }))?.job ?? null;
    if (job === null) return null;
    this.due.offer(library_id);
    const found = await inputOfJob(this.#parts, job, owner);
    if (found === null) {
      const failed = { code: 'NOTHING_SAID', retry: false, engine: null };
      standing(await library.job_failed({ job: job.number, token, ...failed }));
      return null;
    }
    const name = jobName({ library_id, number: job.number });
    const { input, engine } = found;
    const until_ms = job.claim?.until_ms ?? now() + lease_ms;
    this.#in_hand.note(account_id, name, until_ms);
    return {
      ...{ job: name, claim: claimOfHeld({ token, turns: digestOfTurns(input.turns) }), run_id, tries: job.tries },
      ...{ lease_until_ms: until_ms, account_id, stream_id: job.parts[0]?.stream_id ?? '', engine, input },
      pipeline_id: pipelineOf({ ...job.claim, pipeline_id: job.pipeline_id }, owner),
      ...{ conversation_id: insightId(library_id, 'conversation', job.conversation) },
    };
  }

  /** The claim holds for so long from now on. */
  async prolong(name: string, claim: string, lease_ms: number): Promise<{ until_ms: number } | Refusal> {
    const job = jobOf(name);
    if (job === null) return NO_JOB;
    const { token } = heldIn(claim);
    const held = await this.#parts.actors.library(job.library_id).prolong_job({ job: job.number, token, lease_ms });
    if (!isRefusal(held)) this.#in_hand.prolonged(name, held.until_ms);
    return held;
  }

  async publish(name: string, { claim, digest, raw, made_by, engine }: InsightResult): Promise<InsightTally | Refusal> {
    const job = jobOf(name);
    if (job === null) return NO_JOB;
    const { actors, keys, metrics } = this.#parts;
    const library = actors.library(job.library_id);
    const owner = await library.view();
    if (isRefusal(owner)) return owner.refused === 'NOT_FOUND' ? NO_JOB : owner;
    const held_as = heldIn(claim);
    const { token } = held_as;
    const held = await library.held_job({ job: job.number, token });
    // It may be published already: then the same gets the same answer.
    if (isRefusal(held)) return held.refused === 'CONFLICT' ? this.#again(job, { token, digest }) : held;
    const fences = await this.#fences(owner, held.job);
    if (isRefusal(fences)) return this.#gone(name, job, fences);
    const found = await inputOfJob(this.#parts, held.job, owner);
    if (found === null || digestOfTurns(found.input.turns) !== held_as.turns) {
      await this.release(name, claim);
      return found === null ? this.#gone(name, job, GONE) : OTHER_TURNS;
    }
    const checked = checkedInsights(raw, { input: found.input, keys, made_by });
    if (!checked.ok) {
      const { path, message } = checked.refused;
      return refuse('BAD_REQUEST', 'The result is not what a result may be.', { details: [{ path, message }] });
    }
    const said = { job: job.number, token, digest, engine, result: checked.insights };
    const published = await library.publish(said, fences);
    if (published === CLOSED || published === EPOCH_ENDED) return this.#gone(name, job, GONE);
    if (isRefusal(published)) return published;
    this.#in_hand.forget(name);
    this.due.offer(job.library_id);
    const { tally } = published;
    this.activity.published(tally);
    metrics.insights_published.inc({ kind: 'suggestion' }, tally.suggestions);
    metrics.insights_published.inc({ kind: 'memory' }, tally.memories);
    for (const [reason, count] of Object.entries(tally.dropped)) metrics.insights_dropped.inc({ reason }, count);
    return tally;
  }

  /** `again`: it comes once more, after a rest. */
  async failed(
    name: string,
    said: { claim: string; code: string; retry: boolean; rest_ms?: number | undefined; engine: string | null },
  ): Promise<{ again: boolean; tries: number } | Refusal> {
    const job = jobOf(name);
    if (job === null) return NO_JOB;
    const { claim, ...why } = said;
    const held = { job: job.number, token: heldIn(claim).token };
    const failed = await this.#parts.actors.library(job.library_id).job_failed({ ...held, ...why });
    if (isRefusal(failed)) return failed;
    this.#in_hand.forget(name);
    this.activity.failed(said.code);
    return failed;
  }

  async release(name: string, claim: string): Promise<void> {
    const job = jobOf(name);
    if (job === null) return;
    this.#in_hand.forget(name);
    const held = { job: job.number, token: heldIn(claim).token };
    await this.#parts.actors.library(job.library_id).release_job(held);
    this.due.offer(job.library_id);
  }

  /** Looks where conversations lie. What can not be told yet is looked at again. */
  async #settle(library_id: string, unsettled: Unsettled): Promise<void> {
    const { actors, now } = this.#parts;
    const { stream_id, pipeline_id, heard, again, from_ms, to_ms, changed_at_ms } = unsettled;
    const library = actors.library(library_id);
    const quiet_ms = changed_at_ms + LIMITS.conversation_quiet_ms;
    const is_over = now() >= quiet_ms;
    const settled = { stream_id, pipeline_id, heard, again };
    if (!is_over && (await this.#goesOn(unsettled))) {
      const nothing = { found: [], expired: [] };
      standing(await library.settled({ ...settled, ...nothing, left: { from_ms, to_ms }, look_again_ms: quiet_ms }));
      return;
    }
    const around = await heardAround(this.#parts, { stream_id, pipeline_id, from_ms, to_ms });
    if (around === null) {
      standing(await library.settled({ ...settled, found: [], expired: [], left: null, look_again_ms: null }));
      return;
    }
    const { found, left } = conversationsOf({ ...around, stream_id, from_ms, to_ms, is_over });
    const { expired } = around;
    const look_again_ms = left === null ? null : quiet_ms;
    standing(await library.settled({ ...settled, found, expired, left, look_again_ms }));
  }

  /** Whether it can be told without its turns that nothing there is over: most looks at a recording in progress end here. */
  async #goesOn({ stream_id, from_ms, to_ms }: Unsettled): Promise<boolean> {
    if (to_ms - from_ms >= LIMITS.conversation_gap_ms) return false;
    const { actors } = this.#parts;
    const stream = standing(await actors.stream(stream_id).view());
    const transcript = stream === null ? null : standing(await actors.transcript(stream_id).view());
    if (stream === null || transcript === null || stream.end_ms !== null) return false;
    return transcript.covered.every(([, end_ms]) => end_ms < to_ms + LIMITS.conversation_gap_ms);
  }

  /** `waits`: maybe later; anything else but `open` is why nothing more is made there. */
  async #wanted({
    account_id,
    workspace_id,
  }: Owner): Promise<'open' | 'waits' | 'account_gone' | 'layer_off' | 'workspace_gone'> {
    const { actors } = this.#parts;
    const account = await actors.account(account_id).view();
    if (isRefusal(account)) {
      if (account.refused === 'UNAUTHORIZED') return 'account_gone';
      throw account.refused === 'UNAVAILABLE' ? new StoreUnavailable(account.message) : new Error(account.message);
    }
    if (!isOpen(account)) return 'waits';
    const { entitlements } = account;
    if (!isEnabled(entitlements, 'insights.access') || !isEnabled(entitlements, 'transcripts.access'))
      return 'layer_off';
    const gone = await goneWorkspace(this.#parts, workspace_id);
    if (gone === null) return 'open';
    if (gone.refused === 'NOT_FOUND') return 'workspace_gone';
    throw gone.refused === 'UNAVAILABLE' ? new StoreUnavailable(gone.message) : new Error(gone.message);
  }

  /** What must still hold when a result is written. */
  async #fences(owner: Owner, { parts }: ClaimedJob): Promise<Fence[] | Refusal> {
    if ((await this.#wanted(owner)) !== 'open') return GONE;
    const account = await this.#parts.actors.account(owner.account_id).view();
    if (isRefusal(account)) return account.refused === 'UNAUTHORIZED' ? GONE : account;
    const ids = new Set(parts.flatMap(({ stream_id, source_id }) => [source_id, stream_id]));
    return [
      { fence: 'epoch', account_id: owner.account_id, epoch: 'account', value: account.lives.account },
      ...[...ids].map((id): Fence => ({ fence: 'open', id })),
    ];
  }

  async #again({ library_id }: JobOf, said: { token: string; digest: string }): Promise<InsightTally | Refusal> {
    const published = await this.#parts.actors.library(library_id).published(said);
    return isRefusal(published) ? published : published.tally;
  }

  /** What was recorded there is gone, or its layer is: its job goes as well, when somebody looks there next. */
  async #gone(name: string, { library_id }: JobOf, refusal: Refusal): Promise<Refusal> {
    if (refusal.refused !== 'GONE') return refusal;
    this.#in_hand.forget(name);
    this.activity.dropped('gone_meanwhile');
    this.due.offer(library_id);
    return refusal;
  }
}

function jobName({ library_id, number }: JobOf): string {
  return `i.${library_id}.${number}`;
}

export function isInsightJob(name: string): boolean {
  return name.startsWith('i.');
}

function jobOf(name: string): JobOf | null {
  const [, library_id = '', digits] = /^i\.([0-9a-f-]{36})\.([1-9]\d{0,9})$/.exec(name) ?? [];
  return digits === undefined || !isId(library_id) ? null : { library_id, number: Number(digits) };
}

function claimOfHeld({ token, turns }: Held): string {
  return `${token}.${turns}`;
}

function heldIn(claim: string): Held {
  const [token = '', turns = ''] = claim.split('.');
  return { token, turns };
}
