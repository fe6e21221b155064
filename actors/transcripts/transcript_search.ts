import { libraryId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { pageMember, SEARCH_INDEX } from '../../src/domain/search/places.js';
import { WORDS_VERSION } from '../../src/domain/search/words.js';
import { type Decision, type Effect, type Facts, messagesOf, type RecordQuery } from '../actor.js';
import { blockEffects } from './transcript_block.js';
import { readPage } from './transcript_page.js';
import type { Transcript } from './transcript_state.js';

/** Builds the search index for pages that an earlier release has stored, and removes pages from it. */

type PagePosition = { order: number; id: string };

export const searchMessages = messagesOf<Transcript>()({
  /** Makes some of its pages known to search, from a place on; `next` is where it goes on. */
  make_searchable: {
    records: ({ after }: { after: PagePosition | null }) => [
      { collection: 'pages', range: { ...(after === null ? {} : { after }), limit: LIMITS.pages_made_searchable_max } },
    ],
    decide(state, _: { after: PagePosition | null }, facts): Decision<Transcript, { next: PagePosition | null }> {
      if (state === null || state.searchable === WORDS_VERSION) return { reply: { next: null } };
      const rows = facts.range<unknown>('pages');
      const effects = rows.flatMap(({ order, value }) => blockEffects(state, readPage(order, value), facts.self));
      const last = rows.length < LIMITS.pages_made_searchable_max ? undefined : rows.at(-1);
      if (last !== undefined) return { reply: { next: { order: last.order, id: last.id } }, effects };
      return { reply: { next: null }, next: { ...state, searchable: WORDS_VERSION }, effects };
    },
  },
});

/** Pages with turns, each of which search knows. */
export const searchedPages: RecordQuery[] = [
  { collection: 'published', range: { limit: LIMITS.transcript_pages_max } },
];

/** Of what is erased; the blocks go as records of the transcript. */
export function notFoundAnyMore({ account_id, workspace_id }: Transcript, facts: Facts): Effect[] {
  const owner = libraryId(account_id, workspace_id);
  return facts.range('published').map(({ id }) => ({
    effect: 'remove_from_index',
    owner,
    index: SEARCH_INDEX,
    member: pageMember(facts.self, id),
  }));
}
