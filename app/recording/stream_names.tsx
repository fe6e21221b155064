import { useEffect, useState } from 'preact/hooks';
import type { Stream } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { say } from '../language/say.js';
import { Time, timeText } from '../parts/time.js';
import { BASE } from '../router.js';
import { may } from '../shell/account.js';

/** The name of a recording: the one that a person gave it, else the suggested one, else its day. */
export function recordingName({
  title,
  title_suggested,
  captured_at,
}: Pick<Stream, 'title' | 'title_suggested' | 'captured_at'>): string {
  return title ?? title_suggested ?? say('Recording of {date}', { date: timeText(captured_at, 'date') });
}

/** Asks lists of recordings for suggested titles, where the account may read them. */
export function includeTitles(): { include?: string } {
  return may('turns:read') && may('insights:read') ? { include: 'title_suggested' } : {};
}

/** Asks for the star and tags of a recording as well. */
export function includeTagged(): { include: string } {
  const { include } = includeTitles();
  return { include: include === undefined ? 'tags' : `${include},tags` };
}

/** Asks lists of recordings for all that rows show, where the account may read it. */
export function includeAll(): { include: string } {
  const { include } = includeTagged();
  return { include: may('turns:read') ? `${include},speakers` : include };
}

/** Asks for notes as well, for a list that is searched. */
export function includeNotes(): { include: string } {
  const { include } = includeAll();
  return { include: may('turns:read') ? `${include},notes` : include };
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

/** Remembers recordings that a list has brought, so that no link asks for them again. */
export function rememberStreams(streams: readonly Stream[]): void {
  if (known.size + streams.length > KEPT_MAX) known.clear();
  for (const stream of streams) known.set(stream.id, Promise.resolve(stream));
}

/** A link to a recording at a moment, by its name and, where wanted, its day; nothing while it is not known. */
export function RecordingLink({
  stream_id,
  at_ms,
  with_day = false,
  otherwise,
}: {
  stream_id: string;
  at_ms: number;
  with_day?: boolean;
  /** Shown while its name is not known. */
  otherwise?: string;
}) {
  const [stream, setStream] = useState<Stream | null>(null);
  useEffect(() => {
    let is_shown = true;
    void streamOf(stream_id).then((found) => is_shown && setStream(found));
    return () => {
      is_shown = false;
    };
  }, [stream_id]);
  if (stream === null || !may('audio:read')) return otherwise === undefined ? null : <span>{otherwise}</span>;
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
