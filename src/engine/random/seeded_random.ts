/** Random numbers that follow from a seed (xorshift over 128 bits, filled by splitmix32). */
export class SeededRandom {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: number) {
    let state = seed >>> 0;
    const fill = () => {
      state = (state + 0x9e3779b9) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
      mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
      return (mixed ^ (mixed >>> 15)) >>> 0;
    };
    [this.#a, this.#b, this.#c, this.#d] = [fill(), fill(), fill(), fill() | 1];
  }

  #word(): number {
    const mixed = this.#d ^ (this.#d << 11);
    [this.#d, this.#c, this.#b] = [this.#c, this.#b, this.#a];
    this.#a = (this.#a ^ (this.#a >>> 19) ^ mixed ^ (mixed >>> 8)) >>> 0;
    return this.#a;
  }

  /** From 0 up to, not including, one. */
  fraction(): number {
    return this.#word() / 2 ** 32;
  }

  /** A whole number from 0 up to, not including, the limit. */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  between(least: number, most: number): number {
    return least + this.fraction() * (most - least);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.below(256));
  }
}
