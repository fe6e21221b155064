import { grown, quantile, type Total } from './totals.js';

export const SAMPLE_EVERY_MS = 5_000;
/** Rows of each range; the longer it is, the further they are apart. */
const ROWS_MAX = 180;
const MINUTE_MS = 60_000;

/** The ranges of time that the history has. */
export const RANGES = ['15m', '1h', '6h', '24h'] as const;
export type Range = (typeof RANGES)[number];
const RANGE_MS: Record<Range, number> = {
  '15m': 15 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '6h': 6 * 60 * MINUTE_MS,
  '24h': 24 * 60 * MINUTE_MS,
};

/** The figures that are measured with a sample, beside what metrics count. Null: it could not be measured. */
export type Gauges = {
  waiting: number;
  oldest_ms: number;
  loop_delay_ms: number;
  rss_bytes: number;
  heap_bytes: number;
  storage_ms: number | null;
  storage_bytes: number | null;
  disk_free_bytes: number | null;
  dead_letters: number | null;
  /** Of one core. */
  cpu_share: number | null;
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

/** Milliseconds that this share of observations stayed within. */
const within =
  (share: number) =>
  (name: string): Series =>
  (step) => {
    const { total } = between(name, step);
    const seconds = total === null ? null : quantile(total, share);
    return seconds === null ? null : seconds * 1000;
  };
const [p50, p95, p99] = [within(0.5), within(0.95), within(0.99)];

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
  requests_public_p50_ms: p50('requests public'),
  requests_public_p95_ms: p95('requests public'),
  requests_public_p99_ms: p99('requests public'),
  requests_device_p50_ms: p50('requests device'),
  requests_device_p95_ms: p95('requests device'),
  requests_device_p99_ms: p99('requests device'),
  requests_operator_p50_ms: p50('requests operator'),
  requests_operator_p95_ms: p95('requests operator'),
  requests_operator_p99_ms: p99('requests operator'),
  errors_public: rate('errors public'),
  errors_device: rate('errors device'),
  errors_operator: rate('errors operator'),
  commits: rate('commit'),
  commit_p50_ms: p50('commit'),
  commit_p95_ms: p95('commit'),
  commit_p99_ms: p99('commit'),
  conflicts: rate('conflicts'),
  waiting: gauge('waiting'),
  oldest_ms: gauge('oldest_ms'),
  deliveries_accepted: rate('deliveries accepted'),
  deliveries_retryable: rate('deliveries retryable'),
  deliveries_refused: rate('deliveries refused', 'deliveries discarded'),
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
  dead_letters: gauge('dead_letters'),
  cpu_share: gauge('cpu_share'),
  loop_delay_ms: gauge('loop_delay_ms'),
  rss_bytes: gauge('rss_bytes'),
  heap_bytes: gauge('heap_bytes'),
} as const satisfies Record<string, Series>;

export type SeriesName = keyof typeof SERIES;
const SERIES_NAMES = Object.keys(SERIES) as SeriesName[];

/**
 * One row for each step: `at_ms[i]` goes with `series[name][i]`. Rates are a second; null where nothing was measured. The
 * last row of a longer range is of a step that still goes on.
 */
export type HistoryView = {
  every_ms: number;
  kept_ms: number;
  at_ms: number[];
  series: Record<SeriesName, (number | null)[]>;
  /** Totals of what ended in all of the range, or since this process began. */
  since_ms: number;
  tallies: Record<Tallied, Total>;
};

/** The figures that are added up over all of a range. */
export const TALLIED = [
  ...(['requests public', 'requests device', 'requests operator'] as const),
  ...(['errors public', 'errors device', 'errors operator'] as const),
  ...(['commit', 'outbox_lag', 'reminder_lateness'] as const),
] as const;
export type Tallied = (typeof TALLIED)[number];

/** The totals up to a moment, of the figures that are added up. */
type Mark = { at_ms: number; totals: ReadonlyMap<string, Total> };

/** The last day, in four ranges of 180 rows each. Some 3 MB. */
export class History {
  readonly #rings = new Map(RANGES.map((range) => [range, new Ring(RANGE_MS[range] / ROWS_MAX)]));

