import type { Commit, DueQueue } from './store.js';

/** Called when a queue of a partition gets something due at this time, which may have passed. */
export type NoteDue = (queue: DueQueue, partition: number, at_ms: number) => void;

/** Reports the work that a commit has made due, now or later. `has_deliveries`: to webhook endpoints. */
export function noteDue({ effects, now_ms, place }: Commit, has_deliveries: boolean, note: NoteDue): void {
  const { partition } = place;
  if (has_deliveries) note('endpoints', partition, now_ms);
  for (const effect of effects) {
    switch (effect.effect) {
      case 'schedule_reminder':
        note('reminders', partition, effect.at_ms);
        break;
      case 'notify':
        note('outbox', partition, now_ms);
        break;
      case 'enqueue':
        note(effect.queue, partition, effect.due_ms);
        break;
      case 'add_to_index':
        note(effect, partition, effect.order);
        break;
      case 'mark_changed':
        note(effect, partition, now_ms);
        break;
      case 'schedule_endpoint':
        note('endpoints', partition, now_ms); // its queue may have more
        break;
      default:
    }
  }
}
