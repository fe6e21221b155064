import type { ChunkResult } from '../../../actors/recordings/stream_state.js';
import { unreachable } from '../../domain/refusals.js';
import type { BlobStore } from '../blobs/blob_store.js';
import { type AnnouncedAudio, audioKindOf } from './kinds.js';
import { NotOgg } from './ogg.js';
import { NotOpus, readOpus } from './opus.js';
import { readWav, type WavFormat, withHead } from './wav.js';

/** A chunk that the built-in worker checks: whether it is what its container says, and as long as its intent said. */
export type CheckedChunk = AnnouncedAudio & {
  key: string;
  /** All its bytes in pieces, where they are in memory; else they are read. */
  parts?: readonly Buffer[] | undefined;
  size_bytes: number;
  source_start_ms: number;
  source_end_ms: number;
};

/** The tolerance between a chunk's own duration and that of its intent. */
const DURATION_TOLERANCE = 0.01;
const OPUS_SAMPLES_PER_MS = 48;

/** The rule for chunks: a device that sends pieces of one file learns why they are none by themselves. */
const WHOLE_WAV = 'A chunk in WAV must be a whole WAV file, with a header of its own.';
const WHOLE_OGG = 'A chunk in Ogg must be a whole Ogg file, with the headers of its codec.';

/** The bytes are not what they should be; the message is a sentence. */
class BadAudio extends Error {
  override name = 'BadAudio';
}

/** Checks the audio of a chunk; a format that it does not know passes unchecked. A store that fails throws. */
export async function checkAudio(blobs: BlobStore, chunk: CheckedChunk): Promise<ChunkResult> {
  try {
    const measured = await measure(blobs, chunk);
    if (measured === null) return { status: 'processed', checked: false };
    const { duration_ms, lead_in_ms } = measured;
    const wanted_ms = chunk.source_end_ms - chunk.source_start_ms;
    const tolerance_ms = Math.max(1, wanted_ms * DURATION_TOLERANCE);
    if (wanted_ms > duration_ms + tolerance_ms || wanted_ms < duration_ms - lead_in_ms - tolerance_ms) {
      const message = `The audio lasts ${Math.round(duration_ms)} ms, its intent says ${wanted_ms} ms.`;
      return { status: 'failed', failure: { code: 'WRONG_DURATION', message } };
    }
    return { status: 'processed', checked: true };
  } catch (error) {
    if (!(error instanceof BadAudio)) throw error;
    return { status: 'failed', failure: { code: 'BAD_AUDIO', message: error.message } };
  }
}

/**
 * The length of the audio, and how much of it may count or not: audio that Opus skips at the start of a stream counts
 * in the middle of one.
 */
type Measured = { duration_ms: number; lead_in_ms: number };

/** Null for what this does not know. Throws BadAudio. */
async function measure(blobs: BlobStore, chunk: CheckedChunk): Promise<Measured | null> {
  const audio = audioKindOf(chunk);
  switch (audio.kind) {
    case 'wav':
      return measureWav(blobs, chunk);
    case 'ogg':
      return measureOgg(blobs, chunk);
    case 'pcm':
      return measurePcm(audio.format, chunk);
    case 'other':
      return null;
    default:
      return unreachable(audio);
  }
}

function measurePcm({ frame_bytes, frames_per_second }: WavFormat, { size_bytes }: CheckedChunk): Measured {
  if (size_bytes % frame_bytes !== 0) {
    const rule = `A chunk of raw PCM must be whole samples of all channels, of ${frame_bytes} bytes together.`;
    throw new BadAudio(`The chunk of ${size_bytes} bytes ends inside a sample. ${rule}`);
  }
  return { duration_ms: (size_bytes / frame_bytes / frames_per_second) * 1_000, lead_in_ms: 0 };
}

async function measureWav(blobs: BlobStore, { size_bytes, ...chunk }: CheckedChunk): Promise<Measured | null> {
  const [whole, ...more] = chunk.parts ?? [];
  if (whole !== undefined && more.length === 0)
    return measuredWav(await readWav({ size_bytes, read: async (at, length) => whole.subarray(at, at + length) }));
  const read = async (offset: number, length: number) => {
    const pieces = await all(piecesOf(blobs, chunk, { start: offset, end: offset + length - 1 }));
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  };
  return measuredWav(await readWav(await withHead({ size_bytes, read })));
}

function measuredWav(found: Awaited<ReturnType<typeof readWav>>): Measured | null {
  if (!found.ok) {
    // How long it is, only its codec knows.
    if (found.is_compressed) return null;
    throw new BadAudio(`The chunk ${found.why}. ${WHOLE_WAV}`);
  }
  return { duration_ms: (found.wav.frames * 1_000) / found.wav.format.frames_per_second, lead_in_ms: 0 };
}

async function measureOgg(blobs: BlobStore, chunk: CheckedChunk): Promise<Measured | null> {
  try {
    const { samples, pre_skip, trimmed } = await readOpus(piecesOf(blobs, chunk));
    return { duration_ms: (samples - trimmed) / OPUS_SAMPLES_PER_MS, lead_in_ms: pre_skip / OPUS_SAMPLES_PER_MS };
  } catch (error) {
    if (error instanceof NotOpus) return null;
    if (error instanceof NotOgg) throw new BadAudio(`The chunk ${error.message}. ${WHOLE_OGG}`);
    throw error;
  }
}

async function* piecesOf(
  blobs: BlobStore,
  { key, parts }: Pick<CheckedChunk, 'key' | 'parts'>,
  range?: { start: number; end: number },
): AsyncGenerator<Buffer> {
  if (parts !== undefined) {
    yield* piecesWithin(parts, range);
    return;
  }
  const blob = await blobs.open(key, range);
  if (blob === null) throw new BadAudio('The bytes of the chunk are gone.');
  yield* blob.stream as AsyncIterable<Buffer>;
}

function* piecesWithin(parts: readonly Buffer[], range?: { start: number; end: number }): Generator<Buffer> {
  if (range === undefined) {
    yield* parts;
    return;
  }
  let at = 0;
  for (const part of parts) {
    const [from, to] = [Math.max(0, range.start - at), Math.min(part.length, range.end + 1 - at)];
    if (from < to) yield part.subarray(from, to);
    at += part.length;
    if (at > range.end) return;
  }
}

async function all(pieces: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const found: Buffer[] = [];
  for await (const piece of pieces) found.push(piece);
  return found;
}
