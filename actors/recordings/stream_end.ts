import { refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, type DoneDecision, type Effect, type Facts } from '../actor.js';
import type { TranscriptMessage } from '../transcripts/transcript.js';
import { tellWaiting } from './stream_processing.js';
import { type EventSilence, type Stream, streamEvent } from './stream_state.js';

/** The end of a stream, which is set once. Rules H-021, K-254. */

export const END_REMINDER = 'end';

const OTHER_END = refuse('CONFLICT', 'The stream already has another end_ms.');

export type StreamEnd = { end_ms: number } & EventSilence;

export function endStream(
  stream: Stream,
  { end_ms, silent }: StreamEnd,
  facts: Pick<Facts, 'now_ms'>,
): Decision<Stream, Stream> {
  if (stream.end_ms === end_ms) return { reply: stream };
  if (stream.end_ms !== null) return { reply: OTHER_END };
  const reached_ms = reachedBy(stream);
  if (end_ms < reached_ms)
    return { reply: refuse('CONFLICT', `A registered chunk ends at ${reached_ms} ms, behind this end_ms.`) };
  const heard = tellWaiting(stream, facts);
  const next = { ...heard.next, end_ms };
  const message: TranscriptMessage = { type: 'ended', end_ms };
  const told: Effect[] = next.transcribed
    ? [{ effect: 'notify', to: { kind: 'transcript', id: stream.id }, message }]
    : [];
  const effects = [...heard.effects, ...streamEvent(next, 'stream.updated', { silent }, ['end_ms']), ...told];
  return { reply: next, next, effects };
}

export type LaterEnd = StreamEnd & { after_ms: number };

/** Ends the stream there after a while, unless audio behind that arrives first. A later call replaces this one. */
export function endStreamLater(
  stream: Stream,
  { after_ms, ...end }: LaterEnd,
  facts: Pick<Facts, 'now_ms'>,
): Decision<Stream, Stream> {
  const { next, reply } = endStream(stream, end, facts);
  if (next === undefined) return { reply };
  const message = { type: 'end_unless_continued', ...end };
  const at_ms = facts.now_ms + after_ms;
  return {
    reply: stream,
    next: stream,
    effects: [{ effect: 'schedule_reminder', name: END_REMINDER, at_ms, message }],
  };
}

export function endUnlessContinued(stream: Stream, end: StreamEnd, facts: Pick<Facts, 'now_ms'>): DoneDecision<Stream> {
  if (stream.end_ms !== null || reachedBy(stream) > end.end_ms) return { reply: DONE };
  const ended = endStream(stream, end, facts);
  return { ...ended, reply: DONE };
}

/** Where the last announced chunk ends, ms. */
function reachedBy({ stored_until_ms, open }: Stream): number {
  return Math.max(stored_until_ms, ...open.map(({ end_ms }) => end_ms));
}
