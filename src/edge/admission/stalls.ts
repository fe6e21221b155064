import type { IncomingMessage } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Logger } from 'pino';
import { every } from '../../engine/time/periodic_timer.js';

/** A client that asked this long ago has given up, as most clients do, or soon will. */
const STALL_MS = 10_000;
const TICK_MS = 2_000;
/**
 * Requests that waited in the kernel are read within this number of turns of the event loop after the stall, at least
 * this far apart.
 */
const DROPPING_TURNS = 10;
const TURN_MS = 20;

type StallsDeps = {
  log: Pick<Logger, 'warn'>;
  metrics: { overload_refusals: { inc(labels: { listener: 'public' | 'device' | 'operator'; cause: 'stall' }): void } };
  /** Monotonic milliseconds. */
  monotonicMs?: () => number;
};

/**
 * Notices that this process stood still (SIGSTOP, a paused machine), and closes what waited unread meanwhile: nobody
 * waits for those answers any more, and what they would change is not wanted now. A refresh token that is turned for a
 * client that gave up is lost to it.
 *
 * A process is stopped while it waits for its sockets, as a rule, and reads them before any timer runs. So each arrival
 * itself looks at when the last tick was. What is accepted or read during the first turns after that goes as well; a
 * connection that was made in that fifth of a second is closed with them, and made again by its client.
 */
export class Stalls {
  readonly #deps: StallsDeps;
  readonly #now: () => number;
  #ticked_at: number;
  #turns_left = 0;
  #dropped = 0;
  #stopTicking: (() => void) | null = null;

  constructor(deps: StallsDeps) {
    this.#deps = deps;
    this.#now = deps.monotonicMs ?? (() => performance.now());
    this.#ticked_at = this.#now();
  }

  start(): void {
    this.#ticked_at = this.#now();
    this.#stopTicking = every(TICK_MS, () => this.tick());
  }

  stop(): void {
    this.#stopTicking?.();
  }

  /**
   * Installs itself before all handling of connections and requests by a server. To be called before the server
   * listens.
   */
  install(server: Server, listener: 'public' | 'device' | 'operator'): void {
    for (const event of ['connection', 'request']) {
      const listeners = server.listeners(event) as ((...args: unknown[]) => void)[];
      server.removeAllListeners(event);
      server.on(event, (...args: unknown[]) => {
        if (!this.isDropping) {
          for (const go of listeners) go.apply(server, args);
          return;
        }
        const [came] = args as [Socket | IncomingMessage];
        ('socket' in came ? came.socket : came).destroy();
        this.#dropped += 1;
        this.#deps.metrics.overload_refusals.inc({ listener, cause: 'stall' });
      });
    }
  }

  /** Whether a request that arrives now waited through a stall, or may have. */
  get isDropping(): boolean {
    return this.#turns_left > 0 || this.#now() - this.#ticked_at > STALL_MS;
  }

  tick(): void {
    const stalled_ms = this.#now() - this.#ticked_at;
    this.#ticked_at = this.#now();
    if (stalled_ms <= STALL_MS) return;
    this.#deps.log.warn({ stalled_ms: Math.round(stalled_ms) }, 'this process stood still; what waited is dropped');
    if (this.#turns_left === 0) this.#afterTurn(DROPPING_TURNS);
    else this.#turns_left = DROPPING_TURNS;
  }

  #afterTurn(left: number): void {
    this.#turns_left = left;
    if (left > 0) {
      setTimeout(() => this.#afterTurn(this.#turns_left - 1), TURN_MS);
      return;
    }
    this.#deps.log.warn({ dropped: this.#dropped }, 'it goes on');
    this.#dropped = 0;
  }
}
