import type { Suggestion } from '../../../kits/typescript/src/api.js';
import { useEvents } from '../../api/event_feed.js';
import { useLoaded } from '../../api/loading.js';
import { SuggestionRow } from '../../insights/suggestion_row.js';
import { say } from '../../language/say.js';
import { EmptyState, Show } from '../../parts/placeholders.js';
import { place } from '../../router.js';
import { Filters, filtersOf, isNarrow } from './filters.js';
import { loadAll, SUGGESTION_EVENTS } from './load_suggestions.js';

const WORDS = {
  decision: ['No decisions', 'What people decide in a recording appears here by itself.'],
  question: ['No open questions', 'What people ask in a recording and nobody answers appears here by itself.'],
} as const;

/** Decisions, or open questions, the newest first. */
export function Suggestions({ kind }: { kind: keyof typeof WORDS }) {
  const { query } = place.value;
  const filters = filtersOf(query);
  const found = useLoaded(
    () => loadAll({ statuses: ['open', 'accepted', 'completed'], kind, ...filters }),
    [kind, JSON.stringify(filters)],
  );
  useEvents(SUGGESTION_EVENTS, found.reload);
  const change = (next: Suggestion) => {
    const now = found.data;
    if (now !== null) found.set({ ...now, items: now.items.map((one) => (one.id === next.id ? next : one)) });
  };
  return (
    <>
      <Filters kinds={[kind]} />
      <Show of={found}>
        {({ items, is_cut }) => {
          if (items.length === 0) return <Nothing kind={kind} is_narrow={isNarrow(query)} />;
          const newest = [...items].sort((one, other) => other.created_at.localeCompare(one.created_at));
          return (
            <>
              <ul class="list" aria-label={kind === 'decision' ? say('Decisions') : say('Questions')}>
                {newest.map((one) => (
                  <SuggestionRow key={one.id} suggestion={one} onChange={change} />
                ))}
              </ul>
              {is_cut && <p class="hint">{say('Not all are shown. Filter by person or recording.')}</p>}
            </>
          );
        }}
      </Show>
    </>
  );
}

function Nothing({ kind, is_narrow }: { kind: keyof typeof WORDS; is_narrow: boolean }) {
  if (is_narrow) {
    return (
      <EmptyState icon="search" title={say('Nothing matches')}>
        <p>{say('Choose another person or recording.')}</p>
      </EmptyState>
    );
  }
  const [title, text] = WORDS[kind];
  return (
    <EmptyState title={say(title)}>
      <p>{say(text)}</p>
    </EmptyState>
  );
}
