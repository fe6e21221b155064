import cluster, { type Worker } from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { BEAT_EVERY_MS, type Order, type Ports, type Report, type StartOrder } from '../server/primary_messages.js';

/** Keys, certificates and Redis' functions are looked at; Redis itself is there. */
const READY_MAX_MS = 60_000;
/** A process that missed a beat does not respond. */
const RESPONSIVE_WITHIN_MS = 1.5 * BEAT_EVERY_MS;
/** The time within which the last messages of an ended process are read. */
const LAST_WORDS_MS = 50;

/**
 * Says how children run; to be called before the first. They accept by themselves, on sockets that they share, so a
 * connection costs the primary nothing. `lock_fd`: of the lock of DATA_DIR, which each inherits, so that no other server
 * begins while one of them still writes.
 */
export function setupChildren(lock_fd: number | null): void {
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({
    exec: fileURLToPath(new URL('./child_main.js', import.meta.url)),
    args: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...(lock_fd === null ? [] : [lock_fd])],
  });
}

/** The reason for which a process did not come to serve, with its own message if it sent one. */
export class ChildFailed extends Error {
  override name = 'ChildFailed';
}

/** A server process, from its start to its end. */
export class Child {
  /** The number of the process, from 1 on; its replacement has the same. */
  readonly number: number;
  /** Its ports, once it serves. Rejects with `ChildFailed` if it ends before. */
  readonly ready: Promise<Ports>;
  readonly exited: Promise<string>;
  /** `leaving`: it accepts no connections any more. */
  state: 'starting' | 'ready' | 'leaving' | 'gone' = 'starting';
  #heard_ms = performance.now();
  readonly #worker: Worker;
  /** Orders from before the process began to listen: node would drop them. Null from then on. */
  #unsent: Order[] | null = [];

  constructor(order: StartOrder, hears: (child: Child, report: Report) => void) {
    this.number = order.number;
    const worker = cluster.fork();
    this.#worker = worker;
    this.exited = new Promise((resolve) => {
      worker.on('error', (error) => resolve(error.message)); // it never ran, or could not be sent something
      const silent = new Promise<void>((quiet) => worker.once('disconnect', quiet));
      worker.once('exit', (code, signal) => {
        void Promise.race([silent, delay(LAST_WORDS_MS)]).then(() => resolve(signal ?? `exit code ${code}`));
      });
    });
    void this.exited.then(() => {
      this.state = 'gone';
    });
    this.ready = this.#begin(order);
    this.ready.catch(() => {}); // whoever waits for it hears of it
    worker.on('message', (report: Report) => {
      this.#heard_ms = performance.now();
      if (report.says === 'begun') this.#sendFirst();
      hears(this, report);
    });
  }

  /** The time since the last message of the process, in milliseconds. */
  get silent_ms(): number {
    return performance.now() - this.#heard_ms;
  }

  get isResponsive(): boolean {
    return this.silent_ms <= RESPONSIVE_WITHIN_MS;
  }

  /** Counts the process' silence from now on: nothing listened before. */
  forgive(): void {
    this.#heard_ms = performance.now();
  }

  get pid(): number {
    return this.#worker.process.pid ?? 0;
  }

  /** An order to a process that has ended is lost, which its end says. */
  send(order: Order): void {
    if (this.#unsent !== null) this.#unsent.push(order);
    else if (this.#worker.isConnected()) this.#worker.process.send(order, () => {});
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }

  #sendFirst(): void {
    const unsent = this.#unsent ?? [];
    this.#unsent = null;
    for (const order of unsent) this.send(order);
  }

  async #begin(order: StartOrder): Promise<Ports> {
    let late: NodeJS.Timeout | undefined;
    const said = new Promise<Ports>((resolve, reject) => {
      this.#worker.on('message', (report: Report) => {
        if (report.says === 'ready') resolve(report.ports);
        if (report.says === 'failed') reject(new ChildFailed(report.text));
      });
      void this.exited.then((how) => reject(new ChildFailed(`it ended (${how}) before it served`)));
      late = setTimeout(() => {
        reject(new ChildFailed(`it did not serve within ${READY_MAX_MS / 1_000} seconds`));
        this.kill();
      }, READY_MAX_MS);
    });
    this.send({ do: 'start', ...order });
    const ports = await said.finally(() => clearTimeout(late));
    this.state = 'ready';
    return ports;
  }
}
