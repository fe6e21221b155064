import { unreachable } from '../../domain/refusals.js';
import type { BlobStore } from '../blobs/blob_store.js';
import { type AnnouncedAudio, audioKindOf } from './kinds.js';
import { NotOgg } from './ogg.js';
import { readOpus } from './opus.js';
import { isPlainOpus, silentOpus } from './opus_silence.js';
import { readWav, type Wav, type WavFormat, withHead } from './wav.js';

/** Stored audio of which a part is made silent, so that nothing of the part is left in its bytes. */

export type SilencedChunk = AnnouncedAudio & { key: string; size_bytes: number; length_ms: number };
/** In ms from the chunk's begin. */
type SilentSpan = { from_ms: number; to_ms: number };

/** Gives the bytes anew each time. */
type SilencedBytes = () => AsyncGenerator<Buffer>;

const OPUS_SAMPLES_PER_MS = 48;
const UNSIGNED_SILENCE = 128;

/**
 * The bytes of a chunk with silence in a part: plain samples and Opus in Ogg. Null for other audio, and for bytes that are
 * not what their container says, or are gone.
 */
export async function silencedAudio(
  blobs: BlobStore,
  chunk: SilencedChunk,
  span: SilentSpan,
): Promise<SilencedBytes | null> {
  const audio = audioKindOf(chunk);
  const { size_bytes } = chunk;
  switch (audio.kind) {
    case 'pcm': {
      const { format } = audio;
      const frames = Math.floor(size_bytes / format.frame_bytes);
      return silentSamples(blobs, chunk, { wav: { format, frames, data_offset: 0 }, span });
    }
    case 'wav': {
      const read = (start: number, length: number) => bytesOf(blobs, chunk.key, { start, end: start + length - 1 });
      const found = await readWav(await withHead({ size_bytes, read }));
      return found.ok ? silentSamples(blobs, chunk, { wav: found.wav, span }) : null;
    }
    case 'ogg':
      return silentPackets(blobs, chunk, span);
    case 'other':
      return null;
    default:
      return unreachable(audio);
  }
}

function silentSamples(
  blobs: BlobStore,
  { key, length_ms }: SilencedChunk,
  { wav: { format, frames, data_offset }, span }: { wav: Wav; span: SilentSpan },
): SilencedBytes {
  const { from, to } = framesIn(format, { frames, length_ms, span });
  const [first, end] = [data_offset + from * format.frame_bytes, data_offset + to * format.frame_bytes];
  const silence = format.codec === 'pcm_u8' ? UNSIGNED_SILENCE : 0;
  return async function* () {
    let at = 0;
    for await (const piece of piecesOf(blobs, key)) {
      const [start, stop] = [Math.max(0, first - at), Math.min(piece.length, end - at)];
      yield start < stop ? Buffer.from(piece).fill(silence, start, stop) : piece;
      at += piece.length;
    }
  };
}

/** A chunk may be a little shorter or longer than it says: what lies in the span by either clock. */
function framesIn(
  { frames_per_second }: WavFormat,
  { frames, length_ms, span }: { frames: number; length_ms: number; span: SilentSpan },
): { from: number; to: number } {
  const rates = [frames_per_second / 1_000, frames / length_ms];
  const is_to_end = span.to_ms >= length_ms;
  return {
    from: Math.max(0, Math.floor(Math.min(...rates.map((rate) => span.from_ms * rate)))),
    to: is_to_end ? frames : Math.min(frames, Math.ceil(Math.max(...rates.map((rate) => span.to_ms * rate)))),
  };
}

async function silentPackets(
  blobs: BlobStore,
  { key, length_ms }: SilencedChunk,
  { from_ms, to_ms }: SilentSpan,
): Promise<SilencedBytes | null> {
  try {
    const file = await readOpus(piecesOf(blobs, key));
    if (!isPlainOpus(file)) return null;
    const end = to_ms >= length_ms ? file.samples : to_ms * OPUS_SAMPLES_PER_MS;
    return () => silentOpus(piecesOf(blobs, key), { file, silent: [from_ms * OPUS_SAMPLES_PER_MS, end] });
  } catch (error) {
    if (error instanceof NotOgg) return null;
    throw error;
  }
}

async function* piecesOf(
  blobs: BlobStore,
  key: string,
  range?: { start: number; end: number },
): AsyncGenerator<Buffer> {
  const blob = await blobs.open(key, range);
  if (blob !== null) yield* blob.stream as AsyncIterable<Buffer>;
}

async function bytesOf(blobs: BlobStore, key: string, range: { start: number; end: number }): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of piecesOf(blobs, key, range)) pieces.push(piece);
  return Buffer.concat(pieces);
}
