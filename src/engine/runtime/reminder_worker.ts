import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Address } from '../../../actors/actor.js';
import { Backoff } from '../jobs/backoff.js';
import type { DuePoll } from '../jobs/due_poll.js';
import { DueTask } from '../jobs/due_task.js';
import type { Metrics } from '../metrics/metrics.js';
import { decodeStored, encodeStored } from '../store/codec.js';
import type { DueReminder, SkipsReminder, Store } from '../store/store.js';
import type { Runtime } from './runtime.js';

const RUN_EVERY_MS = 1_000;
const PER_PARTITION_MAX = 100;
/** Fired in one run; after a long stop the rest follows in the next runs. */
const PER_RUN_MAX = 2_000;
const AT_ONCE_MAX = 256;
const THROWS_MAX = 5;
/** One that could not be delivered, for example to a quarantined entity, is skipped for this long. */
const RETRY = { first_ms: 2_000, max_ms: 60_000, kept_max: 100_000 };

type ReminderWorkerDeps = {
  store: Store;
  runtime: Pick<Runtime, 'deliver'>;
  poll: DuePoll;
  metrics: Metrics;
  log: Pick<Logger, 'error'>;
  now: () => number;
};

type Tried = 'fired' | 'threw' | 'undeliverable';

/**
 * Fires reminders that are due. The entity's commit takes the reminder away together with its effect, so it fires
 * once in effect however many processes run this.
 */
export class ReminderWorker {
  readonly #deps: ReminderWorkerDeps;
  readonly #throws = new LRUCache<string, number>({ max: RETRY.kept_max });
  readonly #undeliverable = new Backoff(RETRY);
  readonly #task: DueTask<number>;

  constructor(deps: ReminderWorkerDeps) {
    this.#deps = deps;
    const asked = { poll: deps.poll, queue: 'reminders', every_ms: RUN_EVERY_MS } as const;
    this.#task = new DueTask(asked, (partitions) => this.#run(partitions));
  }

  start(): void {
    this.#task.start();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  /** Fires what is due now; gives how many fired. */
  look(): Promise<number> {
    return this.#task.runOnce();
  }

  async #run(partitions: readonly number[]): Promise<number> {
    const now_ms = this.#deps.now();
    const tried = new Set<string>();
    let fired = 0;
    // Undeliverable reminders took places of the limit, so others are read now.
    for (let has_undeliverable = true; has_undeliverable && tried.size < PER_RUN_MAX; ) {
      has_undeliverable = false;
      const due = (await this.#due(partitions, { now_ms, tried })).slice(0, PER_RUN_MAX - tried.size);
      for (let at = 0; at < due.length; at += AT_ONCE_MAX) {
        const some = due.slice(at, at + AT_ONCE_MAX);
        for (const { reminder } of some) tried.add(nameOf(reminder));
        const results = await Promise.all(some.map((one) => this.#tryFire(one.partition, one.reminder, now_ms)));
        fired += results.filter((result) => result === 'fired').length;
        has_undeliverable ||= results.includes('undeliverable');
      }
    }
    return fired;
  }

  async #due(
    partitions: readonly number[],
    { now_ms, tried }: { now_ms: number; tried: ReadonlySet<string> },
  ): Promise<{ partition: number; reminder: DueReminder }[]> {
    const skips: SkipsReminder = (reminder) => {
      const name = nameOf(reminder);
      return tried.has(name) || this.#undeliverable.isWaiting(name, now_ms);
    };
    const found = await Promise.all(
      partitions.map(async (partition) => {
        const due = await this.#deps.store.dueReminders(partition, now_ms, PER_PARTITION_MAX, skips);
        return due.map((reminder) => ({ partition, reminder }));
      }),
    );
    return found.flat();
  }

  /** One that can't be read or delivered must not keep the others from firing. */
  async #tryFire(partition: number, reminder: DueReminder, now_ms: number): Promise<Tried> {
    let tried: Tried;
    try {
      tried = await this.#fire(partition, reminder, now_ms);
    } catch (error) {
      this.#deps.log.error({ err: error, partition }, 'a reminder could not be fired');
      tried = 'undeliverable';
    }
    if (tried === 'undeliverable') this.#undeliverable.failed(nameOf(reminder), now_ms);
    else this.#undeliverable.succeeded(nameOf(reminder));
    return tried;
  }

  async #fire(partition: number, { member, at_ms, body }: DueReminder, now_ms: number): Promise<Tried> {
    const { runtime, store, metrics, log } = this.#deps;
    const name = nameOf({ member, at_ms });
    const { to, message } = decodeStored(body) as { to: Address; message: unknown };
    metrics.reminder_lateness.observe(Math.max(0, now_ms - at_ms) / 1000);
    const answer = await runtime.deliver(to, { message, source: { from: 'reminder', member, at_ms } });
    if (answer.outcome === 'decided' || answer.outcome === 'already') {
      this.#throws.delete(name);
      return 'fired';
    }
    if (answer.outcome !== 'threw') return 'undeliverable'; // quarantined, or storage is away
    const throws = (this.#throws.get(name) ?? 0) + 1;
    this.#throws.set(name, throws);
    if (throws < THROWS_MAX) return 'threw'; // due again in the next run
    this.#throws.delete(name);
    await store.addDeadLetter(partition, `reminder:${member}`, encodeStored({ to, message, at_ms }));
    await store.removeReminder(partition, { member, at_ms });
    metrics.dead_letters.inc({ what: 'reminder' });
    log.error({ kind: to.kind, partition }, 'a reminder threw too often and is a dead letter now');
    return 'fired';
  }
}

/** A reminder that is moved is another one. */
function nameOf({ member, at_ms }: { member: string; at_ms: number }): string {
  return `${member}@${at_ms}`;
}
