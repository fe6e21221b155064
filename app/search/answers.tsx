import type { RecallItem } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useLoaded } from '../api/loading.js';
import { Section } from '../parts/page.js';
import { Badge, Show } from '../parts/placeholders.js';
import { Time } from '../parts/time.js';
import { RecordingLink } from '../recording/stream_names.js';

const SHOWN = 3;
const AROUND_TURNS = 1;

/** The passages that answer a question best, each with its recording, day and speakers. */
export function Answers({ q }: { q: string }) {
  const time_zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const body = { query: q, limit: SHOWN, context_turns: AROUND_TURNS, time_zone };
  const found = useLoaded(() => api('POST /recall', { body }), [q]);
  return (
    <Show of={found}>
      {({ items }) =>
        items.length > 0 && (
          <Section title="Best answers">
            <ul class="list">
              {items.map((item) => (
                <Passage key={`${item.kind} ${item.stream_id} ${item.start_ms}`} item={item} />
              ))}
            </ul>
          </Section>
        )
      }
    </Show>
  );
}

function Passage({ item }: { item: RecallItem }) {
  const { stream_id, start_ms, started_at, suggestion, turns } = item;
  return (
    <li>
      <div class="row-main">
        <p class="row-facts">
          {stream_id !== null && <RecordingLink stream_id={stream_id} at_ms={start_ms ?? 0} />}
          <Time at={started_at} />
          {suggestion !== null && <Badge>To do</Badge>}
        </p>
        {suggestion !== null && (
          <p class="row-title">
            <bdi>{suggestion.text}</bdi>
          </p>
        )}
        {turns.map(({ id, speaker_name, text }) => (
          <p key={id} class="row-text">
            {speaker_name !== null && (
              <strong>
                <bdi>{speaker_name}:</bdi>{' '}
              </strong>
            )}
            <bdi>{text}</bdi>
          </p>
        ))}
      </div>
    </li>
  );
}
