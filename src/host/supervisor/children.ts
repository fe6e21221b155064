import type { Server, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { backoffAfter } from '../../domain/backoff.js';
import { newProcessId, ownersOf } from '../../engine/cluster/ownership.js';
import type { ProcessTrouble } from '../../engine/cluster/process_queries.js';
import { every } from '../../engine/time/periodic_timer.js';
import { DRAIN_MAX_MS } from '../server/start.js';
import { BEAT_EVERY_MS, type Order, type PortName, type Report, type StartOrder } from '../supervised/messages.js';
import { Child } from './child.js';

/** The wait between restarts is bounded, their number is not: after giving up, a person would have to come. */
const RESTART_WAIT = { first_ms: 50, max_ms: 5_000 };
/** One that ran this long was healthy; after it the waits begin again with the first. */
const HEALTHY_MS = 30_000;
/** A process of which nothing was heard for so long hangs; it is killed. */
const SILENT_MAX_MS = 5_000;
/** Between two looks that lie further apart this process stood still itself. */
const LOOK_LATE_MS = 2 * BEAT_EVERY_MS;
/** For so long it is said that a process was replaced after it crashed or hung. */
const REPLACED_SAID_MS = 60_000;
/** For what follows the last answers: commits, files, connections to Redis. */
const END_MAX_MS = DRAIN_MAX_MS + 10_000;

type Events = {
  /** One more process serves. */
  serves(): void;
  /** Told once of each; what it had is lost. */
  gone(child: Child): void;
  hears(child: Child, report: Report, socket: Socket | undefined): void;
};

type ChildrenDeps = {
  count: number;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  order: Omit<StartOrder, 'number' | 'member_id'>;
  /** Held by each of them as well, so that no other server begins while one of them still writes. */
  lock: Server | null;
  /** For how long one that leaves lets devices' connections end with an answer. */
  drain_ms: number;
  events: Events;
};

/** The server processes: started, started again when they end unasked, replaced one by one, stopped. */
export class Children {
  readonly #deps: ChildrenDeps;
  /** By their numbers, those that hold the place. */
  readonly #places = new Map<number, Child>();
  readonly #running = new Set<Child>();
  readonly #restarts = new Map<number, number>();
  readonly #stopping = new AbortController();
  #owners: { among: readonly string[]; by_partition: readonly string[] } = { among: [], by_partition: [] };
  #rolling: Promise<void> | null = null;
  /** Processes that ended unasked. */
  #replaced: { number: number; pid: number; at_ms: number }[] = [];
  #troubles: ProcessTrouble[] = [];
  #looked_ms = performance.now();
  #stopLooking = () => {};

  constructor(deps: ChildrenDeps) {
    this.#deps = deps;
  }

  /** The first one alone: it makes what the others find. Rejects with why one did not come to serve. */
  async start(): Promise<void> {
    for (const batch of [[1], Array.from({ length: this.#deps.count - 1 }, (_, at) => at + 2)]) {
      await Promise.all(batch.map((number) => this.#launch(number).ready));
    }
    for (const child of this.#running) void this.#watch(child);
    this.#looked_ms = performance.now();
    this.#stopLooking = every(BEAT_EVERY_MS, () => this.#look());
  }

  /** The processes that serve, by number. */
  get serving(): Child[] {
    return [...this.#places.values()].filter(({ state }) => state === 'ready');
  }

  /** Of each number the process that holds it, serving or not. */
  get all(): ReadonlyMap<number, Child> {
    return this.#places;
  }

  /**
   * Who is to serve a connection: who owns the partition, of those here, or has the fewest. Those that do not respond, and
   * `but`, which let it lie before, are passed over; null where nobody is left.
   */
  choose(port: PortName, partition: number | null, but: Child | null = null): Child | null {
    const { serving } = this;
    const isAble = (child: Child) => child !== but && child.isResponsive;
    const owner = partition === null ? null : this.#ownerOf(partition, serving);
    if (owner !== null && isAble(owner)) return owner;
    let fewest: Child | null = null;
    for (const child of serving) {
      if (!isAble(child)) continue;
      if (fewest === null || child.connections[port] < fewest.connections[port]) fewest = child;
    }
    return fewest;
  }

  #ownerOf(partition: number, serving: readonly Child[]): Child | null {
    const ids = serving.map(({ member_id }) => member_id);
    if (ids.join() !== this.#owners.among.join()) this.#owners = { among: ids, by_partition: ownersOf(ids) };
    const owner_id = this.#owners.by_partition[partition];
    return serving.find(({ member_id }) => member_id === owner_id) ?? null;
  }

  sendAll(order: Order): void {
    for (const child of this.#running) child.send(order);
  }

  /** Replaces each by a new one, one after the other. Rejects when a new one does not come to serve; the old one stays. */
  roll(): Promise<void> {
    this.#rolling ??= this.#roll().finally(() => {
      this.#rolling = null;
    });
    return this.#rolling;
  }

  /** Stops all in order; by force what takes too long. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#stopLooking();
    this.sendAll({ do: 'stop' });
    await Promise.all([...this.#running].map((child) => endOf(child)));
  }

  async #roll(): Promise<void> {
    const { log, drain_ms } = this.#deps;
    for (const number of [...this.#places.keys()]) {
      const old = this.#places.get(number) as Child;
      await old.ready.catch(() => {});
      if (this.#stopping.signal.aborted) return;
      if (old.state === 'gone') continue; // it is started anew anyway
      const next = this.#launch(number, { is_spare: true });
      await next.ready;
      void this.#watch(next);
      this.#places.set(number, next);
      this.#deps.events.serves();
      if (old.state === 'ready') old.state = 'leaving';
      old.send({ do: 'leave' });
      await endOf(old, drain_ms);
      log.info({ number, pid: next.pid, instead_of: old.pid }, 'a process was replaced');
    }
  }

  #launch(number: number, { is_spare = false } = {}): Child {
    const { events, lock, order } = this.#deps;
    const child = new Child({ ...order, number, member_id: newProcessId() }, (from, report, socket) => {
      if (report.says === 'left') from.send({ do: 'stop' });
      else events.hears(from, report, socket);
    });
    if (lock !== null) child.send({ do: 'hold' }, lock);
    child.send({ do: 'note', troubles: this.#troubles });
    this.#running.add(child);
    if (!is_spare) this.#places.set(number, child);
    void child.exited.then(() => {
      this.#running.delete(child);
      events.gone(child);
    });
    return child;
  }

  /** Kills what hangs, and tells all of what hangs and what was replaced. */
  #look(): void {
    const now_ms = performance.now();
    const is_late = now_ms - this.#looked_ms > LOOK_LATE_MS;
    this.#looked_ms = now_ms;
    // Reports that came meanwhile are read before any process is judged.
    setImmediate(() => {
      if (this.#stopping.signal.aborted) return;
      for (const child of this.#running) {
        if (child.state !== 'ready' && child.state !== 'leaving') continue;
        if (is_late) child.forgive();
        if (child.silent_ms <= SILENT_MAX_MS) continue;
        const { number, pid, silent_ms } = child;
        this.#deps.log.error({ number, pid, silent_ms: Math.round(silent_ms) }, 'a process hangs; it is killed');
        child.kill();
      }
      this.#note();
    });
  }

  /** Tells all processes which of them are in trouble, where that has changed. */
  #note(): void {
    const before_ms = performance.now() - REPLACED_SAID_MS;
    this.#replaced = this.#replaced.filter(({ at_ms }) => at_ms > before_ms);
    const hanging = this.serving.filter(({ isResponsive }) => !isResponsive);
    const troubles: ProcessTrouble[] = [
      ...hanging.map(({ number, pid }) => ({ number, pid, trouble: 'hangs' as const })),
      ...this.#replaced.map(({ number, pid }) => ({ number, pid, trouble: 'replaced' as const })),
    ];
    if (JSON.stringify(troubles) === JSON.stringify(this.#troubles)) return;
    this.#troubles = troubles;
    this.sendAll({ do: 'note', troubles });
  }

  /** Sees to it that somebody takes the place of one that ends while it holds it. */
  async #watch(child: Child): Promise<void> {
    const { log } = this.#deps;
    const since = performance.now();
    const how = await child.exited;
    const { number, pid } = child;
    if (this.#stopping.signal.aborted || this.#places.get(number) !== child) return;
    log.error({ number, pid, how }, 'a process ended unexpectedly; it is started again');
    this.#replaced.push({ number, pid, at_ms: performance.now() });
    if (performance.now() - since > HEALTHY_MS) this.#restarts.delete(number);
    const restarts = (this.#restarts.get(number) ?? 0) + 1;
    this.#restarts.set(number, restarts);
    await delay(backoffAfter(restarts, RESTART_WAIT), undefined, { signal: this.#stopping.signal, ref: false }).catch(
      () => {},
    );
    // A rolling restart may have filled the place meanwhile.
    if (this.#stopping.signal.aborted || this.#places.get(number) !== child) return;
    const next = this.#launch(number);
    void this.#watch(next);
    await next.ready.then(
      () => this.#deps.events.serves(),
      (error: Error) => log.error({ number, reason: error.message }, 'a process could not be started again'),
    );
  }
}

/** Waits until it has ended; by force when that takes too long. */
async function endOf(child: Child, longer_ms = 0): Promise<void> {
  const late = setTimeout(() => child.kill(), END_MAX_MS + longer_ms);
  await child.exited;
  clearTimeout(late);
}
