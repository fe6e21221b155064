import { createHash } from 'node:crypto';
import pMap from 'p-map';
import { LIMITS } from '../../domain/limits.js';
import type { BlobStore, ByteRange } from '../blobs/blob_store.js';
import { type AnnouncedAudio, audioKindOf } from './kinds.js';
import { FLAGS, NO_GRANULE, NotOgg } from './ogg.js';
import { type OpusFile, opusPages, PacketClock, placePage, readOpus } from './opus.js';
import { readWav, type Wav, wavHeader, withHead } from './wav.js';

/**
 * Chunks of a recording as one file that players take. What a file of one container can follow: WAVs of one format
 * become one RIFF file, and so do raw samples, Opus files in Ogg one logical stream, whose pages are numbered anew. The size is known before
 * the first byte, so that any range can be asked for; of the audio no more than a page or a piece is in memory.
 */

export type StoredChunk = AnnouncedAudio & { key: string; sequence: number; size_bytes: number; sha256: string };

/** The account that reads, and what aborts when it has left. */
export type AudioReader = { owner: string; signal: AbortSignal };

export type JoinedFile = {
  content_type: string;
  extension: string;
  size_bytes: number;
  /** Another one whenever a byte is. */
  etag: string;
  segments: Segment[];
  /** The chunks in it: all but those of which the store has no bytes. */
  chunks: readonly StoredChunk[];
};

/** A part of the file, and its bytes from an offset on. */
type Segment = { size_bytes: number; read(from: number, reader: AudioReader): AsyncIterable<Buffer> };

/** Why chunks cannot be one file, as a sentence; `lost`: the store has no bytes of any. */
export type NotJoined = { why: string; lost?: true };

type Join = (blobs: BlobStore, chunks: readonly StoredChunk[], signal: AbortSignal) => Promise<JoinedFile | NotJoined>;

/** Raw samples need but the header that a WAV has. */
const JOINS: Record<'wav' | 'pcm' | 'ogg', Join> = { wav: joinWav, pcm: joinWav, ogg: joinOpus };
/** Chunks looked into at a time. */
const AT_ONCE = 8;

/** One file of all chunks that have bytes, in their order, or why not. */
export async function joinChunks(
  blobs: BlobStore,
  chunks: readonly StoredChunk[],
  signal: AbortSignal,
): Promise<JoinedFile | NotJoined> {
  const [first] = chunks;
  if (first === undefined) return { why: 'No audio of the stream is stored.' };
  if (chunks.length > LIMITS.joined_chunks_max)
    return { why: `A joined file has at most ${LIMITS.joined_chunks_max} chunks; fetch them one by one.` };
  const audio = audioKindOf(first);
  if (audio.kind === 'other') return { why: audio.why };
  const join = JOINS[audio.kind];
  const odd = chunks.find((chunk) => {
    const { kind } = audioKindOf(chunk);
    return kind === 'other' || JOINS[kind] !== join;
  });
  if (odd !== undefined) return { why: `Chunks in ${first.container} and ${odd.container} can not be one file.` };
  return join(blobs, chunks, signal);
}

/** The bytes of a range of the file. */
export async function* readJoined(
  { segments, size_bytes }: Pick<JoinedFile, 'segments' | 'size_bytes'>,
  { start = 0, end = size_bytes - 1 }: ByteRange,
  reader: AudioReader,
): AsyncGenerator<Buffer> {
  let begins = 0;
  for (const segment of segments) {
    const ends = begins + segment.size_bytes;
    if (ends > start && begins <= end) {
      let left = Math.min(end + 1, ends) - Math.max(start, begins);
      for await (const piece of segment.read(Math.max(0, start - begins), reader)) {
        yield piece.length <= left ? piece : piece.subarray(0, left);
        left -= Math.min(left, piece.length);
        if (left === 0) break;
      }
      if (left > 0) throw new Error('a chunk of a joined file is shorter than it was');
    }
    begins = ends;
  }
}

async function joinWav(
  blobs: BlobStore,
  stored: readonly StoredChunk[],
  signal: AbortSignal,
): Promise<JoinedFile | NotJoined> {
  const found = await eachChunk<Wav>(stored, signal, async (chunk) => {
    const audio = audioKindOf(chunk);
    if (audio.kind === 'pcm') {
      if (!(await blobs.has(chunk.key))) throw new NoBytes();
      const frames = Math.floor(chunk.size_bytes / audio.format.frame_bytes);
      return frames === 0 ? 'holds no audio.' : { format: audio.format, data_offset: 0, frames };
    }
    const read = (start: number, length: number) => bytesOf(blobs, chunk.key, { start, end: start + length - 1 });
    const wav = await readWav(await withHead({ size_bytes: chunk.size_bytes, read }));
    return wav.ok ? wav.wav : `${wav.why}.`;
  });
  if ('why' in found) return found;
  const { chunks, read: wavs } = found;
  const fmt = (wavs[0] as Wav).format.fmt;
  const odd = wavs.findIndex(({ format }) => !format.fmt.equals(fmt));
  if (odd >= 0) return { why: `${nameOf(chunks[odd])} has another format than the first.` };
  const segments = wavs.map(({ data_offset, frames, format }, index): Segment => {
    const { key } = chunks[index] as StoredChunk;
    const size_bytes = frames * format.frame_bytes;
    const end = data_offset + size_bytes - 1;
    return { size_bytes, read: (from) => piecesOf(blobs, key, { start: data_offset + from, end }) };
  });
  const sample_bytes = sum(segments.map(({ size_bytes }) => size_bytes));
  const pad = Buffer.alloc(sample_bytes % 2);
  if (sample_bytes + fmt.length + pad.length + 64 > LIMITS.joined_bytes_max)
    return { why: 'As a WAV the stream is larger than 4 GiB; fetch its chunks one by one.' };
  const header = wavHeader(fmt, sample_bytes);
  return file({
    chunks,
    content_type: 'audio/wav',
    extension: 'wav',
    segments: [heldSegment(header), ...segments, heldSegment(pad)],
  });
}

