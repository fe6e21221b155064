import { signal } from '@preact/signals';
import { encodeCborBody } from '../../kits/typescript/src/cbor_body.js';
import { backoffAfter } from '../../src/domain/backoff.js';
import { type Answer, payloadOf, send } from '../api/api.js';
import { ApiError } from '../api/api_error.js';
import { errorText } from '../language/error_text.js';
import { say } from '../language/say.js';
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

/** Of chunks that are sent together. */
const BATCH_MAX = 16;
const BATCH_BYTES_MAX = 1024 * 1024;
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
    while (this.#queue.length > 0 && !this.#is_given_up) {
      const batch = this.#nextBatch();
      try {
        await this.#send(batch);
        if (this.#is_given_up) break;
        this.#queue.splice(0, batch.length);
        this.waiting.value -= batch.length;
        this.problem.value = null;
        this.is_full.value = false;
        failures = 0;
        for (const { head, bytes } of batch) {
          this.#held_bytes -= bytes?.length ?? 0;
          if (bytes === null) await forgetChunk(this.#stream_id, head).catch(() => {});
        }
      } catch (error) {
        this.problem.value = error instanceof Error ? error.message : say('It could not be sent.');
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

  #nextBatch(): WaitingChunk[] {
    let bytes = 0;
    const next = this.#queue.slice(0, BATCH_MAX);
    const over = next.findIndex(({ head }, index) => {
      bytes += head.size_bytes;
      return index > 0 && bytes > BATCH_BYTES_MAX;
    });
    return over === -1 ? next : next.slice(0, over);
  }

  async #send(batch: readonly WaitingChunk[]): Promise<void> {
    const found = await Promise.all(
      batch.map(async ({ head, bytes }) => ({
        head,
        bytes: bytes ?? (await readKept(this.#stream_id, head.sequence)),
      })),
    );
    // What is gone was sent, or thrown away, in another tab.
    const chunks = found.flatMap(({ head, bytes }) => (bytes === null ? [] : [{ head, bytes }]));
    if (chunks.length === 0) return;
    const body = encodeCborBody({
      stream_id: this.#stream_id,
      chunks: chunks.map(({ head, bytes }) => ({ ...announcedOf(head), bytes })),
    });
    const answer = await send('POST', '/audio/chunks', { body, headers: { 'Content-Type': 'application/cbor' } });
    const { items } = await payloadOf<Answer<'POST /audio/chunks'>>(answer);
    for (const item of items)
      if ('error' in item) throw new ApiError(item.error.code, errorText(item.error.code, item.error.message));
  }
}

function announcedOf({ ref, sequence, start_ms, end_ms }: ChunkHead) {
  return {
    ...{ source_chunk_ref: ref, sequence, codec: 'pcm_s16le', container: 'wav' },
    ...{ source_start_ms: start_ms, publication_start_ms: start_ms, source_end_ms: end_ms },
  };
}
