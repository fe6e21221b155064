import type { Activation } from './activation.js';
import type { ActiveEntities } from './active_entities.js';
import type { RecentBatches, RecentMessages } from './recent_messages.js';

/** The time within which operators see entities as recently active. */
const LATELY_MS = 60_000;
const RECENT_SHOWN_MAX = 200;

/** Load of the mailboxes. `oldest_ms`: how long the oldest message has waited. */
export type Pressure = { active: number; waiting: number; oldest_ms: number; quarantined: number };

type EntityView = ReturnType<typeof view>;
type ActiveView = EntityView & RecentBatches;

/** The entities in memory, as operators see them: by kind, the busiest first, and the activity of the last minute. */
export type Inspection = {
  kinds: Record<string, Pressure>;
  busiest: EntityView[];
  quarantined: EntityView[];
  lately: { within_ms: number; busiest: ActiveView[]; slowest: ActiveView[] };
};

export function pressureOf(active: ActiveEntities): Pressure {
  const now = performance.now();
  const pressure = noPressure();
  for (const activation of active) count(pressure, activation, now);
  return pressure;
}

export function inspect(active: ActiveEntities, recent: RecentMessages, limit: number): Inspection {
  const now = performance.now();
  const lately = recent.since(now - LATELY_MS);
  const kinds: Record<string, Pressure> = {};
  const busiest = new Foremost<Activation>(limit, (a, b) => b.waiting - a.waiting || b.batches - a.batches);
  const quarantined: Activation[] = [];
  const most = new Foremost<RecentlyActive>(limit, (a, b) => b.messages - a.messages);
  const slowest = new Foremost<RecentlyActive>(limit, (a, b) => b.batch_ms_max - a.batch_ms_max);
  for (const activation of active) {
    const { kind } = activation.kind;
    kinds[kind] ??= noPressure();
    count(kinds[kind], activation, now);
    if (activation.memory.quarantined !== null && quarantined.length < limit) quarantined.push(activation);
    busiest.offer(activation);
    const done = lately.entities.get(activation.number);
    if (done === undefined) continue;
    most.offer({ activation, ...done });
    slowest.offer({ activation, ...done });
  }
  const activeView = ({ activation, ...done }: RecentlyActive) => ({ ...view(activation), ...done });
  return {
    kinds,
    busiest: busiest.found.map(view),
    quarantined: quarantined.map(view),
    lately: {
      within_ms: Math.round(now - lately.from),
      busiest: most.found.map(activeView),
      slowest: slowest.found.map(activeView),
    },
  };
}

export function lookAt(activation: Activation, recent: RecentMessages) {
  const now = performance.now();
  const messages = recent.of(activation.number, RECENT_SHOWN_MAX);
  return { ...view(activation), recent: messages.map(({ at, ...one }) => ({ ...one, ago_ms: now - at })) };
}

type RecentlyActive = RecentBatches & { activation: Activation };

function noPressure(): Pressure {
  return { active: 0, waiting: 0, oldest_ms: 0, quarantined: 0 };
}

function count(pressure: Pressure, { waiting, oldest_at, memory }: Activation, now: number): void {
  pressure.active += 1;
  pressure.waiting += waiting;
  if (oldest_at !== null) pressure.oldest_ms = Math.max(pressure.oldest_ms, now - oldest_at);
  if (memory.quarantined !== null) pressure.quarantined += 1;
}

function view({ memory, waiting, batches, batch_ms_total }: Activation) {
  return {
    kind: memory.kind.kind,
    id: memory.place.address.id,
    partition: memory.place.partition,
    version: memory.version.version,
    waiting,
    batches,
    batch_ms_mean: batches === 0 ? 0 : batch_ms_total / batches,
    quarantined: memory.quarantined,
  };
}

/** Keeps the first few of many by an order, without sorting all of them. */
class Foremost<T> {
  readonly found: T[] = [];
  readonly #limit: number;
  readonly #compare: (a: T, b: T) => number;

  constructor(limit: number, compare: (a: T, b: T) => number) {
    this.#limit = limit;
    this.#compare = compare;
  }

  offer(one: T): void {
    const { found } = this;
    const last = found[this.#limit - 1];
    if (this.#limit === 0 || (last !== undefined && this.#compare(one, last) >= 0)) return;
    let low = 0;
    let high = found.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#compare(found[middle] as T, one) <= 0) low = middle + 1;
      else high = middle;
    }
    found.splice(low, 0, one);
    if (found.length > this.#limit) found.pop();
  }
}
