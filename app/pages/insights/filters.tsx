import { useState } from 'preact/hooks';
import type { Suggestion } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { useLoaded } from '../../api/loading.js';
import { usePeople } from '../../contacts/people.js';
import { KINDS } from '../../insights/kinds.js';
import { say } from '../../language/say.js';
import { SelectField } from '../../parts/field.js';
import { timeText } from '../../parts/time.js';
import { includeTitles, recordingName, rememberStreams } from '../../recording/stream_names.js';
import { place, setQuery } from '../../router.js';
import { may } from '../../shell/account.js';

const RECORDINGS = 100;
const ME = 'me';

/** The filters of the lists, which stand in the address. */
export type SuggestionFilters = { owner: string | undefined; stream_id: string | undefined };

export function filtersOf(query: URLSearchParams): SuggestionFilters {
  return { owner: query.get('who') || undefined, stream_id: query.get('recording') || undefined };
}

export function isNarrow(query: URLSearchParams): boolean {
  return ['who', 'recording', 'kind'].some((name) => query.has(name));
}

/** `kinds`: what may be chosen among. */
export function Filters({ kinds }: { kinds: readonly Suggestion['kind'][] }) {
  const { query } = place.value;
  const others = usePeople({ with_self: false });
  const recordings = useLoaded(async () => {
    if (!may('audio:read')) return [];
    const { items } = await api('GET /audio/streams', { query: { limit: RECORDINGS, ...includeTitles() } });
    rememberStreams(items);
    return items;
  }, []);
  const chosen = query.get('recording') ?? '';
  const named = (recordings.data ?? []).map((stream) => {
    const is_titled = (stream.title ?? stream.title_suggested ?? null) !== null;
    const day = is_titled ? `, ${timeText(stream.captured_at, 'date')}` : '';
    return [stream.id, `${recordingName(stream)}${day}`] as const;
  });
  const is_listed = chosen === '' || named.some(([id]) => id === chosen);
  const count = ['who', 'recording', 'kind'].filter((name) => query.has(name)).length;
  // Who takes a filter away may choose another.
  const [was_narrow] = useState(count > 0);
  return (
    <details class="filters" open={was_narrow}>
      <summary>{count === 0 ? say('Filters') : say('Filters ({count})', { count })}</summary>
      <div class="filter-fields">
        <SelectField
          label={say('For whom')}
          value={query.get('who') ?? ''}
          onValue={(who) => setQuery({ who })}
          options={[['', say('Anybody')], [ME, say('Me')], ...others]}
        />
        {kinds.length > 1 && (
          <SelectField
            label={say('Kind')}
            value={query.get('kind') ?? ''}
            onValue={(kind) => setQuery({ kind })}
            options={[['', say('All')], ...kinds.map((kind) => [kind, say(KINDS[kind])] as const)]}
          />
        )}
        <SelectField
          label={say('Recording')}
          value={chosen}
          onValue={(recording) => setQuery({ recording })}
          options={[['', say('All')], ...(is_listed ? [] : [[chosen, say('An older recording')] as const]), ...named]}
        />
      </div>
    </details>
  );
}
