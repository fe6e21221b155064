import { type Refusal, refuse } from '../src/domain/refusals.js';
import type { Effect, RecordQuery, Turn } from './actor.js';

/**
 * Which stream a recorder's own reference means, for whatever binds a recorder: collection `streams`, by
 * source_stream_ref. A stream is known by device, epoch and reference. docs/choices.md, "Recordings".
 */
export type StreamOf = {
  device_id: string;
  source_stream_ref: string;
  /** Becomes the stream when there is none yet; null only looks. */
  new_stream_id: string | null;
};

/** The same words for an unknown, an ended and another device's epoch: the caller can not distinguish them. */
export const UNBOUND = refuse('DEVICE_UNBOUND', 'The device has no binding of this epoch.');

const NOT_REGISTERED = refuse('NOT_FOUND', 'No stream with this source_stream_ref is registered.');

export function streamRefRecords({ source_stream_ref }: StreamOf): RecordQuery[] {
  return [{ collection: 'streams', id: source_stream_ref }];
}

/** The stream's id, and what must be written when it is a new one. */
export function streamOf(
  turn: Turn,
  { source_stream_ref, new_stream_id }: StreamOf,
): { stream_id: string; effects: Effect[] } | Refusal {
  const known = turn.record<{ stream_id: string }>('streams', source_stream_ref);
  if (known !== undefined) return { stream_id: known.stream_id, effects: [] };
  if (new_stream_id === null) return NOT_REGISTERED;
  const value = { stream_id: new_stream_id };
  return {
    stream_id: new_stream_id,
    effects: [{ effect: 'put_record', collection: 'streams', id: source_stream_ref, value }],
  };
}
