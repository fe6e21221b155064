import type { ChunkStatus } from '../../actors/recordings/stream_state.js';

/** One operation on an account's name; `returned` is null while its outcome is unknown. */
export type NameOperation = { does: 'write' | 'read'; name: string | null; invoked: number; returned: number | null };

/** Between two things that happen at the same time. */
const INSTANT_MS = 1e-6;

/** What clients were told, and what they tried: what the checker holds the store against at the end. */
export class Ledger {
  readonly #elapsed_ms: () => number;
  #clock = 0;
  /** Acknowledged operations by what they were. */
  readonly acknowledged: Record<string, number> = {};
  readonly violations: string[] = [];
  readonly signed_in: { email: string; account_id: string }[] = [];
  readonly mails_sent = new Set<string>();
  readonly names = new Map<string, NameOperation[]>();
  /** Asks that could have changed something, by account and what they change. */
  readonly attempts = new Map<string, number>();
  readonly bound: { claim_id: string; device_id: string; epoch: string }[] = [];
  readonly registered: { epoch: string; ref: string; stream_id: string }[] = [];
  readonly intents: { stream_id: string; ref: string; content: string; chunk_id: string; status: ChunkStatus }[] = [];
  /** What lies at each place: the bytes of which announcement. */
  readonly places = new Map<string, string>();
  readonly stored: { stream_id: string; number: number }[] = [];
  readonly ends: { stream_id: string; end_ms: number }[] = [];
  readonly claimed: { stream_id: string; number: number; token: string }[] = [];
  readonly processed: { stream_id: string; number: number; token: string; status: string }[] = [];
  readonly session_streams: { session_id: string; ref: string; stream_id: string }[] = [];
  readonly generations = new Map<string, number>();
  readonly grants_ended = new Set<string>();

  constructor(elapsed_ms: () => number) {
    this.#elapsed_ms = elapsed_ms;
  }

  /** Instants in the order in which things happened, ms. */
  instant(): number {
    this.#clock = Math.max(this.#clock + INSTANT_MS, this.#elapsed_ms());
    return this.#clock;
  }

  /** Bytes are appended to the store; gives their place. */
  append(content: string): string {
    const place = `p@${this.places.size}`;
    this.places.set(place, content);
    return place;
  }

  acknowledge(what: string, times = 1): void {
    this.acknowledged[what] = (this.acknowledged[what] ?? 0) + times;
  }

  attempt(what: string): void {
    this.attempts.set(what, (this.attempts.get(what) ?? 0) + 1);
  }

  mustHold(holds: boolean, text: string): void {
    if (!holds) this.violations.push(text);
  }

  nameOperation(account_id: string, operation: NameOperation): NameOperation {
    const operations = this.names.get(account_id) ?? [];
    this.names.set(account_id, [...operations, operation]);
    return operation;
  }
}
