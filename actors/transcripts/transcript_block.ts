import { libraryId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { type BlockText, encodeBlock } from '../../src/domain/search/block.js';
import { BLOCKS, pageMember, SEARCH_INDEX } from '../../src/domain/search/places.js';
import { stemmerOf } from '../../src/domain/search/stemmers.js';
import { VECTORS, VECTORS_DUE } from '../../src/domain/search/vectors.js';
import { termsIn } from '../../src/domain/search/words.js';
import type { Effect } from '../actor.js';
import { pageKey, putPage, type TranscriptPage } from './transcript_page.js';
import type { Transcript } from './transcript_state.js';
import { VECTORS_INDEX } from './vectors_index.js';

/** The account of the transcript, and when its recording began. */
type Home = Pick<Transcript, 'account_id' | 'workspace_id' | 'source_id' | 'captured_at_ms'>;

/** Writes a page and its block of the search index in one commit. */
export function writePage(home: Home, page: TranscriptPage, self: string): Effect[] {
  return [putPage(page), ...blockEffects(home, page, self)];
}

export function blockEffects(
  { account_id, workspace_id, source_id, captured_at_ms }: Home,
  page: TranscriptPage,
  self: string,
): Effect[] {
  const id = pageKey(page.number);
  const begins_ms = page.number * LIMITS.transcript_page_ms;
  const record = { collection: BLOCKS, id };
  const texts = page.turns.map(({ serial, start_ms, speaker, contact_id, text, language }): BlockText => {
    const stemmer = stemmerOf(language);
    return { serial, start_ms: start_ms - begins_ms, speaker, contact_id, stemmer, said: termsIn(text, stemmer) };
  });
  return [
    ...staleVectors(page, self),
    texts.length === 0
      ? { effect: 'delete_record', ...record }
      : {
          effect: 'put_record',
          ...record,
          value: encodeBlock({ begins_at_ms: captured_at_ms + begins_ms, source_id }, texts),
        },
    changedMember({ account_id, workspace_id }, id, self),
  ];
}

/** Marks the page as changed for readers of the search index. */
export function changedMember(
  { account_id, workspace_id }: Pick<Home, 'account_id' | 'workspace_id'>,
  page_key: string,
  self: string,
): Effect {
  const owner = libraryId(account_id, workspace_id);
  return { effect: 'mark_changed', owner, index: SEARCH_INDEX, member: pageMember(self, page_key) };
}

/** Removes the page's vectors. New ones are made once the page has been quiet for a while. */
function staleVectors({ number, turns, runs }: TranscriptPage, self: string): Effect[] {
  const id = pageKey(number);
  const gone: Effect = { effect: 'delete_record', collection: VECTORS, id };
  if (turns.length === 0) return [gone, { effect: 'delete_record', collection: VECTORS_DUE, id }];
  const published_ms = Math.max(...runs.map(({ published_at_ms }) => published_at_ms));
  return [
    gone,
    { effect: 'put_record', collection: VECTORS_DUE, id, value: 1, order: number },
    { effect: 'add_to_index', ...VECTORS_INDEX, member: self, order: published_ms + LIMITS.vectors_quiet_ms },
  ];
}
