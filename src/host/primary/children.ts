import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { backoffAfter } from '../../domain/backoff.js';
import { ConnectionSums } from '../../edge/admission/peer_connections.js';
import type { ProcessTrouble } from '../../engine/cluster/process_queries.js';
import { every } from '../../engine/time/periodic_timer.js';
import { BEAT_EVERY_MS, type Ports, type Report, type StartOrder } from '../server/primary_messages.js';
import { DRAIN_MAX_MS } from '../server/start.js';
import { Child } from './child.js';
import { QueryRelay } from './query_relay.js';

const RESTART_WAIT = { first_ms: 50, max_ms: 5_000 };
/** A process that ran this long was healthy; after it the waits start again from the first. */
const HEALTHY_MS = 30_000;
/** The number of times in a row that a process may end before it was healthy, unless another one serves. */
const RESTARTS_MAX = 10;
/** A process that has been silent for this time hangs; it is killed. */
const SILENT_MAX_MS = 5_000;
/** Between two looks that lie further apart this process stood still itself. */
const LOOK_LATE_MS = 2 * BEAT_EVERY_MS;
/** The time for which the replacement of a crashed or hung process is reported. */
const REPLACED_SAID_MS = 60_000;
/** The time for the last connections and answers, commits, files, connections to Redis. */
const END_MAX_MS = DRAIN_MAX_MS + 20_000;

type ChildrenDeps = {
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  order: Omit<StartOrder, 'number' | 'ports'>;
  /** The time that a leaving process gives connections to end with an answer, if longer than usual. */
  leave_ms: number;
};

/** The server processes: started, started again when they end unasked, replaced one by one, stopped. */
export class Children {
  /** Resolves with the reason when processes end again and again and are no longer started. */
  readonly given_up: Promise<string>;
  readonly #deps: ChildrenDeps;
  /** The processes that hold each place, by number. */
  readonly #places = new Map<number, Child>();
  readonly #running = new Set<Child>();
  readonly #restarts = new Map<number, number>();
  readonly #stopping = new AbortController();
  readonly #questions = new QueryRelay(() => this.#places.values());
  readonly #connections = new ConnectionSums<Child>((child, counts) => child.send({ do: 'count', counts }));
  #giveUp: (why: string) => void = () => {};
  /** The ports on which they listen, once one serves. */
  #ports: Ports | null = null;
  #asked_ports: Ports | null = null;
  #rolling: Promise<void> | null = null;
  /** Processes that ended unasked. */
  #replaced: { number: number; pid: number; at_ms: number }[] = [];
  #troubles: ProcessTrouble[] = [];
  #looked_ms = performance.now();
  #stopLooking = () => {};

  constructor(deps: ChildrenDeps) {
    this.#deps = deps;
    this.given_up = new Promise((resolve) => {
      this.#giveUp = resolve;
    });
  }

