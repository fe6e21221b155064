import { useEffect } from 'preact/hooks';
import type { Contact, Turn } from '../../kits/typescript/src/api.js';
import { clockText } from '../../src/domain/span_text.js';
import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useList, useLoaded } from '../api/loading.js';
import { ContactChanges } from '../contacts/contact_changes.js';
import { contactName, lastHeardText, spokenText } from '../contacts/contact_names.js';
import { byDue } from '../insights/due_order.js';
import { TaskRow } from '../insights/task_row.js';
import { say } from '../language/say.js';
import { Page, Section } from '../parts/page.js';
import { Badge, EmptyState, List, Loading, Problem, Show } from '../parts/placeholders.js';
import { Time } from '../parts/time.js';
import { RecordingLink } from '../recording/stream_names.js';
import { BASE, go } from '../router.js';
import { may } from '../shell/account.js';
import { loadAll } from './insights/load_suggestions.js';
import { TASK_KINDS } from './insights/tasks.js';

const wayBack = () => ({ href: `${BASE}/people`, name: say('People') });
const PAGE_ITEMS = 30;

/** One person: what is to do for them, and all that they said. */
export function Person({ params }: { params: Record<string, string> }) {
  const id = params.id as string;
  const contact = useLoaded(() => api('GET /contacts/{id}', { path: { id } }), [id]);
  useEvents(['contact.updated', 'contact.deleted'], (events) => {
    if (events === null || events.some(({ resource }) => resource.id === id)) contact.reload();
  });
  const merged_into = contact.data?.merged_into ?? null;
  useEffect(() => {
    if (merged_into !== null) go(`${BASE}/people/${merged_into}`, { replace: true });
  }, [merged_into]);
  const is_gone = contact.error?.code === 'NOT_FOUND';
  if (contact.data === null || merged_into !== null || is_gone) {
    return (
      <Page title={say('Person')} back={wayBack()}>
        {is_gone ? (
          <EmptyState title={say('This person is not here')}>
            <p>{say('The name was deleted, or it belongs to somebody else.')}</p>
          </EmptyState>
        ) : contact.error === null ? (
          <Loading />
        ) : (
          <Problem error={contact.error} retry={contact.reload} />
        )}
      </Page>
    );
  }
  return <Known contact={contact.data} set={contact.set} />;
}

function Known({ contact, set }: { contact: Contact; set: (contact: Contact) => void }) {
  const { id } = contact;
  const name = contactName(contact);
  const spoken = useLoaded(() => api('GET /contacts/{id}/spoken', { path: { id } }), [id]);
  const heard = spoken.data === null ? null : lastHeardText(spoken.data);
  return (
    <Page
      title={name}
      heading={<bdi>{name}</bdi>}
      back={wayBack()}
      lead={
        <div class="row-facts">
          {contact.is_self && <Badge>{say('You')}</Badge>}
          {spoken.data !== null && <span>{spokenText(spoken.data)}</span>}
          {heard !== null && <span>{heard}</span>}
        </div>
      }
      actions={may('turns:write') && <ContactChanges contact={contact} set={set} />}
    >
      {may('insights:read') && <OpenTasks contact={contact} />}
      <Said id={id} />
    </Page>
  );
}

function OpenTasks({ contact: { id } }: { contact: Contact }) {
  const found = useLoaded(async () => {
    const { items } = await loadAll({ statuses: ['open', 'accepted'], owner: id, stream_id: undefined });
    return items.filter(({ kind }) => TASK_KINDS.some((one) => one === kind)).sort(byDue);
  }, [id]);
  return (
    <Section title={say('Open tasks')}>
      <Show of={found}>
        {(items) =>
          items.length === 0 ? (
            <p class="hint">{say('Nothing is open. What this person promises in a recording appears here.')}</p>
          ) : (
            <ul class="tasks" aria-label={say('Open tasks')}>
              {items.map((one) => (
                <TaskRow
                  key={one.id}
                  suggestion={one}
                  owner={null}
                  onChange={(next) => found.set(items.map((was) => (was.id === next.id ? next : was)))}
                />
              ))}
            </ul>
          )
        }
      </Show>
    </Section>
  );
}

function Said({ id }: { id: string }) {
  const turns = useList((cursor) => api('GET /turns', { query: { contact_id: id, limit: PAGE_ITEMS, cursor } }), [id]);
  return (
    <Section title={say('What they said')}>
      <List
        of={turns}
        label={say('What they said')}
        empty={
          <p class="hint">{say('Nothing yet. In a recording, choose this person for a speaker under “Who speaks”.')}</p>
        }
      >
        {(turn) => <SaidRow key={turn.id} turn={turn} />}
      </List>
    </Section>
  );
}

function SaidRow({ turn: { stream_id, start_ms, started_at, text } }: { turn: Turn }) {
  return (
    <li>
      <div class="row-main">
        <p class="row-facts">
          <Time at={started_at} />
          <RecordingLink stream_id={stream_id} at_ms={start_ms} />
          <span>{say('at {time}', { time: clockText(start_ms) })}</span>
        </p>
        <a class="row-title found" href={`${BASE}/recordings/${stream_id}?t=${start_ms}`}>
          <bdi>{text}</bdi>
        </a>
      </div>
    </li>
  );
}
