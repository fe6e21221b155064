import { statfs } from 'node:fs/promises';
import { getHeapStatistics } from 'node:v8';
import type { Redis } from 'ioredis';
import { PARTITIONS } from '../../domain/ids.js';
import type { Failing } from '../../engine/jobs/job_activity.js';
import type { MailSender } from '../../engine/mail/mail_sender.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import type { Runtime } from '../../engine/runtime/runtime.js';
import { type AofTruncation, readTruncation } from '../../engine/store/aof_truncation.js';
import { mastersOf } from '../../engine/store/redis_connection.js';
import type { StorageHealth } from '../../engine/store/storage_health.js';
import type { Backlog } from '../../engine/store/store.js';
import type { Clock } from '../../engine/time/clock.js';
import { every } from '../../engine/time/periodic_timer.js';
import type { Overload } from '../admission/overload.js';
import type { HealthFacts } from './health_problems.js';
import { type Gauges, History, type HistoryView, type Range, SAMPLE_EVERY_MS, type Sample } from './history.js';
import type { ProcessRow } from './process_row.js';
import { grown, quantile, readTotals } from './totals.js';

/** Looks that ask storage something of every partition, or the disk: every so many samples. */
const SLOW_EVERY = 2;
/** Turns are counted over the last minute. */
const BATCHES_WITHIN_SAMPLES = 12;
/** So many samples show the delay of the event loop: as long as others take between two looks at metrics. */
const LOOP_SAMPLES = 3;
/** An endpoint that was disabled longer ago is no problem any more: its owner has been told often enough. */
const DISABLED_LATELY_MS = 24 * 60 * 60_000;
export const SILENT_MS = 10 * 60_000;
export const SILENT_COUNTED_MAX = 1_000;

type WatchDeps = {
  metrics: Metrics;
  runtime: Runtime;
  redis: Redis;
  storage_health: Pick<StorageHealth, 'state'>;
  clock: Clock;
  overload: Pick<Overload, 'shedding' | 'residentBytes' | 'takeLongestDelay'>;
  deliveries: {
    /** Counts what waits in each partition that answers. */
    measure(): Promise<readonly Pick<Backlog, 'dead_letters'>[]>;
    troubled(): Promise<{ circuit_open: readonly unknown[]; disabled: readonly { since_ms: number }[] }>;
  };
  mail: Pick<MailSender, 'healthy'>;
  /** Lists devices that are silent for longer than that. */
  device_activity: { list(filter: { silent_ms: number; recording: boolean; limit: number }): readonly unknown[] };
  transcription: FailingJobs;
  insights: FailingJobs;
  retention: { readonly failing_ms: number };
  lost_audio: { readonly recordings: number };
  data_dir: string;
};

type FailingJobs = { readonly activity: { readonly failing: Failing | null } };

/** The times of batches of a kind within the last minute; null where there were none. */
export type BatchTimes = { batches: number; batch_ms_mean: number | null; batch_ms_p99: number | null };

/**
 * Keeps an eye on this process for operators: a sample of what metrics count every five seconds, kept for a day, and what
 * is wrong at the moment. A sample takes 1 to 3 ms.
 */
export class HealthWatch {
  readonly #parts: WatchDeps;
  readonly #history = new History();
  readonly #samples: Sample[] = [];
  #log_healthy: boolean | null = null;
  #partitions_away = 0;
  #cut: AofTruncation | null = null;
  #storage_bytes: number | null = null;
  #disk: HealthFacts['disk'] = null;
  #dead_letters: number | null = null;
  #troubled = { circuit_open: 0, disabled: 0 };
  #stopTicking: (() => void) | null = null;
  #taking: Promise<void> | null = null;
  #taken = 0;
  #cpu_share: number | null = null;
  #cpu_before: { at_ms: number; cpu: NodeJS.CpuUsage } | null = null;

  constructor(parts: WatchDeps) {
    this.#parts = parts;
  }

  start(): void {
    void this.sample();
    this.#stopTicking = every(SAMPLE_EVERY_MS, () => void this.sample());
  }

  async stop(): Promise<void> {
    this.#stopTicking?.();
    await this.#taking;
  }