async function joinOpus(
  blobs: BlobStore,
  stored: readonly StoredChunk[],
  signal: AbortSignal,
): Promise<JoinedFile | NotJoined> {
  const found = await eachChunk<OpusFile>(stored, signal, async ({ key }) => {
    try {
      return await readOpus(piecesOf(blobs, key));
    } catch (error) {
      if (error instanceof NotOgg) return `${error.message}.`;
      throw error;
    }
  });
  if ('why' in found) return found;
  const { chunks, read: files } = found;
  const odd = files.findIndex(({ format }) => format !== files[0]?.format);
  if (odd >= 0) return { why: `${nameOf(chunks[odd])} has other channels or another gain than the first.` };
  let pages = 0;
  let samples = 0;
  const segments = files.map((opus, index): Segment => {
    const { key } = chunks[index] as StoredChunk;
    const place: PlaceInStream = {
      is_first: index === 0,
      is_last: index === files.length - 1,
      pages_before: pages,
      samples_before: samples,
    };
    pages += opus.audio_pages + (place.is_first ? opus.header_pages : 0);
    samples += opus.samples;
    return {
      size_bytes: opus.audio_bytes + (place.is_first ? opus.header_bytes : 0),
      read: (from) => skip(renumbered(piecesOf(blobs, key), opus, place), from),
    };
  });
  return file({ chunks, content_type: 'audio/ogg', extension: 'ogg', segments });
}

type PlaceInStream = { is_first: boolean; is_last: boolean; pages_before: number; samples_before: number };

/** Of the joined stream; nothing else is in the file. */
const SERIAL = 1;

/** The pages of a file as they are in the joined one: the headers of the first alone, all numbers going on. */
async function* renumbered(
  pieces: AsyncIterable<Buffer>,
  { header_pages, audio_pages, trimmed }: OpusFile,
  { is_first, is_last, pages_before, samples_before }: PlaceInStream,
): AsyncGenerator<Buffer> {
  const clock = new PacketClock();
  let left = header_pages + audio_pages;
  let sequence = pages_before;
  for await (const { page, is } of opusPages(pieces)) {
    left -= 1;
    const is_end = is_last && left === 0;
    if (is === 'header' && !is_first) continue;
    const place = { serial: SERIAL, sequence };
    sequence += 1;
    if (is === 'header') placePage(page, { ...place, granule: page.granule, flags: page.flags });
    else {
      const ended = clock.pass(page);
      const reached = samples_before + clock.samples - (is_end ? trimmed : 0);
      placePage(page, { ...place, granule: ended ? BigInt(reached) : NO_GRANULE, flags: is_end ? FLAGS.last : 0 });
    }
    yield page.bytes;
  }
}

/** Looks into all chunks, a few at a time, until one says what is wrong with it. Those without bytes are left out. */
async function eachChunk<Read extends object>(
  chunks: readonly StoredChunk[],
  signal: AbortSignal,
  look: (chunk: StoredChunk) => Promise<Read | string>,
): Promise<{ chunks: StoredChunk[]; read: Read[] } | NotJoined> {
  const found: ({ chunk: StoredChunk; read: Read } | null)[] = [];
  let why: string | null = null;
  const lookOn = async (chunk: StoredChunk, index: number) => {
    found[index] = null;
    if (why !== null) return;
    signal.throwIfAborted();
    try {
      const read = await look(chunk);
      if (typeof read === 'string') why = `${nameOf(chunk)} ${read}`;
      else found[index] = { chunk, read };
    } catch (error) {
      if (!(error instanceof NoBytes)) throw error;
    }
  };
  await pMap(chunks, lookOn, { concurrency: AT_ONCE });
  if (why !== null) return { why };
  const there = found.filter((one) => one !== null);
  if (there.length === 0) return { why: 'The server has lost the audio of the stream.', lost: true };
  return { chunks: there.map(({ chunk }) => chunk), read: there.map(({ read }) => read) };
}

function nameOf(chunk: StoredChunk | undefined): string {
  return `The chunk of sequence ${chunk?.sequence}`;
}

function file(of: Omit<JoinedFile, 'size_bytes' | 'etag'>): JoinedFile {
  const hash = createHash('sha256').update(of.content_type);
  for (const { sha256 } of of.chunks) hash.update(sha256);
  const etag = hash.digest('hex').slice(0, 32);
  return { ...of, etag, size_bytes: sum(of.segments.map(({ size_bytes }) => size_bytes)) };
}

function heldSegment(bytes: Buffer): Segment {
  return {
    size_bytes: bytes.length,
    async *read(from) {
      yield bytes.subarray(from);
    },
  };
}

/** The store has no such bytes. */
class NoBytes extends Error {
  override name = 'NoBytes';
}

async function* piecesOf(blobs: BlobStore, key: string, range?: ByteRange): AsyncGenerator<Buffer> {
  const blob = await blobs.open(key, range);
  if (blob === null) throw new NoBytes('a stored chunk has no bytes');
  yield* blob.stream as AsyncIterable<Buffer>;
}

async function bytesOf(blobs: BlobStore, key: string, range: ByteRange): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of piecesOf(blobs, key, range)) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function* skip(pieces: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let left = bytes;
  for await (const piece of pieces) {
    if (left < piece.length) yield piece.subarray(left);
    left = Math.max(0, left - piece.length);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
