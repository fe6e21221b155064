import { LIMITS } from '../../domain/limits.js';
import { unreachable } from '../../domain/refusals.js';
import { audioKindOf } from '../../engine/audio/kinds.js';
import { FLAGS, NO_GRANULE, NotOgg, type OggPage } from '../../engine/audio/ogg.js';
import { type OpusFile, opusPages, PacketClock, placePage, readOpus } from '../../engine/audio/opus.js';
import { isSilent } from '../../engine/audio/samples.js';
import { plainFormat, readWav, type Wav, type WavFormat, withHead, writeWav } from '../../engine/audio/wav.js';
import { audioKey } from '../../engine/blobs/blob_keys.js';
import type { BlobStore, ByteRange } from '../../engine/blobs/blob_store.js';
import type { DecodedAudio } from '../../engine/speech/decoded_audio.js';
import { type CallOptions, SpeechProcessFailed } from '../../engine/speech/speech_process.js';
import type { WindowChunk, WindowWork } from './transcription.js';

/**
 * The audio of a window as files for an engine. Chunks that follow each other in one format become one file: samples
 * are cut by the frame, Opus in Ogg by the page. Chunks of other kinds are decoded to samples; those that no decoder reads
 * are files of their own, whole. Nothing is put in where audio is missing; where chunks overlap, the later one begins where the earlier ended.
 */

const OPUS_CUT_BYTES_MAX = 8 * 1024 * 1024; // ours: each window reads all of a smaller file; a larger one is decoded once

export type WindowFile = {
  kind: 'wav' | 'ogg' | 'other';
  content_type: string;
  /** Engines that are given a file go by its name. */
  extension: string;
  bytes: Buffer;
  /** Of plain samples: how to read them. */
  wav: Wav | null;
  /** Parts of the file in their order, and where they lie on the stream's timeline. */
  parts: AudioPart[];
  /** The part of the timeline that it stands for: audio that could not be cut holds more. */
  counts: Span;
  /** Plain samples in which nothing can be heard. */
  silent: boolean;
  /** The chunks that it was made of. */
  pieces: readonly AudioPiece[];
  /** Samples of known speakers that stand before the window's audio; empty where there are none. */
  samples: FileSample[];
  /** Where the window's audio begins in the file. */
  begins_ms: number;
};

/** Where a known speaker talks in the file. */
export type FileSample = { speaker: string; from_ms: number; to_ms: number };

/** `file_ms` is where it begins in the file. */
export type AudioPart = { file_ms: number; length_ms: number; start_ms: number; end_ms: number };

/** Where audio lies, and what decodes it. */
export type AudioStores = { blobs: BlobStore; decoded: DecodedAudio };

type Window = Pick<WindowWork, 'account_id' | 'stream_id' | 'from_ms' | 'to_ms' | 'audio'> &
  Partial<Pick<WindowWork, 'samples'>>;
/** The part of a chunk that lies in the window. */
type Span = { start_ms: number; end_ms: number };
/** A part of a chunk that can not be heard: its bytes are gone or damaged, or it lasts longer than it was said to. */
export type LeftOut = Span & { chunk_id: string; code: 'AUDIO_GONE' | 'AUDIO_DAMAGED' | 'WRONG_DURATION' };
type WindowReading = { onLeftOut(left_out: LeftOut): void; signal: AbortSignal };

/** A chunk's share of a file. `joins` is equal for what can be one file. */
type AudioPiece = { body: Buffer; part: Omit<AudioPart, 'file_ms'>; span: Span } & (
  | { kind: 'wav'; joins: string; format: WavFormat }
  | { kind: 'ogg'; joins: string; head: OggPage[]; pages: OggPage[] }
  | { kind: 'other'; joins: null; chunk: WindowChunk }
);

const SAMPLES_PER_MS = 48;
/** The samples per second that speech models take. */
const DECODED_RATE = 16_000;
/** Longer chunks are read as they are decoded, by windows one after the other. */
const WHOLE_MS_MAX = 10 * 60_000;
/** So that no speaker seems to go on in another's sample. */
const SAMPLE_PAUSE_MS = 1_000;
/** Of the identification header (RFC 7845, 5.1). */
const PRE_SKIP_AT = 10;
/** Of the joined stream; nothing else is in the file. */
const SERIAL = 1;
/** Containers by their names, without `audio/` before them; what is not here is for the engine to find out. */
const TYPES: ReadonlyMap<string, { content_type: string; extension: string }> = new Map([
  ...['wav', 'wave', 'x-wav'].map((name) => [name, { content_type: 'audio/wav', extension: 'wav' }] as const),
  ...['ogg', 'oga', 'opus'].map((name) => [name, { content_type: 'audio/ogg', extension: 'ogg' }] as const),
  ...['mp3', 'mpeg'].map((name) => [name, { content_type: 'audio/mpeg', extension: 'mp3' }] as const),
  ...['mp4', 'm4a', 'x-m4a'].map((name) => [name, { content_type: 'audio/mp4', extension: 'm4a' }] as const),
  ...['webm', 'flac', 'aac'].map((name) => [name, { content_type: `audio/${name}`, extension: name }] as const),
]);

