/**
 * Sends mails without anybody waiting longer than a deadline, and knows whether mail works. After three failures of the
 * service in a row it doesn't, until one mail or one probe succeeds (sign-in answers 503 meanwhile, rule C-097). Nothing
 * that concerns one recipient counts, else made-up addresses would end sign-in for everybody.
 */
import { NoPlace, type PoolBounds, SharedPool } from '../pools/shared_pool.js';
import { type Mail, type Mailer, MailFailed, type MailFailure } from './mailer.js';

/** A timer; `after` returns what cancels it. Tests bring their own. */
export interface MailTimer {
  after(delay_ms: number, run: () => void): () => void;
}

export interface MailSenderOptions {
  mailer: Mailer;
  timer?: MailTimer;
  /** From the call of `send` on, waiting included. */
  deadline_ms?: number;
  failures_max?: number;
  probe_every_ms?: number;
  /** Told each outcome and each change of health, to be counted or logged; holds neither address nor text. */
  observe?: (event: MailSenderEvent) => void;
}

export type MailOutcome =
  | { sent: true }
  | { sent: false; failure: MailFailure | 'deadline' | 'queue_full' | 'closed'; reason: string };

export type MailSenderEvent = ({ event: 'outcome' } & MailOutcome) | { event: 'health'; healthy: boolean };

const DEADLINE_MS = 10_000;
/** Shared by recipients: one that a server is slow for takes no place from others. */
const MAILS: PoolBounds = {
  places_max: 8,
  share_max: 2,
  waiting_max: 1_000,
  waiting_share_max: 20,
  wait_ms_max: Number.POSITIVE_INFINITY, // the deadline ends it
};
const FAILURES_MAX = 3;
const PROBE_EVERY_MS = 10_000;

/** Timers of the machine, which keep no process alive. */
const MACHINE_TIMER: MailTimer = {
  after(delay_ms, run) {
    const timeout = setTimeout(run, delay_ms).unref();
    return () => clearTimeout(timeout);
  },
};

/** A sender that owns its mailer. Starts no timer while it is healthy and has nothing to send. */
export class MailSender {
  readonly #mailer: Mailer;
  readonly #timer: MailTimer;
  readonly #deadline_ms: number;
  readonly #failures_max: number;
  readonly #probe_every_ms: number;
  readonly #observe: (event: MailSenderEvent) => void;
  readonly pool = new SharedPool('mails', MAILS);
  #pending = 0;
  #failures = 0;
  #is_healthy = true;
  #is_closed = false;
  #is_probing = false;
  #stopProbing = () => {};
  #onEmpty = () => {};

  constructor(options: MailSenderOptions) {
    this.#mailer = options.mailer;
    this.#timer = options.timer ?? MACHINE_TIMER;
    this.#deadline_ms = options.deadline_ms ?? DEADLINE_MS;
    this.#failures_max = options.failures_max ?? FAILURES_MAX;
    this.#probe_every_ms = options.probe_every_ms ?? PROBE_EVERY_MS;
    this.#observe = options.observe ?? (() => {});
  }

  /** Never rejects, and resolves within the deadline. */
  send(mail: Mail): Promise<MailOutcome> {
    if (this.#is_closed) return Promise.resolve(this.#ended({ sent: false, failure: 'closed', reason: 'closed' }));
    this.#pending += 1;
    return new Promise((resolve) => {
      const late = new AbortController();
      let is_over = false;
      const end = (outcome: MailOutcome) => {
        if (is_over) return;
        is_over = true;
        stopDeadline();
        this.#pending -= 1;
        resolve(this.#ended(outcome));
        if (this.#pending === 0) this.#onEmpty();
      };
      const stopDeadline = this.#timer.after(this.#deadline_ms, () => {
        end({ sent: false, failure: 'deadline', reason: `no answer in ${this.#deadline_ms} ms` });
        late.abort();
      });
      const { signal } = late;
      // A mailer that does not heed the signal holds its place no longer.
      const sendOne = () => Promise.race([this.#mailer.send(mail, signal), abortOf(signal)]);
      this.pool.run(mail.to, sendOne, { signal }).then(
        () => end({ sent: true }),
        (error: unknown) => end({ sent: false, ...failureOf(error) }),
      );
    });
  }

  healthy(): boolean {
    return this.#is_healthy;
  }

  /** Mails that wait or are being sent. */
  pending(): number {
    return this.#pending;
  }

  /** Takes no more mails, resolves when those taken have ended (at most a deadline), closes the mailer. */
  async close(): Promise<void> {
    if (this.#is_closed) return;
    this.#is_closed = true;
    this.#stopProbing();
    if (this.pending() > 0) {
      await new Promise<void>((resolve) => {
        this.#onEmpty = resolve;
      });
    }
    this.#mailer.close();
  }

  #ended(outcome: MailOutcome): MailOutcome {
    this.#observe({ event: 'outcome', ...outcome });
    if (outcome.sent) this.#succeeded();
    else if (outcome.failure === 'service' || outcome.failure === 'queue_full') this.#failed();
    // It may be this recipient that the server is slow for: what it says to nobody's mail shows.
    else if (outcome.failure === 'deadline') this.#probe();
    return outcome;
  }

  #succeeded(): void {
    this.#failures = 0;
    if (this.#is_healthy) return;
    this.#is_healthy = true;
    this.#stopProbing();
    this.#observe({ event: 'health', healthy: true });
  }

  #failed(): void {
    this.#failures += 1;
    if (this.#failures >= this.#failures_max && this.#is_healthy) this.#isAway();
  }

  #isAway(): void {
    if (this.#is_healthy) {
      this.#is_healthy = false;
      this.#observe({ event: 'health', healthy: false });
    }
    this.#probeLater();
  }

  #probeLater(): void {
    if (this.#is_closed || this.#is_healthy) return;
    this.#stopProbing = this.#timer.after(this.#probe_every_ms, () => this.#probe());
  }

  /** One probe at a time, or one after the other while mail is out of order. */
  #probe(): void {
    if (this.#is_closed || this.#is_probing) return;
    this.#is_probing = true;
    let is_over = false;
    const over = (works: boolean) => {
      if (is_over) return;
      is_over = true;
      this.#is_probing = false;
      stopDeadline();
      if (works) this.#succeeded();
      else this.#isAway();
    };
    // A probe that hangs counts as failed, and the next one starts beside it.
    const stopDeadline = this.#timer.after(this.#deadline_ms, () => over(false));
    this.#stopProbing = stopDeadline;
    this.#mailer.verify().then(
      () => over(true),
      () => over(false),
    );
  }
}

/** Rejects when the signal aborts. */
function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new MailFailed('service', 'aborted')), { once: true });
  });
}

function failureOf(error: unknown): { failure: MailFailure | 'queue_full'; reason: string } {
  if (error instanceof NoPlace)
    return { failure: error.cause === 'waiting_share' ? 'later' : 'queue_full', reason: error.cause };
  return error instanceof MailFailed
    ? { failure: error.failure, reason: error.reason }
    : { failure: 'service', reason: 'unknown' };
}
