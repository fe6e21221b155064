import { chunkId } from '../../src/domain/ids.js';
import { shared } from '../../src/domain/intervals.js';
import { LIMITS } from '../../src/domain/limits.js';
import { type Refusal, refuse } from '../../src/domain/refusals.js';
import {
  type Decision,
  DONE,
  type DoneDecision,
  type Effect,
  type Facts,
  messagesOf,
  type RangeQuery,
  type RecordQuery,
} from '../actor.js';
import { keptChunk } from './stream_expiry.js';
import { checkedEffects, dueEffects, type Transcribes } from './stream_processing.js';
import {
  type Chunk,
  type ChunkIntent,
  type ChunkResult,
  type ChunkStatus,
  chunkKey,
  hasExpired,
  keptStream,
  type OpenIntent,
  putChunk,
  type Stream,
  type StreamState,
} from './stream_state.js';

/** Collections `refs` (by source_chunk_ref) and `sequences` (by sequence). */
export type ChunkPointer = { number: number; content: string };

export type ListedChunk = Chunk & { order: number; member: string };
const NO_CHUNK = refuse('NOT_FOUND', 'There is no such chunk.');

/** Chunks that are announced first and uploaded later. */
export const chunkMessages = messagesOf<StreamState>()({
  intend: {
    records: ({ intent }: Intended) => intentRecords(intent),
    decide: keptStream((state, intended: Intended, facts) => intend(state, intended, facts)),
  },

  chunk: {
    reads: true,
    records: chunkRecord,
    decide: keptStream((state, { number }: { number: number }, facts) => {
      const chunk = facts.record<Chunk>('chunks', chunkKey(number));
      return { reply: chunk === undefined ? NO_CHUNK : { chunk, stream: state } };
    }),
  },

  chunks_of_refs: {
    records: ({ refs }: { refs: string[] }) => refs.map((id) => ({ collection: 'refs', id })),
    decide: keptStream((_, { refs }: { refs: string[] }, facts) => {
      const numbers = refs.flatMap((ref): [string, number][] => {
        const pointer = facts.record<ChunkPointer>('refs', ref);
        return pointer === undefined ? [] : [[ref, pointer.number]];
      });
      return { reply: { numbers: Object.fromEntries(numbers) } };
    }),
  },

  list_chunks: {
    records: ({ range }: { range: RangeQuery }) => [{ collection: 'chunks', range }],
    decide: keptStream((state, _: { range: RangeQuery }, facts) => {
      const rows = facts.range<Chunk>('chunks');
      const chunks: ListedChunk[] = rows.map(({ id, order, value }) => ({ ...value, order, member: id }));
      return { reply: { chunks, stream: state } };
    }),
  },

  /** The chunks whose bytes lie at that place, or may arrive there. */
  claimed_places: {
    reads: true,
    records: ({ appended }: AppendedPlaces) => appended.map(({ source_chunk_ref: id }) => ({ collection: 'refs', id })),
    further: ({ appended }: AppendedPlaces, _state, read) =>
      appended.flatMap(({ source_chunk_ref }) => {
        const known = read.record<ChunkPointer>('refs', source_chunk_ref);
        return known === undefined ? [] : [{ collection: 'chunks', id: chunkKey(known.number) }];
      }),
    decide: keptStream((_, { appended }: AppendedPlaces, facts): Decision<Stream, { claimed: string[] }> => {
      const claimed = appended.flatMap(({ source_chunk_ref, place }) => {
        const known = facts.record<ChunkPointer>('refs', source_chunk_ref);
        const chunk = known && facts.record<Chunk>('chunks', chunkKey(known.number));
        return chunk?.place === place ? [place] : [];
      });
      return { reply: { claimed } };
    }),
  },

  /** Chunks with bytes, also of a stream that is being removed. */
  chunks_to_erase: {
    reads: true,
    records: ({ range }: { range: RangeQuery }) => [{ collection: 'chunks', range }],
    decide: (_state, _: { range: RangeQuery }, facts): Decision<Stream, { chunks: ListedChunk[] }> => {
      const rows = facts.range<Chunk>('chunks');
      return { reply: { chunks: rows.map(({ id, order, value }) => ({ ...value, order, member: id })) } };
    },
  },

  /** The bytes lie in the blob store, synced, with this size and hash. */
  stored: {
    records: chunkRecord,
    decide: keptStream((state, stored: StoredBytes, facts) => store(state, stored, facts)),
  },

  expire_intents: {
    records: (_: unknown, state) =>
      state?.status === 'kept' ? state.open.map(({ number }) => ({ collection: 'chunks', id: chunkKey(number) })) : [],
    decide: keptStream((state, _: unknown, facts): DoneDecision<Stream> => expire(state, facts)),
  },
});

/** At most 100. */
type AppendedPlaces = { appended: readonly { source_chunk_ref: string; place: string }[] };