/**
 * The files of a window one by one, so that one at a time is in memory. Chunks of which nothing can be read are gaps, damaged
 * pages of Ogg are silence; `onLeftOut` is told of both.
 */
export async function* windowFiles(
  stores: AudioStores,
  window: Window,
  { onLeftOut, signal }: WindowReading,
): AsyncGenerator<WindowFile> {
  const reading = { ...stores, call: { owner: window.account_id, signal } };
  const samples = await samplePieces(reading, window);
  const source = samples.length === 0 ? reading : { ...reading, is_decoded: true };
  let held: AudioPiece[] = [];
  let held_bytes = 0;
  let reached_ms = window.from_ms;
  for (const chunk of [...window.audio].sort((a, b) => a.start_ms - b.start_ms || a.sequence - b.sequence)) {
    const span = { start_ms: Math.max(chunk.start_ms, reached_ms), end_ms: Math.min(chunk.end_ms, window.to_ms) };
    if (span.start_ms >= span.end_ms) continue;
    reached_ms = span.end_ms;
    const key = audioKey(window.stream_id, chunk);
    const piece = await pieceOf({ ...source, onLeftOut }, { key, chunk, span }).catch((error: unknown) => {
      if (!(error instanceof NoBytes || error instanceof TooLong)) throw error;
      onLeftOut({ chunk_id: chunk.chunk_id, ...span, code: error.code });
      return null;
    });
    if (piece === null) continue;
    const [first] = held;
    const fits = held_bytes + piece.body.length <= LIMITS.window_file_bytes_max;
    if (first !== undefined && !(fits && piece.joins !== null && piece.joins === first.joins)) {
      yield await fileOf(held, samples);
      [held, held_bytes] = [[], 0];
    }
    held.push(piece);
    held_bytes += piece.body.length;
  }
  if (held.length > 0) yield await fileOf(held, samples);
}

/** The audio of each sample, as far as it is there and of one format. */
async function samplePieces(
  stores: PieceStores,
  { account_id, stream_id, samples = [] }: Window,
): Promise<SamplePiece[]> {
  const found: SamplePiece[] = [];
  for (const { speaker, from_ms, to_ms, audio } of samples) {
    const [first, ...rest] = await piecesOfSample(
      { ...stores, is_decoded: true },
      { account_id, stream_id, from_ms, to_ms, audio },
    );
    if (first === undefined || rest.some(({ joins }) => joins !== first.joins)) continue;
    const all = [first, ...rest];
    const body = Buffer.concat(all.map((one) => one.body));
    const length_ms = all.reduce((sum, { part }) => sum + part.length_ms, 0);
    found.push({ speaker, piece: { ...first, body, part: { ...first.part, length_ms } } });
  }
  return found;
}

async function piecesOfSample(stores: PieceStores, { stream_id, from_ms, to_ms, audio }: Window): Promise<WavPiece[]> {
  const pieces: WavPiece[] = [];
  for (const chunk of audio) {
    const span = { start_ms: Math.max(chunk.start_ms, from_ms), end_ms: Math.min(chunk.end_ms, to_ms) };
    const key = audioKey(stream_id, chunk);
    const piece = await pieceOf(stores, { key, chunk, span }).catch((error: unknown) => {
      if (error instanceof NoBytes || error instanceof TooLong) return null;
      throw error;
    });
    if (piece?.kind === 'wav') pieces.push(piece);
  }
  return pieces;
}

/** A file of several pieces as one file for each. */
export async function* filesOfPieces({ pieces }: WindowFile): AsyncGenerator<WindowFile> {
  for (const piece of pieces) yield await fileOf([piece]);
}

/**
 * Where a moment of the file lies on the timeline. Where one part ends and another begins, a start is the beginning of
 * the later one, an end the end of the earlier.
 */
export function onTimeline(parts: readonly AudioPart[], file_ms: number, side: 'start' | 'end'): number {
  const begun = parts.filter((part) => (side === 'start' ? part.file_ms <= file_ms : part.file_ms < file_ms));
  const part = begun.at(-1) ?? (parts[0] as AudioPart);
  const share = part.length_ms === 0 ? 0 : (file_ms - part.file_ms) / part.length_ms;
  return Math.round(part.start_ms + Math.min(1, Math.max(0, share)) * (part.end_ms - part.start_ms));
}

export function lengthOf({ parts }: Pick<WindowFile, 'parts'>): number {
  const last = parts.at(-1) as AudioPart;
  return last.file_ms + last.length_ms;
}

/** `is_decoded`: Opus becomes samples as well. */
type PieceStores = AudioStores & { is_decoded?: boolean; call: CallOptions; onLeftOut?: WindowReading['onLeftOut'] };
type WavPiece = AudioPiece & { kind: 'wav' };
type SamplePiece = { speaker: string; piece: WavPiece };
type WindowSource = { key: string; chunk: WindowChunk; span: Span };

