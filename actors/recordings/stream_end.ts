import { refuse } from '../../src/domain/refusals.js';
import type { Decision, Effect } from '../actor.js';
import type { TranscriptMessage } from '../transcripts/transcript.js';
import { type EventSilence, type Stream, streamEvent } from './stream_state.js';

/** The end of a stream, which is set once. Rule H-021. */

const OTHER_END = refuse('CONFLICT', 'The stream already has another end_ms.');

export type StreamEnd = { end_ms: number } & EventSilence;

export function endStream(stream: Stream, { end_ms, silent }: StreamEnd): Decision<Stream, Stream> {
  if (stream.end_ms === end_ms) return { reply: stream };
  if (stream.end_ms !== null) return { reply: OTHER_END };
  const reached_ms = Math.max(stream.stored_until_ms, ...stream.open.map((open) => open.end_ms));
  if (end_ms < reached_ms)
    return { reply: refuse('CONFLICT', `A registered chunk ends at ${reached_ms} ms, behind this end_ms.`) };
  const next = { ...stream, end_ms };
  const message: TranscriptMessage = { type: 'ended', end_ms };
  const told: Effect[] = stream.transcribed
    ? [{ effect: 'notify', to: { kind: 'transcript', id: stream.id }, message }]
    : [];
  return { reply: next, next, effects: [...streamEvent(next, 'stream.updated', { silent }, ['end_ms']), ...told] };
}