type ChunkReply = { chunk: Chunk; stream: Stream };

/** Bytes at a place in the blob store. `result`: the result of a check before they were stored. */
export type UploadedBytes = { place: string; upload_started_at_ms: number; result?: ChunkResult | undefined };
type StoredBytes = UploadedBytes & { number: number; transcribes?: Transcribes | undefined };

/** `content`: a digest of the intent's fields, by which a repetition is recognised. */
export type Intended = { intent: ChunkIntent; content: string };

/** The records that tell whether a chunk is known and its sequence free. */
export function intentRecords({ source_chunk_ref, sequence }: ChunkIntent): RecordQuery[] {
  return [
    { collection: 'refs', id: source_chunk_ref, expected: 'absent' },
    { collection: 'sequences', id: String(sequence), expected: 'absent' },
  ];
}

function chunkRecord({ number }: { number: number }): RecordQuery[] {
  return [{ collection: 'chunks', id: chunkKey(number) }];
}

/** The place for a chunk's bytes: its present one, or a new one. */
function intend(stream: Stream, intended: Intended, facts: Facts): Decision<Stream, ChunkReply> {
  const { intent, content } = intended;
  const known = facts.record<ChunkPointer>('refs', intent.source_chunk_ref);
  const holder = facts.record<ChunkPointer>('sequences', String(intent.sequence));
  if (known !== undefined && known.content !== content) return { reply: OTHER_CONTENT };
  const open = stream.open.find(({ number }) => number === known?.number);
  if (known !== undefined && (open !== undefined || holder?.number === known.number))
    return intendAgain(stream, { number: known.number, open, intent }, facts);
  const number = known?.number ?? stream.chunks + 1;
  const refused = mayAdd(stream, { intent, number, holder, is_announced: true });
  if (refused !== null) return { reply: refused };
  // From here on it succeeds.
  const { now_ms } = facts;
  const chunk = chunkOf(stream, { number, intent, status: 'awaiting_upload' }, facts);
  const pointer: ChunkPointer = { number, content };
  const next: Stream = {
    ...stream,
    chunks: Math.max(stream.chunks, number),
    open: [...stream.open, { number, end_ms: intent.source_end_ms, asked_at_ms: now_ms }],
  };
  const effects: Effect[] = [
    putChunk(number, chunk),
    { effect: 'put_record', collection: 'sequences', id: String(intent.sequence), value: pointer },
  ];
  if (known === undefined)
    effects.push({ effect: 'put_record', collection: 'refs', id: intent.source_chunk_ref, value: pointer });
  if (stream.open.length === 0) effects.push(expireLater(now_ms + LIMITS.intent_life_ms));
  return { reply: { chunk, stream: next }, next, effects };
}

/** A repeated intent: an open one gets a new deadline. */
function intendAgain(
  stream: Stream,
  { number, open, intent }: { number: number; open: OpenIntent | undefined; intent: ChunkIntent },
  facts: Facts,
): Decision<Stream, ChunkReply> {
  const chunk = chunkOf(stream, { number, intent, status: open === undefined ? 'stored' : 'awaiting_upload' }, facts);
  const { now_ms } = facts;
  if (open === undefined || now_ms < open.asked_at_ms + LIMITS.touch_every_ms) return { reply: { chunk, stream } };
  const touched = { ...open, asked_at_ms: now_ms };
  const next = { ...stream, open: stream.open.map((other) => (other === open ? touched : other)) };
  return { reply: { chunk, stream: next }, next };
}

export const OTHER_CONTENT = refuse('CONFLICT', 'This source_chunk_ref is registered with other content.');

/** `holder`: the chunk that has its sequence. `is_announced`: its bytes come later. */
type NewChunk = { intent: ChunkIntent; number: number; holder: ChunkPointer | undefined; is_announced: boolean };

/** Null if a chunk of this intent may be added. */
export function mayAdd(stream: Stream, { intent, number, holder, is_announced }: NewChunk): Refusal | null {
  if (holder !== undefined) return refuse('CONFLICT', 'This sequence belongs to another chunk of the stream.');
  if (stream.end_ms !== null && intent.source_end_ms > stream.end_ms)
    return refuse('CONFLICT', `The chunk ends past the stream's end_ms of ${stream.end_ms}.`);
  if (is_announced && stream.open.length >= LIMITS.open_intents_max)
    return refuse('TOO_MANY_REQUESTS', 'Too many chunks of this stream await their upload.', { retry_after_s: 5 });
  return number > LIMITS.chunks_per_stream_max ? NO_MORE_CHUNKS : null;
}

const NO_MORE_CHUNKS = refuse('CONFLICT', 'The stream holds no more chunks.');

