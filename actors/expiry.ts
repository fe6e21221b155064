import type { Effect } from './actor.js';

/** The message by which an entity that ends at a time reminds itself; the same again moves it. */
export function scheduleExpiry(at_ms: number): Effect {
  return { effect: 'schedule_reminder', name: 'run_out', at_ms, message: { type: 'run_out' } };
}

/** For an entity that ended earlier. */
export const CANCEL_EXPIRY: Effect = { effect: 'cancel_reminder', name: 'run_out' };
