/**
 * WAV files of plain samples (RIFF, RF64 and BW64, little endian): where the audio lies, and cutting it into pieces that are each a
 * WAV of their own. A piece can then be played by itself, also when its neighbours never came; raw samples would need
 * their rate and width from elsewhere. The cost is one header a piece.
 */

/** Bytes that can be read at any offset: a file, or a buffer. Fewer come back only at the end. */
export type ByteSource = { size_bytes: number; read(offset: number, length: number): Promise<Buffer> };

export type WavFormat = {
  /** As the chunk intent names it, such as pcm_s16le. */
  codec: string;
  channels: number;
  frames_per_second: number;
  /** One sample of each channel. Cuts fall between frames only. */
  frame_bytes: number;
  /** The body of the `fmt ` chunk as found; it opens every piece again. */
  fmt: Buffer;
};

export type Wav = {
  format: WavFormat;
  data_offset: number;
  /** Whole frames that are really in the file. */
  frames: number;
};

export type WavPiece = { first_frame: number; frames: number; start_ms: number; end_ms: number };

/** Not a WAV that can be cut: other bytes altogether, or samples that are compressed. `why` completes "it …". */
export type WavRefusal = { ok: false; is_wav: boolean; is_compressed: boolean; why: string };

/** Files beyond 4 GiB have their sizes in a chunk `ds64`. */
const FORMS: ReadonlySet<string> = new Set(['RIFF', 'RF64', 'BW64']);
const IN_DS64 = 0xffff_ffff;
/** More than what usually precedes the samples. */
const HEAD_BYTES = 4_096;
const CHUNKS_MAX = 10_000;
const COMPRESSED = 'is not plain samples';
const FMT_BYTES_MAX = 1_024;
const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;
/** The bytes behind the two of the format's number in the sub-format of an extensible header. */
const SUBFORMAT_TAIL = Buffer.from('000000001000800000aa00389b71', 'hex');
const CODECS: Record<string, string> = {
  [`${PCM} 1`]: 'pcm_u8',
  [`${PCM} 2`]: 'pcm_s16le',
  [`${PCM} 3`]: 'pcm_s24le',
  [`${PCM} 4`]: 'pcm_s32le',
  [`${FLOAT} 4`]: 'pcm_f32le',
  [`${FLOAT} 8`]: 'pcm_f64le',
};

/**
 * Finds format and samples. The size of the file is not believed, and that of the samples not where it says 0 or more than
 * there is: recorders that wrote into a pipe or were cut off leave that. The samples then go on to the end.
 */
export async function readWav(source: ByteSource): Promise<{ ok: true; wav: Wav } | WavRefusal> {
  const head = await source.read(0, 12);
  if (head.length < 12 || !FORMS.has(tagAt(head, 0)) || tagAt(head, 8) !== 'WAVE') {
    return { ok: false, is_wav: false, is_compressed: false, why: 'does not begin as a WAV file does' };
  }
  const refuse = (why: string): WavRefusal => {
    return { ok: false, is_wav: true, is_compressed: why.startsWith(COMPRESSED), why };
  };
  let format: WavFormat | null = null;
  let long_data_bytes: number | null = null;
  let offset = 12;
  for (let seen = 0; seen < CHUNKS_MAX; seen++) {
    const header = await source.read(offset, 8);
    if (header.length < 8) return refuse(format === null ? 'has no fmt chunk' : 'has no data chunk');
    const size = header.readUInt32LE(4);
    const body = offset + 8;
    if (tagAt(header, 0) === 'data') {
      if (format === null) return refuse('has its data before its format');
      const said = size === IN_DS64 && long_data_bytes !== null ? long_data_bytes : size;
      const rest = source.size_bytes - body;
      const is_open = said === 0 && !isHeader(await source.read(body, 8), rest);
      const frames = Math.floor((is_open ? rest : Math.min(said, rest)) / format.frame_bytes);
      return frames === 0 ? refuse('holds no audio') : { ok: true, wav: { format, data_offset: body, frames } };
    }
    if (tagAt(header, 0) === 'ds64') {
      const sizes = await source.read(body, 16);
      if (sizes.length === 16) long_data_bytes = Number(sizes.readBigUInt64LE(8));
    }
    if (tagAt(header, 0) === 'fmt ') {
      const read = readFormat(await source.read(body, Math.min(size, FMT_BYTES_MAX)), size);
      if (typeof read === 'string') return refuse(read);
      format = read;
    }
    offset = await nextChunk(source, body + size);
  }
  return refuse(`has more than ${CHUNKS_MAX} chunks`);
}

