import { isRefusal, type Refusal } from '../../src/domain/refusals.js';
import { type Decision, type Effect, type Facts, messagesOf } from '../actor.js';
import {
  type ChunkPointer,
  chunkOf,
  type Intended,
  intentRecords,
  mayAdd,
  OTHER_CONTENT,
  storedChunk,
  type UploadedBytes,
} from './stream_chunks.js';
import { endStream, type StreamEnd } from './stream_end.js';
import { checkedEffects, dueEffects, type Transcribes } from './stream_processing.js';
import { type Chunk, chunkKey, hasExpired, keptStream, type Stream, type StreamState } from './stream_state.js';

/** Chunks that are announced and stored in one request. Their bytes are on disk before the stream decides. */
export const arrivalMessages = messagesOf<StreamState>()({
  /** Stores or refuses each chunk by itself; then the stream ends, if the request says so. */
  store_chunks: {
    records: ({ chunks }: ArrivedChunks) => chunks.flatMap(({ intent }) => intentRecords(intent)),
    further: ({ chunks }: ArrivedChunks, _state, read) =>
      chunks.flatMap(({ intent }) => {
        const known = read.record<ChunkPointer>('refs', intent.source_chunk_ref);
        return known === undefined ? [] : [{ collection: 'chunks', id: chunkKey(known.number) }];
      }),
    decide: keptStream((state, arrived: ArrivedChunks, facts) => storeChunks(state, arrived, facts)),
  },
});

/** `place`: where its bytes lie, synced, with the size and hash of the intent. */
export type ArrivedChunk = Intended & UploadedBytes;
type ArrivedChunks = { chunks: ArrivedChunk[]; end?: StreamEnd | undefined; transcribes?: Transcribes | undefined };

/** A chunk after its request: stored by it (`is_new`), stored before, or refused. */
export type ArrivalOutcome = { chunk: Chunk; is_new: boolean } | { refusal: Refusal };

export type ArrivalReply = { outcomes: ArrivalOutcome[]; end_refusal: Refusal | null; stream: Stream };

function storeChunks(
  stream: Stream,
  { chunks, end, transcribes }: ArrivedChunks,
  facts: Facts,
): Decision<Stream, ArrivalReply> {
  const records = new ChunkRecords(facts);
  const outcomes: ArrivalOutcome[] = [];
  let next = stream;
  for (const arrived of chunks) {
    const { outcome, next: after } = storeOne(next, arrived, { records, facts });
    outcomes.push(outcome);
    next = after;
  }
  const stored = outcomes.flatMap((outcome) => ('chunk' in outcome && outcome.is_new ? [outcome.chunk] : []));
  const checked = checkedEffects(next, { chunks: stored, transcribes }, facts);
  const ended = end === undefined ? null : endStream(checked.next, end, facts);
  const end_refusal = ended !== null && isRefusal(ended.reply) ? ended.reply : null;
  next = ended?.next ?? checked.next;
  const reply = { outcomes, end_refusal, stream: next };
  if (next === stream) return { reply };
  const effects = [...records.effects, ...checked.effects, ...(ended?.effects ?? [])];
  return { reply, next, effects: [...effects, ...dueEffects(stream, next, facts.self)] };
}

function storeOne(
  stream: Stream,
  arrived: ArrivedChunk,
  { records, facts }: { records: ChunkRecords; facts: Facts },
): { outcome: ArrivalOutcome; next: Stream } {
  const { intent, content, ...uploaded } = arrived;
  const known = records.read<ChunkPointer>('refs', intent.source_chunk_ref);
  const holder = records.read<ChunkPointer>('sequences', String(intent.sequence));
  const there = known && records.read<Chunk>('chunks', chunkKey(known.number));
  const unchanged = (outcome: ArrivalOutcome) => ({ outcome, next: stream });
  if (known !== undefined && known.content !== content) return unchanged({ refusal: OTHER_CONTENT });
  if (there !== undefined && (there.status === 'stored' || hasExpired(there)))
    return unchanged({ chunk: there, is_new: false });
  const is_open = there?.status === 'awaiting_upload';
  const number = known?.number ?? stream.chunks + 1;
  const refused = is_open ? null : mayAdd(stream, { intent, number, holder, is_announced: false });
  if (refused !== null) return unchanged({ refusal: refused });
  // From here on it succeeds.
  const chunk = is_open ? there : chunkOf(stream, { number, intent, status: 'stored' }, facts);
  const pointer: ChunkPointer = { number, content };
  if (!is_open) records.put({ collection: 'sequences', id: String(intent.sequence), value: pointer });
  if (known === undefined) records.put({ collection: 'refs', id: intent.source_chunk_ref, value: pointer });
  const stored = storedChunk(stream, { number, chunk, uploaded }, facts);
  records.add(stored.effects);
  const next = { ...stored.next, chunks: Math.max(stream.chunks, number) };
  return { outcome: { chunk: stored.chunk, is_new: stored.chunk.place !== null }, next };
}

/** Records as the earlier chunks of the same request leave them. */
class ChunkRecords {
  readonly #facts: Facts;
  readonly #put = new Map<string, unknown>();
  readonly effects: Effect[] = [];

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  read<Value>(collection: string, id: string): Value | undefined {
    const value = this.#put.get(`${collection} ${id}`);
    return value === undefined ? this.#facts.record<Value>(collection, id) : (value as Value);
  }

  put(record: { collection: string; id: string; value: unknown }): void {
    this.add([{ effect: 'put_record', ...record }]);
  }

  add(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.effect === 'put_record') this.#put.set(`${effect.collection} ${effect.id}`, effect.value);
      this.effects.push(effect);
    }
  }
}
