import { randomUUID } from 'node:crypto';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binding } from './api.js';
import { CallRefused, NoAnswer } from './call.js';
import { sendChunk, sendChunks } from './chunk_sender.js';
import { DeviceClient, type DeviceCredentials, type DeviceOptions } from './device_client.js';
import { DeviceIdentity } from './device_identity.js';
import { readJson, writeDurably } from './durable_files.js';
import { bytesAt, frameBytes, type PcmFormat, readWavHeader } from './pcm.js';
import { PcmRecording } from './pcm_recording.js';
import { Patience, pause } from './retries.js';
import { type ChunkHead, openStreams, StreamQueue } from './stream_queue.js';

/**
 * A recording device: what it records is on its own disk first, and goes to the server whenever there is a connection. One
 * program at a time may have a folder open. docs/devices.md of Spool says what each answer means.
 */

export type Notice =
  | { what: 'sent'; source_stream_ref: string; sequence: number; status: 'stored' | 'expired' }
  /** All of a stream is on the server. */
  | { what: 'ended'; source_stream_ref: string }
  /** The server will never take it: it goes into `refused/`, a whole stream (`sequence` is null) once it has ended. */
  | { what: 'refused'; source_stream_ref: string; sequence: number | null; error: CallRefused }
  /** The account is deleted, and may be restored until then: its recordings wait. */
  | { what: 'waiting'; source_stream_ref: string; error: CallRefused }
  | { what: 'renewed' }
  /** No certificate of the device is good any more: it has to be provisioned anew. */
  | { what: 'stopped'; error: CallRefused }
  /** A bug, or a broken disk; what is queued is tried again. */
  | { what: 'failed'; error: unknown };

export type RecorderOptions = {
  /** Of the device listener, such as https://localhost:8443. */
  url: string;
  /** The recorder's own: its key and what it has recorded lie there. */
  folder: string;
  /** What provisioning gave; needed once. */
  credentials?: DeviceCredentials;
  onNotice?: (notice: Notice) => void;
  /** So many bytes may wait on disk; whoever records more waits. */
  queue_bytes_max?: number;
  connection?: DeviceOptions;
};

export type StreamStart = {
  /** Drawn when absent. The same again continues the recording, also after a restart. */
  source_stream_ref?: string;
  captured_at?: Date;
  /** How far off the device's clock may be. */
  clock_uncertainty_ms?: number;
};

