import { useEffect, useState } from 'preact/hooks';
import type { Stream } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { Time, timeText } from '../parts/time.js';
import { BASE } from '../router.js';
import { may } from '../shell/account.js';

/** The name of a recording: the one that a person gave it, else the suggested one, else its day. */
export function recordingName({
  title,
  title_suggested,
  captured_at,
}: Pick<Stream, 'title' | 'title_suggested' | 'captured_at'>): string {
  return title ?? title_suggested ?? `Recording of ${timeText(captured_at, 'date')}`;
}

/** Asks lists of recordings for suggested titles, where the account may read them. */
export function includeTitles(): { include?: string } {
  return may('turns:read') && may('insights:read') ? { include: 'title_suggested' } : {};
}

/** Asks lists of recordings for all that rows show, where the account may read it. */
export function includeAll(): { include?: string } {
  const { include } = includeTitles();
  const details = [include, may('turns:read') ? 'speakers' : undefined].filter((one) => one !== undefined);
  return details.length === 0 ? {} : { include: details.join(',') };
}

const KEPT_MAX = 500;
const known = new Map<string, Promise<Stream | null>>();

/** A recording of which only the id is known. Each is read once. */
function streamOf(id: string): Promise<Stream | null> {
  const found = known.get(id);
  if (found !== undefined) return found;
  if (known.size >= KEPT_MAX) known.clear();
  const asked = api('GET /audio/streams/{id}', { path: { id }, query: includeTitles() }).catch(() => null);
  known.set(id, asked);
  return asked;
}

/** A link to a recording at a moment, by its name and, where wanted, its day; nothing while it is not known. */
export function RecordingLink({
  stream_id,
  at_ms,
  with_day = false,
}: {
  stream_id: string;
  at_ms: number;
  with_day?: boolean;
}) {
  const [stream, setStream] = useState<Stream | null>(null);
  useEffect(() => {
    let is_shown = true;
    void streamOf(stream_id).then((found) => is_shown && setStream(found));
    return () => {
      is_shown = false;
    };
  }, [stream_id]);
  if (stream === null || !may('audio:read')) return null;
  const has_name = (stream.title ?? stream.title_suggested ?? null) !== null;
  return (
    <span>
      <a href={`${BASE}/recordings/${stream_id}?t=${at_ms}`}>
        <bdi>{recordingName(stream)}</bdi>
      </a>
      {has_name && with_day && (
        <>
          {', '}
          <Time at={stream.captured_at} style="date" />
        </>
      )}
    </span>
  );
}
