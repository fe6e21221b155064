import { api } from '../../api/api.js';
import { useEvents } from '../../api/event_feed.js';
import { useLoaded } from '../../api/loading.js';
import { say, sayCount } from '../../language/say.js';
import { ButtonLink } from '../../parts/button.js';
import { Section } from '../../parts/page.js';
import { Show } from '../../parts/placeholders.js';
import { durationText } from '../../parts/time.js';
import { BASE } from '../../router.js';

/** Whether something came of it, for its host; the summary is a page of its own. */
export function SessionSummary({ id }: { id: string }) {
  const summary = useLoaded(() => api('GET /device-sessions/{id}/summary', { path: { id } }), [id]);
  useEvents(['conversation.created', 'conversation.deleted', 'suggestion.created', 'memory.created'], () =>
    summary.reload(),
  );
  return (
    <Section title={say('Summary')}>
      <Show of={summary}>
        {({ state, talk_ms, conversations, suggestions }) =>
          state === 'none' ? (
            <p class="lead">{say('There is no summary of its recordings.')}</p>
          ) : (
            <div class="spaced">
              <p>
                {say('{duration} of talk in {conversations}, {suggestions}.', {
                  duration: durationText(talk_ms),
                  conversations: sayCount(conversations.length, {
                    one: '{n} conversation',
                    other: '{n} conversations',
                  }),
                  suggestions: sayCount(suggestions.length, { one: '{n} suggestion', other: '{n} suggestions' }),
                })}{' '}
                {state === 'pending' && say('More may appear: its recordings are still being processed.')}
              </p>
              <ButtonLink href={`${BASE}/sessions/${id}/summary`}>{say('View summary')}</ButtonLink>
            </div>
          )
        }
      </Show>
    </Section>
  );
}