  /** Takes a sample now, unless one is being taken. Never rejects. */
  sample(): Promise<void> {
    this.#taking ??= this.#take().finally(() => {
      this.#taking = null;
    });
    return this.#taking;
  }

  /** Samples later than a time, by the clock that no test moves. */
  history(after_ms: number, range?: Range): HistoryView {
    return this.#history.view(after_ms, range);
  }

  /** The figures of this process, as of the last two samples. */
  row(): ProcessRow {
    const [before, now] = this.#samples.slice(-2);
    const countOf = (sample: Sample | undefined, of: string) => sample?.totals.get(of)?.count ?? 0;
    const seconds = now === undefined || before === undefined ? 0 : (now.at_ms - before.at_ms) / 1000;
    const requests = ['public', 'device', 'operator'].map(
      (listener) => countOf(now, `requests ${listener}`) - countOf(before, `requests ${listener}`),
    );
    return {
      pid: process.pid,
      up_s: Math.round(process.uptime()),
      cpu_share: this.#cpu_share,
      rss_bytes: now?.gauges.rss_bytes ?? this.#parts.overload.residentBytes(),
      loop_delay_ms: now?.gauges.loop_delay_ms ?? 0,
      connections: countOf(now, 'connections'),
      requests_per_s: seconds <= 0 ? 0 : requests.reduce((sum, count) => sum + count, 0) / seconds,
      shedding: this.#parts.overload.shedding,
    };
  }

  /** The times of the batches of each kind. */
  turnTimes(kinds: Iterable<string>): Map<string, BatchTimes> {
    const [before] = this.#samples;
    const now = this.#samples.at(-1);
    return new Map(
      [...kinds].map((kind) => {
        const total = grown(now?.totals.get(`batch ${kind}`), before?.totals.get(`batch ${kind}`));
        const seconds = total === null ? null : quantile(total, 0.99);
        const batches = total?.count ?? 0;
        const batch_ms_mean = total === null || batches === 0 ? null : (total.sum / batches) * 1000;
        return [kind, { batches, batch_ms_mean, batch_ms_p99: seconds === null ? null : seconds * 1000 }];
      }),
    );
  }

  standing(): HealthFacts & { storage_bytes: number | null; storage_ms: number | null } {
    const { device_activity, insights, mail, overload, retention, runtime, transcription } = this.#parts;
    const { clock } = this.#parts;
    const { quarantined, oldest_ms } = runtime.pressure();
    const now = this.#samples.at(-1);
    const due = now?.totals.get('endpoints_due')?.count ?? 0;
    const due_s = now?.totals.get('endpoints_due_age')?.count ?? 0;
    return {
      storage: {
        ...this.#parts.storage_health.state,
        log_healthy: this.#log_healthy,
        partitions_away: this.#partitions_away,
        cut: this.#cut,
      },
      storage_bytes: this.#storage_bytes,
      storage_ms: now?.gauges.storage_ms ?? null,
      shedding: overload.shedding,
      quarantined,
      dead_letters: this.#dead_letters,
      endpoints: { due, due_ms: due_s * 1000, ...this.#troubled },
      disk: this.#disk,
      clock_ahead_ms: clock.now() - Date.now(),
      clocks_apart_ms: clock.apart_ms,
      mail_healthy: mail.healthy(),
      oldest_message_ms: oldest_ms,
      retention_failing_ms: retention.failing_ms,
      lost_recordings: this.#parts.lost_audio.recordings,
      silent_devices: device_activity.list({ silent_ms: SILENT_MS, recording: true, limit: SILENT_COUNTED_MAX }).length,
      transcription: this.#failing(transcription.activity),
      insights: this.#failing(insights.activity),
    };
  }

  #failing({ failing }: { failing: Failing | null }): HealthFacts['transcription'] {
    if (failing === null) return null;
    const { since_ms, ...last } = failing;
    return { failing_ms: this.#parts.clock.now() - since_ms, ...last };
  }

  async #take(): Promise<void> {
    const { metrics, clock } = this.#parts;
    const is_away = this.#parts.storage_health.state.status === 'away';
    const is_slow = this.#taken++ % SLOW_EVERY === 0 || this.#partitions_away > 0 || is_away;
    const [storage_ms] = await Promise.all([this.#askStorage(is_slow), is_slow ? this.#askDisk() : null]);
    const totals = await readTotals(metrics);
    this.#measureCpu();
    const sample = { at_ms: clock.unmoved(), totals, gauges: this.#gauges(storage_ms) };
    this.#history.take(sample);
    this.#samples.push(sample);
    if (this.#samples.length > BATCHES_WITHIN_SAMPLES + 1) this.#samples.shift();
    const delays_ms = this.#samples.slice(-LOOP_SAMPLES).map(({ gauges }) => gauges.loop_delay_ms);
    metrics.loop_delay_p99.set(Math.max(...delays_ms) / 1000);
    metrics.clock_ahead.set((clock.now() - Date.now()) / 1000);
    metrics.mail_healthy.set(this.#parts.mail.healthy() ? 1 : 0);
  }

  #measureCpu(): void {
    const before = this.#cpu_before;
    const now = { at_ms: performance.now(), cpu: process.cpuUsage() };
    this.#cpu_before = now;
    if (before === null || now.at_ms <= before.at_ms) return;
    const { user, system } = process.cpuUsage(before.cpu);
    this.#cpu_share = (user + system) / 1000 / (now.at_ms - before.at_ms);
  }

  #gauges(storage_ms: number | null): Gauges {
    const { waiting, oldest_ms } = this.#parts.runtime.pressure();
    const loop_delay_ms = this.#parts.overload.takeLongestDelay();
    return {
      waiting,
      oldest_ms,
      loop_delay_ms,
      rss_bytes: this.#parts.overload.residentBytes(),
      heap_bytes: getHeapStatistics().used_heap_size,
      storage_ms,
      storage_bytes: storage_ms === null ? null : this.#storage_bytes,
      disk_free_bytes: this.#disk?.free_bytes ?? null,
      dead_letters: storage_ms === null ? null : this.#dead_letters,
      cpu_share: this.#cpu_share,
    };
  }

  /** The ms that Redis takes to answer, or null when it does not. */
  async #askStorage(is_slow: boolean): Promise<number | null> {
    const { metrics, redis } = this.#parts;
    const began = performance.now();
    try {
      await redis.ping();
      const took_ms = performance.now() - began;
      metrics.storage_round_trip.set(took_ms / 1000);
      if (is_slow) await this.#askStorageMore();
      return took_ms;
    } catch {
      this.#partitions_away = 0;
      return null;
    } finally {
      metrics.storage_partitions_away.set(this.#partitions_away);
    }
  }

  async #askStorageMore(): Promise<void> {
    const { clock, deliveries, metrics, redis } = this.#parts;
    const [infos, backlogs, troubled, cut] = await Promise.all([
      answered(mastersOf(redis).map((master) => master.info())),
      deliveries.measure().catch(() => []), // no partition answers
      deliveries.troubled().catch(() => null),
      readTruncation(redis).catch(() => null),
    ]);
    if (troubled !== null) {
      const disabled_from_ms = clock.now() - DISABLED_LATELY_MS;
      const disabled = troubled.disabled.filter(({ since_ms }) => since_ms >= disabled_from_ms);
      this.#troubled = { circuit_open: troubled.circuit_open.length, disabled: disabled.length };
    }
    const fields = (name: string) =>
      infos.flatMap((info) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? []);
    const storage_bytes = fields('used_memory').reduce((sum, bytes) => sum + Number(bytes), 0);
    const statuses = fields('aof_last_write_status');
    const log_healthy = statuses.length === 0 ? null : statuses.every((status) => status === 'ok');
    this.#cut = cut;
    this.#storage_bytes = storage_bytes;
    this.#log_healthy = log_healthy;
    this.#partitions_away = PARTITIONS - backlogs.length;
    this.#dead_letters = backlogs.reduce((sum, { dead_letters }) => sum + dead_letters, 0);
    metrics.storage_memory.set(storage_bytes);
    metrics.storage_log_healthy.set(log_healthy === false ? 0 : 1);
    metrics.dead_letters_waiting.set(this.#dead_letters);
  }

  async #askDisk(): Promise<void> {
    const { data_dir, metrics } = this.#parts;
    try {
      const { bsize, bavail, blocks } = await statfs(data_dir);
      this.#disk = { free_bytes: bavail * bsize, size_bytes: blocks * bsize };
      metrics.data_free.set(this.#disk.free_bytes);
      metrics.data_size.set(this.#disk.size_bytes);
    } catch {
      this.#disk = null;
    }
  }
}

/** The results of the promises that were fulfilled. */
async function answered<T>(asked: Promise<T>[]): Promise<T[]> {
  return (await Promise.allSettled(asked)).flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
}
