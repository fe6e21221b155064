import type { Suggestion } from '../../kits/typescript/src/api.js';
import { Badge } from '../parts/placeholders.js';
import { Time } from '../parts/time.js';
import { isOverdue } from './due_order.js';

/** When a suggestion is due, and whether that is over. */
export function Due({ suggestion }: { suggestion: Suggestion }) {
  const { due_at, due_date } = suggestion;
  if (due_at === null) return null;
  return (
    <>
      <span class="soft">
        due {due_date === null ? <Time at={due_at} /> : <Time at={`${due_date}T12:00:00`} style="date" />}
      </span>{' '}
      {isOverdue(suggestion, Date.now()) && <Badge tone="caution">Overdue</Badge>}
    </>
  );
}
