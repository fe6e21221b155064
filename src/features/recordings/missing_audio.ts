import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { isStored, type StoredChunk } from '../../../actors/recordings/stream_state.js';
import { streamOfChunk } from '../../domain/ids.js';
import { CONTENT_MISSING, orRefused, type Refusal, throwRefusal } from '../../domain/refusals.js';
import { audioKey } from '../../engine/blobs/blob_keys.js';
import type { BlobStore, ByteRange } from '../../engine/blobs/blob_store.js';
import type { Actors } from '../../engine/runtime/actors.js';

const LOST_AUDIO_KNOWN_MS = 86_400_000 + 3_600_000; // ours: longer than from one comparison of bytes with chunks to the next
const LOST_RECORDINGS_MAX = 1_000; // ours: that a process keeps in mind; of more the newest

type MissingAudioDeps = {
  actors: Actors;
  blobs: BlobStore;
  log: Pick<Logger, 'error'>;
  now: () => number;
};

/** `losses` counts those of a chunk after each other once. */
type NoticedLoss = { at_ms: number; losses: number; chunk_id: string | null };

/** The recordings whose stored chunks lack bytes, as this process noticed within the last day. */
export class MissingAudio {
  readonly #deps: MissingAudioDeps;
  /** By the stream. */
  readonly #noticed = new Map<string, NoticedLoss>();

  constructor(deps: MissingAudioDeps) {
    this.#deps = deps;
  }

  /** The bytes of a stored chunk; null if the chunk is gone or no longer has bytes. */
  async open(
    chunk_id: string,
    chunk: Pick<StoredChunk, 'place' | 'size_bytes'>,
    range?: ByteRange,
  ): Promise<Readable | null> {
    const stream_id = streamOfChunk(chunk_id)?.stream_id ?? '';
    const blob = await this.#deps.blobs.open(audioKey(stream_id, chunk), range);
    if (blob?.size_bytes === chunk.size_bytes) return blob.stream;
    blob?.stream.destroy();
    return null;
  }

  /** The bytes of a chunk; null if it is not stored or no longer has bytes. */
  async read(chunk_id: string): Promise<Readable | null> {
    const chunk = await this.#stored(chunk_id);
    return chunk && this.open(chunk_id, chunk);
  }

  /**
   * A reader found no bytes of the chunk. False if the chunk was deleted or has expired meanwhile, since it then needs
   * none.
   */
  async confirms(chunk_id: string): Promise<boolean> {
    const chunk = await this.#stored(chunk_id);
    if (chunk === null) return false;
    const bytes = await this.open(chunk_id, chunk, { start: 0, end: 0 });
    bytes?.destroy();
    if (bytes !== null) return false;
    const { stream_id } = chunk;
    if (!this.#isKnown(stream_id))
      this.#deps.log.error({ stream_id, chunk_id }, 'audio is lost: a stored chunk has no bytes');
    this.note(stream_id, chunk_id);
    return true;
  }

  async #stored(chunk_id: string): Promise<(StoredChunk & { stream_id: string }) | null> {
    const home = streamOfChunk(chunk_id);
    if (home === null) return null;
    const { stream_id, number } = home;
    const found = await this.#deps.actors.stream(stream_id).chunk({ number }).catch(orRefused(null));
    return found !== null && isStored(found.chunk) ? { ...found.chunk, stream_id } : null;
  }

  /** Records that chunks of the stream lack bytes. */
  note(stream_id: string, chunk_id: string | null = null): void {
    const { losses, chunk_id: before } = this.#noticed.get(stream_id) ?? { losses: 0, chunk_id: null };
    const is_same = losses > 0 && before === chunk_id;
    this.#noticed.delete(stream_id);
    this.#noticed.set(stream_id, { at_ms: this.#deps.now(), losses: losses + (is_same ? 0 : 1), chunk_id });
    const [oldest] = this.#noticed.keys();
    if (this.#noticed.size > LOST_RECORDINGS_MAX) this.#noticed.delete(oldest as string);
  }

  /** A number that changes with every confirmed loss. */
  lossesOf(stream_id: string): number {
    return this.#noticed.get(stream_id)?.losses ?? 0;
  }

  get recordings(): number {
    return [...this.#noticed.keys()].filter((stream_id) => this.#isKnown(stream_id)).length;
  }

  #isKnown(stream_id: string): boolean {
    const at_ms = this.#noticed.get(stream_id)?.at_ms;
    return at_ms !== undefined && this.#deps.now() - at_ms < LOST_AUDIO_KNOWN_MS;
  }
}

/** A stored chunk's bytes, or a range of them, for callers that may read them. */
export async function chunkContent(
  { lost_audio }: { lost_audio: MissingAudio },
  chunk: Pick<StoredChunk, 'chunk_id' | 'place' | 'size_bytes'>,
  { range, gone }: { range: ByteRange | undefined; gone: Refusal },
): Promise<Readable> {
  const bytes = await lost_audio.open(chunk.chunk_id, chunk, range);
  if (bytes !== null) return bytes;
  return (await lost_audio.confirms(chunk.chunk_id)) ? throwRefusal(CONTENT_MISSING) : throwRefusal(gone);
}
