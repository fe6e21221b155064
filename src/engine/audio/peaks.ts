import type { Interval } from '../../domain/intervals.js';
import { sampleReader } from './samples.js';
import type { WavFormat } from './wav.js';

/** The loudness of audio over a timeline: one byte each sixteenth of a second. */

const PEAKS_PER_S = 16;
/** Samples of a second that are looked at: enough for an outline. */
const LOOKED_AT_PER_S = 8_000;

/** Takes the samples of a file as they come; the file holds these spans of the timeline, one after the other. */
export class PeakMeter {
  readonly peaks: Buffer;
  readonly #pieces: { start_ms: number; end_ms: number; file_ms: number }[] = [];
  readonly #step: number;
  readonly #per_peak: number;
  readonly #read: (bytes: Buffer, at: number) => number;
  readonly #frame_bytes: number;
  readonly #ms_per_frame: number;
  #rest: Buffer = Buffer.alloc(0);
  /** Frames that were seen, and the place of the piece that they are in. */
  #frames = 0;
  #piece = 0;

  constructor(spans: readonly Interval[], { codec, frames_per_second, frame_bytes }: WavFormat) {
    let file_ms = 0;
    for (const [start_ms, end_ms] of spans) {
      this.#pieces.push({ start_ms, end_ms, file_ms });
      file_ms += end_ms - start_ms;
    }
    const end_ms = spans.reduce((latest, [, end]) => Math.max(latest, end), 0);
    this.peaks = Buffer.alloc(Math.ceil((end_ms * PEAKS_PER_S) / 1_000));
    this.#step = Math.max(1, Math.floor(frames_per_second / LOOKED_AT_PER_S));
    this.#per_peak = Math.max(1, Math.floor(frames_per_second / PEAKS_PER_S));
    this.#read = sampleReader(codec).read;
    this.#frame_bytes = frame_bytes;
    this.#ms_per_frame = 1_000 / frames_per_second;
  }

  add(bytes: Buffer): void {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const frames = Math.floor(all.length / this.#frame_bytes);
    for (let from = 0; from < frames; ) {
      const to = Math.min(frames, from + this.#per_peak - (this.#frames % this.#per_peak));
      this.#note(loudest(all, { from, to, step: this.#step, frame_bytes: this.#frame_bytes, read: this.#read }));
      this.#frames += to - from;
      from = to;
    }
    this.#rest = all.subarray(frames * this.#frame_bytes);
  }

  #note(loudness: number): void {
    const file_ms = this.#frames * this.#ms_per_frame;
    while ((this.#pieces[this.#piece + 1]?.file_ms ?? Number.POSITIVE_INFINITY) <= file_ms) this.#piece += 1;
    const piece = this.#pieces[this.#piece];
    if (piece === undefined) return;
    const moment_ms = Math.min(piece.end_ms - 1, piece.start_ms + file_ms - piece.file_ms);
    const at = Math.floor((moment_ms * PEAKS_PER_S) / 1_000);
    const value = Math.min(255, Math.round(loudness * 255));
    if (value > (this.peaks[at] ?? 255)) this.peaks[at] = value;
  }
}

type Stretch = {
  from: number;
  to: number;
  step: number;
  frame_bytes: number;
  read: (bytes: Buffer, at: number) => number;
};

/** Of the first channel. */
function loudest(bytes: Buffer, { from, to, step, frame_bytes, read }: Stretch): number {
  let found = 0;
  for (let frame = from; frame < to; frame += step) found = Math.max(found, Math.abs(read(bytes, frame * frame_bytes)));
  return found;
}
