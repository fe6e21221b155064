import { libraryId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { type BlockText, encodeBlock } from '../../src/domain/search/block.js';
import { BLOCKS, pageMember, SEARCH_INDEX } from '../../src/domain/search/places.js';
import { stemmerOf } from '../../src/domain/search/stemmers.js';
import { termsIn } from '../../src/domain/search/words.js';
import type { Effect } from '../actor.js';
import { pageKey, putPage, type TranscriptPage } from './transcript_page.js';
import type { Transcript } from './transcript_state.js';

/** Whose transcript it is, and since when it runs. */
type Home = Pick<Transcript, 'account_id' | 'workspace_id' | 'source_id' | 'captured_at_ms'>;

/** A page as it is from here on, and what search knows of it, in one commit. */
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
    texts.length === 0
      ? { effect: 'delete_record', ...record }
      : {
          effect: 'put_record',
          ...record,
          value: encodeBlock({ begins_at_ms: captured_at_ms + begins_ms, source_id }, texts),
        },
    {
      effect: 'mark_changed',
      owner: libraryId(account_id, workspace_id),
      index: SEARCH_INDEX,
      member: pageMember(self, id),
    },
  ];
}
