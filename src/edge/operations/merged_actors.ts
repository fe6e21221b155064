import type { ActorsSeen } from './operation_queries.js';

type Kinds = ActorsSeen['kinds'];
type KindRow = Kinds[string] & Partial<ActorsSeen['times'][string]>;

/**
 * Lists the entities in the memory of several processes as one list; an entity that is in several stands there as
 * often.
 */
export function mergeActors(told: readonly ActorsSeen[], limit: number) {
  const all = <Row>(of: (seen: ActorsSeen) => Row[], order: (a: Row, b: Row) => number) =>
    told.flatMap(of).sort(order).slice(0, limit);
  const kinds: Record<string, KindRow> = {};
  for (const seen of told) {
    for (const [kind, row] of Object.entries(seen.kinds)) {
      const known = kinds[kind];
      const more = { ...row, ...seen.times[kind] };
      kinds[kind] = known === undefined ? more : joinedKind(known, more);
    }
  }
  return {
    kinds,
    busiest: all(
      ({ busiest }) => busiest,
      (a, b) => b.waiting - a.waiting || b.batches - a.batches,
    ),
    quarantined: all(
      ({ quarantined }) => quarantined,
      () => 0,
    ),
    lately: {
      within_ms: Math.max(0, ...told.map(({ lately }) => lately.within_ms)),
      busiest: all(
        ({ lately }) => lately.busiest,
        (a, b) => b.messages - a.messages,
      ),
      slowest: all(
        ({ lately }) => lately.slowest,
        (a, b) => b.batch_ms_max - a.batch_ms_max,
      ),
    },
  };
}

function joinedKind(one: KindRow, other: KindRow): KindRow {
  const batches = (one.batches ?? 0) + (other.batches ?? 0);
  const spent = [one, other].reduce((sum, row) => sum + (row.batches ?? 0) * (row.batch_ms_mean ?? 0), 0);
  const p99s = [one.batch_ms_p99, other.batch_ms_p99].filter((p99) => typeof p99 === 'number');
  return {
    active: one.active + other.active,
    waiting: one.waiting + other.waiting,
    quarantined: one.quarantined + other.quarantined,
    oldest_ms: Math.max(one.oldest_ms, other.oldest_ms),
    batches,
    batch_ms_mean: batches === 0 ? null : spent / batches,
    batch_ms_p99: p99s.length === 0 ? null : Math.max(...p99s),
  };
}
