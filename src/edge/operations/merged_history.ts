import { type HistoryView, type SeriesName, TALLIED } from './history.js';
import type { Total } from './totals.js';

/** Of all processes together these are sums; of everything else the largest counts. */
const SUMMED: ReadonlySet<SeriesName> = new Set<SeriesName>([
  ...(['requests_public', 'requests_device', 'requests_operator'] as const),
  ...(['errors_public', 'errors_device', 'errors_operator'] as const),
  ...(['commits', 'conflicts', 'waiting', 'outbox_waiting'] as const),
  ...(['deliveries_accepted', 'deliveries_retryable', 'deliveries_refused'] as const),
  ...(['device_connections', 'handshakes', 'handshakes_failed', 'device_refusals'] as const),
  ...(['upload_bytes', 'uploads', 'rss_bytes', 'heap_bytes', 'cpu_share'] as const),
]);

/** One history of several: at the times of the first, with the samples of the others that lie next to them. */
export function mergeHistories([first, ...others]: readonly [HistoryView, ...HistoryView[]]): HistoryView {
  if (others.length === 0) return first;
  const places = others.map((other) => placesOf(first.at_ms, other));
  const series = {} as HistoryView['series'];
  for (const [name, row] of Object.entries(first.series) as [SeriesName, (number | null)[]][]) {
    series[name] = row.map((value, at) => {
      const found = others.map((other, nth) => other.series[name][places[nth]?.[at] ?? -1] ?? null);
      return joined(name, [value, ...found]);
    });
  }
  const all = [first, ...others];
  const tallies = Object.fromEntries(TALLIED.map((name) => [name, addedUp(all.map((one) => one.tallies[name]))]));
  return {
    ...first,
    series,
    tallies: tallies as HistoryView['tallies'],
    since_ms: Math.min(...all.map(({ since_ms }) => since_ms)),
  };
}

/** All have the same bounds, where they have any. */
function addedUp(totals: readonly Total[]): Total {
  const { bounds } = totals.find((total) => total.bounds.length > 0) ?? { bounds: [] };
  const sumOf = (of: (total: Total) => number) => totals.reduce((sum, total) => sum + of(total), 0);
  return {
    count: sumOf(({ count }) => count),
    sum: sumOf(({ sum }) => sum),
    bounds,
    buckets: bounds.map((_, at) => sumOf(({ buckets }) => buckets[at] ?? 0)),
  };
}

function joined(name: SeriesName, values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  return SUMMED.has(name) ? known.reduce((sum, value) => sum + value, 0) : Math.max(...known);
}

/** For each time the place of the nearest sample, or -1 where none is near. */
function placesOf(times: readonly number[], { at_ms, every_ms }: HistoryView): number[] {
  let place = 0;
  return times.map((time) => {
    const distance = (at: number) => Math.abs((at_ms[at] ?? Number.POSITIVE_INFINITY) - time);
    while (place + 1 < at_ms.length && distance(place + 1) <= distance(place)) place += 1;
    return distance(place) <= every_ms ? place : -1;
  });
}
