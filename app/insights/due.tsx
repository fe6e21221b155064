import type { Suggestion } from '../../kits/typescript/src/api.js';
import { Badge } from '../parts/placeholders.js';
import { Time } from '../parts/time.js';

/** When a suggestion is due, and whether that is over. */
export function Due({ suggestion }: { suggestion: Suggestion }) {
  const { due_at, due_date } = suggestion;
  if (due_at === null) return null;
  return (
    <>
      <span class="soft">
        due {due_date === null ? <Time at={due_at} /> : <Time at={`${due_date}T12:00:00`} style="date" />}
      </span>
      {isOverdue(suggestion) && <Badge tone="caution">Overdue</Badge>}
    </>
  );
}

/** A day is over with its last minute. */
function isOverdue({ due_at, due_date, status }: Suggestion): boolean {
  if (due_at === null || (status !== 'open' && status !== 'accepted')) return false;
  return (due_date === null ? new Date(due_at) : new Date(`${due_date}T23:59:59`)).getTime() < Date.now();
}
