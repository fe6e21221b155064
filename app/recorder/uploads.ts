import { signal } from '@preact/signals';
import { backoffAfter } from '../../src/domain/backoff.js';
import { api, payloadOf, send } from '../api/api.js';
import { ApiError } from '../api/api_error.js';
import { type ChunkHead, forgetChunk, KEPT_BYTES_MAX, type KeptRecording, keepChunk, readKept } from './kept.js';

/**
 * The chunks that are recorded and not yet on the server, in order. The browser keeps them until the server has them;
 * sending is retried. The same chunk may be announced and sent any number of times.
 */

export type RecordedChunk = {
  sequence: number;
  start_ms: number;
  end_ms: number;
  bytes: Uint8Array<ArrayBuffer>;
};

/** `bytes`: null where the browser keeps them. */
type WaitingChunk = { head: ChunkHead; bytes: Uint8Array<ArrayBuffer> | null };

const RETRY = { first_ms: 1_000, max_ms: 15_000 };
/** The server would say the same again. */
const LASTING = ['BAD_REQUEST', 'FORBIDDEN', 'NOT_FOUND', 'GONE', 'CONFLICT', 'PAYLOAD_TOO_LARGE', 'ACCOUNT_DELETED'];

export class Uploads {
  readonly waiting = signal(0);
  /** Why the last try came to nothing; null once one succeeds. */
  readonly problem = signal<string | null>(null);
  /** Nothing more can be sent of this recording. */
  readonly failed = signal(false);
  /** As much waits as is kept: nothing more is taken until some of it is sent. */
  readonly is_full = signal(false);

  readonly #stream_id: string;
  readonly #queue: WaitingChunk[];
  readonly #idle: (() => void)[] = [];
  /** Bytes of waiting chunks that the browser did not store. */
  #held_bytes = 0;
  #keeping: Promise<void> = Promise.resolve();
  #running = false;
  #is_given_up = false;

  /** `kept`: what of the recording waited before. */
  constructor(stream_id: string, kept: readonly ChunkHead[] = []) {
    this.#stream_id = stream_id;
    this.#queue = kept.map((head) => ({ head, bytes: null }));
    this.waiting.value = this.#queue.length;
    if (kept.length > 0) void this.#run();
  }

  /** `recording`: how far it has come with this chunk. */
  add(recording: KeptRecording, { bytes, ...span }: RecordedChunk): void {
    const head = { ...span, ref: crypto.randomUUID(), size_bytes: bytes.length };
    this.waiting.value += 1;
    this.#keeping = this.#keeping.then(async () => {
      if (this.#is_given_up) return;
      const kept = await keepChunk(recording, head, bytes).catch(() => 'not kept' as const);
      if (kept !== 'kept') this.#held_bytes += bytes.length;
      if (kept === 'full' || this.#held_bytes > KEPT_BYTES_MAX) this.is_full.value = true;
      this.#queue.push({ head, bytes: kept === 'kept' ? null : bytes });
      if (!this.#running) void this.#run();
    });
  }

  /** Resolves when all of it is on the server, or never will be. */
  async done(): Promise<void> {
    await this.#keeping;
    if (this.#queue.length > 0 && !this.failed.peek()) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Sends nothing more. */
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
      const [next] = this.#queue;
      try {
        await this.#send(next);
        if (this.#is_given_up) break;
        this.#queue.shift();
        this.#held_bytes -= next.bytes?.length ?? 0;
        this.waiting.value -= 1;
        this.problem.value = null;
        this.is_full.value = false;
        failures = 0;
        if (next.bytes === null) await forgetChunk(this.#stream_id, next.head).catch(() => {});
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

  async #send({ head, bytes: held }: WaitingChunk): Promise<void> {
    const { ref, sequence, start_ms, end_ms } = head;
    const bytes = held ?? (await readKept(this.#stream_id, sequence));
    if (bytes === null) return; // it was sent, or thrown away, in another tab
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
