import decode, { type AudioData } from 'audio-decode';
import audioType from 'audio-type';
import { ChannelMix } from './channel_mix.js';
import { flacSlices } from './flac_frames.js';
import { soundPages } from './ogg.js';
import { soundOpus } from './opus.js';
import { Resampler } from './resampler.js';

/** Audio of any kind as samples. It runs in a process of its own: decoders meet files from outside. */

/** Names of decoders, as `audio-type` tells them by the first bytes of a file. */
const KINDS: ReadonlySet<string> = new Set([
  'aac',
  'ac3',
  'aiff',
  'amr',
  'avi',
  'caf',
  'eac3',
  'flac',
  'm4a',
  'mkv',
  'mp3',
  'oga',
  'opus',
  'wav',
  'webm',
  'wma',
]);
/** Kinds whose files decoders get without what is damaged. */
const MENDED: Record<string, (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>> = {
  opus: soundOpus,
  oga: soundPages,
};
/** By which a kind is told: a tag before an MP3 may be longer, then it counts as one. */
const HEAD_BYTES = 65_536;
/** Of what a decoder gets at a time: so much at most, and so much where that becomes many samples. */
const SLICE_BYTES_MAX = 65_536;
const SLICE_BYTES_MIN = 256;
/** Samples of all channels that a slice should not become: 8 MB in memory. */
const SLICE_SAMPLES_MAX = 2 ** 21;
/** The same of each channel, of which FLAC has eight at most. */
const FLAC_SAMPLES_MAX = 2 ** 18;
const RATE_MIN = 4_000;
const RATE_MAX = 384_000;
const CHANNELS_MAX = 8;

/** No decoder takes the file. The message completes "the audio …". */
export class NotDecoded extends Error {
  override name = 'NotDecoded';
}

type DecodedPiece = { channels: Float32Array[]; rate: number };

/** Samples of a file in their order, at the file's own rate. Throws NotDecoded where there are none. */
async function* decodedPieces(file: AsyncIterable<Uint8Array>): AsyncGenerator<DecodedPiece> {
  const pieces = file[Symbol.asyncIterator]();
  const head = await headOf(pieces);
  const kind = audioType(head);
  if (kind === undefined || !KINDS.has(kind)) throw new NotDecoded('is of no kind that can be decoded');
  const slice = new Slice();
  let is_empty = true;
  try {
    const source = kind === 'flac' ? flacSlices(whole(head, pieces), FLAC_SAMPLES_MAX) : slices(head, pieces, slice);
    const sound = (MENDED[kind] ?? ((bytes) => bytes))(source);
    for await (const { channelData: channels, sampleRate: rate } of decoding(sound, kind)) {
      slice.became(channels);
      if (channels.length === 0 || channels.length > CHANNELS_MAX || !(rate >= RATE_MIN && rate <= RATE_MAX))
        throw new NotDecoded('has an impossible rate or number of channels');
      is_empty = false;
      yield { channels, rate };
    }
  } catch (error) {
    // What came before the damage is audio all the same.
    if (is_empty) throw error instanceof NotDecoded ? error : new NotDecoded('is damaged');
  }
  if (is_empty) throw new NotDecoded('has no samples');
}

/** How many seconds a file lasts; of one that is longer than so many, how many were decoded. Throws NotDecoded. */
export async function audioLength(
  file: AsyncIterable<Uint8Array>,
  { length_s_max }: { length_s_max: number },
): Promise<number> {
  let length_s = 0;
  for await (const { channels, rate } of decodedPieces(file)) {
    length_s += (channels[0] as Float32Array).length / rate;
    if (length_s >= length_s_max) break;
  }
  return length_s;
}

/** One channel at a rate; of a file that is longer than so many seconds, its beginning. */
export async function* monoPieces(
  file: AsyncIterable<Uint8Array>,
  { rate, length_s_max }: { rate: number; length_s_max: number },
): AsyncGenerator<Float32Array> {
  let left = Math.round(length_s_max * rate);
  let resampler: Resampler | null = null;
  const mix = new ChannelMix();
  for await (const piece of decodedPieces(file)) {
    resampler ??= new Resampler(piece.rate, rate);
    const mono = resampler.push(mix.push(piece.channels)).subarray(0, left);
    left -= mono.length;
    if (mono.length > 0) yield mono;
    if (left === 0) return;
  }
  const rest = resampler?.end().subarray(0, left) ?? new Float32Array(0);
  if (rest.length > 0) yield rest;
}

function decoding(source: AsyncIterable<Uint8Array>, kind: string): AsyncGenerator<AudioData> {
  return decode(source, kind as Parameters<typeof decode>[1] & string);
}

/** A copy: `audio-type` reads the memory behind a view from its beginning. */
async function headOf(pieces: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  const head: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < HEAD_BYTES) {
    const { done, value } = await pieces.next();
    if (done === true) break;
    head.push(value);
    bytes += value.length;
  }
  return Uint8Array.from(Buffer.concat(head));
}

/** How much a decoder gets at a time, by how many samples its last slices became. */
class Slice {
  bytes = SLICE_BYTES_MIN;
  #samples = 0;

  /** To be called with each piece of audio that comes of the slice. */
  became(channels: readonly Float32Array[]): void {
    this.#samples += channels.reduce((sum, { length }) => sum + length, 0);
  }

  /** Before the next one. */
  adapt(): void {
    if (this.#samples > SLICE_SAMPLES_MAX / 2) this.bytes = Math.max(SLICE_BYTES_MIN, this.bytes / 2);
    else if (this.#samples < SLICE_SAMPLES_MAX / 8) this.bytes = Math.min(SLICE_BYTES_MAX, this.bytes * 2);
    this.#samples = 0;
  }
}

async function* whole(head: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield head;
  yield* { [Symbol.asyncIterator]: () => rest };
}

async function* slices(head: Uint8Array, rest: AsyncIterator<Uint8Array>, slice: Slice): AsyncGenerator<Uint8Array> {
  for (let piece: Uint8Array | null = head; piece !== null; ) {
    for (let at = 0; at < piece.length; ) {
      const { bytes } = slice;
      yield Uint8Array.from(piece.subarray(at, at + bytes));
      at += bytes;
      slice.adapt();
    }
    const { done, value }: IteratorResult<Uint8Array> = await rest.next();
    piece = done === true ? null : value;
  }
}
