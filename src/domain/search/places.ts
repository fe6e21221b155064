import { isPipelineOutputId } from '../ids.js';

/**
 * The search index of a library: its members in the order of their last change: pages of transcripts, items,
 * and recordings that are deleted. The block of a page or an item is a record of the transcript or the library itself; a
 * member whose record is not there any more has nothing.
 */
export const SEARCH_INDEX = 'search';
/** The collection of blocks: of a transcript by page, of a library by item. */
export const BLOCKS = 'blocks';

const DELETED = '-';
const PAGE = '.';

export type SearchPlace =
  | { place: 'page'; transcript_id: string; page: string }
  | { place: 'item'; entry: string }
  | { place: 'deleted_stream'; stream_id: string };

export function pageMember(transcript_id: string, page_key: string): string {
  return transcript_id + PAGE + page_key;
}

export function deletedMember(stream_id: string): string {
  return DELETED + stream_id;
}

/** The page, item or deleted recording that a member names; any text that is neither of the others is an item's. */
export function placeOfMember(member: string): SearchPlace {
  if (member.startsWith(DELETED)) return { place: 'deleted_stream', stream_id: member.slice(DELETED.length) };
  const at = member.indexOf(PAGE);
  if (at < 0) return { place: 'item', entry: member };
  return { place: 'page', transcript_id: member.slice(0, at), page: member.slice(at + PAGE.length) };
}

/** Digits of a pipeline output's id that say of which pipeline it is, by its number. */
const [NUMBER_FROM, NUMBER_TO] = [15, 18];

/** The number of the pipeline whose own transcript that is; 0 for the default one's. */
export function pipelineNumberOf(transcript_id: string): number {
  return isPipelineOutputId(transcript_id) ? Number.parseInt(transcript_id.slice(NUMBER_FROM, NUMBER_TO), 16) : 0;
}
