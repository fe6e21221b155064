import type { Logger } from 'pino';
import type { Address } from '../../actors/actor.js';
import type { Metrics } from '../runtime/metrics.js';
import type { Runtime } from '../runtime/runtime.js';
import { decodeStored, encodeStored } from '../store/codec.js';
import type { DueReminder, Store } from '../store/store.js';
import { PARTITIONS } from '../vocabulary/ids.js';
import { Looks } from './looks.js';

const LOOK_EVERY_MS = 1_000;
const PER_PARTITION_MAX = 100;
/** Fired in one look; after a long stop the rest follows with the next looks instead of all at once. */
const PER_LOOK_MAX = 2_000;
const AT_ONCE_MAX = 256;
const THROWS_MAX = 5;

type Parts = { store: Store; runtime: Runtime; metrics: Metrics; log: Pick<Logger, 'error'>; now: () => number };

/**
 * Fires reminders that are due. The entity's commit takes the reminder away together with its effect, so it fires
 * once in effect however many processes look.
 */
export class ReminderWorker {
  readonly #parts: Parts;
  readonly #throws = new Map<string, number>();
  readonly #looks = new Looks(() => this.#look(), LOOK_EVERY_MS);

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    this.#looks.start();
  }

  async stop(): Promise<void> {
    await this.#looks.stop();
  }

  /** Fires what is due now; gives how many fired. */
  look(): Promise<number> {
    return this.#looks.look();
  }

  async #look(): Promise<number> {
    const now_ms = this.#parts.now();
    const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition);
    const found = await Promise.all(
      partitions.map(async (partition) => {
        const due = await this.#parts.store.dueReminders(partition, now_ms, PER_PARTITION_MAX);
        return due.map((reminder) => ({ partition, reminder }));
      }),
    );
    const due = found.flat().slice(0, PER_LOOK_MAX);
    let fired = 0;
    for (let at = 0; at < due.length; at += AT_ONCE_MAX) {
      const results = await Promise.all(
        due.slice(at, at + AT_ONCE_MAX).map((one) => this.#tryFire(one.partition, one.reminder, now_ms)),
      );
      fired += results.filter(Boolean).length;
    }
    return fired;
  }

  /** One that can't be read or delivered must not keep the others from firing. */
  async #tryFire(partition: number, reminder: DueReminder, now_ms: number): Promise<boolean> {
    try {
      return await this.#fire(partition, reminder, now_ms);
    } catch (error) {
      this.#parts.log.error({ err: error, partition }, 'a reminder could not be fired');
      return false;
    }
  }

  async #fire(partition: number, { member, at_ms, body }: DueReminder, now_ms: number): Promise<boolean> {
    const { runtime, store, metrics, log } = this.#parts;
    const { to, message } = decodeStored(body) as { to: Address; message: unknown };
    metrics.reminder_lateness.observe(Math.max(0, now_ms - at_ms) / 1000);
    const answer = await runtime.deliver(to, { message, source: { from: 'reminder', member, at_ms } });
    if (answer.outcome === 'decided' || answer.outcome === 'already') {
      this.#throws.delete(member);
      return true;
    }
    if (answer.outcome !== 'threw') return false; // parked or away: due again with the next look
    const throws = (this.#throws.get(member) ?? 0) + 1;
    this.#throws.set(member, throws);
    if (throws < THROWS_MAX) return false;
    this.#throws.delete(member);
    await store.setAside(partition, `reminder:${member}`, encodeStored({ to, message, at_ms }));
    await store.removeReminder(partition, { member, at_ms });
    metrics.set_aside.inc({ what: 'reminder' });
    log.error({ kind: to.kind, partition }, 'a reminder threw too often and was set aside');
    return true;
  }
}
