import type { FileHandle } from 'node:fs/promises';

/** Plain samples, interleaved, little endian. */

export type PcmFormat = { codec: PcmCodec; sample_rate_hz: number; channels: number };
export type PcmCodec = 'pcm_u8' | 'pcm_s16le' | 'pcm_s24le' | 'pcm_s32le' | 'pcm_f32le' | 'pcm_f64le';

const SAMPLE_BYTES: Record<PcmCodec, number> = {
  ...{ pcm_u8: 1, pcm_s16le: 2, pcm_s24le: 3, pcm_s32le: 4, pcm_f32le: 4, pcm_f64le: 8 },
};
const INTEGERS: Record<number, PcmCodec> = { 8: 'pcm_u8', 16: 'pcm_s16le', 24: 'pcm_s24le', 32: 'pcm_s32le' };
const FLOATS: Record<number, PcmCodec> = { 32: 'pcm_f32le', 64: 'pcm_f64le' };
const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;
const PARTS_MAX = 10_000;

export function frameBytes({ codec, channels }: PcmFormat): number {
  return SAMPLE_BYTES[codec] * channels;
}

/** Where the samples of a WAV file lie, and what they are. Throws for what is no WAV file of plain samples. */
export async function readWavHeader(
  file: FileHandle,
): Promise<{ format: PcmFormat; data_offset: number; data_bytes: number }> {
  const { size } = await file.stat();
  const head = await bytesAt(file, 0, 12);
  if (head.length < 12 || head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WAVE')
    throw new Error('The file is not a WAV file.');
  let format: PcmFormat | null = null;
  for (let [offset, parts] = [12, 0]; parts < PARTS_MAX; parts++) {
    const part = await bytesAt(file, offset, 8);
    if (part.length < 8) break;
    const [tag, length] = [part.toString('latin1', 0, 4), part.readUInt32LE(4)];
    if (tag === 'fmt ') format = formatOf(await bytesAt(file, offset + 8, Math.min(length, 40)));
    if (tag === 'data' && format !== null) {
      // The header of a recorder that was cut off promises more than there is.
      const present = Math.min(length, size - offset - 8);
      return { format, data_offset: offset + 8, data_bytes: present - (present % frameBytes(format)) };
    }
    offset += 8 + length + (length % 2);
  }
  throw new Error('The WAV file has no samples.');
}

function formatOf(fmt: Buffer): PcmFormat {
  if (fmt.length < 16) throw new Error('The WAV file has an fmt part that is too short.');
  const [kind, channels, sample_rate_hz, bits] = [
    fmt.readUInt16LE(0),
    fmt.readUInt16LE(2),
    fmt.readUInt32LE(4),
    fmt.readUInt16LE(14),
  ];
  const number = kind === EXTENSIBLE && fmt.length >= 26 ? fmt.readUInt16LE(24) : kind;
  const codec = number === PCM ? INTEGERS[bits] : number === FLOAT ? FLOATS[bits] : undefined;
  if (codec === undefined || channels === 0 || sample_rate_hz === 0)
    throw new Error('The WAV file does not hold plain samples.');
  return { codec, channels, sample_rate_hz };
}

/** Fewer come back only at the end of the file. */
export async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
