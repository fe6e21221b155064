import type { Suggestion } from '../../kits/typescript/src/api.js';
import { dateText, dayOf, daysBetween, momentOf } from '../language/formats.js';
import { say, sayCount } from '../language/say.js';

type Dated = Pick<Suggestion, 'due_at' | 'due_date' | 'status' | 'created_at'>;

/** Puts the earliest due first, and suggestions without a time last, the newest of them first. */
export function byDue(one: Dated, other: Dated): number {
  const [due, others] = [dueMs(one), dueMs(other)];
  return due === others ? other.created_at.localeCompare(one.created_at) : due - others;
}

/** A day is over with its last minute. */
export function isOverdue(suggestion: Dated, now_ms: number): boolean {
  const { status } = suggestion;
  return (status === 'open' || status === 'accepted') && dueMs(suggestion) < now_ms;
}

function dueMs({ due_at, due_date }: Dated): number {
  if (due_date !== null) return momentOf(`${due_date}T23:59:59`);
  return due_at === null ? Number.MAX_SAFE_INTEGER : new Date(due_at).getTime();
}

/** The groups of tasks, by when they are due. */
export const DUE_GROUPS = ['Overdue', 'Today', 'This week', 'Later', 'No date'] as const;
export type DueGroup = (typeof DUE_GROUPS)[number];

/** `This week`: the six days after today. */
export function dueGroup(suggestion: Dated, now_ms: number): DueGroup {
  if (suggestion.due_at === null) return 'No date';
  if (isOverdue(suggestion, now_ms)) return 'Overdue';
  const days = daysAhead(suggestion, now_ms);
  return days <= 0 ? 'Today' : days < WEEK_DAYS ? 'This week' : 'Later';
}

/** When it is due, in few words: "Friday", "Tomorrow", "3 weeks late"; empty without a time. */
export function dueWords(suggestion: Dated, now_ms: number): string {
  const { due_at, due_date } = suggestion;
  if (due_at === null) return '';
  const days = daysAhead(suggestion, now_ms);
  if (isOverdue(suggestion, now_ms)) return lateWords(-days);
  const ms = dueMs(suggestion);
  const time = dateText(due_at, { hour: 'numeric', minute: '2-digit' });
  const has_time = due_date === null;
  if (days === 0) return has_time ? say('Today, {time}', { time }) : say('Today');
  if (days === 1) return has_time ? say('Tomorrow, {time}', { time }) : say('Tomorrow');
  if (days < WEEK_DAYS) {
    const weekday = dateText(ms, { weekday: 'long' });
    return has_time ? say('{weekday}, {time}', { weekday, time }) : weekday;
  }
  const is_this_year = dayOf(ms).slice(0, 4) === dayOf(now_ms).slice(0, 4);
  return dateText(has_time ? due_at : ms, {
    ...{ day: 'numeric', month: 'short', ...(is_this_year ? {} : { year: 'numeric' }) },
    ...(has_time && { hour: 'numeric', minute: '2-digit' }),
  });
}

const WEEK_DAYS = 7;
const MONTH_DAYS = 30.4;

/** From the day of `now_ms` to the day on which it is due. */
function daysAhead(suggestion: Dated, now_ms: number): number {
  return daysBetween(dayOf(now_ms), dayOf(dueMs(suggestion)));
}

function lateWords(days: number): string {
  if (days === 0) return say('Late today');
  if (days < 2 * WEEK_DAYS) return sayCount(days, { one: '{n} day late', other: '{n} days late' });
  if (days < 9 * WEEK_DAYS)
    return sayCount(Math.round(days / WEEK_DAYS), { one: '{n} week late', other: '{n} weeks late' });
  return sayCount(Math.round(days / MONTH_DAYS), { one: '{n} month late', other: '{n} months late' });
}
