import type { RecorderSession } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { useEvents } from '../../api/event_feed.js';
import { useLoaded } from '../../api/loading.js';
import { say } from '../../language/say.js';
import { Section } from '../../parts/page.js';
import { Show } from '../../parts/placeholders.js';
import { Time } from '../../parts/time.js';
import { BASE } from '../../router.js';

/** A recorder of a room may have recorded in many sessions since; older ones are in the list of recordings. */
const LOOKED_AT = 100;

/** The recordings that the recorder has sent so far. */
export function SessionRecordings({ session, source_id }: { session: RecorderSession; source_id: string }) {
  const { id, created_at, ended_at } = session;
  const streams = useLoaded(async () => {
    const { items } = await api('GET /audio/streams', { query: { source_id, limit: LOOKED_AT } });
    return items.filter(
      (stream) => stream.captured_at >= created_at && (ended_at === null || stream.captured_at <= ended_at),
    );
  }, [id, ended_at]);
  useEvents(['stream.created'], (events) => {
    if (events === null || events.some(({ data }) => data.source_id === source_id)) streams.reload();
  });
  return (
    <Section title={say('Recordings')}>
      <Show of={streams}>
        {(found) =>
          found.length === 0 ? (
            <p class="lead">{say('Nothing has arrived yet.')}</p>
          ) : (
            <ul class="list" aria-label={say('Recordings')}>
              {found.map((stream) => (
                <li key={stream.id}>
                  <a class="row-title" href={`${BASE}/recordings/${stream.id}`}>
                    {stream.title ?? say('Recording')}
                  </a>
                  <Time at={stream.captured_at} />
                </li>
              ))}
            </ul>
          )
        }
      </Show>
    </Section>
  );
}
