import { z } from 'zod';
import { count } from '../../src/access/response_schemas.js';
import { fittingCount } from '../../src/edge/mcp/fitting_page.js';
import { type SuggestionView, suggestionShape } from '../../src/features/insights/library/insight_shapes.js';
import { type DayView, dayShape } from '../../src/features/insights/reading/day.js';
import { streamOf, streamShape } from './views.js';

/** A day as a tool gives it: each list as far as all of it fits into one answer. */

const suggestion = suggestionShape.shape;

const dayItemShape = z.strictObject({
  suggestion_id: suggestion.id,
  kind: suggestion.kind,
  text: suggestion.text,
  status: suggestion.status,
  due_at: suggestion.due_at,
  due_date: suggestion.due_date,
  owner_contact_id: suggestion.roles.shape.owner_contact_id,
  state_version: suggestion.state_version,
  stream_id: z.string().nullable(),
  start_ms: count.nullable(),
});

const { date, time_zone, from, until } = dayShape.shape;

export const toolDayShape = z.strictObject({
  date,
  time_zone,
  from,
  until,
  recordings: z.array(streamShape),
  decisions: z.array(dayItemShape),
  tasks_made: z.array(dayItemShape),
  tasks_due: z.array(dayItemShape),
  tasks_overdue: z.array(dayItemShape),
  complete: z.boolean(),
});

const LISTS = ['tasks_due', 'decisions', 'tasks_made', 'recordings', 'tasks_overdue'] as const;

export function dayOf(day: DayView): z.infer<typeof toolDayShape> {
  const { date, time_zone, from, until } = day;
  const whole = {
    recordings: day.recordings.map(streamOf),
    decisions: day.decisions.map(dayItem),
    tasks_made: day.tasks_made.map(dayItem),
    tasks_due: day.tasks_due.map(dayItem),
    tasks_overdue: day.tasks_overdue.map(dayItem),
  };
  // What matters most on a day comes first.
  let room = fittingCount(LISTS.flatMap((name): object[] => whole[name]));
  const kept = LISTS.map((name) => {
    const items = Math.min(whole[name].length, room);
    room -= items;
    return [name, items] as const;
  });
  const sizes = Object.fromEntries(kept) as Record<(typeof LISTS)[number], number>;
  return {
    date,
    time_zone,
    from,
    until,
    recordings: whole.recordings.slice(0, sizes.recordings),
    decisions: whole.decisions.slice(0, sizes.decisions),
    tasks_made: whole.tasks_made.slice(0, sizes.tasks_made),
    tasks_due: whole.tasks_due.slice(0, sizes.tasks_due),
    tasks_overdue: whole.tasks_overdue.slice(0, sizes.tasks_overdue),
    complete: day.complete && LISTS.every((name) => sizes[name] === whole[name].length),
  };
}

function dayItem(item: SuggestionView): z.infer<typeof dayItemShape> {
  const { id: suggestion_id, kind, text, status, due_at, due_date, roles, state_version, evidence } = item;
  const { stream_id = null, start_ms = null } = evidence[0] ?? {};
  const { owner_contact_id } = roles;
  return { suggestion_id, kind, text, status, due_at, due_date, owner_contact_id, state_version, stream_id, start_ms };
}
