import { hostname } from 'node:os';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { z } from 'zod';
import { callFunction } from '../store/redis_calls.js';
import { nodesOf } from '../store/redis_connection.js';
import { isRetryable } from '../store/store.js';
import { every } from '../time/periodic_timer.js';
import { newProcessId, ownersOf } from './ownership.js';

const RENEW_EVERY_MS = 2_000;
/** A process that has been silent for this time is no longer a member, and considers itself none. */
const EXPIRE_MS = 5_000;
/** Longer than any lease: a process that looks later finds nothing of its own. */
const REMEMBERED_MS = 10 * 60_000;
/** Both keys are in one slot of a cluster. */
const KEYS = ['spool:{members}', 'spool:{members}:said'] as const;

/** A process, as it describes itself. */
export type ClusterProcess = { id: string; host: string; pid: number; since_ms: number };

/**
 * The owner of each partition, as far as this process knows. Only a hint: nothing but delays may depend on it. `owners`
 * is another list after a change.
 */
export type Ownership = { owns(partition: number): boolean; readonly owners?: readonly string[] };

/** The name under which this process holds leases, and the processes that have ended without giving theirs back. */
export type ClusterView = { readonly id: string; readonly gone: ReadonlySet<string> };

const saidShape = z.object({ host: z.string().max(255), pid: z.int().min(0), since_ms: z.int().min(0) });
const NO_OWNERS: readonly string[] = [];
const UNKNOWN = { host: '', pid: 0, since_ms: 0 };

type MembersDeps = {
  redis: Redis;
  log: Pick<Logger, 'info' | 'error'>;
  since_ms: number;
  /** Shorter ones are for tests. */
  times?: { renew_every_ms: number; expire_ms: number };
};

type View = { living: readonly ClusterProcess[]; owners: readonly string[]; at_ms: number };

/**
 * The processes that share one Redis (docs/architecture.md, "More than one process"). Each announces every two seconds
 * that it is alive, and learns of the others. Times are Redis'; the monotonic clock measures the age of the view.
 */
export class ClusterProcesses implements Ownership, ClusterView {
  readonly id: string;
  readonly #deps: MembersDeps;
  readonly #said: string;
  readonly #renew_every_ms: number;
  readonly #expire_ms: number;
  #view: View | null = null;
  /**
   * The time since which no view was missed: before it, other processes may have been unable to announce themselves.
   */
  #steady_since_ms = 0;
  #gone: ReadonlySet<string> = new Set();
  /** Read once: a process' description of itself never changes. */
  #known = new Map<string, ClusterProcess>();
  #stopTicking: (() => void) | null = null;
  #renewing: Promise<void> | null = null;
  #has_left = false;

  constructor(deps: MembersDeps) {
    this.#deps = deps;
    this.id = newProcessId();
    const { renew_every_ms, expire_ms } = deps.times ?? { renew_every_ms: RENEW_EVERY_MS, expire_ms: EXPIRE_MS };
    this.#renew_every_ms = renew_every_ms;
    this.#expire_ms = expire_ms;
    this.#said = JSON.stringify({ host: hostname(), pid: process.pid, since_ms: deps.since_ms });
  }

  /**
   * The channel on which a connection of this process listens, so that others can tell an ended process from a silent
   * one.
   */
  get channel(): string {
    return channelOf(this.id);
  }

  /** Joins; rejects if Redis does not answer. */
  async start(): Promise<void> {
    await this.#renew();
    this.#stopTicking = every(this.#renew_every_ms, () => void this.renew());
  }

