import { type Answer, api } from '../../api/api.js';
import { useHappenings } from '../../api/happenings.js';
import { useLoaded } from '../../api/loading.js';
import { Section } from '../../parts/page.js';
import { Show } from '../../parts/states.js';
import { durationText, Time } from '../../parts/time.js';
import { BASE } from '../../router.js';
import { countText } from './session_words.js';

type Summary = Answer<'GET /device-sessions/{id}/summary'>;

/** What came of it, for its host; each conversation leads to where it was said. */
export function SessionSummary({ id }: { id: string }) {
  const summary = useLoaded(() => api('GET /device-sessions/{id}/summary', { path: { id } }), [id]);
  useHappenings(['conversation.created', 'conversation.updated', 'suggestion.created', 'memory.created'], () =>
    summary.reload(),
  );
  return (
    <Section title="What came of it">
      <Show of={summary}>{(found) => <Made summary={found} />}</Show>
    </Section>
  );
}

function Made({ summary }: { summary: Summary }) {
  const { state, talk_ms, participants, conversations, memories, suggestions } = summary;
  if (state === 'none') return <p class="lead">Nothing was made of its recordings.</p>;
  const people = participants.map(
    ({ speaker_name, talk_ms }) => `${speaker_name ?? 'Somebody'} ${durationText(talk_ms)}`,
  );
  return (
    <div class="spaced">
      {state === 'pending' && <p class="lead">More may come: its recordings are still being worked on.</p>}
      <dl class="facts">
        <div>
          <dt>Talk</dt>
          <dd>{durationText(talk_ms)}</dd>
        </div>
        {people.length > 0 && (
          <div>
            <dt>Who spoke</dt>
            <dd>{people.join(', ')}</dd>
          </div>
        )}
        <div>
          <dt>Insights</dt>
          <dd>
            {countText(suggestions.length, 'suggestion')}
            {memories.length > 0 && `, ${memories.length} known from it`}
          </dd>
        </div>
      </dl>
      {conversations.length > 0 && (
        <ul class="list" aria-label="Conversations">
          {conversations.map(({ id, title, summary: short, started_at, parts }) => (
            <li key={id}>
              <div class="row-main">
                <a class="row-title" href={`${BASE}/recordings/${parts[0]?.stream_id}`}>
                  {title ?? 'Conversation'}
                </a>
                {short !== null && <p class="lead">{short}</p>}
              </div>
              <Time at={started_at} style="time" />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