  /** The first one alone: it makes what the others find. Rejects with why one did not come to serve. */
  async start(): Promise<Ports> {
    const ports = await this.#launch(1).ready;
    this.#ports = ports;
    const others = Array.from({ length: this.#deps.order.processes - 1 }, (_, at) => this.#launch(at + 2));
    await Promise.all(others.map(({ ready }) => ready));
    for (const child of this.#running) void this.#watch(child);
    this.#looked_ms = performance.now();
    this.#stopLooking = every(BEAT_EVERY_MS, () => this.#look());
    return ports;
  }

  /** The processes that serve, by number. */
  get serving(): Child[] {
    return [...this.#places.values()].filter(({ state }) => state === 'ready');
  }

  /** Replaces each by a new one, one after the other. Rejects when a new one does not come to serve; the old one stays. */
  roll(): Promise<void> {
    this.#rolling ??= this.#roll().finally(() => {
      this.#rolling = null;
    });
    return this.#rolling;
  }

  /** Stops all in order; by force what takes too long. */
  async stop(drain_ms: number): Promise<void> {
    this.#stopping.abort();
    this.#stopLooking();
    for (const child of this.#running) child.send({ do: 'stop', drain_ms });
    await Promise.all([...this.#running].map((child) => endOf(child, drain_ms)));
  }

  async #roll(): Promise<void> {
    const { log, leave_ms } = this.#deps;
    for (const number of [...this.#places.keys()]) {
      const old = this.#places.get(number) as Child;
      await old.ready.catch(() => {});
      if (this.#stopping.signal.aborted) return;
      if (old.state === 'gone') continue; // it is started anew anyway
      const next = this.#launch(number, { is_spare: true });
      await next.ready;
      void this.#watch(next);
      this.#places.set(number, next);
      if (old.state === 'ready') old.state = 'leaving';
      old.send({ do: 'leave' });
      await endOf(old, leave_ms);
      log.info({ number, pid: next.pid, instead_of: old.pid }, 'a process was replaced');
    }
  }

  #launch(number: number, { is_spare = false } = {}): Child {
    const { order } = this.#deps;
    // A port that was any free one stays what it became, also where nobody has it open any more.
    if (this.#running.size === 0) this.#asked_ports = this.#ports;
    const child = new Child({ ...order, number, ports: this.#asked_ports }, (from, report) => this.#hear(from, report));
    child.send({ do: 'note', troubles: this.#troubles });
    this.#connections.joins(child);
    this.#running.add(child);
    if (!is_spare) this.#places.set(number, child);
    void child.exited.then(() => {
      this.#running.delete(child);
      this.#connections.gone(child);
      this.#questions.gone(child);
    });
    return child;
  }

  #hear(child: Child, report: Report): void {
    if (report.says === 'ask') this.#questions.ask(child, report);
    if (report.says === 'told') this.#questions.told(child, report);
    if (report.says === 'count') this.#connections.says(child, report.counts);
  }

  /** Kills what hangs, and tells all of what hangs and what was replaced. */
  #look(): void {
    const now_ms = performance.now();
    const is_late = now_ms - this.#looked_ms > LOOK_LATE_MS;
    this.#looked_ms = now_ms;
    // Reports that came meanwhile are read before any process is judged.
    setImmediate(() => {
      if (this.#stopping.signal.aborted) return;
      const alive = [...this.#running].filter(({ state }) => state === 'ready' || state === 'leaving');
      if (is_late) for (const child of alive) child.forgive();
      this.#killHanging(alive.filter(({ silent_ms }) => silent_ms > SILENT_MAX_MS));
      this.#note();
    });
  }

  /**
   * While all hang, one at a time, each once the one before is replaced: the last to end would close the sockets, and with
   * them the connections that wait there.
   */
  #killHanging(hanging: readonly Child[]): void {
    const has_serving = this.serving.some(({ isResponsive }) => isResponsive);
    const is_replacing = this.serving.length < this.#places.size;
    const killed = has_serving ? hanging : hanging.slice(0, is_replacing ? 0 : 1);
    for (const child of killed) {
      const { number, pid, silent_ms } = child;
      this.#deps.log.error({ number, pid, silent_ms: Math.round(silent_ms) }, 'a process hangs; it is killed');
      child.kill();
    }
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
    for (const child of this.#running) child.send({ do: 'note', troubles });
  }

  /** Sees to it that another takes the place of one that ends while it holds it. */
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
    if (restarts > RESTARTS_MAX && this.serving.length === 0)
      return this.#giveUp(
        `Process ${number} ended ${restarts} times soon after it was started, the last time with ${how}; no other serves.`,
      );
    await delay(backoffAfter(restarts, RESTART_WAIT), undefined, { signal: this.#stopping.signal }).catch(() => {});
    // A rolling restart may have filled the place meanwhile.
    if (this.#stopping.signal.aborted || this.#places.get(number) !== child) return;
    const next = this.#launch(number);
    void this.#watch(next);
    await next.ready.catch((error: Error) =>
      log.error({ number, reason: error.message }, 'a process could not be started again'),
    );
  }
}

/** Waits until it has ended; by force when that takes too long. */
async function endOf(child: Child, longer_ms: number): Promise<void> {
  const late = setTimeout(() => child.kill(), END_MAX_MS + longer_ms);
  await child.exited;
  clearTimeout(late);
}
