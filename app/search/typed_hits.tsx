import { useEffect, useState } from 'preact/hooks';
import type { SearchHit } from '../../kits/typescript/src/api.js';
import { apiUntil } from '../api/api.js';
import { ApiError } from '../api/api_error.js';
import { apiErrorOf } from '../api/loading.js';
import { say, sayCount, sayWith } from '../language/say.js';
import { Section } from '../parts/page.js';
import { Problem } from '../parts/placeholders.js';
import { Hit } from './hit.js';
import { searchQuery } from './search_query.js';

const TYPED_MS = 250;
const SHOWN = 10;
/** As the server takes them: docs/search.md. */
const BEGUN_CHARS_MIN = 4;

type Typed = { text: string; items: readonly SearchHit[]; error: ApiError | null };

/** Hits for the text that somebody types. Earlier hits stay until those of the last text arrive. */
export function TypedHits({ text, query }: { text: string; query: URLSearchParams }) {
  const [typed, setTyped] = useState<Typed | null>(null);
  const filters = query.toString();
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => {
      hitsOf(text, query, stop.signal).then(
        (found) => !stop.signal.aborted && setTyped(found),
        () => {}, // it was given up
      );
    }, TYPED_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, filters]);
  if (typed === null) return null;
  if (typed.error !== null) return <Problem error={typed.error} />;
  const count =
    typed.items.length === 0
      ? say('No results')
      : typed.items.length === SHOWN
        ? say('The first {count} results', { count: SHOWN })
        : sayCount(typed.items.length, { one: '{n} result', other: '{n} results' });
  return (
    <Section title={say('Where these words were said')}>
      <p class="hint typed-count" role="status">
        {sayWith('{count} for “{text}”. Press Enter to ask.', {
          count: <span>{count}</span>,
          text: <bdi>{typed.text}</bdi>,
        })}
      </p>
      {typed.items.length > 0 && (
        <ul class="list" aria-label={say('Results')}>
          {typed.items.map((hit) => (
            <Hit key={`${hit.kind} ${hit.id}`} hit={hit} />
          ))}
        </ul>
      )}
    </Section>
  );
}

async function hitsOf(text: string, query: URLSearchParams, signal: AbortSignal): Promise<Typed> {
  try {
    const find = async (q: string) =>
      (await apiUntil(signal, 'GET /search', { query: { ...searchQuery(q, query), limit: SHOWN } })).items;
    const items = await find(text);
    const rest = withoutBegunWord(text);
    if (items.length > 0 || rest === null) return { text, items, error: null };
    return { text: rest, items: await find(rest), error: null };
  } catch (error) {
    if (error instanceof DOMException) throw error;
    // What is not a query yet may become one.
    if (error instanceof ApiError && error.code === 'BAD_REQUEST') return { text, items: [], error: null };
    return { text, items: [], error: apiErrorOf(error) };
  }
}

/** The words before one of which too few letters are typed to find what begins with it; null where there is none. */
function withoutBegunWord(text: string): string | null {
  const [, rest, begun = ''] = /^(.*\S)\s+(\S+)$/s.exec(text) ?? [];
  return rest !== undefined && [...begun].length < BEGUN_CHARS_MIN ? rest : null;
}
