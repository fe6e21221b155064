import { LIMITS } from '../../domain/limits.js';
import { unreachable } from '../../domain/refusals.js';
import { FLAGS, NO_GRANULE } from '../../engine/audio/ogg.js';
import { PacketClock, placePage } from '../../engine/audio/opus.js';
import { isSilent } from '../../engine/audio/samples.js';
import { type Wav, writeWav } from '../../engine/audio/wav.js';
import { audioKey } from '../../engine/blobs/blob_keys.js';
import {
  type AudioPart,
  type AudioPiece,
  type AudioStores,
  NoBytes,
  type PieceStores,
  pieceOf,
  type Span,
  TooLong,
  type WavPiece,
  type WindowReading,
} from './audio_pieces.js';
import type { WindowWork } from './transcription.js';

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

type Window = Pick<WindowWork, 'account_id' | 'stream_id' | 'from_ms' | 'to_ms' | 'audio'> &
  Partial<Pick<WindowWork, 'samples'>>;
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
type SamplePiece = { speaker: string; piece: WavPiece };

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
