import { Latencies } from './latencies.js';

export const CALLS = ['redeem', 'register', 'store', 'intent', 'upload', 'end', 'status', 'beat', 'finish'] as const;
export type CallName = (typeof CALLS)[number];

/** Why a call was made again. */
export type RetryReason = 'broken' | 'no connection' | 'busy (429)' | 'away (503)' | 'refused connection' | 'timeout';

/** Counts the calls and failures of a fleet so far. */
export class Stats {
  readonly calls: Record<CallName, Latencies> = Object.fromEntries(
    CALLS.map((name) => [name, new Latencies()]),
  ) as Record<CallName, Latencies>;
  readonly retries = new Map<RetryReason, number>();
  /** Faults that the fleet made itself. */
  readonly faults = { 'connections lost': 0, 'answers lost': 0, reboots: 0, 'sent twice': 0, 'out of order': 0 };
  /** Wrong answers: those that the interface does not allow for the request. */
  readonly wrong: string[] = [];
  wrong_count = 0;
  /** Chunks that were said to be stored, and their bytes. */
  chunks = 0;
  bytes = 0;
  recording = 0;
  connected = 0;
  backlog = 0;
  sessions = 0;

  countRetry(reason: RetryReason): void {
    this.retries.set(reason, (this.retries.get(reason) ?? 0) + 1);
  }

  addWrong(text: string): void {
    this.wrong_count += 1;
    if (this.wrong.length < WRONG_KEPT_MAX) this.wrong.push(text);
  }
}

const WRONG_KEPT_MAX = 20;
