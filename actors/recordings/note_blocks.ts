import { libraryId } from '../../src/domain/ids.js';
import { encodeBlock } from '../../src/domain/search/block.js';
import { BLOCKS, leftMember, noteMember, SEARCH_INDEX } from '../../src/domain/search/places.js';
import { stemmerOf } from '../../src/domain/search/stemmers.js';
import { termsIn } from '../../src/domain/search/words.js';
import type { Effect, Facts, RecordQuery } from '../actor.js';
import type { Owner } from './signals_state.js';

/** The search index of notes: signals in which a person wrote something. Each has a block, a record of the stream's signals. */

const NOTES_SEARCHED_MAX = 500; // ours: of a recording; later ones are not found by search

/** The type of signals in which a person wrote something. */
export const NOTE_TYPE = 'note';

/** Notes of a stream that began then, of that source. */
export type PostedNotes = {
  captured_at_ms: number;
  source_id: string;
  notes: { id: string; start_ms: number; text: string }[];
};

/** The blocks that a stream's signals have. */
export const searchedNotes: RecordQuery[] = [{ collection: BLOCKS, range: { limit: NOTES_SEARCHED_MAX } }];

/** The notes that were not there before; null without any. */
export function freshNotes(noted: PostedNotes | undefined, fresh: ReadonlyMap<string, unknown>): PostedNotes | null {
  const notes = noted?.notes.filter(({ id }) => fresh.has(id)) ?? [];
  return noted === undefined || notes.length === 0 ? null : { ...noted, notes };
}

/** `known`: the number of notes that are in the index already. */
export function indexNotes(
  owner: Owner,
  posted: PostedNotes,
  { known, self }: { known: number; self: string },
): Effect[] {
  const { captured_at_ms, source_id, notes } = posted;
  const stemmer = stemmerOf(null);
  return notes.slice(0, Math.max(0, NOTES_SEARCHED_MAX - known)).flatMap(({ id, start_ms, text }): Effect[] => {
    const only = { serial: 0, start_ms: 0, speaker: 0, stemmer, said: termsIn(text, stemmer) };
    const value = encodeBlock({ begins_at_ms: captured_at_ms + start_ms, source_id }, [only]);
    return [{ effect: 'put_record', collection: BLOCKS, id, value, order: start_ms }, changed(owner, self, id)];
  });
}

/** The text of the note has expired. */
export function dropNote(owner: Owner, id: string, self: string): Effect[] {
  return [{ effect: 'delete_record', collection: BLOCKS, id }, changed(owner, self, id)];
}

/** Takes the notes from the index of one workspace to that of another. */
export function carryNotes(was: Owner, is: Owner, facts: Facts): Effect[] {
  const { self } = facts;
  return [
    ...forgetNotes(was, facts),
    { effect: 'mark_changed', ...place(was), member: leftMember(self) },
    { effect: 'remove_from_index', ...place(is), member: leftMember(self) },
    ...facts.range(BLOCKS).map(({ id }) => changed(is, self, id)),
  ];
}

/** Removes the notes from the index; their blocks go with the records of the signals. */
export function forgetNotes(owner: Owner, facts: Facts): Effect[] {
  return facts
    .range(BLOCKS)
    .map(({ id }) => ({ effect: 'remove_from_index', ...place(owner), member: noteMember(facts.self, id) }));
}

function changed(owner: Owner, stream_id: string, id: string): Effect {
  return { effect: 'mark_changed', ...place(owner), member: noteMember(stream_id, id) };
}

function place({ account_id, workspace_id }: Owner) {
  return { owner: libraryId(account_id, workspace_id), index: SEARCH_INDEX };
}
