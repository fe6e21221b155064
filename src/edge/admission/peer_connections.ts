/**
 * Bounds on connections hold for all processes of a machine together, and each process accepts by itself. So each says how
 * many connections it has and hears how many the others have, a tenth of a second late: a bound may be exceeded by what
 * comes within that time.
 */

/** The delay after which others are told; connections opened and closed within it cost nothing. */
const TELL_AFTER_MS = 100;

/** Open connections by key: the listener and the network, which is empty for all networks together. */
export type ConnectionCount = readonly [key: string, count: number];

/** The connections of one listener: the count of the other processes, and this process' own. */
export type ListenerPeers = {
  othersHave(network: string): number;
  thisHas(network: string, count: number): void;
};

/** In a server process: its own connections, and those of all others together. */
export class PeerConnections {
  readonly #tell: (counts: ConnectionCount[]) => void;
  readonly #others = new Map<string, number>();
  /** The counts that others were last told, without those of 0. */
  readonly #told = new Map<string, number>();
  readonly #changed = new Map<string, number>();
  #is_waiting = false;

  constructor(tell: (counts: ConnectionCount[]) => void) {
    this.#tell = tell;
  }

  of(listener: 'public' | 'device'): ListenerPeers {
    return {
      othersHave: (network) => this.#others.get(`${listener} ${network}`) ?? 0,
      thisHas: (network, count) => this.#change(`${listener} ${network}`, count),
    };
  }

  hear(counts: readonly ConnectionCount[]): void {
    for (const [key, count] of counts) setCount(this.#others, key, count);
  }

  #change(key: string, count: number): void {
    this.#changed.set(key, count);
    if (this.#is_waiting) return;
    this.#is_waiting = true;
    setTimeout(() => this.#tellChanges(), TELL_AFTER_MS).unref();
  }

  #tellChanges(): void {
    this.#is_waiting = false;
    const counts = [...this.#changed].filter(([key, count]) => count !== (this.#told.get(key) ?? 0));
    this.#changed.clear();
    for (const [key, count] of counts) setCount(this.#told, key, count);
    if (counts.length > 0) this.#tell(counts);
  }
}

/** In the primary: the counts of each process, from which each process learns the others' sums. */
export class ConnectionSums<Process> {
  readonly #tell: (process: Process, counts: ConnectionCount[]) => void;
  readonly #of = new Map<Process, Map<string, number>>();
  readonly #total = new Map<string, number>();

  constructor(tell: (process: Process, counts: ConnectionCount[]) => void) {
    this.#tell = tell;
  }

  joins(process: Process): void {
    this.#of.set(process, new Map());
    if (this.#total.size > 0) this.#tell(process, [...this.#total]);
  }

  says(process: Process, counts: readonly ConnectionCount[]): void {
    const own = this.#of.get(process);
    if (own === undefined) return;
    for (const [key, count] of counts) {
      setCount(this.#total, key, (this.#total.get(key) ?? 0) - (own.get(key) ?? 0) + count);
      setCount(own, key, count);
    }
    for (const [other, theirs] of this.#of) {
      if (other === process) continue;
      const othersHave = (key: string) => (this.#total.get(key) ?? 0) - (theirs.get(key) ?? 0);
      this.#tell(
        other,
        counts.map(([key]) => [key, othersHave(key)]),
      );
    }
  }

  /** Notes that a process has ended, and its connections with it. */
  gone(process: Process): void {
    const keys = [...(this.#of.get(process)?.keys() ?? [])];
    if (keys.length > 0)
      this.says(
        process,
        keys.map((key) => [key, 0]),
      );
    this.#of.delete(process);
  }
}

function setCount(counts: Map<string, number>, key: string, count: number): void {
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
