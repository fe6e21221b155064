/** SHA-256 (FIPS 180-4) of bytes that come in pieces, which WebCrypto does not have. */
export class Sha256 {
  readonly #state = Int32Array.of(
    ...[0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19],
  );
  readonly #words = new Int32Array(64);
  readonly #block = new Uint8Array(BLOCK_BYTES);
  #block_bytes = 0;
  #bytes = 0;

  update(bytes: Uint8Array): this {
    this.#bytes += bytes.length;
    let at = 0;
    if (this.#block_bytes > 0) {
      at = Math.min(BLOCK_BYTES - this.#block_bytes, bytes.length);
      this.#block.set(bytes.subarray(0, at), this.#block_bytes);
      this.#block_bytes += at;
      if (this.#block_bytes < BLOCK_BYTES) return this;
      this.#compress(this.#block, 0);
      this.#block_bytes = 0;
    }
    for (; at + BLOCK_BYTES <= bytes.length; at += BLOCK_BYTES) this.#compress(bytes, at);
    this.#block.set(bytes.subarray(at));
    this.#block_bytes = bytes.length - at;
    return this;
  }

  /** Of all bytes, in hexadecimal; nothing may follow. */
  hex(): string {
    const length = new DataView(new ArrayBuffer(8));
    length.setBigUint64(0, BigInt(this.#bytes) * 8n);
    const zeros = (BLOCK_BYTES * 2 - LENGTH_BYTES - 1 - this.#block_bytes) % BLOCK_BYTES;
    this.update(Uint8Array.of(0x80, ...new Uint8Array(zeros), ...new Uint8Array(length.buffer)));
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  #compress(bytes: Uint8Array, at: number): void {
    const [words, state] = [this.#words, this.#state];
    for (let index = 0, from = at; index < 16; index++, from += 4) {
      words[index] =
        ((bytes[from] as number) << 24) |
        ((bytes[from + 1] as number) << 16) |
        ((bytes[from + 2] as number) << 8) |
        (bytes[from + 3] as number);
    }
    for (let index = 16; index < 64; index++) {
      const before = words[index - 15] as number;
      const late = words[index - 2] as number;
      const s0 = ((before >>> 7) | (before << 25)) ^ ((before >>> 18) | (before << 14)) ^ (before >>> 3);
      const s1 = ((late >>> 17) | (late << 15)) ^ ((late >>> 19) | (late << 13)) ^ (late >>> 10);
      words[index] = ((words[index - 16] as number) + s0 + (words[index - 7] as number) + s1) | 0;
    }
    let a = state[0] as number;
    let b = state[1] as number;
    let c = state[2] as number;
    let d = state[3] as number;
    let e = state[4] as number;
    let f = state[5] as number;
    let g = state[6] as number;
    let h = state[7] as number;
    for (let index = 0; index < 64; index++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (ROUNDS[index] as number) + (words[index] as number)) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    state[0] = (state[0] as number) + a;
    state[1] = (state[1] as number) + b;
    state[2] = (state[2] as number) + c;
    state[3] = (state[3] as number) + d;
    state[4] = (state[4] as number) + e;
    state[5] = (state[5] as number) + f;
    state[6] = (state[6] as number) + g;
    state[7] = (state[7] as number) + h;
  }
}

const BLOCK_BYTES = 64;
const LENGTH_BYTES = 8;
const ROUNDS = roundConstants();

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
function roundConstants(): Int32Array {
  const primes: number[] = [];
  for (let number = 2; primes.length < 64; number++)
    if (primes.every((prime) => number % prime !== 0)) primes.push(number);
  return Int32Array.from(primes, (prime) => ((Math.cbrt(prime) % 1) * 2 ** 32) | 0);
}