  /** Gives up its partitions to other processes; leases stay with it. Never rejects. */
  async leave(): Promise<void> {
    if (this.#has_left) return;
    this.#has_left = true;
    this.#stopTicking?.();
    await this.#renewing;
    this.#view = null;
    await this.#say('').catch(() => {}); // then it expires
  }

  /** Announces that this process is alive, unless that is in progress. Never rejects. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renew()
      .catch((error: unknown) => {
        if (!isRetryable(error)) this.#deps.log.error({ err: error }, 'members could not be read');
      })
      .finally(() => {
        this.#renewing = null;
      });
    return this.#renewing;
  }

  /** The live processes, the oldest first; none while they are unknown. */
  get living(): readonly ClusterProcess[] {
    return this.#present()?.living ?? [];
  }

  owns(partition: number): boolean {
    return this.#present()?.owners[partition] === this.id;
  }

  get owners(): readonly string[] {
    return this.#present()?.owners ?? NO_OWNERS;
  }

  /** The number of partitions that each process owns. */
  shares(): ReadonlyMap<string, number> {
    const shares = new Map(this.living.map(({ id }) => [id, 0]));
    for (const id of this.#present()?.owners ?? []) shares.set(id, (shares.get(id) ?? 0) + 1);
    return shares;
  }

  /**
   * Processes that ended without leaving: no process holds their leases. A process that is only stopped is not among
   * them.
   */
  get gone(): ReadonlySet<string> {
    return this.#gone;
  }

  #present(): View | null {
    if (this.#view === null || performance.now() - this.#view.at_ms > this.#expire_ms) return null;
    return this.#view;
  }

  async #renew(): Promise<void> {
    const began_ms = performance.now();
    const told = await this.#say(this.#said);
    if (this.#has_left) return;
    if (this.#view === null || began_ms - this.#view.at_ms > this.#expire_ms / 2) this.#steady_since_ms = began_ms;
    const living = told.filter(({ left_ms }) => left_ms > 0).map(({ member }) => member);
    const owners = this.#isAsBefore(living) ? (this.#view?.owners ?? []) : ownersOf(living.map(({ id }) => id));
    living.sort((a, b) => a.since_ms - b.since_ms || (a.id < b.id ? -1 : 1));
    this.#view = { living, owners, at_ms: began_ms };
    const expired = told.filter(({ left_ms }) => left_ms <= 0).map(({ member }) => member.id);
    this.#gone = await this.#goneOf(expired);
  }

  #isAsBefore(living: readonly ClusterProcess[]): boolean {
    const before = this.#view?.living ?? [];
    return before.length === living.length && living.every(({ id }) => before.some((one) => one.id === id));
  }

  async #goneOf(expired: readonly string[]): Promise<ReadonlySet<string>> {
    const gone = new Set(expired.filter((id) => this.#gone.has(id)));
    if (performance.now() - this.#steady_since_ms < this.#expire_ms) return gone;
    for (const id of expired) {
      if (gone.has(id) || (await this.#isConnected(id))) continue;
      gone.add(id);
      this.#deps.log.info({ member: id }, 'a process ended without leaving; others take over what it had in hand');
    }
    return gone;
  }

  /** The system closes the connections of a process that was killed, and keeps those of one that was stopped. */
  async #isConnected(id: string): Promise<boolean> {
    const nodes = nodesOf(this.#deps.redis);
    const counts = await Promise.all(nodes.map((node) => node.pubsub('NUMSUB', channelOf(id)))).catch(() => null);
    return counts === null || counts.some(([, count]) => Number(count) > 0);
  }

  async #say(said: string): Promise<{ member: ClusterProcess; left_ms: number }[]> {
    const { redis } = this.#deps;
    const args = [this.id, said, this.#expire_ms, REMEMBERED_MS];
    const told = (await callFunction(redis, () => redis.fcall('spool_members_v2', KEYS.length, ...KEYS, ...args))) as (
      | string
      | number
    )[];
    const known = this.#known;
    this.#known = new Map();
    return Array.from({ length: told.length / 3 }, (_, nth) => {
      const [id, left_ms, text] = told.slice(nth * 3, nth * 3 + 3) as [string, number, string];
      const member = known.get(id) ?? { id, ...saidOf(text) };
      this.#known.set(id, member);
      return { member, left_ms };
    });
  }
}

function channelOf(id: string): string {
  return `spool:member:${id}`;
}

/** Reads a process's record; a record in a later release's form still counts. */
function saidOf(text: string): Omit<ClusterProcess, 'id'> {
  try {
    return saidShape.parse(JSON.parse(text));
  } catch {
    return UNKNOWN;
  }
}
