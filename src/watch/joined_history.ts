import type { HistoryView, SeriesName } from './history.js';

/** Of all processes together these are sums; of everything else the largest counts. */
const SUMMED: ReadonlySet<SeriesName> = new Set<SeriesName>([
  ...(['requests_public', 'requests_device', 'requests_operator'] as const),
  ...(['errors_public', 'errors_device', 'errors_operator'] as const),
  ...(['commits', 'conflicts', 'waiting', 'outbox_waiting'] as const),
  ...(['deliveries_accepted', 'deliveries_passing', 'deliveries_refused'] as const),
  ...(['device_connections', 'handshakes', 'handshakes_failed', 'device_refusals'] as const),
  ...(['upload_bytes', 'uploads', 'rss_bytes', 'heap_bytes'] as const),
]);

/** One history of several: at the times of the first, with the samples of the others that lie next to them. */
export function joinHistories([first, ...others]: readonly [HistoryView, ...HistoryView[]]): HistoryView {
  if (others.length === 0) return first;
  const places = others.map((other) => placesOf(first.at_ms, other));
  const series = {} as HistoryView['series'];
  for (const [name, row] of Object.entries(first.series) as [SeriesName, (number | null)[]][]) {
    series[name] = row.map((value, at) => {
      const found = others.map((other, nth) => other.series[name][places[nth]?.[at] ?? -1] ?? null);
      return joined(name, [value, ...found]);
    });
  }
  return { ...first, series };
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
