import { api } from '../api/api.js';
import { useList } from '../api/loading.js';
import { Button } from '../parts/button.js';
import { EmptyState, List } from '../parts/placeholders.js';
import { setQuery } from '../router.js';
import { Hit } from './hit.js';
import { searchQuery } from './search_query.js';

/** All that a search finds, page after page. */
export function Hits({ q, query, beside }: { q: string; query: URLSearchParams; beside: boolean }) {
  const hits = useList((cursor) => api('GET /search', { query: { ...searchQuery(q, query), cursor } }), []);
  return (
    <List
      of={hits}
      label="Results"
      empty={
        beside ? (
          <p class="hint">No results: no sentence has all of these words.</p>
        ) : (
          <EmptyState icon="search" title="No results">
            <p>
              Try fewer words, or include words that sound alike: speech is not always transcribed as it is spelled.
            </p>
            {query.get('alike') !== '1' && (
              <p>
                <Button onClick={() => setQuery({ alike: '1' })}>Include words that sound alike</Button>
              </p>
            )}
          </EmptyState>
        )
      }
    >
      {(hit) => <Hit key={`${hit.kind} ${hit.id}`} hit={hit} />}
    </List>
  );
}
