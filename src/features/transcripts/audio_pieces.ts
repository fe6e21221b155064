import { audioKindOf } from '../../engine/audio/kinds.js';
import { FLAGS, NotOgg, type OggPage } from '../../engine/audio/ogg.js';
import { type OpusFile, opusPages, PacketClock, readOpus } from '../../engine/audio/opus.js';
import { plainFormat, readWav, type Wav, type WavFormat, withHead } from '../../engine/audio/wav.js';
import type { BlobStore, ByteRange } from '../../engine/blobs/blob_store.js';
import { ProcessFailed } from '../../engine/process/framed_process.js';
import type { DecodedAudio } from '../../engine/speech/decoded_audio.js';
import type { CallOptions } from '../../engine/speech/speech_process.js';
import type { WindowChunk } from './transcription.js';

/**
 * The audio of a window as files for an engine. Chunks that follow each other in one format become one file: samples
 * are cut by the frame, Opus in Ogg by the page. Chunks of other kinds are decoded to samples; those that no decoder reads
 * are files of their own, whole. Nothing is put in where audio is missing; where chunks overlap, the later one begins where the earlier ended.
 */

const OPUS_CUT_BYTES_MAX = 8 * 1024 * 1024; // ours: each window reads all of a smaller file; a larger one is decoded once

/** `file_ms`: where the part begins in the file. */
export type AudioPart = { file_ms: number; length_ms: number; start_ms: number; end_ms: number };

/** The stores of audio, and its decoder. */
export type AudioStores = { blobs: Pick<BlobStore, 'open'>; decoded: Pick<DecodedAudio, 'use'> };
/** The part of a chunk that is in the window. */
export type Span = { start_ms: number; end_ms: number };
/** A part of a chunk that cannot be heard: its bytes are gone or damaged, or it lasts longer than announced. */
export type LeftOut = Span & { chunk_id: string; code: 'AUDIO_GONE' | 'AUDIO_DAMAGED' | 'WRONG_DURATION' };
export type WindowReading = { onLeftOut(left_out: LeftOut): void; signal: AbortSignal };

/** A chunk's share of a file. `joins` is equal for pieces that can be one file. */
export type AudioPiece = { body: Buffer; part: Omit<AudioPart, 'file_ms'>; span: Span } & (
  | { kind: 'wav'; joins: string; format: WavFormat }
  | { kind: 'ogg'; joins: string; head: OggPage[]; pages: OggPage[] }
  | { kind: 'other'; joins: null; chunk: WindowChunk }
);

const SAMPLES_PER_MS = 48;
/** The samples per second that speech models take. */
const DECODED_RATE = 16_000;
/** Longer chunks are read as they are decoded, by windows one after the other. */
const WHOLE_MS_MAX = 10 * 60_000;

/** `is_decoded`: Opus becomes samples as well. */
export type PieceStores = AudioStores & {
  is_decoded?: boolean;
  call: CallOptions;
  onLeftOut?: WindowReading['onLeftOut'];
};
export type WavPiece = AudioPiece & { kind: 'wav' };
type WindowSource = { key: string; chunk: WindowChunk; span: Span };

/**
 * Null if no part of the chunk is in the window. A chunk that is not of its stated kind is left as it is. Throws
 * NoBytes, TooLong.
 */
export async function pieceOf(stores: PieceStores, source: WindowSource): Promise<AudioPiece | null> {
  const { blobs, decoded, call } = stores;
  const { chunk, key, span } = source;
  const kind = audioKindOf(chunk);
  if (kind.kind === 'pcm') {
    const { format } = kind;
    const frames = Math.floor(chunk.size_bytes / format.frame_bytes);
    return samplesOf(blobs, source, { format, data_offset: 0, frames });
  }
  if (kind.kind === 'wav') {
    const read = (start: number, length: number) => bytesOf(blobs, key, { start, end: start + length - 1 });
    const found = await readWav(await withHead({ size_bytes: chunk.size_bytes, read }));
    if (found.ok) return samplesOf(blobs, source, found.wav);
  }
  if (kind.kind === 'ogg' && chunk.size_bytes <= OPUS_CUT_BYTES_MAX) {
    const piece = await opusOf(stores, source);
    if (piece !== 'not opus') return piece;
  }
  const piece = await decodedOf(decoded, source, call);
  if (piece !== 'not decoded') return piece;
  const body = await bytesOf(blobs, key);
  const { start_ms, end_ms } = chunk;
  return { kind: 'other', joins: null, chunk, span, body, part: { start_ms, end_ms, length_ms: end_ms - start_ms } };
}

/** Throws NoBytes. */
async function samplesOf(
  blobs: AudioStores['blobs'],
  { key, chunk, span }: WindowSource,
  wav: Wav,
): Promise<AudioPiece | null> {
  const { format, data_offset, frames } = wav;
  return framesOf({ chunk, span, format, frames }, (start, length) =>
    bytesOf(blobs, key, { start: data_offset + start, end: data_offset + start + length - 1 }),
  );
}

/** `between`: the frames of the span, where they are known. */
type Frames = Pick<WindowSource, 'chunk' | 'span'> & {
  format: WavFormat;
  frames: number;
  between?: { from: number; to: number } | undefined;
};

