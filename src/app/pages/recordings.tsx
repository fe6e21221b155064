import type { Stream } from '../../tools/client/api.js';
import { api } from '../api/api.js';
import { useHappenings } from '../api/happenings.js';
import { useList } from '../api/loading.js';
import { Page } from '../parts/page.js';
import { EmptyState, List } from '../parts/states.js';
import { dayOf, dayText, Time } from '../parts/time.js';
import { BASE } from '../router.js';

const PAGE_ITEMS = 50;

export function Recordings() {
  const streams = useList((cursor) => api('GET /audio/streams', { query: { limit: PAGE_ITEMS, cursor } }), []);
  useHappenings(['stream.created', 'stream.updated', 'stream.deleted'], () => streams.reload());
  return (
    <Page title="Recordings">
      <List of={streams} empty={<Nothing />} whole={(items) => <Days streams={items} />} />
    </Page>
  );
}

function Days({ streams }: { streams: readonly Stream[] }) {
  const days = new Map<string, Stream[]>();
  for (const stream of streams) {
    const day = dayOf(stream.captured_at);
    days.set(day, [...(days.get(day) ?? []), stream]);
  }
  return (
    <>
      {[...days].map(([day, of_day]) => (
        <section key={day} class="day">
          <h2>{dayText(day)}</h2>
          <ul class="list">
            {of_day.map((stream) => (
              <li key={stream.id}>
                <a href={`${BASE}/recordings/${stream.id}`}>{stream.title ?? 'Recording'}</a>
                <Time at={stream.captured_at} style="time" />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function Nothing() {
  return (
    <EmptyState icon="microphone" title="Nothing is recorded yet">
      <p>What your devices record appears here by itself.</p>
    </EmptyState>
  );
}