/** The chunks of a WAV file, those behind its samples as well. */
export async function* wavChunks(source: ByteSource): AsyncGenerator<{ tag: string; body: number; size: number }> {
  let long_data_bytes = 0;
  for (let [at, seen] = [12, 0]; seen < CHUNKS_MAX; seen++) {
    const header = await source.read(at, 8);
    if (header.length < 8) return;
    const [tag, said, body] = [tagAt(header, 0), header.readUInt32LE(4), at + 8];
    if (tag === 'ds64') {
      const sizes = await source.read(body, 16);
      if (sizes.length === 16) long_data_bytes = Number(sizes.readBigUInt64LE(8));
    }
    const size = tag === 'data' && said === IN_DS64 ? long_data_bytes : said;
    yield { tag, body, size };
    at = await nextChunk(source, body + size);
  }
}

/** Whether players take it as it is: one with sizes beyond 4 GiB, or another size of its samples than it has, needs another header. */
export async function isPlayedWav(source: ByteSource): Promise<boolean> {
  const held = await withHead(source);
  const found = await readWav(held);
  if (!found.ok) return found.is_compressed;
  const { data_offset, frames, format } = found.wav;
  const said = (await held.read(data_offset - 4, 4)).readUInt32LE(0);
  const odd_bytes = said - frames * format.frame_bytes;
  return tagAt(await held.read(0, 4), 0) === 'RIFF' && odd_bytes >= 0 && odd_bytes < format.frame_bytes;
}

/** Chunks begin at even offsets, behind a pad byte where that is needed. Writers leave it out, or write one too many. */
async function nextChunk(source: ByteSource, end: number): Promise<number> {
  const bytes = await source.read(end, 9);
  const skipped = [0, 1].find((skip) => isHeader(bytes.subarray(skip), source.size_bytes - end - skip));
  return end + (skipped ?? end % 2);
}

/** Whether a chunk begins here, with so many bytes to the file's end. */
function isHeader(bytes: Buffer, rest: number): boolean {
  if (bytes.length < 8 || !/^[\x20-\x7e]{4}$/.test(tagAt(bytes, 0))) return false;
  return tagAt(bytes, 0) === 'data' || bytes.readUInt32LE(4) <= rest - 8;
}

/** The same bytes, of which the first, where a header usually is, are read once. */
export async function withHead({ size_bytes, read }: ByteSource): Promise<ByteSource> {
  const within = (offset: number, length: number) => Math.max(0, Math.min(length, size_bytes - offset));
  const head = await read(0, within(0, HEAD_BYTES));
  return {
    size_bytes,
    read: async (offset, length) => {
      const bytes = within(offset, length);
      if (offset + bytes <= head.length || bytes === 0) return head.subarray(offset, offset + bytes);
      return read(offset, bytes);
    },
  };
}

/** The format, or what is wrong with it. */
function readFormat(fmt: Buffer, size: number): WavFormat | string {
  if (size > FMT_BYTES_MAX) return 'has an fmt chunk that is too long';
  if (fmt.length < 16 || fmt.length < size) return 'has an fmt chunk that is too short';
  let number = fmt.readUInt16LE(0);
  const channels = fmt.readUInt16LE(2);
  const frames_per_second = fmt.readUInt32LE(4);
  const frame_bytes = fmt.readUInt16LE(12);
  const sample_bytes = Math.ceil(fmt.readUInt16LE(14) / 8);
  if (number === EXTENSIBLE) {
    if (fmt.length < 40 || !fmt.subarray(26, 40).equals(SUBFORMAT_TAIL))
      return 'has an extensible format of no known kind';
    number = fmt.readUInt16LE(24);
  }
  const codec = CODECS[`${number} ${sample_bytes}`];
  if (codec === undefined) return `${COMPRESSED} (format ${number}, ${sample_bytes * 8} bits)`;
  if (channels === 0 || frames_per_second === 0) return 'has no channels or no sample rate';
  if (frame_bytes !== channels * sample_bytes)
    return `has frames of ${frame_bytes} bytes, not ${channels * sample_bytes}`;
  return { codec, channels, frames_per_second, frame_bytes, fmt };
}

