import { api } from '../../api/api.js';
import { useEvents } from '../../api/event_feed.js';
import { useLoaded } from '../../api/loading.js';
import { ButtonLink } from '../../parts/button.js';
import { Section } from '../../parts/page.js';
import { Show } from '../../parts/placeholders.js';
import { durationText } from '../../parts/time.js';
import { BASE } from '../../router.js';
import { countText } from './session_texts.js';

/** Whether something came of it, for its host; the summary is a page of its own. */
export function SessionSummary({ id }: { id: string }) {
  const summary = useLoaded(() => api('GET /device-sessions/{id}/summary', { path: { id } }), [id]);
  useEvents(['conversation.created', 'conversation.deleted', 'suggestion.created', 'memory.created'], () =>
    summary.reload(),
  );
  return (
    <Section title="Summary">
      <Show of={summary}>
        {({ state, talk_ms, conversations, suggestions }) =>
          state === 'none' ? (
            <p class="lead">There is no summary of its recordings.</p>
          ) : (
            <div class="spaced">
              <p>
                {durationText(talk_ms)} of talk in {countText(conversations.length, 'conversation')},{' '}
                {countText(suggestions.length, 'suggestion')}.
                {state === 'pending' && ' More may appear: its recordings are still being processed.'}
              </p>
              <ButtonLink href={`${BASE}/sessions/${id}/summary`}>View summary</ButtonLink>
            </div>
          )
        }
      </Show>
    </Section>
  );
}
