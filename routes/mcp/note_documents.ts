import { z } from 'zod';
import { isId } from '../../src/domain/ids.js';
import type { NotePlace } from '../../src/domain/search/places.js';

/** Notes of recordings as documents of the tools `search` and `fetch`: a note has no route of its own, and is found by its recording. */

const BETWEEN = '.';

/** The id of a turn or a suggestion, or that of a note: its recording's and its own. */
export const documentId = z
  .string()
  .toLowerCase()
  .refine((text) => isId(text) || noteOfDocument(text) !== null, 'must be a UUID, or two with a dot between');

export function noteDocumentId({ stream_id, signal_id }: NotePlace): string {
  return stream_id + BETWEEN + signal_id;
}

/** Null for the id of anything else. */
export function noteOfDocument(id: string): NotePlace | null {
  const [stream_id, signal_id, ...more] = id.split(BETWEEN);
  return isId(stream_id) && isId(signal_id) && more.length === 0 ? { stream_id, signal_id } : null;
}

/** The API path that lists the notes of a moment. */
export function notePath({ stream_id, start_ms }: { stream_id: string; start_ms: number }): string {
  return `/audio/streams/${stream_id}/signals?type=note&from_ms=${start_ms}&to_ms=${start_ms}`;
}
