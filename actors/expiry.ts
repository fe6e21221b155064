import type { Effect } from './actor.js';

/** An entity that ends by itself when its time is over reminds itself with this message; the same again moves it. */
export function scheduleExpiry(at_ms: number): Effect {
  return { effect: 'schedule_reminder', name: 'run_out', at_ms, message: { type: 'run_out' } };
}

/** For one that ended before its time. */
export const CANCEL_EXPIRY: Effect = { effect: 'cancel_reminder', name: 'run_out' };
