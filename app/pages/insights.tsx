import type { Suggestion } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useList, useLoaded } from '../api/loading.js';
import { ConversationRow, MemoryRow } from '../insights/conversation_row.js';
import { STATUS_NAMES, SuggestionRow } from '../insights/suggestion_row.js';
import { SelectField } from '../parts/field.js';
import { Page } from '../parts/page.js';
import { EmptyState, List } from '../parts/placeholders.js';
import { BASE, place, setQuery } from '../router.js';
import { may } from '../shell/account.js';

const PAGE_ITEMS = 30;
const CONTACTS = 100;
const STATUSES = ['open', 'accepted', 'completed', 'dismissed'] as const;

/** The page of insights. Conversations and memories are for accounts with developer access. */
export function Insights() {
  const shown = may('debug:read') ? place.value.query.get('show') : null;
  return (
    <Page title="To do" lead={<p>What was promised, asked and decided in your recordings.</p>}>
      {may('debug:read') && (
        <Tabs
          label="What is shown"
          name="show"
          rows={[
            [null, 'Suggestions'],
            ['conversations', 'Conversations'],
            ['memories', 'Memories'],
          ]}
        />
      )}
      {shown === 'conversations' ? <Conversations /> : shown === 'memories' ? <Memories /> : <Suggestions />}
    </Page>
  );
}

function Tabs({
  label,
  name,
  rows,
}: {
  label: string;
  name: string;
  rows: readonly (readonly [value: string | null, words: string])[];
}) {
  const { path, query } = place.value;
  const chosen = query.get(name);
  return (
    <nav class="tabs" aria-label={label}>
      {rows.map(([value, words]) => (
        <a
          key={words}
          class="tab"
          href={`${BASE}${path}${value === null ? '' : `?${name}=${value}`}`}
          aria-current={value === chosen ? 'true' : undefined}
        >
          {words}
        </a>
      ))}
    </nav>
  );
}

function Suggestions() {
  const wanted = place.value.query.get('status');
  const status = STATUSES.find((one) => one === wanted) ?? 'open';
  const contact_id = place.value.query.get('who') ?? undefined;
  const suggestions = useList(
    (cursor) => api('GET /suggestions', { query: { limit: PAGE_ITEMS, cursor, status, contact_id } }),
    [status, contact_id],
  );
  useEvents(['suggestion.created'], () => status === 'open' && suggestions.reload());
  const change = (next: Suggestion) =>
    suggestions.change((items) => items.map((one) => (one.id === next.id ? next : one)));
  return (
    <>
      <Tabs
        label="Suggestions by status"
        name="status"
        rows={STATUSES.map((one) => [one === 'open' ? null : one, STATUS_NAMES[one]])}
      />
      <Owner />
      <List
        of={suggestions}
        label="Suggestions"
        empty={
          status === 'open' ? (
            <EmptyState icon="check" title="Nothing is open">
              <p>
                When somebody promises, asks or decides something in a recording, a suggestion appears here by itself.
              </p>
            </EmptyState>
          ) : (
            <EmptyState title={`Nothing is ${STATUS_NAMES[status].toLowerCase()}`} />
          )
        }
      >
        {(one) => <SuggestionRow key={one.id} suggestion={one} onChange={change} />}
      </List>
    </>
  );
}

/** Whose they are: only where people are known. */
function Owner() {
  const contacts = useLoaded(() => api('GET /contacts', { query: { limit: CONTACTS } }), []);
  const people = (contacts.data?.items ?? []).flatMap(({ id, name, is_self, merged_into }) =>
    name === null || merged_into !== null ? [] : [[id, is_self ? `${name} (me)` : name] as const],
  );
  if (people.length === 0) return null;
  return (
    <div class="owner">
      <SelectField
        label="For whom"
        value={place.value.query.get('who') ?? ''}
        onValue={(who) => setQuery({ who })}
        options={[['', 'Anybody'], ...people]}
      />
    </div>
  );
}

function Conversations() {
  const conversations = useList((cursor) => api('GET /conversations', { query: { limit: PAGE_ITEMS, cursor } }), []);
  useEvents(['conversation.created', 'conversation.updated', 'conversation.deleted'], conversations.reload);
  return (
    <List
      of={conversations}
      label="Conversations"
      empty={
        <EmptyState title="No conversations yet">
          <p>A while after people have stopped talking, what they said becomes a conversation.</p>
        </EmptyState>
      }
    >
      {(one) => <ConversationRow key={one.id} conversation={one} />}
    </List>
  );
}

function Memories() {
  const memories = useList((cursor) => api('GET /memories', { query: { limit: PAGE_ITEMS, cursor } }), []);
  useEvents(['memory.created', 'memory.updated', 'memory.deleted'], memories.reload);
  return (
    <List
      of={memories}
      label="Memories"
      empty={
        <EmptyState title="Nothing is remembered yet">
          <p>What is worth knowing later is kept here, where a language model looks into conversations.</p>
        </EmptyState>
      }
    >
      {(one) => <MemoryRow key={one.id} memory={one} />}
    </List>
  );
}
