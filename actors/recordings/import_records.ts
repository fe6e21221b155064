import { LIMITS } from '../../src/domain/limits.js';
import { type Refusal, refuse } from '../../src/domain/refusals.js';
import type { Effect, Read, RecordQuery } from '../actor.js';
import type { ClaimedImport, EndedImport, Import, Imports, OpenImport } from './imports_state.js';

/** A reference of the caller leads to its import. */
type ImportPointer = { id: string };

export const IMPORTS = 'imports';
export const REFS = 'refs';

/** The length of the piece that begins at an offset. */
export function pieceBytes({ size_bytes }: Pick<Import, 'size_bytes'>, offset: number): number {
  return Math.min(LIMITS.import_piece_bytes, size_bytes - offset);
}

/** The number of bytes that have arrived. */
export function receivedBytes({ stage, size_bytes }: Import): number {
  return 'received_bytes' in stage ? stage.received_bytes : size_bytes;
}

/** Null if a piece may begin at this offset: the next one, or one that has arrived. */
export function wrongOffset(item: Import, offset: number): Refusal | null {
  const received_bytes = receivedBytes(item);
  const begins_piece = offset % LIMITS.import_piece_bytes === 0 && offset < item.size_bytes;
  if (begins_piece && offset <= received_bytes) return null;
  return refuse('CONFLICT', `The next piece begins at byte ${received_bytes}.`, {
    details: [{ path: 'offset', message: `must be ${received_bytes}` }],
  });
}

export function importOf(state: Imports | null, id: string, read: Read): Import | undefined {
  return state?.open.find((one) => one.id === id) ?? read.record<EndedImport>(IMPORTS, id);
}

export function knownImport(state: Imports, import_ref: string, read: Read): Import | undefined {
  const open = state.open.find((one) => one.import_ref === import_ref);
  const pointer = read.record<ImportPointer>(REFS, import_ref);
  return open ?? (pointer && read.record<EndedImport>(IMPORTS, pointer.id));
}

export function knownRecord(import_ref: string, read: Read): RecordQuery[] {
  const pointer = read.record<ImportPointer>(REFS, import_ref);
  return pointer === undefined ? [] : [recordOf(pointer.id)];
}

export function recordOf(id: string): RecordQuery {
  return { collection: IMPORTS, id };
}

/** Whether an import comes before a place in an ascending list. */
export function isBefore(one: { id: string; order: number }, place: { id: string; order: number }): boolean {
  return one.order === place.order ? one.id < place.id : one.order < place.order;
}

export function waiting(item: ClaimedImport, change: { not_before_ms: number; tries?: number }): OpenImport {
  const { stream_id, tries, measured } = item.stage;
  return { ...item, stage: { stream_id, tries, ...(measured && { measured }), status: 'waiting', ...change } };
}

export function failedImport(item: OpenImport, failure: { code: string; message: string }): EndedImport {
  return { ...item, stage: { status: 'failed', received_bytes: receivedBytes(item), ...failure } };
}

export function withOpen(state: Imports, item: OpenImport): Imports {
  return { ...state, open: state.open.map((one) => (one.id === item.id ? item : one)) };
}

/** Ends an open import: its pieces are to be removed, those that have arrived and one that may be arriving. */
export function withoutOpen(state: Imports, item: Import): Imports {
  const pieces = Math.ceil(Math.min(receivedBytes(item) + 1, item.size_bytes) / LIMITS.import_piece_bytes);
  return {
    ...state,
    open: state.open.filter(({ id }) => id !== item.id),
    removing: [...state.removing, { id: item.id, pieces }],
  };
}

export function withEnded(state: Imports, item: EndedImport): Imports {
  const forget_at_ms = Math.min(state.forget_at_ms ?? Number.POSITIVE_INFINITY, forgetAt(item));
  return { ...withoutOpen(state, item), forget_at_ms };
}

export function endedRecords(item: EndedImport): Effect[] {
  const pointer: ImportPointer = { id: item.id };
  return [
    { effect: 'put_record', collection: IMPORTS, id: item.id, value: item, order: item.created_at_ms },
    { effect: 'put_record', collection: REFS, id: item.import_ref, value: pointer },
  ];
}

export function forgetAt({ created_at_ms }: Import): number {
  return created_at_ms + LIMITS.import_known_ms;
}
