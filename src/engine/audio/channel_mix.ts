/** Samples that are judged together. */
const BLOCK = 4_096;
/** One of so many samples tells how loud a block is. */
const STRIDE = 7;
/** The share with which the energy of earlier blocks counts in each later one. */
const MEMORY = 0.5;
/** With less than this share of the loudest channel's energy in their mean, channels cancel each other. */
const CANCELLED_MAX = 0.1;
/** A channel takes another's place when it has so many times its energy. */
const LOUDER_MIN = 2;

/**
 * One channel of several: their mean, or the loudest one while the mean loses it, as where a recorder has swapped the wires of one,
 * or one of many microphones hears. It fades from one to the other.
 */
export class ChannelMix {
  #energies: number[] = [];
  #mean_energy = 0;
  #weights: number[] = [];
  /** The channel that was the loudest last. */
  #chosen: number | null = null;

  /** As many samples as the first channel has. What is no number is silence. */
  push(channels: readonly Float32Array[]): Float32Array {
    const [first] = channels as [Float32Array];
    const mono = new Float32Array(first.length);
    if (channels.length !== this.#energies.length) this.#begin(channels.length);
    for (let from = 0; from < first.length; from += BLOCK)
      this.#mix(
        channels.map((channel) => channel.subarray(from, from + BLOCK)),
        mono.subarray(from, from + BLOCK),
      );
    return mono;
  }

  #begin(channels: number): void {
    this.#energies = Array<number>(channels).fill(0);
    this.#mean_energy = 0;
    this.#weights = [];
    this.#chosen = null;
  }

  #mix(channels: readonly Float32Array[], into: Float32Array): void {
    const weights = channels.length === 1 ? [1] : this.#weightsFor(channels, into.length);
    const before = this.#weights.length === 0 ? weights : this.#weights;
    for (const [index, channel] of channels.entries()) {
      const [from, to] = [before[index] as number, weights[index] as number];
      const step = (to - from) / into.length;
      for (let at = 0; at < into.length; at++)
        into[at] = (into[at] as number) + (from + step * at) * sample(channel, at);
    }
    this.#weights = weights;
  }

  #weightsFor(channels: readonly Float32Array[], length: number): number[] {
    const share = 1 / channels.length;
    const mean = new Float32Array(length);
    const energies = channels.map((channel) => {
      let energy = 0;
      for (let at = 0; at < length; at += STRIDE) {
        const value = sample(channel, at);
        energy += value * value;
        mean[at] = (mean[at] as number) + value * share;
      }
      return energy;
    });
    let of_mean = 0;
    for (let at = 0; at < length; at += STRIDE) of_mean += (mean[at] as number) ** 2;
    this.#energies = this.#energies.map((energy, index) => energy * MEMORY + (energies[index] as number));
    this.#mean_energy = this.#mean_energy * MEMORY + of_mean;
    const most = Math.max(...this.#energies);
    if (this.#chosen === null || most > LOUDER_MIN * (this.#energies[this.#chosen] as number))
      this.#chosen = this.#energies.indexOf(most);
    return this.#mean_energy < CANCELLED_MAX * most
      ? channels.map((_, index) => (index === this.#chosen ? 1 : 0))
      : channels.map(() => share);
  }
}

function sample(channel: Float32Array, at: number): number {
  const value = channel[at] ?? 0;
  return Number.isFinite(value) ? value : 0;
}
