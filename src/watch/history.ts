import { grown, quantile, type Total } from './totals.js';

export const SAMPLE_EVERY_MS = 5_000;
/** Fifteen minutes. */
const SAMPLES_MAX = 180;

/** What is measured with a sample, beside what metrics count. Null: it could not be measured. */
export type Gauges = {
  waiting: number;
  oldest_ms: number;
  loop_delay_ms: number;
  rss_bytes: number;
  heap_bytes: number;
  storage_ms: number | null;
  storage_bytes: number | null;
  disk_free_bytes: number | null;
};

export type Sample = { at_ms: number; totals: ReadonlyMap<string, Total>; gauges: Gauges };
type Step = { now: Sample; before: Sample };
type Series = (step: Step) => number | null;

function between(name: string, { now, before }: Step): { total: Total | null; seconds: number } {
  const total = grown(now.totals.get(name), before.totals.get(name));
  return { total, seconds: (now.at_ms - before.at_ms) / 1000 };
}

/** A second. */
const rate =
  (...names: string[]): Series =>
  (step) =>
    names.reduce((sum, name) => {
      const { total, seconds } = between(name, step);
      return total === null || seconds <= 0 ? sum : sum + total.count / seconds;
    }, 0);

/** Milliseconds that p99 stayed within. */
const p99 =
  (name: string): Series =>
  (step) => {
    const { total } = between(name, step);
    const seconds = total === null ? null : quantile(total, 0.99);
    return seconds === null ? null : seconds * 1000;
  };

const present =
  (name: string): Series =>
  ({ now }) =>
    now.totals.get(name)?.count ?? 0;

const gauge =
  (name: keyof Gauges): Series =>
  ({ now }) =>
    now.gauges[name];

/** Everything that charts show. */
const SERIES = {
  requests_public: rate('requests public'),
  requests_device: rate('requests device'),
  requests_operator: rate('requests operator'),
  requests_public_p99_ms: p99('requests public'),
  requests_device_p99_ms: p99('requests device'),
  requests_operator_p99_ms: p99('requests operator'),
  errors_public: rate('errors public'),
  errors_device: rate('errors device'),
  errors_operator: rate('errors operator'),
  commits: rate('commit'),
  commit_p99_ms: p99('commit'),
  conflicts: rate('conflicts'),
  waiting: gauge('waiting'),
  oldest_ms: gauge('oldest_ms'),
  deliveries_accepted: rate('deliveries accepted'),
  deliveries_passing: rate('deliveries passing'),
  deliveries_refused: rate('deliveries refused', 'deliveries void'),
  endpoints_due: present('endpoints_due'),
  endpoints_due_s: present('endpoints_due_age'),
  device_connections: present('device_connections'),
  handshakes: rate('handshakes done'),
  handshakes_failed: rate('handshakes failed'),
  device_refusals: rate('device_refusals', 'overload device'),
  upload_bytes: rate('upload_bytes'),
  uploads: rate('uploads'),
  reminder_lateness_p99_ms: p99('reminder_lateness'),
  outbox_lag_p99_ms: p99('outbox_lag'),
  outbox_waiting: present('outbox_waiting'),
  storage_ms: gauge('storage_ms'),
  storage_bytes: gauge('storage_bytes'),
  disk_free_bytes: gauge('disk_free_bytes'),
  loop_delay_ms: gauge('loop_delay_ms'),
  rss_bytes: gauge('rss_bytes'),
  heap_bytes: gauge('heap_bytes'),
} as const satisfies Record<string, Series>;

export type SeriesName = keyof typeof SERIES;
const SERIES_NAMES = Object.keys(SERIES) as SeriesName[];

/** One row for each sample: `at_ms[i]` goes with `series[name][i]`. Rates are a second; null where nothing was measured. */
export type HistoryView = {
  every_ms: number;
  kept_ms: number;
  at_ms: number[];
  series: Record<SeriesName, (number | null)[]>;
};

/** The last quarter of an hour, a row every few seconds; the oldest give way. Some 50 KB. */
export class History {
  readonly #at_ms = new Float64Array(SAMPLES_MAX);
  readonly #rows = new Map(SERIES_NAMES.map((name) => [name, new Float64Array(SAMPLES_MAX)]));
  #before: Sample | null = null;
  #kept = 0;

  /** The first sample is only what the next one is held against. */
  take(now: Sample): void {
    const before = this.#before;
    this.#before = now;
    if (before === null || now.at_ms <= before.at_ms) return;
    const at = this.#kept++ % SAMPLES_MAX;
    this.#at_ms[at] = now.at_ms;
    for (const [name, row] of this.#rows) row[at] = SERIES[name]({ now, before }) ?? Number.NaN;
  }

  /** Rows later than a time. */
  view(after_ms: number): HistoryView {
    const places: number[] = [];
    for (let nth = Math.max(0, this.#kept - SAMPLES_MAX); nth < this.#kept; nth++) {
      if ((this.#at_ms[nth % SAMPLES_MAX] ?? 0) > after_ms) places.push(nth % SAMPLES_MAX);
    }
    const series = {} as HistoryView['series'];
    for (const [name, row] of this.#rows) series[name] = places.map((at) => shortened(row[at] ?? Number.NaN));
    const at_ms = places.map((at) => this.#at_ms[at] as number);
    return { every_ms: SAMPLE_EVERY_MS, kept_ms: SAMPLES_MAX * SAMPLE_EVERY_MS, at_ms, series };
  }
}

/** As much as a chart shows of it. */
function shortened(value: number): number | null {
  return Number.isNaN(value) ? null : Number(value.toPrecision(5));
}
