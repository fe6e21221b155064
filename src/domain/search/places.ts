import { isPipelineOutputId } from '../ids.js';

/**
 * The search index of a library: its members in the order of their last change: pages of transcripts, items,
 * recordings that are deleted, and transcripts that were moved to another library. The block of a page or an item is a record of the transcript or the library itself; a
 * member whose record is not there any more has nothing.
 */
export const SEARCH_INDEX = 'search';
/** The collection of blocks, by page of a transcript or by item of a library. */
export const BLOCKS = 'blocks';

const DELETED = '-';
const LEFT = '!';
const PAGE = '.';

export type SearchPlace =
  | { place: 'page'; transcript_id: string; page: string }
  | { place: 'item'; entry: string }
  | { place: 'deleted_stream'; stream_id: string }
  | { place: 'left_transcript'; transcript_id: string };

export function pageMember(transcript_id: string, page_key: string): string {
  return transcript_id + PAGE + page_key;
}

export function deletedMember(stream_id: string): string {
  return DELETED + stream_id;
}

/** A transcript that was moved to another library; its pages are no members any more. */
export function leftMember(transcript_id: string): string {
  return LEFT + transcript_id;
}

/** The page, item, deleted recording or moved transcript that a member names. */
export function placeOfMember(member: string): SearchPlace {
  if (member.startsWith(DELETED)) return { place: 'deleted_stream', stream_id: member.slice(DELETED.length) };
  if (member.startsWith(LEFT)) return { place: 'left_transcript', transcript_id: member.slice(LEFT.length) };
  const at = member.indexOf(PAGE);
  if (at < 0) return { place: 'item', entry: member };
  return { place: 'page', transcript_id: member.slice(0, at), page: member.slice(at + PAGE.length) };
}

/** The digits of a pipeline output's id that hold the number of the pipeline. */
const [NUMBER_FROM, NUMBER_TO] = [15, 18];

/** The number of the pipeline of a transcript; 0 for the default one. */
export function pipelineNumberOf(transcript_id: string): number {
  return isPipelineOutputId(transcript_id) ? Number.parseInt(transcript_id.slice(NUMBER_FROM, NUMBER_TO), 16) : 0;
}