  /** The first sample is only what the next one is held against. */
  take(now: Sample): void {
    for (const ring of this.#rings.values()) ring.take(now);
  }

  /** Rows later than a time. */
  view(after_ms: number, range: Range = '15m'): HistoryView {
    return (this.#rings.get(range) as Ring).view(after_ms);
  }
}

/** One range: a row every few seconds or minutes; the oldest give way. */
class Ring {
  readonly #every_ms: number;
  readonly #at_ms = new Float64Array(ROWS_MAX);
  readonly #rows = new Map(SERIES_NAMES.map((name) => [name, new Float64Array(ROWS_MAX)]));
  /** Where steps began, the oldest first. */
  readonly #marks: Mark[] = [];
  #before: Sample | null = null;
  #last: Sample | null = null;
  /** Of the present step. */
  #gauges: Gauges | null = null;
  #kept = 0;

  constructor(every_ms: number) {
    this.#every_ms = every_ms;
  }

  take(now: Sample): void {
    const before = this.#before;
    if (before === null) {
      this.#before = now;
      this.#mark(now);
      return;
    }
    if (now.at_ms <= (this.#last ?? before).at_ms) return;
    this.#gauges = this.#gauges === null ? now.gauges : worst(this.#gauges, now.gauges);
    this.#last = { ...now, gauges: this.#gauges };
    // Samples come a little early or late. In the shortest range each is a row.
    const is_over = now.at_ms - before.at_ms >= this.#every_ms - SAMPLE_EVERY_MS / 2;
    if (!is_over && this.#every_ms > SAMPLE_EVERY_MS) return;
    const at = this.#kept++ % ROWS_MAX;
    this.#at_ms[at] = now.at_ms;
    const step = { now: this.#last, before };
    for (const [name, row] of this.#rows) row[at] = SERIES[name](step) ?? Number.NaN;
    this.#before = now;
    this.#last = null;
    this.#gauges = null;
    this.#mark(now);
  }

  view(after_ms: number): HistoryView {
    const places: number[] = [];
    for (let nth = Math.max(0, this.#kept - ROWS_MAX); nth < this.#kept; nth++) {
      if ((this.#at_ms[nth % ROWS_MAX] ?? 0) > after_ms) places.push(nth % ROWS_MAX);
    }
    const series = {} as HistoryView['series'];
    for (const [name, row] of this.#rows) series[name] = places.map((at) => shortened(row[at] ?? Number.NaN));
    const at_ms = places.map((at) => this.#at_ms[at] as number);
    const [now, before] = [this.#last, this.#before];
    if (now !== null && before !== null && now.at_ms > after_ms) {
      at_ms.push(now.at_ms);
      for (const name of SERIES_NAMES) series[name].push(shortened(SERIES[name]({ now, before }) ?? Number.NaN));
    }
    return {
      every_ms: this.#every_ms,
      kept_ms: ROWS_MAX * this.#every_ms,
      at_ms,
      series,
      since_ms: this.#marks[0]?.at_ms ?? 0,
      tallies: this.#tallies(),
    };
  }

  #mark({ at_ms, totals }: Sample): void {
    const kept = TALLIED.flatMap((name) => {
      const total = totals.get(name);
      return total === undefined ? [] : [[name, total] as const];
    });
    this.#marks.push({ at_ms, totals: new Map(kept) });
    if (this.#marks.length > ROWS_MAX + 1) this.#marks.shift();
  }

  #tallies(): Record<Tallied, Total> {
    const { totals: now } = this.#last ?? this.#before ?? { totals: new Map<string, Total>() };
    const [first] = this.#marks;
    return Object.fromEntries(
      TALLIED.map((name) => [name, grown(now.get(name), first?.totals.get(name)) ?? NOTHING]),
    ) as Record<Tallied, Total>;
  }
}

const NOTHING: Total = { count: 0, sum: 0, buckets: [], bounds: [] };

/** Of a step the worst that was measured. */
function worst(one: Gauges, other: Gauges): Gauges {
  const names = Object.keys(one) as (keyof Gauges)[];
  const found = names.map((name) => {
    const known = [one[name], other[name]].filter((value) => value !== null);
    const extreme = name === 'disk_free_bytes' ? Math.min(...known) : Math.max(...known);
    return [name, known.length === 0 ? null : extreme];
  });
  return Object.fromEntries(found) as Gauges;
}

/** As much as a chart shows of it. */
function shortened(value: number): number | null {
  return Number.isNaN(value) ? null : Number(value.toPrecision(5));
}
