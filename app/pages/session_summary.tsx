import type { Suggestion } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useLoaded } from '../api/loading.js';
import { ConversationRow, MemoryRow } from '../insights/conversation_row.js';
import { SuggestionRow } from '../insights/suggestion_row.js';
import { say } from '../language/say.js';
import { Page, Section } from '../parts/page.js';
import { EmptyState, Show } from '../parts/placeholders.js';
import { durationText, Time } from '../parts/time.js';
import { BASE } from '../router.js';

/** The summary of a recorder session, for its host. */
export function SessionSummary({ params }: { params: Record<string, string> }) {
  const id = params.id as string;
  const summary = useLoaded(() => api('GET /device-sessions/{id}/summary', { path: { id } }), [id]);
  useEvents(
    ['conversation.created', 'conversation.updated', 'suggestion.created', 'memory.created', 'device_session.ended'],
    summary.reload,
  );
  return (
    <Page title={say('Session summary')} back={{ href: `${BASE}/sessions`, name: say('Sessions') }}>
      <Show of={summary}>
        {(found) => {
          const change = (next: Suggestion) =>
            summary.set({
              ...found,
              suggestions: found.suggestions.map((one) => (one.id === next.id ? next : one)),
            });
          return (
            <>
              <dl class="facts panel">
                <div>
                  <dt>{say('When')}</dt>
                  <dd>{found.started_at === null ? say('It has not begun') : <Time at={found.started_at} />}</dd>
                </div>
                <div>
                  <dt>{say('Speaking time')}</dt>
                  <dd>{durationText(found.talk_ms)}</dd>
                </div>
                <div>
                  <dt>{say('Who spoke')}</dt>
                  <dd>
                    {found.participants.length === 0
                      ? say('No known speakers')
                      : found.participants.map(({ speaker_name }) => speaker_name ?? say('Somebody')).join(', ')}
                  </dd>
                </div>
              </dl>
              {found.state === 'pending' && (
                <p class="notice" role="status">
                  {say('Its recordings are still being processed. Results appear here by themselves.')}
                </p>
              )}
              {found.state === 'none' && (
                <EmptyState title={say('No insights')}>
                  <p>{say('Nothing was recorded in this session, or nothing worth keeping was said.')}</p>
                </EmptyState>
              )}
              {found.suggestions.length > 0 && (
                <Section title={say('To do')}>
                  <ul class="list">
                    {found.suggestions.map((one) => (
                      <SuggestionRow key={one.id} suggestion={one} onChange={change} />
                    ))}
                  </ul>
                </Section>
              )}
              {found.conversations.length > 0 && (
                <Section title={say('Conversations')}>
                  <ul class="list">
                    {found.conversations.map((one) => (
                      <ConversationRow key={one.id} conversation={one} />
                    ))}
                  </ul>
                </Section>
              )}
              {found.memories.length > 0 && (
                <Section title={say('To remember')}>
                  <ul class="list">
                    {found.memories.map((one) => (
                      <MemoryRow key={one.id} memory={one} />
                    ))}
                  </ul>
                </Section>
              )}
            </>
          );
        }}
      </Show>
    </Page>
  );
}
