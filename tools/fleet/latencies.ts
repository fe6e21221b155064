const GROWTH = 1.05;
const LEAST_MS = 0.1;
const BUCKETS = 300;

/** The durations of calls, in buckets that are five percent wide: any number of them in a bounded room. */
export class Latencies {
  readonly #buckets = new Uint32Array(BUCKETS);
  count = 0;
  max_ms = 0;

  add(ms: number): void {
    const bucket = Math.ceil(Math.log(Math.max(ms, LEAST_MS) / LEAST_MS) / Math.log(GROWTH));
    const index = Math.min(bucket, BUCKETS - 1);
    this.#buckets[index] = (this.#buckets[index] ?? 0) + 1;
    this.count += 1;
    this.max_ms = Math.max(this.max_ms, ms);
  }

  /** So many ms sufficed for this share of them; 0 when there were none. */
  quantile(share: number): number {
    let left = Math.ceil(this.count * share);
    for (let index = 0; index < BUCKETS; index++) {
      left -= this.#buckets[index] ?? 0;
      if (left <= 0 && this.count > 0) return Math.min(LEAST_MS * GROWTH ** index, this.max_ms);
    }
    return this.max_ms;
  }
}
