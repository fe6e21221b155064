import { createHash } from 'node:crypto';
import { LIMITS } from '../../domain/limits.js';
import { Refused, refuse } from '../../domain/refusals.js';
import type { AudioReader, JoinedFile, NotJoined, StoredChunk } from '../audio/joined_file.js';
import { pcm16Format, wavHeader } from '../audio/wav.js';
import { ProcessFailed } from '../process/framed_process.js';
import type { DecodedAudio } from './decoded_audio.js';

/** A chunk, and how long its recorder says it is. */
export type TimedChunk = StoredChunk & { length_ms: number };

/** Enough for voices and most music, in mono. */
const RATE = 32_000;
const decodingOf = ({ length_ms }: TimedChunk) => ({ rate: RATE, length_ms, goes_on: false });
const SAMPLE_BYTES = 2;
const GIVEN_UP = refuse('UNAVAILABLE', 'The audio is not decoded any more.', { retry_after_s: 2 });
const SILENCE = Buffer.alloc(64 * 1024);

/**
 * Chunks of kinds that can't follow each other as they are, decoded to one WAV. Each takes the time that it was announced
 * with and is decoded when it is read; one that cannot be decoded then is silence. `why`: said where the first one cannot.
 */
export async function joinDecoded(
  decoded: DecodedAudio,
  chunks: readonly TimedChunk[],
  { why }: NotJoined,
  reader: AudioReader,
): Promise<JoinedFile | NotJoined> {
  const [first] = chunks;
  const samples = chunks.map(({ length_ms }) => Math.round((length_ms * RATE) / 1_000));
  const sample_bytes = samples.reduce((sum, count) => sum + count, 0) * SAMPLE_BYTES;
  const header = wavHeader(pcm16Format({ channels: 1, frames_per_second: RATE }), sample_bytes);
  if (first === undefined || header.length + sample_bytes > LIMITS.joined_bytes_max) return { why };
  try {
    const found = await decoded.use(first, { ...decodingOf(first), until: 1 }, async () => true, reader);
    if (found === null) return { why };
  } catch (error) {
    if (!(error instanceof ProcessFailed)) throw error;
    if (error.code === 'STOPPED') throw new Refused(GIVEN_UP);
    return { why };
  }
  const hash = createHash('sha256').update(`decoded ${RATE}`);
  for (const { sha256, length_ms } of chunks) hash.update(`${sha256} ${length_ms}`);
  const segments = chunks.map((chunk, at) => {
    const size_bytes = (samples[at] as number) * SAMPLE_BYTES;
    const read = (from: number, of: AudioReader) => samplesOf(decoded, chunk, { from, to: size_bytes }, of);
    return { size_bytes, read };
  });
  return {
    content_type: 'audio/wav',
    extension: 'wav',
    size_bytes: header.length + sample_bytes,
    etag: hash.digest('hex').slice(0, 32),
    segments: [{ size_bytes: header.length, read: (from) => once(header.subarray(from)) }, ...segments],
    chunks,
  };
}

/** The samples of a chunk, with silence where it is shorter than it was said to be. */
async function* samplesOf(
  decoded: DecodedAudio,
  chunk: TimedChunk,
  { from, to }: { from: number; to: number },
  reader: AudioReader,
): AsyncGenerator<Buffer> {
  let at = from;
  try {
    for await (const piece of decoded.read(chunk, decodingOf(chunk), { from, to }, reader)) {
      yield piece;
      at += piece.length;
    }
  } catch (error) {
    if (!(error instanceof ProcessFailed) || error.code === 'STOPPED') throw error;
  }
  for (; at < to; at += SILENCE.length) yield SILENCE.subarray(0, to - at);
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
