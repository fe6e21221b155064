import type { ChunkStatus } from '../../actors/recordings/stream_state.js';
import { type Call, RunTime } from '../driver/history.js';
import type { RegisterCall } from '../driver/models.js';
import { Successes } from '../driver/successes.js';

/** What clients were told, and what they tried: what the checker holds the store against at the end. */
export class Ledger {
  readonly time: RunTime;
  /** Acknowledged operations by what they were. */
  readonly acknowledged = new Successes();
  readonly violations: string[] = [];
  readonly signed_in: { email: string; account_id: string }[] = [];
  readonly mails_sent = new Set<string>();
  readonly #names = new Map<string, Call<RegisterCall>[]>();
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
    this.time = new RunTime(elapsed_ms);
  }

  /** Calls on an account's name, which is '' until it has one. */
  names(account_id: string): Call<RegisterCall>[] {
    const calls = this.#names.get(account_id) ?? [];
    this.#names.set(account_id, calls);
    return calls;
  }

  /** Bytes are appended to the store; gives their place. */
  append(content: string): string {
    const place = `p@${this.places.size}`;
    this.places.set(place, content);
    return place;
  }

  acknowledge(what: string, times = 1): void {
    this.acknowledged.add(what, times);
  }

  attempt(what: string): void {
    this.attempts.set(what, (this.attempts.get(what) ?? 0) + 1);
  }

  mustHold(holds: boolean, text: string): void {
    if (!holds) this.violations.push(text);
  }
}
