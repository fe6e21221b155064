import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useList } from '../api/loading.js';
import { ConversationRow, MemoryRow } from '../insights/conversation_row.js';
import { say, sayChoices } from '../language/say.js';
import { Page } from '../parts/page.js';
import { EmptyState, List } from '../parts/placeholders.js';
import { place } from '../router.js';
import { may } from '../shell/account.js';
import { QueryTabs } from './insights/query_tabs.js';
import { Suggestions } from './insights/suggestions.js';
import { Tasks } from './insights/tasks.js';

const PAGE_ITEMS = 30;
const TABS = [
  [null, 'Tasks'],
  ['decisions', 'Decisions'],
  ['questions', 'Questions'],
] as const;
const DEVELOPER_TABS = [
  ['conversations', 'Conversations'],
  ['memories', 'Memories'],
] as const;

/** The page of insights. Conversations and memories are for accounts with developer access. */
export function Insights() {
  const tabs = may('debug:read') ? [...TABS, ...DEVELOPER_TABS] : TABS;
  const wanted = place.value.query.get('show');
  const [shown] = tabs.find(([name]) => name === wanted) ?? [null];
  return (
    <Page title={say('To do')} lead={<p>{say('What was promised, asked and decided in your recordings.')}</p>}>
      <QueryTabs label={say('What is shown')} name="show" rows={sayChoices(tabs)} />
      {shown === null && <Tasks />}
      {shown === 'decisions' && <Suggestions key="decision" kind="decision" />}
      {shown === 'questions' && <Suggestions key="question" kind="question" />}
      {shown === 'conversations' && <Conversations />}
      {shown === 'memories' && <Memories />}
    </Page>
  );
}

function Conversations() {
  const conversations = useList((cursor) => api('GET /conversations', { query: { limit: PAGE_ITEMS, cursor } }), []);
  useEvents(['conversation.created', 'conversation.updated', 'conversation.deleted'], conversations.reload);
  return (
    <List
      of={conversations}
      label={say('Conversations')}
      empty={
        <EmptyState title={say('No conversations yet')}>
          <p>{say('Some minutes after people stop talking, what they said appears here as a conversation.')}</p>
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
      label={say('Memories')}
      empty={
        <EmptyState title={say('No memories yet')}>
          <p>{say('With a language model set up, what is worth remembering from conversations is kept here.')}</p>
        </EmptyState>
      }
    >
      {(one) => <MemoryRow key={one.id} memory={one} />}
    </List>
  );
}
