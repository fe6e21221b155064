/** A power of two: a message's place is its number, cut to these bits. */
const KEPT_MAX = 65_536;
/**
 * Types of messages and outcomes are words of the code: there are about a hundred. All beyond this bound count as one.
 */
const WORDS_MAX = 4_096;
const OTHER = 'other';

/** One message of a batch: its type, never its content. Times are of the monotonic clock. */
export type RecentMessage = {
  type: string;
  /** `answered`, `already`, `threw`, or a refusal's code. */
  outcome: string;
  at: number;
  /** The time of the whole batch. */
  took_ms: number;
  /** The entity's version after the batch; 0 if memory does not know it. */
  version: number;
};

export type RecentBatches = { messages: number; batch_ms_mean: number; batch_ms_max: number };

/**
 * The last 65,536 messages of all batches of this process. Entities are identified by the number of their activation.
 * Takes 1.8 MB under any load; a note costs some 50 ns.
 */
export class RecentMessages {
  readonly #entities = new Uint32Array(KEPT_MAX);
  readonly #types = new Uint16Array(KEPT_MAX);
  readonly #outcomes = new Uint16Array(KEPT_MAX);
  readonly #at = new Float64Array(KEPT_MAX);
  readonly #took_ms = new Float32Array(KEPT_MAX);
  readonly #versions = new Float64Array(KEPT_MAX);
  readonly #words: string[] = [OTHER];
  readonly #numbers = new Map<string, number>([[OTHER, 0]]);
  #noted = 0;

  note(one: { entity: number; message: unknown; outcome: string; at: number; took_ms: number; version: number }): void {
    const at = this.#noted++ & (KEPT_MAX - 1);
    this.#entities[at] = one.entity;
    this.#types[at] = this.#numberOf((one.message as { type?: string } | null)?.type ?? OTHER);
    this.#outcomes[at] = this.#numberOf(one.outcome);
    this.#at[at] = one.at;
    this.#took_ms[at] = one.took_ms;
    this.#versions[at] = one.version;
  }

  /** The messages of one entity, the newest first. */
  of(entity: number, limit: number): RecentMessage[] {
    const found: RecentMessage[] = [];
    for (let nth = this.#noted - 1; nth >= this.#oldest && found.length < limit; nth--) {
      const at = nth & (KEPT_MAX - 1);
      if (this.#entities[at] === entity) found.push(this.#read(at));
    }
    return found;
  }

  /** Counts what each entity did since a time, by its number; `from` is the time to which the records go back. */
  since(from: number): { entities: Map<number, RecentBatches>; from: number } {
    const entities = new Map<number, RecentBatches>();
    let reached = from;
    for (let nth = this.#noted - 1; nth >= this.#oldest; nth--) {
      const at = nth & (KEPT_MAX - 1);
      const began = this.#at[at] as number;
      // Batches end in another order than they begin in; what is a little older than it should be does no harm.
      if (began < from) return { entities, from };
      reached = began;
      const took_ms = this.#took_ms[at] as number;
      const entity = this.#entities[at] as number;
      const seen = entities.get(entity) ?? { messages: 0, batch_ms_mean: 0, batch_ms_max: 0 };
      seen.messages += 1;
      seen.batch_ms_mean += (took_ms - seen.batch_ms_mean) / seen.messages;
      seen.batch_ms_max = Math.max(seen.batch_ms_max, took_ms);
      entities.set(entity, seen);
    }
    return { entities, from: this.#noted > KEPT_MAX ? reached : from };
  }

  get #oldest(): number {
    return Math.max(0, this.#noted - KEPT_MAX);
  }

  #read(at: number): RecentMessage {
    return {
      type: this.#words[this.#types[at] as number] ?? OTHER,
      outcome: this.#words[this.#outcomes[at] as number] ?? OTHER,
      at: this.#at[at] as number,
      took_ms: this.#took_ms[at] as number,
      version: this.#versions[at] as number,
    };
  }

  #numberOf(word: string): number {
    const known = this.#numbers.get(word);
    if (known !== undefined) return known;
    if (this.#words.length >= WORDS_MAX) return 0;
    this.#numbers.set(word, this.#words.length);
    return this.#words.push(word) - 1;
  }
}
