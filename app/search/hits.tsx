import { api } from '../api/api.js';
import { useList } from '../api/loading.js';
import { say } from '../language/say.js';
import { Button } from '../parts/button.js';
import { Section } from '../parts/page.js';
import { EmptyState, List } from '../parts/placeholders.js';
import { setQuery } from '../router.js';
import { Hit } from './hit.js';
import { searchQuery } from './search_query.js';

/**
 * All that a search finds, page after page. `has_passages`: whether passages that answer stand above it, which are enough where
 * nothing has all of the words; null while nobody knows.
 */
export function Hits({ q, query, has_passages }: { q: string; query: URLSearchParams; has_passages: boolean | null }) {
  const hits = useList((cursor) => api('GET /search', { query: { ...searchQuery(q, query), cursor } }), []);
  const is_empty = hits.state === 'ready' && hits.items.length === 0 && hits.more === null;
  if (is_empty && has_passages !== false) return null;
  return (
    <Section title={say('Where these words were said')}>
      <List of={hits} label={say('Results')} empty={<NoHits alike={query.get('alike') === '1'} />}>
        {(hit) => <Hit key={`${hit.kind} ${hit.id}`} hit={hit} />}
      </List>
    </Section>
  );
}

function NoHits({ alike }: { alike: boolean }) {
  return (
    <EmptyState icon="search" title={say('No results')}>
      <p>
        {say(
          'No sentence has all of these words. Try fewer words, or include words that sound alike: speech is not always transcribed as it is spelled.',
        )}
      </p>
      {!alike && (
        <p>
          <Button onClick={() => setQuery({ alike: '1' })}>{say('Include words that sound alike')}</Button>
        </p>
      )}
    </EmptyState>
  );
}
