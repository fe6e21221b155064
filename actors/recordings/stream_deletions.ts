import { addInterval, type Interval, subtract } from '../../src/domain/intervals.js';
import { refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, type DoneDecision, type Effect, type Facts, messagesOf } from '../actor.js';
import { audioExpired, expired, type Gone, type GoneAudio, goneAudio } from './stream_expiry.js';
import { dueEffects } from './stream_processing.js';
import {
  type Chunk,
  chunkKey,
  type DeletedPart,
  type EventSilence,
  hasExpired,
  isStored,
  keptStream,
  putChunk,
  type Stream,
  type StreamState,
  streamEvent,
} from './stream_state.js';

/**
 * Deletion of a part of a stream by its owner. The part is noted first, so that no audio of it is taken any more and a
 * worker goes on where a server ended. Chunks inside it go as expired ones do; one that reaches out of it gets other bytes.
 */

const DELETED_PARTS_MAX = 200; // ours: of one stream; parts that touch are one
/** A stream without an end is still recorded while audio comes at least so often. */
const STILL_RECORDED_MS = 120_000; // as the app's pages say it

const STILL_RECORDED = refuse('CONFLICT', 'The recording is still going on. Delete a part of it once it has ended.');
const TOO_MANY = refuse('CONFLICT', `At most ${DELETED_PARTS_MAX} parts of a recording can be deleted.`);

export const deletionMessages = messagesOf<StreamState>()({
  /** Notes that a part is deleted. The same part again changes nothing. */
  delete_part: keptStream(
    (state, { part, silent }: { part: DeletedPart } & EventSilence, { now_ms }): DoneDecision<Stream> => {
      const { deleted_parts = [], parts_going = [] } = state;
      if (subtract([part.goes], deleted_parts).length === 0) return { reply: DONE };
      if (isRecorded(state, now_ms)) return { reply: STILL_RECORDED };
      const all = addInterval(deleted_parts, part.goes, Number.POSITIVE_INFINITY);
      if (all.length > DELETED_PARTS_MAX || parts_going.length >= DELETED_PARTS_MAX) return { reply: TOO_MANY };
      // From here on it succeeds.
      const next = { ...state, deleted_parts: all, parts_going: [...parts_going, part] };
      const { id: stream_id, account_id } = state;
      const [from_ms, to_ms] = part.asked;
      const job: Effect = {
        effect: 'enqueue_job',
        job_id: `delete_part:${stream_id}:${from_ms}-${to_ms}`,
        job: { job: 'delete_part', stream_id, account_id, part },
      };
      return { reply: DONE, next, effects: [...streamEvent(next, 'stream.updated', { silent }, ['audio']), job] };
    },
  ),

  /** Takes the audio of these chunks away, which lie in a deleted part. `gone`: those whose bytes are to be erased. */
  remove_chunks: {
    records: ({ numbers }: { numbers: number[] }) =>
      numbers.flatMap((number) =>
        ['chunks', 'unprocessed'].map((collection) => ({ collection, id: chunkKey(number) })),
      ),
    decide: keptStream((state, { numbers }: { numbers: number[] }, facts): Decision<Stream, { gone: GoneAudio[] }> => {
      const chunks = chunksOf(numbers, facts);
      const stored = chunks.filter(({ chunk }) => isStored(chunk));
      const left_over = chunks.filter(({ chunk }) => hasExpired(chunk));
      const reply = { gone: [...stored, ...left_over].flatMap(goneAudio) };
      if (stored.length === 0) return { reply };
      const next = audioExpired(state, stored, facts);
      return { reply, next, effects: [...stored.flatMap(expired), ...dueEffects(state, next, facts.self)] };
    }),
  },

  /**
   * Gives a chunk other bytes, in which a part is silent. `is_taken`: it had the bytes at `was_place` until now; otherwise
   * nothing changes. A worker that has the chunk in hand loses it.
   */
  replace_audio: {
    records: ({ number }: ReplacedAudio) => [{ collection: 'chunks', id: chunkKey(number) }],
    decide: keptStream((state, replaced: ReplacedAudio, facts): Decision<Stream, { is_taken: boolean }> => {
      const { number, was_place, ...bytes } = replaced;
      const chunk = facts.record<Chunk>('chunks', chunkKey(number));
      if (chunk === undefined || !isStored(chunk) || chunk.place !== was_place) return { reply: { is_taken: false } };
      const { size_bytes, sha256, announced = { size_bytes, sha256 } } = chunk;
      const next = {
        ...state,
        stored_bytes: state.stored_bytes - size_bytes + bytes.size_bytes,
        claims: state.claims.filter((claim) => claim.number !== number),
        silenced_chunks: (state.silenced_chunks ?? 0) + 1,
      };
      const effects = [putChunk(number, { ...chunk, ...bytes, announced }), ...dueEffects(state, next, facts.self)];
      return { reply: { is_taken: true }, next, effects };
    }),
  },

  /** Nothing of the part is left. */
  part_deleted: keptStream((state, { part }: { part: DeletedPart }): DoneDecision<Stream> => {
    const parts_going = (state.parts_going ?? []).filter((one) => !isSame(one, part));
    if (parts_going.length === (state.parts_going ?? []).length) return { reply: DONE };
    return { reply: DONE, next: { ...state, parts_going } };
  }),
});

type ReplacedAudio = { number: number; was_place: string; place: string; size_bytes: number; sha256: string };

function isRecorded({ end_ms, last_stored_at_ms, created_at_ms }: Stream, now_ms: number): boolean {
  return end_ms === null && now_ms - (last_stored_at_ms ?? created_at_ms) < STILL_RECORDED_MS;
}

function chunksOf(numbers: readonly number[], facts: Facts): Gone {
  return numbers.flatMap((number) => {
    const chunk = facts.record<Chunk>('chunks', chunkKey(number));
    return chunk === undefined ? [] : [{ number, chunk }];
  });
}

function isSame(one: DeletedPart, other: DeletedPart): boolean {
  const same = ([from, to]: Interval, [other_from, other_to]: Interval) => from === other_from && to === other_to;
  return same(one.asked, other.asked) && same(one.goes, other.goes);
}