/** Null where nothing of the chunk belongs to the window. What is not what it says is left as it is. Throws NoBytes, TooLong. */
async function pieceOf(stores: PieceStores, source: WindowSource): Promise<AudioPiece | null> {
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
async function samplesOf(blobs: BlobStore, { key, chunk, span }: WindowSource, wav: Wav): Promise<AudioPiece | null> {
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
  decoded: DecodedAudio,
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
    if (error instanceof SpeechProcessFailed && error.code !== 'STOPPED') return 'not decoded';
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

async function opusFileIn(blobs: BlobStore, key: string): Promise<OpusFile | 'not opus'> {
  try {
    return await readOpus(piecesOf(blobs, key));
  } catch (error) {
    if (error instanceof NotOgg) return 'not opus';
    throw error;
  }
}

/** The same audio without samples of known speakers before it. */
export function withoutSamples({ pieces }: WindowFile): Promise<WindowFile> {
  return fileOf([...pieces]);
}

async function fileOf(pieces: AudioPiece[], known: readonly SamplePiece[] = []): Promise<WindowFile> {
  const [first] = pieces as [AudioPiece];
  const before = known.filter(({ piece }) => piece.joins === first.joins);
  let file_ms = 0;
  const samples = before.map(({ speaker, piece }): FileSample => {
    const from_ms = file_ms;
    file_ms += piece.part.length_ms + SAMPLE_PAUSE_MS;
    return { speaker, from_ms, to_ms: from_ms + piece.part.length_ms };
  });
  const begins_ms = file_ms;
  const parts = pieces.map(({ part }): AudioPart => {
    const begins = file_ms;
    file_ms += part.length_ms;
    return { file_ms: begins, ...part };
  });
  const counts = { start_ms: first.span.start_ms, end_ms: (pieces.at(-1) as AudioPiece).span.end_ms };
  const of = { parts, counts, wav: null, silent: false, pieces, samples, begins_ms };
  switch (first.kind) {
    case 'wav': {
      const { format } = first;
      const said = Buffer.concat(pieces.map(({ body }) => body));
      const samples = Buffer.concat([...before.map(({ piece }) => withPause(piece)), said]);
      const bytes = writeWav(format, samples);
      const data_offset = 28 + format.fmt.length + (format.fmt.length % 2);
      const wav = { format, data_offset, frames: samples.length / format.frame_bytes };
      const silent = await isSilent(format, said);
      return { ...of, kind: 'wav', content_type: 'audio/wav', extension: 'wav', bytes, wav, silent };
    }
    case 'ogg':
      return { ...of, kind: 'ogg', content_type: 'audio/ogg', extension: 'ogg', bytes: opusFileOf(pieces) };
    case 'other':
      return { ...of, kind: 'other', ...typeOf(first.chunk.container), bytes: first.body };
    default:
      return unreachable(first);
  }
}

/** A sample and silence behind it. */
function withPause({ body, format }: WavPiece): Buffer {
  const frames = Math.round((SAMPLE_PAUSE_MS * format.frames_per_second) / 1_000);
  return Buffer.concat([body, Buffer.alloc(frames * format.frame_bytes, format.codec === 'pcm_u8' ? 128 : 0)]);
}

/** One stream whose pages are numbered anew. Nothing is skipped at its start: where it was cut, the lead-in is audio. */
function opusFileOf(pieces: readonly AudioPiece[]): Buffer {
  const clock = new PacketClock();
  const head = (pieces as [AudioPiece & { kind: 'ogg' }])[0].head;
  const audio = pieces.flatMap((piece) => (piece.kind === 'ogg' ? piece.pages : []));
  head[0]?.body.writeUInt16LE(0, PRE_SKIP_AT);
  for (const [sequence, page] of [...head, ...audio].entries()) {
    const place = { serial: SERIAL, sequence };
    if (sequence < head.length) placePage(page, { ...place, granule: page.granule, flags: page.flags });
    else {
      const granule = clock.pass(page) ? BigInt(clock.samples) : NO_GRANULE;
      const is_last = sequence === head.length + audio.length - 1;
      placePage(page, { ...place, granule, flags: is_last ? FLAGS.last : 0 });
    }
  }
  return Buffer.concat([...head, ...audio].map(({ bytes }) => bytes));
}

function typeOf(container: string): { content_type: string; extension: string } {
  const name = (container.split(';', 1)[0] as string)
    .trim()
    .toLowerCase()
    .replace(/^audio\//, '');
  const extension = /^[a-z0-9]{1,8}$/.test(name) ? name : 'bin';
  return TYPES.get(name) ?? { content_type: 'application/octet-stream', extension };
}

/** The store has no such bytes. */
class NoBytes extends Error {
  override name = 'NoBytes';
  readonly code = 'AUDIO_GONE';
}

/** The audio lasts longer than it was said to. */
class TooLong extends Error {
  override name = 'TooLong';
  readonly code = 'WRONG_DURATION';
}

async function* piecesOf(blobs: BlobStore, key: string, range?: ByteRange): AsyncGenerator<Buffer> {
  const blob = await blobs.open(key, range);
  if (blob === null) throw new NoBytes();
  yield* blob.stream as AsyncIterable<Buffer>;
}

function bytesOf(blobs: BlobStore, key: string, range?: ByteRange): Promise<Buffer> {
  return joined(piecesOf(blobs, key, range));
}

async function joined(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}
