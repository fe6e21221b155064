import type { FailedJob, JobFailure, Lease } from '../../../actors/job.js';
import { isId } from '../../domain/ids.js';
import { orRefused, Refused, refuse, throwRefusal } from '../../domain/refusals.js';
import { DueMembers, type DueMembersDeps } from './due_members.js';
import { InFlightLimit } from './in_flight_limit.js';
import { JobActivity } from './job_activity.js';

export const NO_JOB = refuse('NOT_FOUND', 'There is no such job.');

/** A claimed job. `claim` is a secret between the server and the holder. */
export type ClaimedWork = {
  job: string;
  claim: string;
  run_id: string;
  tries: number;
  lease_until_ms: number;
  account_id: string;
};

/** The result of a job. `digest`: over the worker's whole answer; the same answer again gets the same reply. */
export type JobResult = { claim: string; digest: string };

/** The entity that holds a job, and the job's number there. */
export type JobName = { entity_id: string; number: number };

/** The messages by which the entity of a job learns of its claims. */
type JobMessages = {
  prolong(lease_ms: number): Promise<Lease>;
  fail(failure: JobFailure): Promise<FailedJob>;
  release(): Promise<unknown>;
};

type JobQueueKind = {
  index: { owner: string; index: string };
  /** The prefix of these jobs' names. */
  prefix: string;
  /** Jobs of one account that this process hands out at a time. */
  per_account_max: number;
  complaint: string;
};

/**
 * Hands jobs of one kind to workers, here or on the operator port, and takes their results. Entities decide who holds a
 * job; this queue knows which entities to ask, and how many jobs of an account are in flight.
 */
export abstract class JobQueue<Work extends ClaimedWork, Result extends JobResult, Tally, Kept = Tally> {
  readonly due: DueMembers;
  readonly activity: JobActivity<Kept>;
  readonly #prefix: string;
  readonly #in_flight: InFlightLimit;

  constructor(deps: DueMembersDeps, { index, prefix, per_account_max, complaint }: JobQueueKind) {
    const { now } = deps;
    const due = new DueMembers(deps, { queue: index, complaint });
    this.due = due;
    this.activity = new JobActivity(now);
    this.#prefix = prefix;
    const rest = (entity_id: string) => due.rest(entity_id);
    const wake = (entity_id: string) => due.wake(entity_id);
    this.#in_flight = new InFlightLimit({ now, per_account_max, rest, wake });
  }

  /** The next job of an entity, or null if none is due. Throws if none of its jobs can be done now. */
  abstract claimOf(entity_id: string, lease_ms: number): Promise<Work | null>;
  protected abstract publishJob(job: JobName, result: Result): Promise<Tally>;
  protected abstract messagesOf(job: JobName, token: string): JobMessages;

  /** Jobs that were handed out here and are not done. */
  get in_flight(): number {
    return this.#in_flight.size;
  }

  /** Claims up to `limit` jobs, which no other worker gets for `lease_ms`. */
  claim({ limit, lease_ms }: { limit: number; lease_ms: number }): Promise<Work[]> {
    return this.due.claim(limit, async (entity_id) => {
      const work = await this.claimOf(entity_id, lease_ms);
      return work === null ? [] : [work];
    });
  }

  /** Extends the claim by this time from now. */
  async prolong(name: string, claim: string, lease_ms: number): Promise<Lease> {
    const job = this.parse(name);
    if (job === null) throw new Refused(NO_JOB);
    const lease = await this.messagesOf(job, claim).prolong(lease_ms);
    this.#in_flight.prolonged(name, lease.until_ms);
    return lease;
  }

  async publish(name: string, result: Result): Promise<Tally> {
    const job = this.parse(name);
    return job === null ? throwRefusal(NO_JOB) : this.publishJob(job, result);
  }

  async failed(name: string, { claim, ...failure }: JobFailure & { claim: string }): Promise<FailedJob> {
    const job = this.parse(name);
    if (job === null) throw new Refused(NO_JOB);
    const failed = await this.messagesOf(job, claim).fail(failure);
    this.#in_flight.forget(name);
    this.activity.failed(failure.code, failure.engine);
    return failed;
  }

  async release(name: string, claim: string): Promise<void> {
    const job = this.parse(name);
    if (job === null) return;
    await this.messagesOf(job, claim).release().catch(orRefused(null)); // its lease ends by itself
    this.over(job);
  }

  /**
   * False if the account has reached its limit of jobs in flight; the entity is asked again when one of these has
   * ended.
   */
  protected hasRoom(account_id: string, entity_id: string): boolean {
    return this.#in_flight.hasRoom(account_id, entity_id);
  }

  /** Notes a job that is handed out. */
  protected handedOut<W extends Work>(work: W): W {
    this.#in_flight.note(work.account_id, work.job, work.lease_until_ms);
    return work;
  }

  /** Notes that no worker holds a job any more; its entity may have another. */
  protected over(job: JobName): void {
    this.#in_flight.forget(this.nameOf(job));
    this.due.offer(job.entity_id);
  }

  protected nameOf({ entity_id, number }: JobName): string {
    return `${this.#prefix}${entity_id}.${number}`;
  }

  protected parse(name: string): JobName | null {
    if (!name.startsWith(this.#prefix)) return null;
    const [, entity_id = '', digits] = /^([0-9a-f-]{36})\.([1-9]\d{0,9})$/.exec(name.slice(this.#prefix.length)) ?? [];
    return digits === undefined || !isId(entity_id) ? null : { entity_id, number: Number(digits) };
  }
}