export function chunkOf(
  stream: Stream,
  { number, intent, status }: { number: number; intent: ChunkIntent; status: ChunkStatus },
  { now_ms }: Facts,
): Chunk {
  return {
    ...intent,
    chunk_id: chunkId(stream.id, number),
    status,
    registered_at_ms: now_ms,
    upload_started_at_ms: null,
    stored_at_ms: null,
    place: null,
  };
}

function store(
  stream: Stream,
  { number, transcribes, ...uploaded }: StoredBytes,
  facts: Facts,
): Decision<Stream, ChunkReply> {
  const chunk = facts.record<Chunk>('chunks', chunkKey(number));
  if (chunk === undefined) return { reply: NO_CHUNK };
  if (chunk.status === 'stored') return { reply: { chunk, stream } };
  if (hasExpired(chunk)) return { reply: { chunk, stream } };
  if (chunk.status === 'expired')
    return { reply: refuse('UPLOAD_EXPIRED', 'The upload intent has expired; ask for it again.') };
  const stored = storedChunk(stream, { number, chunk, uploaded }, facts);
  const { next, effects } = checkedEffects(stored.next, { chunks: [stored.chunk], transcribes }, facts);
  return {
    reply: { chunk: stored.chunk, stream: next },
    next,
    effects: [...stored.effects, ...effects, ...dueEffects(stream, next, facts.self)],
  };
}

/** The stream after a chunk was stored, with the effects for its transcript and the index of due work. */
export function storedChunk(
  stream: Stream,
  { number, chunk, uploaded }: { number: number; chunk: Chunk; uploaded: UploadedBytes },
  { now_ms }: Facts,
): { chunk: Chunk; next: Stream; effects: Effect[] } {
  const { place, upload_started_at_ms, result } = uploaded;
  if (isDeleted(stream, chunk)) return arrivedDeleted(stream, { number, chunk, upload_started_at_ms }, now_ms);
  const came: Chunk = { ...chunk, status: 'stored', place, upload_started_at_ms, stored_at_ms: now_ms };
  const stored: Chunk = result === undefined ? came : { ...came, result };
  const { next, effects } = keptChunk(stream, stored, number, {
    stored_chunks: stream.stored_chunks + 1,
    stored_bytes: stream.stored_bytes + chunk.size_bytes,
    stored_until_ms: Math.max(stream.stored_until_ms, chunk.source_end_ms),
    last_stored_at_ms: now_ms,
    open: stream.open.filter((open) => open.number !== number),
    unprocessed: stream.unprocessed + (result === undefined ? 1 : 0),
  });
  const waiting = { collection: 'unprocessed', id: chunkKey(number), value: { tries: 0 }, order: now_ms };
  const put = putChunk(number, stored);
  if (result !== undefined) return { chunk: stored, next, effects: [put, ...effects] };
  return { chunk: stored, next, effects: [put, { effect: 'put_record', ...waiting }, ...effects] };
}

/** Nothing is taken of a part that its owner deleted: its chunks count as stored and removed. */
function arrivedDeleted(
  stream: Stream,
  { number, chunk, upload_started_at_ms }: { number: number; chunk: Chunk; upload_started_at_ms: number },
  now_ms: number,
): { chunk: Chunk; next: Stream; effects: Effect[] } {
  const gone: Chunk = { ...chunk, status: 'expired', place: null, upload_started_at_ms, stored_at_ms: now_ms };
  const open = stream.open.filter((one) => one.number !== number);
  const next = { ...stream, open, expired_chunks: stream.expired_chunks + 1 };
  return { chunk: gone, next, effects: [putChunk(number, gone)] };
}

function isDeleted({ deleted_parts = [] }: Stream, { source_start_ms, source_end_ms }: ChunkIntent): boolean {
  return deleted_parts.some((part) => shared(part, [source_start_ms, source_end_ms]) > 0);
}

/** Ends intents whose bytes never arrived. */
function expire(stream: Stream, facts: Facts): DoneDecision<Stream> {
  const due = (open: OpenIntent) => facts.now_ms >= open.asked_at_ms + LIMITS.intent_life_ms;
  const left = stream.open.filter((open) => !due(open));
  const effects: Effect[] = [];
  for (const { number } of stream.open.filter(due)) {
    const chunk = facts.record<Chunk>('chunks', chunkKey(number));
    if (chunk === undefined) throw new Error(`open intent ${number} has no chunk`);
    effects.push(
      { effect: 'delete_record', collection: 'sequences', id: String(chunk.sequence) },
      putChunk(number, { ...chunk, status: 'expired' }),
    );
  }
  const next_at_ms = Math.min(...left.map((open) => open.asked_at_ms)) + LIMITS.intent_life_ms;
  if (left.length > 0) effects.push(expireLater(next_at_ms));
  return { reply: DONE, next: { ...stream, open: left }, effects };
}

function expireLater(at_ms: number): Effect {
  return { effect: 'schedule_reminder', name: 'expire_intents', at_ms, message: { type: 'expire_intents' } };
}