const BINDING_FILE = 'binding.json';
const QUEUE_BYTES_MAX = 4 * 1024 ** 3;
const CHUNK_MS = 5_000;
const CLOCK_UNCERTAINTY_MS = 1_000;
const UPLOADS_AT_ONCE = 2;
/** Of chunks that go together in one request. */
const BATCH_MAX = 16;
const BATCHED_BYTES_MAX = 256 * 1024;
const BATCH_BYTES_MAX = 512 * 1024;
const REFS_A_CALL = 100;
const HEARTBEAT_EVERY_MS = 60_000;
const DELETED_AGAIN_MS = 5 * 60_000;
const FAILED_AGAIN_MS = 10_000;
const PIECE_BYTES = 256 * 1024;
const PATIENCE = { tries_max: Number.POSITIVE_INFINITY, pause_ms: 200, pause_max_ms: 120_000 };
/** In each of these the server has the bytes, or had them. */
const HELD = new Set(['stored', 'processing', 'processed', 'failed']);
/** Refusals of the certificate, but `expired`, which is renewed. */
const STOPPING = new Set([401, 403]);

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #identity: DeviceIdentity;
  readonly #streams: StreamQueue[];
  readonly #patience = new Patience(PATIENCE);
  readonly #closing = new AbortController();
  readonly #registered = new Set<StreamQueue>();
  /** Being recorded by this program. */
  readonly #open = new Set<StreamQueue>();
  /** Streams that the server will never take. */
  readonly #refusals = new Map<StreamQueue, CallRefused>();
  readonly #not_before_ms = new Map<StreamQueue, number>();
  #device: DeviceClient;
  #binding: Binding | null;
  #queued_bytes: number;
  /** The server's clock less the device's. */
  #clock_ahead_ms = 0;
  #heard_at_ms = Number.NEGATIVE_INFINITY;
  #stopped: CallRefused | null = null;
  #changed = new AbortController();
  #running: Promise<void>;

  private constructor(
    options: RecorderOptions,
    of: { identity: DeviceIdentity; streams: StreamQueue[]; binding: Binding | null },
  ) {
    this.#options = options;
    this.#identity = of.identity;
    this.#streams = of.streams;
    this.#binding = of.binding;
    this.#queued_bytes = of.streams.reduce((sum, { waiting }) => sum + bytesOf(waiting), 0);
    this.#device = this.#connect();
    this.#running = this.#run();
  }

  /** Begins to send what an earlier run left. Needs no connection. */
  static async open(options: RecorderOptions): Promise<Recorder> {
    const { folder, credentials } = options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const identity = await DeviceIdentity.open(folder, credentials);
    const binding = await readJson<Binding>(join(folder, BINDING_FILE));
    return new Recorder(options, { identity, streams: await openStreams(join(folder, 'streams')), binding });
  }

  /** Whom the device records for, as last heard; null before a claim. */
  get binding(): Binding | null {
    return this.#binding;
  }

  /** Recordings that nobody continues or has ended. */
  get interrupted(): { source_stream_ref: string; captured_at: string; recorded_ms: number }[] {
    return this.#streams
      .filter((stream) => stream.end_ms === null && !this.#open.has(stream))
      .map(({ head, last }) => ({ ...head, recorded_ms: last?.source_end_ms ?? 0 }));
  }

  /** Binds the device by what the person's app handed over. A shared recorder names its BLE address. */
  async claim(claim: string, { ble_address }: { ble_address?: string } = {}): Promise<Binding> {
    const body = { claim, ...(ble_address !== undefined && { ble_address }) };
    await this.#keepBinding(await this.#repeat(() => this.#device.call('POST /device/claims/redeem', { body })));
    return this.#binding as Binding;
  }

  /** Begins a recording of plain samples, or continues the one of this reference. */
  async record(format: PcmFormat, start: StreamStart & { chunk_ms?: number } = {}): Promise<PcmRecording> {
    const { chunk_ms = CHUNK_MS, ...of } = start;
    const stream = await this.#streamOf(of);
    this.#open.add(stream);
    return new PcmRecording(stream, { format, chunk_ms, added: (bytes) => this.#added(bytes) });
  }

  /** Queues a WAV file of plain samples as one recording; resolves when all of it is queued. */
  async recordWav(path: string, start: StreamStart & { chunk_ms?: number } = {}): Promise<void> {
    const file = await open(path);
    try {
      const { format, data_offset, data_bytes } = await readWavHeader(file);
      const recording = await this.record(format, start);
      if (recording.is_ended) return;
      for (let at = recording.frames * frameBytes(format); at < data_bytes; ) {
        const piece = await bytesAt(file, data_offset + at, Math.min(PIECE_BYTES, data_bytes - at));
        if (piece.length === 0) throw new Error('The file became shorter while it was read.');
        await recording.write(piece);
        at += piece.length;
      }
      await recording.end();
    } finally {
      await file.close();
    }
  }

  /** Ends what an earlier run was recording, where its last chunk ends. */
  async endInterrupted(): Promise<void> {
    for (const stream of this.#streams)
      if (stream.end_ms === null && !this.#open.has(stream)) await stream.end(stream.last?.source_end_ms ?? 0);
    this.#wake();
  }

  /**
   * Resolves once the server has all recordings that were ended, or will never take them; those of a deleted account are
   * not waited for. Rejects when the device has to be provisioned anew.
   */
  async settled(): Promise<void> {
    while (this.#streams.some((stream) => stream.end_ms !== null && !this.#not_before_ms.has(stream))) {
      if (this.#stopped !== null) throw this.#stopped;
      if (this.#closing.signal.aborted) return;
      await pause(HEARTBEAT_EVERY_MS, this.#changed.signal);
    }
  }

  /** A shared recorder that has sent everything ends its session. */
  async endSession(): Promise<void> {
    await this.settled();
    const { binding_epoch } = this.#binding ?? {};
    if (binding_epoch === undefined) return;
    await this.#repeat(() => this.#device.call('POST /device/session/end', { body: { binding_epoch } }));
  }

  /** Stops sending; what is queued stays for the next run. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake();
    this.#device.close();
    await this.#running;
  }

  async #streamOf({
    source_stream_ref = randomUUID(),
    captured_at,
    clock_uncertainty_ms,
  }: StreamStart): Promise<StreamQueue> {
    const known = this.#streams.find(({ head }) => head.source_stream_ref === source_stream_ref);
    if (known !== undefined) return known;
    if (this.#binding === null) throw new Error('The device records for nobody yet: claim it first.');
    const { binding_epoch } = this.#binding;
    const stream = await StreamQueue.create(join(this.#options.folder, 'streams'), {
      ...{ source_stream_ref, binding_epoch, captured_at: (captured_at ?? new Date()).toISOString() },
      clock_uncertainty_ms: clock_uncertainty_ms ?? CLOCK_UNCERTAINTY_MS,
    });
    this.#streams.push(stream);
    this.#wake();
    return stream;
  }

  /** Something was queued; resolves when there is room for more. */
  async #added(bytes: number): Promise<void> {
    this.#queued_bytes += bytes;
    this.#wake();
    while (this.#queued_bytes > (this.#options.queue_bytes_max ?? QUEUE_BYTES_MAX) && !this.#closing.signal.aborted)
      await pause(HEARTBEAT_EVERY_MS, this.#changed.signal);
  }

  #connect(): DeviceClient {
    const { url, connection } = this.#options;
    return new DeviceClient(url, this.#identity.credentials, { maxSockets: UPLOADS_AT_ONCE, ...connection });
  }

  #wake(): void {
    const changed = this.#changed;
    this.#changed = new AbortController();
    changed.abort();
  }

  #tell(notice: Notice): void {
    this.#options.onNotice?.(notice);
  }

  /** Makes a call until there is an answer that waiting does not change. */
  #repeat<T>(call: () => Promise<T>): Promise<T> {
    const { signal } = this.#closing;
    return this.#patience.run(call, (error) => isPassing(error) && this.#stopped === null, signal);
  }

  async #run(): Promise<void> {
    // Each turn is short, or waits for the network alone.
    while (!this.#closing.signal.aborted && this.#stopped === null) {
      const changed = this.#changed.signal;
      try {
        if (!(await this.#turn())) await pause(HEARTBEAT_EVERY_MS, changed);
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        await this.#meet(error);
      }
    }
  }

  /** Whether there may be more to do at once. */
  async #turn(): Promise<boolean> {
    // The server's clock says when to renew.
    if (Date.now() - this.#heard_at_ms >= HEARTBEAT_EVERY_MS) await this.#greet();
    if (this.#now() >= this.#identity.renew_after_ms) await this.#renew();
    for (const stream of this.#streams.filter((one) => (this.#not_before_ms.get(one) ?? 0) <= Date.now()))
      if (await this.#send(stream)) return true;
    return false;
  }

  #now(): number {
    return Date.now() + this.#clock_ahead_ms;
  }

  async #renew(): Promise<void> {
    await this.#identity.renew(this.#device, (call) => this.#repeat(call));
    this.#device.close();
    this.#device = this.#connect();
    this.#tell({ what: 'renewed' });
  }

  /** Hears what time it is and whom the device records for; people see when it was last there. */
  async #greet(): Promise<void> {
    try {
      await this.#keepBinding(await this.#repeat(() => this.#device.call('GET /device/binding')));
    } catch (error) {
      if (!(error instanceof CallRefused) || error.reason !== null || error.status === 401) throw error;
      // Unbound, or bound to an account that is deleted: what is queued may still be sent under another epoch.
    }
    this.#heard_at_ms = Date.now();
  }

  async #keepBinding(binding: Binding): Promise<void> {
    this.#clock_ahead_ms = Date.parse(binding.server_time) - Date.now();
    if (binding.binding_epoch !== this.#binding?.binding_epoch)
      await writeDurably(join(this.#options.folder, BINDING_FILE), JSON.stringify(binding));
    this.#binding = binding;
  }

  /** Sends what there is of a stream; whether anything was. */
  async #send(stream: StreamQueue): Promise<boolean> {
    const { waiting, end_ms } = stream;
    const refusal = this.#refusals.get(stream);
    if (refusal !== undefined) return this.#putAside(stream, refusal);
    if (waiting.length === 0 && end_ms === null && this.#registered.has(stream)) return false;
    try {
      if (!this.#registered.has(stream)) await this.#register(stream);
      await inTurns(this.#batchesOf(stream), UPLOADS_AT_ONCE, (batch) => this.#sendBatch(stream, batch));
      if (end_ms !== null && stream.waiting.length === 0) await this.#end(stream, end_ms);
    } catch (error) {
      await this.#meetRefusal(stream, error);
    }
    this.#wake();
    return true;
  }

  /** Chunks of an earlier run may be there already, without the device having heard of it. */
  async #register(stream: StreamQueue): Promise<void> {
    await this.#repeat(() => this.#device.call('POST /device/streams', { body: stream.head }));
    const { source_stream_ref, binding_epoch } = stream.head;
    const { waiting } = stream;
    for (let at = 0; at < waiting.length; at += REFS_A_CALL) {
      const asked = waiting.slice(at, at + REFS_A_CALL);
      const body = {
        ...{ source_stream_ref, binding_epoch },
        source_chunk_refs: asked.map(({ source_chunk_ref }) => source_chunk_ref),
      };
      const { items } = await this.#repeat(() => this.#device.call('POST /device/chunks/status', { body }));
      for (const { sequence, status, stored_at } of items)
        if (HELD.has(status) || (status === 'expired' && stored_at !== null))
          await this.#sent(stream, sequence, status === 'expired' ? 'expired' : 'stored');
    }
    this.#registered.add(stream);
  }

  /** Chunks that go together; larger ones go by themselves. */
  #batchesOf({ waiting }: StreamQueue): ChunkHead[][] {
    const batches: ChunkHead[][] = [];
    let bytes = Number.POSITIVE_INFINITY;
    for (const chunk of waiting) {
      const is_small = chunk.size_bytes <= BATCHED_BYTES_MAX;
      bytes += is_small ? chunk.size_bytes : Number.POSITIVE_INFINITY;
      const last = batches.at(-1);
      if (last === undefined || bytes > BATCH_BYTES_MAX || last.length >= BATCH_MAX) {
        batches.push([chunk]);
        bytes = is_small ? chunk.size_bytes : Number.POSITIVE_INFINITY;
      } else last.push(chunk);
    }
    return batches;
  }

  async #sendBatch(stream: StreamQueue, batch: ChunkHead[]): Promise<void> {
    const [first] = batch as [ChunkHead];
    const { source_stream_ref, binding_epoch } = stream.head;
    if (first.size_bytes > BATCHED_BYTES_MAX) return this.#sendChunk(stream, first);
    const read = async ({ size_bytes: _, end_frame: __, ...chunk }: ChunkHead) => {
      return { ...chunk, bytes: (await stream.read(chunk.sequence)).bytes };
    };
    const body = { source_stream_ref, binding_epoch, chunks: await Promise.all(batch.map(read)) };
    const results = await sendChunks(this.#device, (call) => this.#repeat(call), body);
    for (const [index, chunk] of batch.entries()) {
      const result = results[index] ?? 'refused';
      // By itself its refusal says more, and whether it is the stream that is not known.
      if (result === 'refused') await this.#sendChunk(stream, chunk);
      else await this.#sent(stream, chunk.sequence, result);
    }
  }

  async #sendChunk(stream: StreamQueue, { sequence, end_frame: _, ...of }: ChunkHead): Promise<void> {
    const { source_stream_ref, binding_epoch } = stream.head;
    const intent = { ...of, sequence, source_stream_ref, binding_epoch };
    const read = async () => (await stream.read(sequence)).bytes;
    try {
      const status = await sendChunk(this.#device, (call) => this.#repeat(call), { intent, read });
      await this.#sent(stream, sequence, status);
    } catch (error) {
      if (!(error instanceof CallRefused) || !isOfChunk(error)) throw error;
      await stream.putChunkAside(sequence, this.#refused, wordsOf(error));
      this.#queued_bytes -= of.size_bytes;
      this.#tell({ what: 'refused', source_stream_ref, sequence, error });
    }
  }

  async #sent(stream: StreamQueue, sequence: number, status: 'stored' | 'expired'): Promise<void> {
    const size = stream.waiting.find((one) => one.sequence === sequence)?.size_bytes ?? 0;
    await stream.sent(sequence);
    this.#queued_bytes -= size;
    this.#tell({ what: 'sent', source_stream_ref: stream.head.source_stream_ref, sequence, status });
    this.#wake();
  }

  async #end(stream: StreamQueue, end_ms: number): Promise<void> {
    const { source_stream_ref, binding_epoch } = stream.head;
    const body = { source_stream_ref, binding_epoch, end_ms };
    await this.#repeat(() => this.#device.call('POST /device/streams/end', { body }));
    await stream.remove();
    this.#forget(stream);
    this.#tell({ what: 'ended', source_stream_ref });
  }

  /** What a refusal means to the stream that it was said of; what it means to the device is thrown on. */
  async #meetRefusal(stream: StreamQueue, error: unknown): Promise<void> {
    if (!(error instanceof CallRefused) || error.status === 401 || error.reason !== null || error.status >= 500)
      throw error;
    const { source_stream_ref } = stream.head;
    if (error.code === 'ACCOUNT_DELETED') {
      this.#not_before_ms.set(stream, Date.now() + DELETED_AGAIN_MS);
      this.#tell({ what: 'waiting', source_stream_ref, error });
      return;
    }
    // Registered once and unknown now: registering it again says whether it is gone for good.
    if (error.status === 404 && this.#registered.delete(stream)) return;
    this.#refusals.set(stream, error);
    this.#tell({ what: 'refused', source_stream_ref, sequence: null, error });
  }

  /** While it is being recorded, its folder stays where it is. */
  async #putAside(stream: StreamQueue, refusal: CallRefused): Promise<boolean> {
    if (stream.end_ms === null) return false;
    this.#queued_bytes -= bytesOf(stream.waiting);
    await stream.putAside(this.#refused, wordsOf(refusal));
    this.#forget(stream);
    this.#wake();
    return true;
  }

  /** What a failure means to the device. */
  async #meet(error: unknown): Promise<void> {
    if (error instanceof CallRefused && STOPPING.has(error.status)) {
      if (error.reason !== 'expired') {
        this.#stopped = error;
        this.#wake();
        return this.#tell({ what: 'stopped', error });
      }
      try {
        return await this.#renew();
      } catch (failure) {
        if (failure instanceof CallRefused && STOPPING.has(failure.status)) this.#stopped = failure;
        if (this.#stopped !== null) this.#wake();
        this.#tell(
          this.#stopped === null ? { what: 'failed', error: failure } : { what: 'stopped', error: this.#stopped },
        );
      }
    } else this.#tell({ what: 'failed', error });
    await pause(FAILED_AGAIN_MS, this.#closing.signal);
  }

  #forget(stream: StreamQueue): void {
    this.#streams.splice(this.#streams.indexOf(stream), 1);
    this.#registered.delete(stream);
    this.#open.delete(stream);
    this.#refusals.delete(stream);
    this.#not_before_ms.delete(stream);
  }

  get #refused(): string {
    return join(this.#options.folder, 'refused');
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof NoAnswer || (error instanceof CallRefused && (error.status === 429 || error.status >= 500));
}

/** Said of one chunk: the rest of its stream may go on. */
function isOfChunk({ status }: CallRefused): boolean {
  return status !== 401 && status !== 403 && status !== 404 && status < 500;
}

function wordsOf({ status, code, message, details }: CallRefused): object {
  return { status, code, message, details, at: new Date().toISOString() };
}

function bytesOf(chunks: readonly ChunkHead[]): number {
  return chunks.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
}

/** Does so many at once; the first failure ends it, once those under way have ended. */
async function inTurns<T>(items: readonly T[], at_once: number, work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) {
      try {
        await work(item);
      } catch (error) {
        left.length = 0;
        throw error;
      }
    }
  };
  const done = await Promise.allSettled(Array.from({ length: at_once }, worker));
  const failed = done.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
