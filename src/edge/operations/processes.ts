import type { Address } from '../../../actors/actor.js';
import type { Runtime } from '../../engine/runtime/runtime.js';
import type { DeviceActivity, DeviceFilter, SeenDevice } from '../../features/devices/activity.js';
import type { DeliveryWorker } from '../../features/webhooks/delivery_worker.js';
import type { SeenEndpoint } from '../../features/webhooks/endpoint_activity.js';
import type { ProcessTrouble } from '../../host/supervisor/messages.js';
import type { Supervised } from '../../host/supervisor/supervised.js';
import type { Standing } from './health_problems.js';
import type { HistoryView, Range } from './history.js';
import type { ProcessRow } from './process_row.js';
import type { TurnTimes, Watch } from './watch.js';

/** What a process says of itself for the overview. */
export type ProcessStanding = { row: ProcessRow; standing: Standing; history: HistoryView };

/** What entities are in the memory of a process, and how long turns of each kind took there. */
export type ActorsSeen = ReturnType<Runtime['inspect']> & { times: Record<string, TurnTimes> };

/** What may be asked of a process, and what it answers; both travel as JSON. */
export type Reports = {
  metrics: { about: null; value: string };
  standing: { about: { after_ms: number; range: Range }; value: ProcessStanding };
  actors: { about: { limit: number }; value: ActorsSeen };
  look: { about: Address; value: ReturnType<Runtime['look']> };
  release: { about: Address; value: boolean };
  /** Ids of devices that the filter holds for. */
  device_ids: { about: DeviceFilter; value: { since_ms: number; seen: number; seen_max: number; ids: string[] } };
  devices: { about: string[]; value: { since_ms: number; items: SeenDevice[] } };
  /** What came of the last requests to endpoints, and how many requests are under way. */
  endpoints: { about: string[]; value: { since_ms: number; in_flight: number; items: SeenEndpoint[] } };
};
type Name = keyof Reports;
export type Tells = { [N in Name]: (about: Reports[N]['about']) => Reports[N]['value'] | Promise<Reports[N]['value']> };

/** What a process answered; `value` is null where it did not in time. `number`: null where it is the only one. */
export type Told<N extends Name> = { number: number | null; pid: number; value: Reports[N]['value'] | null };

/** The server processes on this machine, as operators ask them: of whichever they ask, all answer. */
export class Processes {
  readonly #supervised: Supervised | null;
  readonly #tells: Tells;

  constructor(supervised: Supervised | null, tells: Tells) {
    this.#supervised = supervised;
    this.#tells = tells;
  }

  /** Which of them hang, or were replaced within the last minute after they crashed or hung. */
  get troubles(): readonly ProcessTrouble[] {
    return this.#supervised?.troubles ?? [];
  }

  /** The answers of all, in the order of their numbers. */
  async ask<N extends Name>(name: N, about: Reports[N]['about']): Promise<Told<N>[]> {
    const supervised = this.#supervised;
    const [value, others] = await Promise.all([this.#tells[name](about), supervised?.ask(name, about) ?? []]);
    const own: Told<N> = { number: supervised?.order.number ?? null, pid: process.pid, value };
    const told = others.map((other): Told<N> => ({ ...other, value: (other.value ?? null) as Told<N>['value'] }));
    return [own, ...told].sort((a, b) => (a.number ?? 0) - (b.number ?? 0));
  }

  /** The answers that came. */
  async askAll<N extends Name>(name: N, about: Reports[N]['about']): Promise<NonNullable<Reports[N]['value']>[]> {
    const told = await this.ask(name, about);
    return told.flatMap(({ value }) => (value === null ? [] : [value as NonNullable<Reports[N]['value']>]));
  }

  /** The answer of this one, to another. */
  async tell(name: string, about: unknown): Promise<unknown> {
    return this.#tells[name as Name](about as never);
  }
}

/** How one process answers. */
export function tellsOf({
  metrics,
  runtime,
  watch,
  device_activity,
  deliveries,
}: {
  metrics: { registry: { metrics(): Promise<string> } };
  runtime: Pick<Runtime, 'inspect' | 'look' | 'releaseQuarantine'>;
  watch: Pick<Watch, 'turnTimes' | 'row' | 'standing' | 'history'>;
  device_activity: DeviceActivity;
  deliveries: Pick<DeliveryWorker, 'activity' | 'in_flight'>;
}): Tells {
  return {
    metrics: () => metrics.registry.metrics(),
    standing: ({ after_ms, range }) => ({
      ...{ row: watch.row(), standing: watch.standing(), history: watch.history(after_ms, range) },
    }),
    actors({ limit }) {
      const seen = runtime.inspect(limit);
      return { ...seen, times: Object.fromEntries(watch.turnTimes(Object.keys(seen.kinds))) };
    },
    look: (address) => runtime.look(address),
    release: (address) => runtime.releaseQuarantine(address),
    device_ids(filter) {
      const { since_ms, size: seen, seen_max } = device_activity;
      return { since_ms, seen, seen_max, ids: device_activity.list(filter).map(({ device_id }) => device_id) };
    },
    devices(ids) {
      const items = ids.flatMap((id) => device_activity.find(id) ?? []);
      return { since_ms: device_activity.since_ms, items };
    },
    endpoints(ids) {
      const { activity, in_flight } = deliveries;
      // Both have watched since this process began.
      return { since_ms: device_activity.since_ms, in_flight, items: ids.flatMap((id) => activity.find(id) ?? []) };
    },
  };
}
