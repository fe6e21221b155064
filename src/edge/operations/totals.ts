import type { Metrics } from '../../engine/metrics/metrics.js';

/** The total of one metric, added up over labels. `buckets`: observations up to each of `bounds`, seconds. */
export type Total = { count: number; sum: number; buckets: number[]; bounds: number[] };

type Labels = Partial<Record<string, string | number>>;
type Value = { labels: Labels; value: number; metricName?: string };
type Readable = { get(): Promise<{ values: unknown[] }> };

/** Which totals a value of a metric counts towards. */
type TotalSource = { metric: keyof Metrics; towards: (labels: Labels) => string[] };

const SOURCES: readonly TotalSource[] = [
  {
    metric: 'requests',
    towards: ({ listener, status }) =>
      Number(status) >= 500 ? [`requests ${listener}`, `errors ${listener}`] : [`requests ${listener}`],
  },
  { metric: 'commit', towards: () => ['commit'] },
  { metric: 'conflicts', towards: () => ['conflicts'] },
  { metric: 'batch', towards: ({ kind }) => [`batch ${kind}`] },
  { metric: 'delivery_attempts', towards: ({ verdict }) => [`deliveries ${verdict}`] },
  { metric: 'deliveries_in_flight', towards: () => ['deliveries_in_flight'] },
  { metric: 'endpoints_due', towards: () => ['endpoints_due'] },
  { metric: 'endpoints_due_age', towards: () => ['endpoints_due_age'] },
  { metric: 'connections', towards: () => ['connections'] },
  { metric: 'device_connections', towards: () => ['device_connections'] },
  { metric: 'device_handshakes', towards: ({ outcome }) => [`handshakes ${outcome}`] },
  { metric: 'device_refusals', towards: () => ['device_refusals'] },
  { metric: 'overload_refusals', towards: ({ listener }) => [`overload ${listener}`] },
  { metric: 'uploads', towards: () => ['uploads'] },
  { metric: 'uploads_bytes', towards: () => ['upload_bytes'] },
  { metric: 'reminder_lateness', towards: () => ['reminder_lateness'] },
  { metric: 'outbox_lag', towards: () => ['outbox_lag'] },
  { metric: 'outbox_waiting', towards: () => ['outbox_waiting'] },
];

/** All totals at this moment, by name. */
export async function readTotals(metrics: Metrics): Promise<ReadonlyMap<string, Total>> {
  const totals = new Map<string, Total>();
  for (const { metric, towards } of SOURCES) {
    const { values } = await (metrics[metric] as Readable).get();
    for (const { labels, value, metricName = '' } of values as Value[]) {
      for (const name of towards(labels)) add(totalOf(totals, name), { labels, value, part: metricName });
    }
  }
  return totals;
}

function totalOf(totals: Map<string, Total>, name: string): Total {
  let total = totals.get(name);
  if (total === undefined) {
    total = { count: 0, sum: 0, buckets: [], bounds: [] };
    totals.set(name, total);
  }
  return total;
}

function add(total: Total, { labels, value, part }: { labels: Labels; value: number; part: string }): void {
  const { le } = labels;
  if (part.endsWith('_sum')) total.sum += value;
  else if (le === undefined) total.count += value;
  else if (le !== '+Inf') {
    let at = total.bounds.indexOf(Number(le));
    if (at < 0) {
      at = total.bounds.push(Number(le)) - 1;
      total.buckets.push(0);
    }
    total.buckets[at] = (total.buckets[at] ?? 0) + value;
  }
}

/** The increase between two readings; null where there is nothing to compare. */
export function grown(now: Total | undefined, before: Total | undefined): Total | null {
  if (now === undefined) return null;
  return {
    count: now.count - (before?.count ?? 0),
    sum: now.sum - (before?.sum ?? 0),
    buckets: now.buckets.map((count, at) => count - (before?.buckets[at] ?? 0)),
    bounds: now.bounds,
  };
}

/** The time that this share of observations stayed within, by the buckets they fell into; null where there were none. */
export function quantile({ count, buckets, bounds }: Total, share: number): number | null {
  if (count <= 0) return null;
  const wanted = count * share;
  let below = 0;
  let from = 0;
  for (const [at, bound] of bounds.entries()) {
    const up_to = buckets[at] ?? 0;
    if (up_to >= wanted) return up_to === below ? bound : from + ((bound - from) * (wanted - below)) / (up_to - below);
    below = up_to;
    from = bound;
  }
  return from; // beyond the last bound: at least that
}
