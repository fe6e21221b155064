import { setTimeout as delay } from 'node:timers/promises';
import { CallRefused, NoAnswer } from '../../kits/typescript/src/call.js';
import { DeviceClient, type DeviceCredentials } from '../../kits/typescript/src/device_client.js';
import { backoffAfter } from '../../src/domain/backoff.js';
import type { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { CBOR_ENCODING } from '../cbor_encoding.js';
import type { CallName, RetryReason, Stats } from './stats.js';

/** A recorder's connection to the server: it breaks, loses answers, and comes back. A call is repeated until it is answered. */

const PAUSE = { first_ms: 200, max_ms: 10_000 };
const CALL_MAX_MS = 30_000;
const CONNECTIONS_MAX = 2;
/** Of a call whose answer is lost: so long after it began the connection is cut. */
const CUT_AFTER_MAX_MS = 60;

const BROKEN: Record<string, RetryReason> = {
  ECONNRESET: 'broken',
  EPIPE: 'broken',
  ECONNREFUSED: 'refused connection',
  ETIMEDOUT: 'timeout',
};

export type ConnectionFaults = { answer_lost: number; sent_twice: number };

export class FlakyConnection {
  readonly #parts: {
    url: string;
    credentials: DeviceCredentials;
    random: SeededRandom;
    stats: Stats;
    faults: ConnectionFaults;
  };
  #client: DeviceClient;
  #restored: Promise<void> = Promise.resolve();
  #is_up = true;

  constructor(parts: {
    url: string;
    credentials: DeviceCredentials;
    random: SeededRandom;
    stats: Stats;
    faults: ConnectionFaults;
  }) {
    this.#parts = parts;
    this.#client = this.#connect();
    parts.stats.connected += 1;
  }

  #connect(): DeviceClient {
    const { url, credentials } = this.#parts;
    return new DeviceClient(url, credentials, {
      ...{ encoding: CBOR_ENCODING, maxSockets: CONNECTIONS_MAX, idle_max_ms: CALL_MAX_MS },
    });
  }

  /** Breaks what is in progress; nothing passes for so long. */
  lose(ms: number): void {
    if (!this.#is_up) return;
    this.#is_up = false;
    this.#parts.stats.connected -= 1;
    this.#parts.stats.faults['connections lost'] += 1;
    this.#client.close();
    this.#restored = delay(ms).then(() => {
      this.#is_up = true;
      this.#parts.stats.connected += 1;
    });
  }

  /** Connections, sessions of TLS and all: as after a power cut. */
  reset(): void {
    this.#client.close();
    this.#client = this.#connect();
  }

  close(): void {
    this.#client.close();
  }

  /**
   * Asks until there is an answer, as a recorder does whose every call may be repeated. Rejects with the server's
   * refusal, or when `until_ms` (monotonic) has passed.
   */
  async ask<T>(
    name: CallName,
    call: (client: DeviceClient) => Promise<T>,
    until_ms = Number.POSITIVE_INFINITY,
  ): Promise<T> {
    const { random, stats, faults } = this.#parts;
    for (let tries = 1; ; tries++) {
      await this.#restored;
      const began = performance.now();
      try {
        if (random.chance(faults.answer_lost)) this.#loseAnswer();
        const first = call(this.#client);
        if (random.chance(faults.sent_twice)) {
          stats.faults['sent twice'] += 1;
          await Promise.allSettled([first, call(this.#client)]);
        }
        const answer = await first;
        stats.calls[name].add(performance.now() - began);
        return answer;
      } catch (error) {
        const reason = retryReasonOf(error, this.#is_up);
        if (reason === null || performance.now() > until_ms) throw error;
        stats.countRetry(reason);
        const asked_ms = error instanceof CallRefused ? (error.retry_after_s ?? 0) * 1_000 : 0;
        const backoff_ms = backoffAfter(tries, PAUSE);
        await delay(Math.max(asked_ms, backoff_ms) * random.between(1, 1.5));
      }
    }
  }

  #loseAnswer(): void {
    this.#parts.stats.faults['answers lost'] += 1;
    const client = this.#client;
    setTimeout(() => client.close(), this.#parts.random.between(0, CUT_AFTER_MAX_MS));
  }
}

/** Null for a refusal that no retry changes, and for a bug of ours. */
function retryReasonOf(error: unknown, is_up: boolean): RetryReason | null {
  if (error instanceof CallRefused) {
    if (error.status === 429) return 'busy (429)';
    return error.status === 503 ? 'away (503)' : null;
  }
  if (!(error instanceof NoAnswer)) return null;
  return is_up ? (BROKEN[error.code] ?? 'broken') : 'no connection';
}
