/**
 * Sends mails without anybody waiting longer than a deadline, and knows whether mail works. After three failures in a
 * row it doesn't, until one mail or one probe succeeds (sign-in answers 503 meanwhile, rule C-097).
 */
import { type Mail, type Mailer, MailFailed } from './mailer.js';

/** A timer; `after` returns what cancels it. Tests bring their own. */
export interface MailTimer {
  after(delay_ms: number, run: () => void): () => void;
}

export interface MailSenderOptions {
  mailer: Mailer;
  timer?: MailTimer;
  /** From the call of `send` on, waiting included. */
  deadline_ms?: number;
  concurrency_max?: number;
  queue_max?: number;
  failures_max?: number;
  probe_every_ms?: number;
  /** Told each outcome and each change of health, to be counted or logged; holds neither address nor text. */
  observe?: (event: MailSenderEvent) => void;
}

export type MailOutcome =
  | { sent: true }
  | { sent: false; failure: 'service' | 'recipient' | 'mail' | 'deadline' | 'queue_full' | 'closed'; reason: string };

export type MailSenderEvent = ({ event: 'outcome' } & MailOutcome) | { event: 'health'; healthy: boolean };

const DEADLINE_MS = 10_000;
const CONCURRENCY_MAX = 8;
const QUEUE_MAX = 1_000;
const FAILURES_MAX = 3;
const PROBE_EVERY_MS = 10_000;

interface Job {
  mail: Mail;
  abort: AbortController;
  end(outcome: MailOutcome): void;
}

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
  readonly #concurrency_max: number;
  readonly #queue_max: number;
  readonly #failures_max: number;
  readonly #probe_every_ms: number;
  readonly #observe: (event: MailSenderEvent) => void;
  /** A Set, since a mail leaves from the middle when its deadline comes. Oldest first. */
  readonly #queue = new Set<Job>();
  readonly #sending = new Set<Job>();
  #failures = 0;
  #is_healthy = true;
  #is_closed = false;
  #stopProbing = () => {};
  #onEmpty = () => {};

  constructor(options: MailSenderOptions) {
    this.#mailer = options.mailer;
    this.#timer = options.timer ?? MACHINE_TIMER;
    this.#deadline_ms = options.deadline_ms ?? DEADLINE_MS;
    this.#concurrency_max = options.concurrency_max ?? CONCURRENCY_MAX;
    this.#queue_max = options.queue_max ?? QUEUE_MAX;
    this.#failures_max = options.failures_max ?? FAILURES_MAX;
    this.#probe_every_ms = options.probe_every_ms ?? PROBE_EVERY_MS;
    this.#observe = options.observe ?? (() => {});
  }

  /** Never rejects, and resolves within the deadline. */
  send(mail: Mail): Promise<MailOutcome> {
    if (this.#is_closed) return Promise.resolve(this.#refuse('closed'));
    if (this.#queue.size >= this.#queue_max) return Promise.resolve(this.#refuse('queue_full'));
    return new Promise((resolve) => {
      const abort = new AbortController();
      let is_over = false;
      const job: Job = {
        mail,
        abort,
        end: (outcome) => {
          if (is_over) return;
          is_over = true;
          stopDeadline();
          this.#queue.delete(job);
          this.#sending.delete(job);
          this.#count(outcome);
          resolve(outcome);
          this.#fill();
          if (this.pending() === 0) this.#onEmpty();
        },
      };
      const stopDeadline = this.#timer.after(this.#deadline_ms, () => {
        job.end({ sent: false, failure: 'deadline', reason: `no answer in ${this.#deadline_ms} ms` });
        abort.abort();
      });
      this.#queue.add(job);
      this.#fill();
    });
  }

  healthy(): boolean {
    return this.#is_healthy;
  }

  /** Mails that wait or are being sent. */
  pending(): number {
    return this.#queue.size + this.#sending.size;
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

  #fill(): void {
    for (const job of this.#queue) {
      if (this.#sending.size >= this.#concurrency_max) return;
      this.#queue.delete(job);
      this.#sending.add(job);
      this.#mailer.send(job.mail, job.abort.signal).then(
        () => job.end({ sent: true }),
        (error: unknown) =>
          error instanceof MailFailed
            ? job.end({ sent: false, failure: error.failure, reason: error.reason })
            : job.end({ sent: false, failure: 'service', reason: 'unknown' }),
      );
    }
  }

  #refuse(failure: 'closed' | 'queue_full'): MailOutcome {
    const outcome: MailOutcome = { sent: false, failure, reason: failure };
    this.#count(outcome);
    return outcome;
  }

  #count(outcome: MailOutcome): void {
    this.#observe({ event: 'outcome', ...outcome });
    if (outcome.sent) this.#succeeded();
    // A refused recipient and a mail that can't be sent say nothing about the service: else three made-up addresses
    // would end sign-in for everybody.
    else if (outcome.failure !== 'recipient' && outcome.failure !== 'mail' && outcome.failure !== 'closed')
      this.#failed();
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
    if (!this.#is_healthy || this.#failures < this.#failures_max) return;
    this.#is_healthy = false;
    this.#observe({ event: 'health', healthy: false });
    this.#probeLater();
  }

  #probeLater(): void {
    if (this.#is_closed || this.#is_healthy) return;
    this.#stopProbing = this.#timer.after(this.#probe_every_ms, () => {
      let is_over = false;
      const over = (works: boolean) => {
        if (is_over) return;
        is_over = true;
        stopDeadline();
        if (works) this.#succeeded();
        else this.#probeLater();
      };
      // A probe that hangs counts as failed, and the next one starts beside it.
      const stopDeadline = this.#timer.after(this.#deadline_ms, () => over(false));
      this.#stopProbing = stopDeadline;
      this.#mailer.verify().then(
        () => over(true),
        () => over(false),
      );
    });
  }
}
