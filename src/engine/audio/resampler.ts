import { type Kernel, kernelOf } from './samples.js';

/** Brings one channel from a rate to another, piece by piece, with a low pass where the rate goes down. */
export class Resampler {
  readonly #from_rate: number;
  readonly #to_rate: number;
  readonly #kernel: Kernel | null;
  /** Input that later output may need, and where it begins in the whole. */
  #held = new Float32Array(0);
  #held_at = 0;
  #made = 0;

  constructor(from_rate: number, to_rate: number) {
    this.#from_rate = from_rate;
    this.#to_rate = to_rate;
    this.#kernel = from_rate === to_rate ? null : kernelOf(from_rate, to_rate);
  }

  /** The output that no later input changes. */
  push(samples: Float32Array): Float32Array {
    if (this.#kernel === null) return samples;
    this.#hold(samples);
    const reached = this.#held_at + this.#held.length - this.#kernel.reach;
    return this.#make(Math.floor((reached * this.#to_rate) / this.#from_rate));
  }

  /** The rest, as if silence followed. */
  end(): Float32Array {
    if (this.#kernel === null) return new Float32Array(0);
    return this.#make(Math.round(((this.#held_at + this.#held.length) * this.#to_rate) / this.#from_rate));
  }

  /** Output up to a frame of the whole. */
  #make(until: number): Float32Array {
    const { valueAt, reach } = this.#kernel as Kernel;
    const step = this.#from_rate / this.#to_rate;
    const out = new Float32Array(Math.max(0, until - this.#made));
    for (let frame = 0; frame < out.length; frame++)
      out[frame] = valueAt(this.#held, (this.#made + frame) * step - this.#held_at);
    this.#made += out.length;
    const keep_from = Math.max(this.#held_at, Math.floor(this.#made * step) - reach);
    this.#held = this.#held.slice(keep_from - this.#held_at);
    this.#held_at = keep_from;
    return out;
  }

  #hold(samples: Float32Array): void {
    const longer = new Float32Array(this.#held.length + samples.length);
    longer.set(this.#held);
    longer.set(samples, this.#held.length);
    this.#held = longer;
  }
}