/** Pieces of about `seconds` each, on frame boundaries and without a gap between them in time. */
export function cutWav({ format, frames }: Wav, seconds: number): WavPiece[] {
  const { frames_per_second } = format;
  const step = Math.max(1, Math.ceil(frames_per_second / 1000), Math.round(seconds * frames_per_second));
  const atMs = (frame: number) => Math.round((frame * 1000) / frames_per_second);
  const pieces: WavPiece[] = [];
  let start_ms = 0;
  for (let first_frame = 0; first_frame < frames; first_frame += step) {
    const count = Math.min(step, frames - first_frame);
    // A last piece shorter than a millisecond still has to end after it began.
    const end_ms = Math.max(start_ms + 1, atMs(first_frame + count));
    pieces.push({ first_frame, frames: count, start_ms, end_ms });
    start_ms = end_ms;
  }
  return pieces;
}

/** Bytes of a piece as a WAV file. */
export function wavBytes({ fmt, frame_bytes }: WavFormat, frames: number): number {
  return 28 + even(fmt.length) + even(frames * frame_bytes);
}

/** A whole WAV file around samples. */
export function writeWav({ fmt }: Pick<WavFormat, 'fmt'>, samples: Uint8Array): Buffer {
  const header = wavHeader(fmt, samples.length);
  return Buffer.concat([header, samples], header.length + even(samples.length));
}

/** All before the samples. Behind an odd number of their bytes a file has one more, a zero. */
export function wavHeader(fmt: Uint8Array, sample_bytes: number): Buffer {
  const header = Buffer.alloc(28 + even(fmt.length));
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(header.length + even(sample_bytes) - 8, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(fmt.length, 16);
  header.set(fmt, 20);
  const data = 20 + even(fmt.length);
  header.write('data', data, 'latin1');
  header.writeUInt32LE(sample_bytes, data + 4);
  return header;
}

/** The piece's samples with a header of their own. */
export async function readPiece(source: ByteSource, { format, data_offset }: Wav, piece: WavPiece): Promise<Buffer> {
  const length = piece.frames * format.frame_bytes;
  const samples = await source.read(data_offset + piece.first_frame * format.frame_bytes, length);
  if (samples.length !== length) throw new Error('the file became shorter while it was read');
  return writeWav(format, samples);
}

/** The format of plain samples of a codec, such as pcm_s16le; any other is a mistake of the caller's. */
export function plainFormat(
  codec: string,
  { channels, frames_per_second }: Pick<WavFormat, 'channels' | 'frames_per_second'>,
): WavFormat {
  const form = Object.keys(CODECS).find((key) => CODECS[key] === codec);
  if (form === undefined) throw new Error(`${codec} is not the name of plain samples`);
  const [number = 0, sample_bytes = 0] = form.split(' ').map(Number);
  const frame_bytes = channels * sample_bytes;
  const fmt = Buffer.alloc(16);
  fmt.writeUInt16LE(number, 0);
  fmt.writeUInt16LE(channels, 2);
  fmt.writeUInt32LE(frames_per_second, 4);
  fmt.writeUInt32LE(frames_per_second * frame_bytes, 8);
  fmt.writeUInt16LE(frame_bytes, 12);
  fmt.writeUInt16LE(sample_bytes * 8, 14);
  return { codec, channels, frames_per_second, frame_bytes, fmt };
}

/** The body of an `fmt ` chunk for 16 bit samples. */
export function pcm16Format(of: Pick<WavFormat, 'channels' | 'frames_per_second'>): Buffer {
  return plainFormat('pcm_s16le', of).fmt;
}

function tagAt(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at, at + 4);
}

function even(bytes: number): number {
  return bytes + (bytes % 2);
}
