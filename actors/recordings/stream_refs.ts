import { type Refusal, refuse } from '../../src/domain/refusals.js';
import type { Effect, Facts, RecordQuery } from '../actor.js';

/**
 * The stream behind a recorder's own reference: collection `streams`, by source_stream_ref. Device, epoch and reference
 * identify a stream. docs/choices.md, "Recordings".
 */
export type StreamOf = {
  device_id: string;
  source_stream_ref: string;
  /** The stream to use if there is none yet, or only `instead_of`; null only reads. */
  new_stream: StreamRef | null;
  instead_of?: string;
};

/** `workspace_id`: where it was registered. */
export type StreamRef = { stream_id: string; workspace_id: string };

/** The same text for an unknown, an ended and another device's epoch, so that callers cannot tell them apart. */
export const UNBOUND = refuse('DEVICE_UNBOUND', 'The device has no binding of this epoch.');

const NOT_REGISTERED = refuse('NOT_FOUND', 'No stream with this source_stream_ref is registered.');

export function streamRefRecords({ source_stream_ref }: StreamOf): RecordQuery[] {
  return [{ collection: 'streams', id: source_stream_ref }];
}

/** The stream, and the writes for a new one. */
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