/** Windows that meet in a chunk have all of its frames between them, each once, however long it says it is. */
async function framesOf(
  { chunk, span, format, frames, between }: Frames,
  read: (start: number, length: number) => Promise<Buffer>,
): Promise<AudioPiece | null> {
  const frameAt = (ms: number) => Math.round(((ms - chunk.start_ms) / (chunk.end_ms - chunk.start_ms)) * frames);
  const { from: first, to: end } = between ?? { from: frameAt(span.start_ms), to: frameAt(span.end_ms) };
  const [from, to] = [first * format.frame_bytes, Math.min(end, frames) * format.frame_bytes];
  if (from >= to) return null;
  const body = await read(from, to - from);
  if (body.length < to - from) throw new NoBytes();
  const length_ms = ((to - from) / format.frame_bytes / format.frames_per_second) * 1_000;
  return { kind: 'wav', joins: `wav ${format.fmt.toString('hex')}`, format, span, body, part: { ...span, length_ms } };
}

/** The span of a chunk that only decoders read. What they do not read is left to the engine. Throws NoBytes, TooLong. */
async function decodedOf(
  decoded: AudioStores['decoded'],
  { key, chunk, span }: WindowSource,
  call: CallOptions,
): Promise<AudioPiece | null | 'not decoded'> {
  const format = plainFormat('pcm_s16le', { channels: 1, frames_per_second: DECODED_RATE });
  const length_ms = chunk.end_ms - chunk.start_ms;
  const frameAt = (ms: number) => Math.round(((ms - chunk.start_ms) * DECODED_RATE) / 1_000);
  // Of a long chunk the end alone shows whether it is as long as it was said to be; until then its clock is taken as right.
  const is_part = length_ms > WHOLE_MS_MAX && span.end_ms < chunk.end_ms;
  const wanted = { rate: DECODED_RATE, length_ms, goes_on: true, ...(is_part && { until: frameAt(span.end_ms) }) };
  try {
    const found = await decoded.use(
      { key, size_bytes: chunk.size_bytes },
      wanted,
      async ({ samples, is_cut, read }) => {
        if (is_cut) throw new TooLong();
        const frames =
          length_ms > WHOLE_MS_MAX
            ? { from: frameAt(span.start_ms), to: is_part ? frameAt(span.end_ms) : samples }
            : undefined;
        const piece = await framesOf({ chunk, span, format, frames: samples, between: frames }, (start, length) =>
          joined(read(start, start + length)),
        );
        return { piece };
      },
      call,
    );
    if (found === null) throw new NoBytes();
    return found.piece;
  } catch (error) {
    if (error instanceof ProcessFailed && error.code !== 'STOPPED') return 'not decoded';
    throw error;
  }
}

/** The pages that begin in the span. One that begins within a packet goes with the page before it. */
async function opusOf(
  { blobs, is_decoded, onLeftOut }: PieceStores,
  { key, chunk, span }: WindowSource,
): Promise<AudioPiece | null | 'not opus'> {
  const opus = await opusFileIn(blobs, key);
  if (opus === 'not opus') return opus;
  const { samples, trimmed, format } = opus;
  const msAt = (sample: number) =>
    chunk.start_ms + (sample / Math.max(1, samples - trimmed)) * (chunk.end_ms - chunk.start_ms);
  for (const [from, to] of opus.lost) {
    const start_ms = Math.max(span.start_ms, Math.round(msAt(from)));
    const end_ms = Math.min(span.end_ms, Math.round(msAt(to)));
    if (start_ms < end_ms) onLeftOut?.({ chunk_id: chunk.chunk_id, start_ms, end_ms, code: 'AUDIO_DAMAGED' });
  }
  if (is_decoded === true) return 'not opus';
  const [head, pages]: [OggPage[], OggPage[]] = [[], []];
  const clock = new PacketClock();
  const kept = { is_kept: false, first: Number.NaN, after: 0 };
  for await (const { page, is } of opusPages(piecesOf(blobs, key))) {
    if (is === 'header') {
      head.push(page);
      continue;
    }
    const begins = clock.samples;
    clock.pass(page);
    const starts_ms = msAt(begins);
    if ((page.flags & FLAGS.continued) === 0) kept.is_kept = starts_ms >= span.start_ms && starts_ms < span.end_ms;
    if (!kept.is_kept) continue;
    if (pages.length === 0) kept.first = begins;
    kept.after = clock.samples;
    pages.push(page);
  }
  if (pages.length === 0) return null;
  return {
    kind: 'ogg',
    joins: `ogg ${format}`,
    head,
    pages,
    span,
    body: Buffer.concat(pages.map(({ bytes }) => bytes)),
    part: {
      start_ms: Math.round(msAt(kept.first)),
      end_ms: Math.min(chunk.end_ms, Math.round(msAt(kept.after))),
      length_ms: (kept.after - kept.first) / SAMPLES_PER_MS,
    },
  };
}

async function opusFileIn(blobs: AudioStores['blobs'], key: string): Promise<OpusFile | 'not opus'> {
  try {
    return await readOpus(piecesOf(blobs, key));
  } catch (error) {
    if (error instanceof NotOgg) return 'not opus';
    throw error;
  }
}

/** The store has no such bytes. */
export class NoBytes extends Error {
  override name = 'NoBytes';
  readonly code = 'AUDIO_GONE';
}

/** The audio lasts longer than announced. */
export class TooLong extends Error {
  override name = 'TooLong';
  readonly code = 'WRONG_DURATION';
}

async function* piecesOf(blobs: AudioStores['blobs'], key: string, range?: ByteRange): AsyncGenerator<Buffer> {
  const blob = await blobs.open(key, range);
  if (blob === null) throw new NoBytes();
  yield* blob.stream as AsyncIterable<Buffer>;
}

function bytesOf(blobs: AudioStores['blobs'], key: string, range?: ByteRange): Promise<Buffer> {
  return joined(piecesOf(blobs, key, range));
}

async function joined(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}
