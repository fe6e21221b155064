import type { Logger } from 'pino';
import type { Address } from '../../../actors/actor.js';
import { type DueMember, type DueMembersDeps, NotNow } from '../jobs/due_members.js';
import { DueWorker } from '../jobs/due_worker.js';
import type { Metrics } from '../metrics/metrics.js';
import { RecentlyUsed } from '../pools/recently_used.js';
import { decodeStored, encodeStored } from '../store/codec.js';
import type { DueReminder } from '../store/store.js';
import type { Runtime } from './runtime.js';

const EVERY_MS = 1_000;
const PER_PARTITION_MAX = 100;
/** The most reminders of one round. After a long stop the rest follows in the next rounds. */
const ROUND_MAX = 2_000;
const AT_ONCE = 256;
const THROWS_MAX = 5;
const THROWS_KEPT_MAX = 100_000;

type ReminderWorkerDeps = DueMembersDeps & {
  runtime: Pick<Runtime, 'deliver'>;
  metrics: Metrics;
  log: Pick<Logger, 'error'>;
};

/** `name`: of a reminder and its time. A moved reminder counts as another one. */
type FoundReminder = DueMember & DueReminder;

/**
 * Fires due reminders. The entity's commit removes the reminder together with its effect, so the effect happens once
 * even if several processes run this.
 */
export function reminderWorker(deps: ReminderWorkerDeps): DueWorker<FoundReminder> {
  const { store, runtime, metrics, log, now } = deps;
  const throws = new RecentlyUsed<number>(THROWS_KEPT_MAX);
  const work = {
    ...({ queue: 'reminders', every_ms: EVERY_MS, at_once: AT_ONCE, round_max: ROUND_MAX } as const),
    complaint: 'a reminder could not be fired',
    async find(partition: number, now_ms: number, skips: (name: string) => boolean) {
      const due = await store.dueReminders(partition, now_ms, PER_PARTITION_MAX, (found) => skips(nameOf(found)));
      return due.map((reminder) => ({ ...reminder, partition, name: nameOf(reminder) }));
    },
  };
  return DueWorker.of(deps, work, async ({ partition, name, member, at_ms, body }) => {
    const { to, message } = decodeStored(body) as { to: Address; message: unknown };
    metrics.reminder_lateness.observe(Math.max(0, now() - at_ms) / 1000);
    const { outcome } = await runtime.deliver(to, { message, source: { from: 'reminder', member, at_ms } });
    if (outcome === 'refused') throw new NotNow('quarantined, or storage is away');
    if (outcome === 'threw') {
      const count = (throws.get(name) ?? 0) + 1;
      throws.set(name, count);
      if (count < THROWS_MAX) throw new NotNow('its decision threw');
      await store.addDeadLetter(partition, `reminder:${member}`, encodeStored({ to, message, at_ms }));
      await store.removeReminder(partition, { member, at_ms });
      metrics.dead_letters.inc({ what: 'reminder' });
      log.error({ kind: to.kind, partition }, 'a reminder threw too often and is a dead letter now');
    }
    throws.delete(name);
  });
}

function nameOf({ member, at_ms }: { member: string; at_ms: number }): string {
  return `${member}@${at_ms}`;
}
