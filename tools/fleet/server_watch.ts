import { call } from '../../kits/typescript/src/http_call.js';

/** Readings of the server's own metrics, now and then. */
export type Reading = { at_ms: number; memory_bytes: number; cpu_s: number };

const EVERY_MS = 2_000;
const READ_MAX_MS = 1_500;

export class ServerWatch {
  readonly readings: Reading[] = [];
  readonly #url: URL;
  #timer: NodeJS.Timeout | undefined;

  constructor(operator_url: string) {
    this.#url = new URL('/metrics', operator_url);
  }

  start(): void {
    void this.#read();
    this.#timer = setInterval(() => void this.#read(), EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Cores in use between the last two readings; null until there are two of one process. */
  get cores(): number | null {
    return coresOver(this.readings.slice(-2));
  }

  /** Cores in use between two moments (monotonic); null without two readings of one process. */
  coresBetween(from_ms: number, to_ms: number): number | null {
    return coresOver(this.readings.filter(({ at_ms }) => at_ms >= from_ms && at_ms < to_ms));
  }

  /** The mean memory of the readings between two moments (monotonic), 0 when there are none. */
  memoryBetween(from_ms: number, to_ms: number): number {
    const within = this.readings.filter(({ at_ms }) => at_ms >= from_ms && at_ms < to_ms);
    return within.reduce((sum, { memory_bytes }) => sum + memory_bytes, 0) / Math.max(1, within.length);
  }

  async #read(): Promise<void> {
    try {
      const { body } = await call({ method: 'GET', url: this.#url, signal: AbortSignal.timeout(READ_MAX_MS) });
      const text = body.toString();
      const value = (name: string) => Number(new RegExp(`^spool_${name} (\\S+)`, 'm').exec(text)?.[1] ?? Number.NaN);
      const memory_bytes = value('process_resident_memory_bytes');
      const cpu_s = value('process_cpu_seconds_total');
      if (memory_bytes > 0) this.readings.push({ at_ms: performance.now(), memory_bytes, cpu_s });
    } catch {
      // It is away: that is what some runs are about.
    }
  }
}

/** Cores in use from the first reading to the last; null until there are two of one process. */
function coresOver(readings: readonly Reading[]): number | null {
  const [first, last] = [readings[0], readings.at(-1)];
  if (first === undefined || last === undefined || first === last || last.cpu_s < first.cpu_s) return null;
  return ((last.cpu_s - first.cpu_s) * 1_000) / (last.at_ms - first.at_ms);
}
