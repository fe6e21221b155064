import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useList } from '../api/loading.js';
import { ConversationRow, MemoryRow } from '../insights/conversation_row.js';
import { Page } from '../parts/page.js';
import { EmptyState, List } from '../parts/placeholders.js';
import { place } from '../router.js';
import { may } from '../shell/account.js';
import { QueryTabs } from './insights/query_tabs.js';
import { Suggestions } from './insights/suggestions.js';

const PAGE_ITEMS = 30;

/** The page of insights. Conversations and memories are for accounts with developer access. */
export function Insights() {
  const shown = may('debug:read') ? place.value.query.get('show') : null;
  return (
    <Page title="To do" lead={<p>What was promised, asked and decided in your recordings.</p>}>
      {may('debug:read') && (
        <QueryTabs
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

function Conversations() {
  const conversations = useList((cursor) => api('GET /conversations', { query: { limit: PAGE_ITEMS, cursor } }), []);
  useEvents(['conversation.created', 'conversation.updated', 'conversation.deleted'], conversations.reload);
  return (
    <List
      of={conversations}
      label="Conversations"
      empty={
        <EmptyState title="No conversations yet">
          <p>Some minutes after people stop talking, what they said appears here as a conversation.</p>
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
        <EmptyState title="No memories yet">
          <p>With a language model set up, what is worth remembering from conversations is kept here.</p>
        </EmptyState>
      }
    >
      {(one) => <MemoryRow key={one.id} memory={one} />}
    </List>
  );
}
