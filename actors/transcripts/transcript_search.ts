import { libraryId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { pageMember, SEARCH_INDEX } from '../../src/domain/search/places.js';
import type { Effect, Facts, RecordQuery } from '../actor.js';
import type { Transcript } from './transcript_state.js';

/** The pages with turns that search knows. */
export const searchedPages: RecordQuery[] = [
  { collection: 'published', range: { limit: LIMITS.transcript_pages_max } },
];

/** Removes an erased transcript from the index; its blocks go with its records. */
export function notFoundAnyMore({ account_id, workspace_id }: Transcript, facts: Facts): Effect[] {
  const owner = libraryId(account_id, workspace_id);
  return facts.range('published').map(({ id }) => ({
    effect: 'remove_from_index',
    owner,
    index: SEARCH_INDEX,
    member: pageMember(facts.self, id),
  }));
}
