import { Latencies } from './latencies.js';

export const CALLS = ['redeem', 'register', 'intent', 'upload', 'end', 'status', 'beat', 'finish'] as const;
export type CallName = (typeof CALLS)[number];

/** Why a call was made again. */
export type Trouble = 'broken' | 'no link' | 'busy (429)' | 'away (503)' | 'refused connection' | 'timeout';

/** What a fleet has done and met with so far. */
export class Tally {
  readonly calls: Record<CallName, Latencies> = Object.fromEntries(
    CALLS.map((name) => [name, new Latencies()]),
  ) as Record<CallName, Latencies>;
  readonly troubles = new Map<Trouble, number>();
  /** Faults that the fleet made itself. */
  readonly faults = { 'links lost': 0, 'answers lost': 0, reboots: 0, 'sent twice': 0, 'out of order': 0 };
  /** What must not be: answers that the interface does not allow for what was asked. */
  readonly wrong: string[] = [];
  wrong_count = 0;
  bytes = 0;
  recording = 0;
  linked = 0;
  backlog = 0;
  sessions = 0;

  meet(trouble: Trouble): void {
    this.troubles.set(trouble, (this.troubles.get(trouble) ?? 0) + 1);
  }

  complain(text: string): void {
    this.wrong_count += 1;
    if (this.wrong.length < WRONG_KEPT_MAX) this.wrong.push(text);
  }
}

const WRONG_KEPT_MAX = 20;
