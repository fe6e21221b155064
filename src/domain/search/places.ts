import { isPipelineOutputId } from '../ids.js';

/**
 * The search index of a library: its members in the order of their last change: pages of transcripts, items, notes,
 * recordings that are deleted, and those that were moved to another library. The block of a page, an item or a note is a
 * record of the transcript, the library, or the signals of the recording; a member whose record is not there any more has
 * nothing.
 */
export const SEARCH_INDEX = 'search';
/** The collection of blocks, by page of a transcript or by item of a library. */
export const BLOCKS = 'blocks';

const DELETED = '-';
const LEFT = '!';
const NOTE = '#';
const PAGE = '.';

export type SearchPlace =
  | { place: 'page'; transcript_id: string; page: string }
  | { place: 'item'; entry: string }
  | ({ place: 'note' } & NotePlace)
  | { place: 'deleted_stream'; stream_id: string }
  | { place: 'left_transcript'; transcript_id: string };

/** A note on the timeline of a recording. */
export type NotePlace = { stream_id: string; signal_id: string };

export function pageMember(transcript_id: string, page_key: string): string {
  return transcript_id + PAGE + page_key;
}

export function deletedMember(stream_id: string): string {
  return DELETED + stream_id;
}

export function noteMember(stream_id: string, signal_id: string): string {
  return NOTE + stream_id + PAGE + signal_id;
}

/** Null for a member that is no note. */
export function noteOf(member: string): NotePlace | null {
  if (!member.startsWith(NOTE)) return null;
  const at = member.indexOf(PAGE);
  return { stream_id: member.slice(NOTE.length, at), signal_id: member.slice(at + PAGE.length) };
}

/** A transcript, or the notes of a recording, that moved to another library; what they have is no member any more. */
export function leftMember(transcript_id: string): string {
  return LEFT + transcript_id;
}

/** The page, item, note, deleted recording or moved transcript that a member names. */
export function placeOfMember(member: string): SearchPlace {
  if (member.startsWith(DELETED)) return { place: 'deleted_stream', stream_id: member.slice(DELETED.length) };
  if (member.startsWith(LEFT)) return { place: 'left_transcript', transcript_id: member.slice(LEFT.length) };
  const note = noteOf(member);
  if (note !== null) return { place: 'note', ...note };
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
