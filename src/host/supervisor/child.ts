import { type ChildProcess, fork, type SendHandle } from 'node:child_process';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { BEAT_EVERY_MS, type Order, type PortName, type Report, type StartOrder } from '../supervised/messages.js';

const PROGRAM = fileURLToPath(new URL('./child_main.js', import.meta.url));
/** Keys, certificates and Redis' functions are looked at; Redis itself is there. */
const READY_MAX_MS = 60_000;
/** One that missed a beat is not offered anything. */
const RESPONSIVE_WITHIN_MS = 1.5 * BEAT_EVERY_MS;
/** The last output of an ended process is read within so long. */
const LAST_WORDS_MS = 50;

/** Why a process did not come to serve; what it said, where it said something. */
export class ChildFailed extends Error {
  override name = 'ChildFailed';
}

type Hears = (child: Child, report: Report, socket: Socket | undefined) => void;

/** A server process, from its start to its end. */
export class Child {
  /** Which of the processes it is, from 1 on; whoever takes its place has the same. */
  readonly number: number;
  readonly member_id: string;
  /** Rejects with `ChildFailed` where it ends before it serves. */
  readonly ready: Promise<void>;
  readonly exited: Promise<string>;
  /** `leaving`: it gets no connections any more. */
  state: 'starting' | 'ready' | 'leaving' | 'gone' = 'starting';
  /** Connections that it has, by port. */
  readonly connections: Record<PortName, number> = { public: 0, device: 0, operator: 0 };
  /** The connections that it was offered and has not taken. */
  offered = 0;
  #heard_ms = performance.now();
  readonly #process: ChildProcess;

  constructor(order: StartOrder, hears: Hears) {
    this.number = order.number;
    this.member_id = order.member_id;
    this.#process = fork(PROGRAM, [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.exited = new Promise((resolve) => {
      this.#process.on('error', (error) => resolve(error.message)); // it never ran; of more nobody need hear
      // And what it said before that has been heard. Node does not say so while it waits for word of a handle.
      const silent = new Promise<void>((quiet) => this.#process.once('disconnect', quiet));
      this.#process.once('exit', (code, signal) => {
        this.state = 'gone';
        void Promise.race([silent, delay(LAST_WORDS_MS)]).then(() => resolve(signal ?? `exit code ${code}`));
      });
    });
    this.ready = this.#begin(order);
    this.ready.catch(() => {}); // whoever waits for it hears of it
    this.#process.on('message', (report: Report, socket?: Socket) => {
      this.#heard_ms = performance.now();
      hears(this, report, socket);
    });
  }

  /** For how long nothing was heard of it, in milliseconds. */
  get silent_ms(): number {
    return performance.now() - this.#heard_ms;
  }

  /** It said something lately, so it will take what it is offered. */
  get isResponsive(): boolean {
    return this.silent_ms <= RESPONSIVE_WITHIN_MS;
  }

  /** Its silence counts from now on: nobody listened before. */
  forgive(): void {
    this.#heard_ms = performance.now();
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** A handle stays open here as well. What is sent to one that has ended is lost, which its end says. */
  send(order: Order, handle?: SendHandle): void {
    if (this.#process.connected) this.#process.send(order, handle, { keepOpen: true }, () => {});
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  async #begin(order: StartOrder): Promise<void> {
    let late: NodeJS.Timeout | undefined;
    const said = new Promise<void>((resolve, reject) => {
      this.#process.on('message', (report: Report) => {
        if (report.says === 'ready') resolve();
        if (report.says === 'failed') reject(new ChildFailed(report.text));
      });
      void this.exited.then((how) => reject(new ChildFailed(`it ended (${how}) before it served`)));
      late = setTimeout(() => {
        reject(new ChildFailed(`it did not serve within ${READY_MAX_MS / 1_000} seconds`));
        this.kill();
      }, READY_MAX_MS);
    });
    this.send({ do: 'start', ...order });
    await said.finally(() => clearTimeout(late));
    this.state = 'ready';
  }
}
