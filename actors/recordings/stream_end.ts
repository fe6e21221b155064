import { refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, type DoneDecision, type Effect } from '../actor.js';
import type { TranscriptMessage } from '../transcripts/transcript.js';
import { type EventSilence, type Stream, streamEvent } from './stream_state.js';

/** The end of a stream, which is set once. Rules H-021, K-254. */

export const END_REMINDER = 'end';

const OTHER_END = refuse('CONFLICT', 'The stream already has another end_ms.');

export type StreamEnd = { end_ms: number } & EventSilence;

export function endStream(stream: Stream, { end_ms, silent }: StreamEnd): Decision<Stream, Stream> {
  if (stream.end_ms === end_ms) return { reply: stream };
  if (stream.end_ms !== null) return { reply: OTHER_END };
  const reached_ms = reachedBy(stream);
  if (end_ms < reached_ms)
    return { reply: refuse('CONFLICT', `A registered chunk ends at ${reached_ms} ms, behind this end_ms.`) };
  const next = { ...stream, end_ms };
  const message: TranscriptMessage = { type: 'ended', end_ms };
  const told: Effect[] = stream.transcribed
    ? [{ effect: 'notify', to: { kind: 'transcript', id: stream.id }, message }]
    : [];
  return { reply: next, next, effects: [...streamEvent(next, 'stream.updated', { silent }, ['end_ms']), ...told] };
}

export type LaterEnd = StreamEnd & { after_ms: number };

/** The stream ends there after a while, unless audio behind that has come by then. A later call takes the place of this one. */
export function endStreamLater(
  stream: Stream,
  { after_ms, ...end }: LaterEnd,
  now_ms: number,
): Decision<Stream, Stream> {
  const { next, reply } = endStream(stream, end);
  if (next === undefined) return { reply };
  const message = { type: 'end_unless_continued', ...end };
  const at_ms = now_ms + after_ms;
  return {
    reply: stream,
    next: stream,
    effects: [{ effect: 'schedule_reminder', name: END_REMINDER, at_ms, message }],
  };
}

export function endUnlessContinued(stream: Stream, end: StreamEnd): DoneDecision<Stream> {
  if (stream.end_ms !== null || reachedBy(stream) > end.end_ms) return { reply: DONE };
  const ended = endStream(stream, end);
  return { ...ended, reply: DONE };
}

/** Where the last announced chunk ends, ms. */
function reachedBy({ stored_until_ms, open }: Stream): number {
  return Math.max(stored_until_ms, ...open.map(({ end_ms }) => end_ms));
}
