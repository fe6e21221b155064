import { signal } from '@preact/signals';
import { backoffAfter } from '../../src/domain/backoff.js';
import { api, payloadOf, send } from '../api/api.js';
import { ApiError } from '../api/api_error.js';

/**
 * The chunks that are recorded and not yet on the server, in order. They stay in memory until the server has them;
 * sending is retried. The same chunk may be announced and sent any number of times.
 */

export type RecordedChunk = {
  sequence: number;
  start_ms: number;
  end_ms: number;
  bytes: Uint8Array<ArrayBuffer>;
};

const RETRY = { first_ms: 1_000, max_ms: 15_000 };
/** The server would say the same again. */
const LASTING = ['BAD_REQUEST', 'FORBIDDEN', 'NOT_FOUND', 'GONE', 'CONFLICT', 'PAYLOAD_TOO_LARGE', 'ACCOUNT_DELETED'];

export class Uploads {
  readonly waiting = signal(0);
  /** Why the last try came to nothing; null once one succeeds. */
  readonly problem = signal<string | null>(null);
  /** Nothing more can be sent of this recording. */
  readonly failed = signal(false);

  readonly #stream_id: string;
  readonly #queue: { ref: string; chunk: RecordedChunk }[] = [];
  readonly #idle: (() => void)[] = [];
  #running = false;
  #is_given_up = false;

  constructor(stream_id: string) {
    this.#stream_id = stream_id;
  }

  add(chunk: RecordedChunk): void {
    this.#queue.push({ ref: crypto.randomUUID(), chunk });
    this.waiting.value = this.#queue.length;
    if (!this.#running) void this.#run();
  }

  /** Resolves when all of it is on the server, or never will be. */
  async done(): Promise<void> {
    if (this.#queue.length > 0 && !this.failed.peek()) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Discards the chunks that are not sent yet. */
  giveUp(): void {
    this.#is_given_up = true;
    this.#queue.length = 0;
    this.waiting.value = 0;
    for (const then of this.#idle.splice(0)) then();
  }

  async #run(): Promise<void> {
    this.#running = true;
    let failures = 0;
    while (this.#queue[0] !== undefined && !this.#is_given_up) {
      try {
        await this.#send(this.#queue[0]);
        this.#queue.shift();
        this.waiting.value = this.#queue.length;
        this.problem.value = null;
        failures = 0;
      } catch (error) {
        this.problem.value = error instanceof Error ? error.message : 'It could not be sent.';
        if (error instanceof ApiError && LASTING.includes(error.code)) {
          this.failed.value = true;
          break;
        }
        failures += 1;
        await new Promise((resolve) => setTimeout(resolve, backoffAfter(failures, RETRY)));
      }
    }
    this.#running = false;
    for (const then of this.#idle.splice(0)) then();
  }

  async #send({ ref, chunk }: { ref: string; chunk: RecordedChunk }): Promise<void> {
    const { sequence, start_ms, end_ms, bytes } = chunk;
    const { upload_path } = await api('POST /audio/streams/{id}/chunks/intents', {
      path: { id: this.#stream_id },
      body: {
        ...{ source_chunk_ref: ref, sequence, codec: 'pcm_s16le', container: 'wav' },
        ...{ source_start_ms: start_ms, publication_start_ms: start_ms, source_end_ms: end_ms },
        ...{ size_bytes: bytes.length, sha256: await sha256(bytes) },
      },
    });
    const answer = await send('PUT', upload_path, {
      body: bytes,
      headers: { 'Content-Type': 'application/octet-stream' },
    });
    await payloadOf(answer);
  }
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
