import { api } from '../api/api.js';
import { useLoaded } from '../api/loading.js';
import { say } from '../language/say.js';
import { Time } from '../parts/time.js';
import { BASE } from '../router.js';

/** Recordings that are about the same; nothing where there are none. `is_over`: nothing more is said in this one. */
export function Related({ stream_id, is_over }: { stream_id: string; is_over: boolean }) {
  const related = useLoaded(async () => {
    if (!is_over) return [];
    const { items } = await api('GET /audio/streams/{id}/related', { path: { id: stream_id } });
    return items;
  }, [stream_id, is_over]);
  if (related.data === null || related.data.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="related-heading">
      <h2 id="related-heading">{say('Also about this')}</h2>
      <ul class="related">
        {related.data.map(({ stream_id: other, title, captured_at, start_ms, words }) => (
          <li key={other}>
            <a href={`${BASE}/recordings/${other}?t=${start_ms}`}>
              <bdi>{title ?? say('Recording')}</bdi>
            </a>
            <p class="hint">
              <Time at={captured_at} style="date" /> · <bdi>{words.join(', ')}</bdi>
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
