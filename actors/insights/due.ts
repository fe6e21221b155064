import { mayBeNoon } from '../../src/domain/dates.js';
import type { Suggestion } from './library_state.js';

/** When a suggestion is due: a time, or a day alone, whose noon is the time then. */

/** By these names a person protects it from runs. */
export const DUE_FIELDS: ReadonlySet<string> = new Set(['due_at', 'due_date']);

/** The day of a suggestion that is due on a day, and at no time of it; a process of an earlier release changes the time alone. */
export function dueDateOf({ due_at_ms, due_date = null }: Pick<Suggestion, 'due_at_ms' | 'due_date'>): string | null {
  return due_date !== null && due_at_ms !== null && mayBeNoon(due_at_ms, due_date) ? due_date : null;
}
