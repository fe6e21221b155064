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

export interface MailSender {
  /** Never rejects, and resolves within the deadline. */
  send(mail: Mail): Promise<MailOutcome>;
  healthy(): boolean;
  /** Mails that wait or are being sent. */
  pending(): number;
  /** Takes no more mails, resolves when those taken have ended (at most a deadline), closes the mailer. */
  close(): Promise<void>;
}

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

/** A sender that owns its mailer. Starts no timer while it is healthy and has nothing to send. */
export function createMailSender(options: MailSenderOptions): MailSender {
  const { mailer } = options;
  const timer = options.timer ?? machine_timer;
  const deadline_ms = options.deadline_ms ?? DEADLINE_MS;
  const concurrency_max = options.concurrency_max ?? CONCURRENCY_MAX;
  const queue_max = options.queue_max ?? QUEUE_MAX;
  const failures_max = options.failures_max ?? FAILURES_MAX;
  const probe_every_ms = options.probe_every_ms ?? PROBE_EVERY_MS;
  const observe = options.observe ?? (() => {});

  /** A Set, since a mail leaves from the middle when its deadline comes. Oldest first. */
  const queue = new Set<Job>();
  const sending = new Set<Job>();
  let failures = 0;
  let is_healthy = true;
  let is_closed = false;
  let stopProbing = () => {};
  let onEmpty = () => {};

  function succeeded(): void {
    failures = 0;
    if (is_healthy) return;
    is_healthy = true;
    stopProbing();
    observe({ event: 'health', healthy: true });
  }

  function failed(): void {
    failures += 1;
    if (!is_healthy || failures < failures_max) return;
    is_healthy = false;
    observe({ event: 'health', healthy: false });
    probeLater();
  }

  function probeLater(): void {
    if (is_closed || is_healthy) return;
    stopProbing = timer.after(probe_every_ms, () => {
      let is_over = false;
      const over = (works: boolean) => {
        if (is_over) return;
        is_over = true;
        stopDeadline();
        if (works) succeeded();
        else probeLater();
      };
      // A probe that hangs counts as failed, and the next one starts beside it.
      const stopDeadline = timer.after(deadline_ms, () => over(false));
      stopProbing = stopDeadline;
      mailer.verify().then(
        () => over(true),
        () => over(false),
      );
    });
  }

  function count(outcome: MailOutcome): void {
    observe({ event: 'outcome', ...outcome });
    if (outcome.sent) succeeded();
    // A refused recipient and a mail that can't be sent say nothing about the service: else three made-up addresses
    // would end sign-in for everybody.
    else if (outcome.failure !== 'recipient' && outcome.failure !== 'mail' && outcome.failure !== 'closed') failed();
  }

  function fill(): void {
    for (const job of queue) {
      if (sending.size >= concurrency_max) return;
      queue.delete(job);
      sending.add(job);
      mailer.send(job.mail, job.abort.signal).then(
        () => job.end({ sent: true }),
        (error: unknown) =>
          error instanceof MailFailed
            ? job.end({ sent: false, failure: error.failure, reason: error.reason })
            : job.end({ sent: false, failure: 'service', reason: 'unknown' }),
      );
    }
  }

  return {
    send(mail) {
      if (is_closed) return Promise.resolve(refuse('closed'));
      if (queue.size >= queue_max) return Promise.resolve(refuse('queue_full'));
      return new Promise((resolve) => {
        const abort = new AbortController();
        let is_over = false;
        const job: Job = {
          mail,
          abort,
          end(outcome) {
            if (is_over) return;
            is_over = true;
            stopDeadline();
            queue.delete(job);
            sending.delete(job);
            count(outcome);
            resolve(outcome);
            fill();
            if (queue.size + sending.size === 0) onEmpty();
          },
        };
        const stopDeadline = timer.after(deadline_ms, () => {
          job.end({ sent: false, failure: 'deadline', reason: `no answer in ${deadline_ms} ms` });
          abort.abort();
        });
        queue.add(job);
        fill();
      });
    },

    healthy: () => is_healthy,
    pending: () => queue.size + sending.size,

    async close() {
      if (is_closed) return;
      is_closed = true;
      stopProbing();
      if (queue.size + sending.size > 0) {
        await new Promise<void>((resolve) => {
          onEmpty = resolve;
        });
      }
      mailer.close();
    },
  };

  function refuse(failure: 'closed' | 'queue_full'): MailOutcome {
    const outcome: MailOutcome = { sent: false, failure, reason: failure };
    count(outcome);
    return outcome;
  }
}

/** Timers of the machine, which keep no process alive. */
const machine_timer: MailTimer = {
  after(delay_ms, run) {
    const timeout = setTimeout(run, delay_ms).unref();
    return () => clearTimeout(timeout);
  },
};
