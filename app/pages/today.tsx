import type { Day, EventType, Stream, Suggestion } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useLoaded } from '../api/loading.js';
import { useOwnerNames } from '../contacts/people.js';
import { SuggestionRow } from '../insights/suggestion_row.js';
import { TaskRow } from '../insights/task_row.js';
import { dayAfter, dayOf, timeZone } from '../language/formats.js';
import { say } from '../language/say.js';
import { Button } from '../parts/button.js';
import { Page, Section } from '../parts/page.js';
import { EmptyState, Show } from '../parts/placeholders.js';
import { dayText, durationText, Time } from '../parts/time.js';
import { recordingName } from '../recording/stream_names.js';
import { BASE, place, setQuery } from '../router.js';

const DAY = /^\d{4}-\d\d-\d\d$/;
const CHANGES: readonly EventType[] = [
  'stream.created',
  'stream.updated',
  'suggestion.created',
  'suggestion.updated',
  'suggestion.deleted',
];

/** A day: what is due, what was decided, promised and recorded. The address holds the day. */
export function Today() {
  const wanted = place.value.query.get('day') ?? '';
  const today = dayOf(Date.now());
  const date = DAY.test(wanted) ? wanted : today;
  const time_zone = timeZone();
  const day = useLoaded(() => api('GET /days/{date}', { path: { date }, query: { time_zone } }), [date, time_zone]);
  useEvents(CHANGES, () => day.reload());
  const goTo = (days: number) => {
    const to = dayAfter(date, days);
    setQuery({ day: to === today ? null : to });
  };
  return (
    <Page
      title={dayText(date)}
      actions={
        <>
          <Button icon="back" onClick={() => goTo(-1)}>
            {say('Previous day')}
          </Button>
          <Button disabled={date >= today} onClick={() => goTo(1)}>
            {say('Next day')}
          </Button>
        </>
      }
    >
      <Show of={day}>{(known) => <Parts day={known} is_today={date === today} changed={day.reload} />}</Show>
    </Page>
  );
}

function Parts({ day, is_today, changed }: { day: Day; is_today: boolean; changed: () => void }) {
  const { tasks_due, decisions, tasks_made, recordings } = day;
  // What is overdue today was not due on the day that is looked at.
  const tasks_overdue = is_today ? day.tasks_overdue : [];
  const due = new Set([...tasks_overdue, ...tasks_due].map(({ id }) => id));
  const made = tasks_made.filter(({ id, status }) => !due.has(id) && status !== 'withdrawn');
  if (due.size + decisions.length + made.length + recordings.length === 0) {
    return (
      <EmptyState icon="check" title={say('Nothing on this day')}>
        <p>{say('Recordings of the day, what was decided in them, and what is due appear here.')}</p>
      </EmptyState>
    );
  }
  return (
    <>
      <Tasks title={say('Overdue')} items={tasks_overdue} changed={changed} />
      <Tasks title={say('Due')} items={tasks_due} changed={changed} />
      <Suggestions title={say('Decided')} items={decisions} changed={changed} />
      <Tasks title={say('To do')} items={made} changed={changed} />
      {recordings.length > 0 && (
        <Section title={say('Recordings')}>
          <ul class="list">
            {recordings.map((stream) => (
              <Row key={stream.id} stream={stream} />
            ))}
          </ul>
        </Section>
      )}
      {!day.complete && <p class="hint">{say('This day has more than is shown here.')}</p>}
    </>
  );
}

function Tasks({ title, items, changed }: { title: string; items: readonly Suggestion[]; changed: () => void }) {
  const ownerOf = useOwnerNames();
  if (items.length === 0) return null;
  return (
    <Section title={title}>
      <ul class="tasks">
        {items.map((one) => (
          <TaskRow key={one.id} suggestion={one} owner={ownerOf(one)} onChange={changed} />
        ))}
      </ul>
    </Section>
  );
}

function Suggestions({ title, items, changed }: { title: string; items: readonly Suggestion[]; changed: () => void }) {
  if (items.length === 0) return null;
  return (
    <Section title={title}>
      <ul class="list">
        {items.map((one) => (
          <SuggestionRow key={one.id} suggestion={one} onChange={changed} />
        ))}
      </ul>
    </Section>
  );
}

function Row({ stream }: { stream: Stream }) {
  return (
    <li>
      <div class="row-when">
        <Time at={stream.captured_at} style="time" />
      </div>
      <div class="row-main">
        <a class="row-title" href={`${BASE}/recordings/${stream.id}`}>
          <bdi>{recordingName(stream)}</bdi>
        </a>
        {stream.first_line != null && (
          <p class="row-text">
            <bdi>{stream.first_line}</bdi>
          </p>
        )}
        {stream.end_ms !== undefined && <p class="row-facts">{durationText(stream.end_ms)}</p>}
      </div>
    </li>
  );
}
