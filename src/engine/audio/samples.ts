import type { WavFormat } from './wav.js';

/** Plain samples as numbers from -1 to 1. */

type ReadSample = (bytes: Buffer, at: number) => number;

const READ: Record<string, { bytes: number; read: ReadSample }> = {
  pcm_u8: { bytes: 1, read: (bytes, at) => ((bytes[at] as number) - 128) / 128 },
  pcm_s16le: { bytes: 2, read: (bytes, at) => bytes.readInt16LE(at) / 0x8000 },
  pcm_s24le: { bytes: 3, read: (bytes, at) => bytes.readIntLE(at, 3) / 0x80_0000 },
  pcm_s32le: { bytes: 4, read: (bytes, at) => bytes.readInt32LE(at) / 0x8000_0000 },
  pcm_f32le: { bytes: 4, read: (bytes, at) => bytes.readFloatLE(at) },
  pcm_f64le: { bytes: 8, read: (bytes, at) => bytes.readDoubleLE(at) },
};

/** -70 dBFS: below the noise of a quiet room through any microphone. */
const SILENT_RMS_MAX = 10 ** (-70 / 20);
/** Parts of a second that are judged each by itself: one word makes none of them louder but its own. */
const SILENT_PARTS_PER_SECOND = 10;
/** Output a second, at which the kernel reaches so many zero crossings to both sides. */
const HALF_WIDTH = 16;
const PHASES_MAX = 1_024;
/** Parts that are longer are read. */
const ZEROS = Buffer.alloc(96_000);

/** Whether nothing can be heard in any part of it. */
export async function isSilent(format: WavFormat, samples: Buffer): Promise<boolean> {
  const { bytes, read } = sampleReader(format.codec);
  const part_bytes = Math.ceil(format.frames_per_second / SILENT_PARTS_PER_SECOND) * format.frame_bytes;
  for (let from = 0; from < samples.length; from += part_bytes) {
    if (from % (SILENT_PARTS_PER_SECOND * part_bytes) === 0) await new Promise(setImmediate);
    const part = samples.subarray(from, from + part_bytes);
    // Silence is mostly this, and comparing is many times as fast as reading.
    if (format.codec !== 'pcm_u8' && part.equals(ZEROS.subarray(0, part.length))) continue;
    let squares = 0;
    for (let at = 0; at + bytes <= part.length; at += bytes) squares += read(part, at) ** 2;
    if (!(squares * bytes <= SILENT_RMS_MAX ** 2 * part.length)) return false;
  }
  return true;
}

/** The value at a place between samples, which depends on `reach` samples on either side. */
export type Kernel = { reach: number; valueAt(mono: Float32Array, at: number): number };

/** The kernel is kept for so many places between two samples. */
export function kernelOf(from_rate: number, to_rate: number): Kernel {
  const cutoff = Math.min(1, to_rate / from_rate);
  const reach = Math.ceil(HALF_WIDTH / cutoff);
  const phases = Math.min(PHASES_MAX, to_rate / divisorOf(from_rate, to_rate));
  const weights = Array.from({ length: phases + 1 }, (_, phase) => phaseOf(phase / phases, { cutoff, reach }));
  const valueAt = (mono: Float32Array, at: number) => {
    const base = Math.floor(at);
    const row = weights[Math.round((at - base) * phases)] as Float32Array;
    let sum = 0;
    const first = base - reach + 1;
    for (let tap = Math.max(0, -first); tap < row.length && first + tap < mono.length; tap++)
      sum += (row[tap] as number) * (mono[first + tap] as number);
    return sum;
  };
  return { reach, valueAt };
}

/** Weights of the samples around a place that lies `offset` behind one of them; their sum is 1. */
function phaseOf(offset: number, { cutoff, reach }: { cutoff: number; reach: number }): Float32Array {
  const row = Float32Array.from({ length: 2 * reach }, (_, tap) => {
    const x = tap - reach + 1 - offset;
    const sinc = x === 0 ? 1 : Math.sin(Math.PI * cutoff * x) / (Math.PI * cutoff * x);
    return Math.abs(x) >= reach ? 0 : sinc * (0.5 + 0.5 * Math.cos((Math.PI * x) / reach));
  });
  const sum = row.reduce((total, weight) => total + weight, 0);
  return row.map((weight) => weight / sum);
}

function divisorOf(a: number, b: number): number {
  return b === 0 ? a : divisorOf(b, a % b);
}

/** Reads one sample of plain samples of a codec. */
export function sampleReader(codec: string): { bytes: number; read: ReadSample } {
  const reader = READ[codec];
  if (reader === undefined) throw new Error(`${codec} is not the name of plain samples`);
  return reader;
}
