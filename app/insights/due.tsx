import type { Suggestion } from '../../kits/typescript/src/api.js';
import { momentOf } from '../language/formats.js';
import { say, sayWith } from '../language/say.js';
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
        {sayWith('due {time}', {
          time: due_date === null ? <Time at={due_at} /> : <Time at={noonOf(due_date)} style="date" />,
        })}
      </span>{' '}
      {isOverdue(suggestion, Date.now()) && <Badge tone="caution">{say('Overdue')}</Badge>}
    </>
  );
}

function noonOf(day: string): string {
  return new Date(momentOf(`${day}T12:00`)).toISOString();
}
