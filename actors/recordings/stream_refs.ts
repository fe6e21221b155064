import { type Refusal, refuse } from '../../src/domain/refusals.js';
import type { Effect, Facts, RecordQuery } from '../actor.js';

/**
 * Which stream a recorder's own reference means, for whatever binds a recorder: collection `streams`, by
 * source_stream_ref. A stream is known by device, epoch and reference. docs/choices.md, "Recordings".
 */
export type StreamOf = {
  device_id: string;
  source_stream_ref: string;
  /** Becomes the stream where there is none yet, or where it is `instead_of`; null only looks. */
  new_stream: StreamRef | null;
  instead_of?: string;
};

/** `workspace_id`: where it was registered. */
export type StreamRef = { stream_id: string; workspace_id: string };

/** The same words for an unknown, an ended and another device's epoch: the caller can not distinguish them. */
export const UNBOUND = refuse('DEVICE_UNBOUND', 'The device has no binding of this epoch.');

const NOT_REGISTERED = refuse('NOT_FOUND', 'No stream with this source_stream_ref is registered.');

export function streamRefRecords({ source_stream_ref }: StreamOf): RecordQuery[] {
  return [{ collection: 'streams', id: source_stream_ref }];
}

/** The stream, and what must be written when it is a new one. */
export function streamOf(
  facts: Facts,
  { source_stream_ref, new_stream, instead_of }: StreamOf,
): { found: StreamRef; effects: Effect[] } | Refusal {
  const known = facts.record<StreamRef>('streams', source_stream_ref);
  if (known !== undefined && (known.stream_id !== instead_of || new_stream === null))
    return { found: known, effects: [] };
  if (new_stream === null) return NOT_REGISTERED;
  return {
    found: new_stream,
    effects: [{ effect: 'put_record', collection: 'streams', id: source_stream_ref, value: new_stream }],
  };
}
