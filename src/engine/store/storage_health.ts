import { setTimeout as pause } from 'node:timers/promises';
import { Cluster, type Redis } from 'ioredis';
import { PARTITIONS } from '../../domain/ids.js';
import type { Metrics } from '../metrics/metrics.js';
import { every } from '../time/periodic_timer.js';
import { tagOf } from './partitions.js';
import { takesNoWrites } from './storage_problem.js';

const LOOK_EVERY_MS = 2_000;
/** A later answer counts as none: the requester of the health check has given up by then, or will soon. */
const DEADLINE_MS = 2_000;
/** A result this recent is returned without another check. */
const FRESH_MS = 1_000;
/** A write takes a few milliseconds, most of them for the disk. */
const SLOW_MS = 500;
/** For a cluster, one partition in each sixteenth of the slots is asked: one master that takes writes is enough. */
const CLUSTER_STEP = PARTITIONS / 16;
const EXPIRY_S = 60;

/**
 * ok: storage takes writes. slow: it takes writes, but one takes over half a second. refusing: it answers, and takes no
 * writes. away: no answer within two seconds.
 */
export type StorageStatus = 'ok' | 'slow' | 'refusing' | 'away';
/** `since_ms`: the beginning of this status. `reason`: Redis' own words when it refused. */
export type StorageState = { status: StorageStatus; since_ms: number; reason: string | null };

/**
 * Whether storage does for a request what requests ask of it, which is to write: a Redis that hangs keeps its connections,
 * and one without memory answers every PING.
 *
 * Of a cluster, one master that takes writes is enough: taking this process out of service for the others would refuse those
 * who could be served, and all processes see the same.
 */
export class StorageHealth {
  readonly #redis: Redis;
  readonly #now: () => number;
  readonly #metrics: Pick<Metrics, 'storage_reachable' | 'storage_takes_writes'>;
  readonly #keys: readonly string[];
  #state: StorageState;
  #looked_at_ms = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;
  #stopTicking: (() => void) | null = null;

  constructor(
    redis: Redis,
    { now, metrics }: { now: () => number; metrics: Pick<Metrics, 'storage_reachable' | 'storage_takes_writes'> },
  ) {
    this.#redis = redis;
    this.#now = now;
    this.#metrics = metrics;
    const partitions = redis instanceof Cluster ? Array.from({ length: 16 }, (_, n) => n * CLUSTER_STEP) : [0];
    this.#keys = partitions.map((partition) => `spool:health:{${tagOf(partition)}}`);
    this.#state = { status: 'ok', since_ms: now(), reason: null };
  }

  start(): void {
    void this.look();
    this.#stopTicking = every(LOOK_EVERY_MS, () => void this.look());
  }

  async stop(): Promise<void> {
    this.#stopTicking?.();
    await this.#looking;
  }

  /** The result of the last check. */
  get state(): StorageState {
    return this.#state;
  }

  /** The state now, or of a second ago. */
  async current(): Promise<StorageState> {
    const is_lost = this.#redis.status !== 'ready' && this.#state.status !== 'away';
    if (is_lost || performance.now() - this.#looked_at_ms > FRESH_MS) await this.look();
    return this.#state;
  }

  /** Whether requests can be served. */
  async isReady(): Promise<boolean> {
    const { status } = await this.current();
    return status === 'ok' || status === 'slow';
  }

  /** Checks now, unless a check is in progress. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const began = performance.now();
    const found = await this.#ask();
    this.#looked_at_ms = performance.now();
    const is_slow = found.status === 'ok' && this.#looked_at_ms - began > SLOW_MS;
    const status = is_slow ? 'slow' : found.status;
    const since_ms = status === this.#state.status ? this.#state.since_ms : this.#now();
    this.#state = { status, since_ms, reason: found.reason };
    this.#metrics.storage_reachable.set(status === 'away' ? 0 : 1);
    this.#metrics.storage_takes_writes.set(found.status === 'ok' ? 1 : 0);
  }

  async #ask(): Promise<{ status: 'ok' | 'refusing' | 'away'; reason: string | null }> {
    if (this.#redis.status !== 'ready') return { status: 'away', reason: null };
    const late = new AbortController();
    const writes = this.#keys.map((key) => this.#redis.set(key, '1', 'EX', EXPIRY_S));
    const first = Promise.any(writes).then(
      () => ({ status: 'ok' as const, reason: null }),
      ({ errors }: AggregateError) => {
        const refusal = (errors as Error[]).find(takesNoWrites);
        return refusal === undefined
          ? { status: 'away' as const, reason: null }
          : { status: 'refusing' as const, reason: refusal.message };
      },
    );
    const deadline = pause(DEADLINE_MS, { status: 'away' as const, reason: null }, { signal: late.signal });
    try {
      return await Promise.race([first, deadline]);
    } finally {
      late.abort();
      deadline.catch(() => {}); // it was called off
    }
  }
}
