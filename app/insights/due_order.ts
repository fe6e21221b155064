import type { Suggestion } from '../../kits/typescript/src/api.js';

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
  if (due_date !== null) return new Date(`${due_date}T23:59:59`).getTime();
  return due_at === null ? Number.MAX_SAFE_INTEGER : new Date(due_at).getTime();
}
