import { setTimeout as delay } from 'node:timers/promises';
import { CallRefused } from '../../kits/typescript/src/call.js';
import type { DeviceClient } from '../../kits/typescript/src/device_client.js';
import type { SeededRandom } from '../../src/engine/random/seeded_random.js';
import type { AudioSource, RecordedChunk } from './audio_source.js';
import type { FlakyConnection } from './flaky_connection.js';
import type { Ledger, SentStream } from './ledger.js';
import type { Stats } from './stats.js';

/** One simulated recorder: it records whether or not it has a connection, and sends what it has, in its own time. */

export type RecorderPlan = {
  /** Chunks of one stream, at least and at most. */
  stream_chunks: [number, number];
  /** Streams of one session of a shared recorder. */
  session_streams: [number, number];
  /** On the mean, between two of each; infinite for none. */
  connection_lost_every_ms: number;
  connection_lost_ms: [number, number];
  reboot_every_ms: number;
  out_of_order: number;
};

export type RecorderParts = {
  name: string;
  kind: 'personal' | 'shared';
  random: SeededRandom;
  connection: FlakyConnection;
  audio: AudioSource;
  stats: Stats;
  ledger: Ledger;
  plan: RecorderPlan;
  /** A claim of its account: an owner's for a personal one, one of a new session for a shared one. */
  newClaim(): Promise<{ claim: string; session_id: string | null }>;
  /** The host ends the session instead of the recorder. */
  endByHost(session_id: string): Promise<void>;
};

type ChunkStep = { step: 'chunk'; stream: SentStream; chunk: RecordedChunk };
type Step =
  | { step: 'register'; stream: SentStream }
  | ChunkStep
  | { step: 'end'; stream: SentStream; end_ms: number }
  | { step: 'finish'; epoch: string };

const BEAT_EVERY_MS = 60_000;
const STATUS_SHARE = 0.05;
/** Of chunks that are announced and uploaded one by one. */
const ALONE_SHARE = 0.2;
const TOGETHER_MAX = 16;
const ORDER_LOOK_AHEAD = 4;
const DRIFT_MS_MAX = 400;
const IDLE_LOOK_MS = 100;

export class FleetRecorder {
  readonly #parts: RecorderParts;
  readonly #backlog: Step[] = [];
  readonly #ble_address: string;
  /** Its clock is wrong by so much, and it knows how wrong at most. */
  readonly #drift_ms: number;
  #epoch = '';
  #session_id: string | null = null;
  readonly #stopped = new AbortController();
  #wake: () => void = () => {};
  /** Sent just now, and sent again after a reboot: it does not know what was answered. */
  #last: Step[] = [];

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#ble_address = Buffer.from(parts.random.bytes(6)).toString('hex').toUpperCase();
    this.#drift_ms = Math.round(parts.random.between(-DRIFT_MS_MAX, DRIFT_MS_MAX));
  }

  /** Records until `until_ms` (monotonic), then sends what is left, however long that takes. */
  async run(until_ms: number): Promise<void> {
    const { stats, name, connection } = this.#parts;
    try {
      await this.#begin();
      stats.recording += 1;
      const recorded = this.#record(until_ms).finally(() => {
        stats.recording -= 1;
        this.#stop();
      });
      await Promise.all([
        recorded,
        this.#send(),
        this.#beat(until_ms),
        this.#loseConnections(until_ms),
        this.#reboot(until_ms),
      ]);
    } catch (error) {
      stats.addWrong(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      this.#stop();
      if (this.#session_id !== null) stats.sessions -= 1;
      connection.close();
    }
  }

  #stop(): void {
    this.#stopped.abort();
    this.#wake();
  }

  /** Binds itself to its account: for good, or for a session. */
  async #begin(): Promise<void> {
    const { connection, kind, ledger, stats } = this.#parts;
    const { claim, session_id } = await this.#parts.newClaim();
    const body = { claim, ...(kind === 'shared' ? { ble_address: this.#ble_address } : {}) };
    const bound = await connection.ask('redeem', (device) => device.call('POST /device/claims/redeem', { body }));
    this.#epoch = bound.binding_epoch;
    this.#session_id = session_id;
    if (session_id !== null) {
      stats.sessions += 1;
      ledger.sessions.add(session_id);
    }
  }

  async #record(until_ms: number): Promise<void> {
    const { random, audio, plan, kind } = this.#parts;
    let streams_left = wholeBetween(random, plan.session_streams);
    while (!this.#is_over(until_ms)) {
      const stream = this.#newStream();
      this.#queue({ step: 'register', stream });
      const chunks = wholeBetween(random, plan.stream_chunks);
      let sequence = 0;
      for (; sequence < chunks && !this.#is_over(until_ms); sequence++) {
        await delay(Math.min(audio.chunk_ms, Math.max(0, until_ms - performance.now())));
        const chunk = audio.chunk(random, { sequence, source_chunk_ref: uuid(random) });
        stream.chunks.set(sequence, pick(chunk));
        this.#queue({ step: 'chunk', stream, chunk });
      }
      stream.end_ms = sequence * audio.chunk_ms;
      this.#queue({ step: 'end', stream, end_ms: stream.end_ms });
      streams_left -= 1;
      if (kind === 'shared' && streams_left === 0 && !this.#is_over(until_ms)) {
        await this.#changeSession();
        streams_left = wholeBetween(random, plan.session_streams);
      }
    }
    if (kind === 'shared') this.#queue({ step: 'finish', epoch: this.#epoch });
  }

  /** One session ends, by the recorder when all is sent, or by its host while there may be a backlog; the next begins. */
  async #changeSession(): Promise<void> {
    const { random, stats } = this.#parts;
    const session_id = this.#session_id as string;
    if (random.chance(0.3)) await this.#parts.endByHost(session_id);
    // From here on until the next has begun nothing of this one may be sent again.
    const epoch = this.#epoch;
    this.#epoch = '';
    this.#queue({ step: 'finish', epoch });
    while (this.#backlog.length > 0 && !this.#stopped.signal.aborted) await delay(IDLE_LOOK_MS);
    stats.sessions -= 1;
    this.#session_id = null;
    await this.#begin();
  }

  #is_over(until_ms: number): boolean {
    return this.#stopped.signal.aborted || performance.now() >= until_ms;
  }

  #newStream(): SentStream {
    const { random, ledger } = this.#parts;
    return ledger.stream({
      source_stream_ref: uuid(random),
      epoch: this.#epoch,
      captured_at: new Date(Date.now() + this.#drift_ms).toISOString(),
    });
  }

  #queue(step: Step): void {
    this.#backlog.push(step);
    this.#parts.stats.backlog += 1;
    this.#wake();
  }

  /** Sends the backlog in its order, but for chunks of one stream, which may overtake each other. */
  async #send(): Promise<void> {
    const { random, stats, plan } = this.#parts;
    for (;;) {
      if (this.#backlog.length === 0) {
        if (this.#stopped.signal.aborted) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      let index = 0;
      if (random.chance(plan.out_of_order)) {
        const first = this.#backlog[0] as Step;
        const alike = this.#backlog.slice(0, ORDER_LOOK_AHEAD);
        const other = alike.findLastIndex(
          (step) => step.step === 'chunk' && first.step === 'chunk' && step.stream === first.stream,
        );
        if (other > 0) stats.faults['out of order'] += 1;
        index = Math.max(0, other);
      }
      const step = this.#backlog[index] as Step;
      const together = this.#togetherWith(step);
      if (together.length > 0) await this.#store(together);
      else await this.#do(step);
      const steps: Step[] = together.length > 0 ? together : [step];
      for (const done of steps) this.#backlog.splice(this.#backlog.indexOf(done), 1);
      stats.backlog -= steps.length;
      this.#last = [...this.#last, ...steps].slice(-3);
    }
  }

  /** Chunks that go with this one in one request; none where it goes by itself, as some do. */
  #togetherWith(step: Step): ChunkStep[] {
    const { random } = this.#parts;
    if (step.step !== 'chunk' || random.chance(ALONE_SHARE)) return [];
    const of_stream = this.#backlog.filter(
      (other): other is ChunkStep => other.step === 'chunk' && other.stream === step.stream,
    );
    return [step, ...of_stream.filter((other) => other !== step)].slice(0, TOGETHER_MAX);
  }

  async #store(steps: ChunkStep[]): Promise<void> {
    const { connection, random, stats } = this.#parts;
    const [{ stream }] = steps as [ChunkStep];
    const { source_stream_ref, epoch: binding_epoch } = stream;
    const chunks = steps.map(({ chunk }) => ({ ...announcedOf(chunk), bytes: chunk.bytes() }));
    const body = { source_stream_ref, binding_epoch, chunks };
    const { items } = await connection.ask('store', (device) => device.storeChunks(body));
    for (const [index, { sha256, bytes }] of chunks.entries()) {
      const item = items[index];
      if (item === undefined || 'error' in item) throw new Error(`a chunk was refused: ${JSON.stringify(item)}`);
      if (item.sha256 !== sha256) throw new Error('a chunk was stored with another hash');
      stats.chunks += 1;
      stats.bytes += bytes.length;
      if (random.chance(STATUS_SHARE)) await this.#checkStatus(item.chunk_id);
    }
  }

  async #do(step: Step): Promise<void> {
    const { connection, random, stats } = this.#parts;
    switch (step.step) {
      case 'register': {
        const { source_stream_ref, captured_at, epoch: binding_epoch } = step.stream;
        const body = { source_stream_ref, captured_at, clock_uncertainty_ms: DRIFT_MS_MAX, binding_epoch };
        const { id } = await connection.ask('register', (device) => device.call('POST /device/streams', { body }));
        if (step.stream.id !== null && step.stream.id !== id) throw new Error('one reference became two streams');
        step.stream.id = id;
        return;
      }
      case 'chunk': {
        const { stream, chunk } = step;
        const bytes = chunk.bytes();
        const intent = intentOf(stream, chunk);
        const { upload_path, chunk_id } = await connection.ask('intent', (device) =>
          device.call('POST /device/chunks/intents', { body: intent }),
        );
        const stored = await connection.ask('upload', (device) => device.upload(upload_path, bytes));
        if (stored.sha256 !== chunk.sha256) throw new Error('a chunk was stored with another hash');
        stats.chunks += 1;
        stats.bytes += bytes.length;
        if (random.chance(STATUS_SHARE)) await this.#checkStatus(chunk_id);
        return;
      }
      case 'end': {
        const { source_stream_ref, epoch: binding_epoch } = step.stream;
        const body = { source_stream_ref, end_ms: step.end_ms, binding_epoch };
        await connection.ask('end', (device) => device.call('POST /device/streams/end', { body }));
        return;
      }
      case 'finish': {
        const body = { binding_epoch: step.epoch };
        await connection.ask('finish', (device) => device.call('POST /device/session/end', { body }));
      }
    }
  }

  async #checkStatus(chunk_id: string): Promise<void> {
    const { connection } = this.#parts;
    const ask = (device: DeviceClient) => device.call('GET /device/chunks/{chunk_id}', { path: { chunk_id } });
    const { status } = await connection.ask('status', ask);
    if (!['stored', 'processing', 'processed'].includes(status)) throw new Error(`a stored chunk is ${status}`);
  }

  async #beat(until_ms: number): Promise<void> {
    const { connection, random } = this.#parts;
    await this.#wait(random.between(0, BEAT_EVERY_MS), until_ms);
    while (!this.#stopped.signal.aborted && performance.now() < until_ms) {
      const beat = (device: DeviceClient) => device.call('POST /device/heartbeat');
      await connection.ask('beat', beat, until_ms).catch((error: unknown) => {
        // Between two sessions it is bound to nobody.
        if (!(error instanceof CallRefused && error.code === 'DEVICE_UNBOUND') && performance.now() < until_ms)
          throw error;
      });
      await this.#wait(BEAT_EVERY_MS, until_ms);
    }
  }

  async #loseConnections(until_ms: number): Promise<void> {
    const { random, plan, connection } = this.#parts;
    while (await this.#wait(expected(random, plan.connection_lost_every_ms), until_ms)) {
      connection.lose(random.between(...plan.connection_lost_ms));
    }
  }

  /** Restarts the recorder: its recordings survive, its knowledge of answers does not. */
  async #reboot(until_ms: number): Promise<void> {
    const { random, plan, connection, stats } = this.#parts;
    while (await this.#wait(expected(random, plan.reboot_every_ms), until_ms)) {
      stats.faults.reboots += 1;
      connection.reset();
      const again = this.#last.filter((step) => step.step !== 'finish' && step.stream.epoch === this.#epoch);
      this.#backlog.splice(1, 0, ...again);
      stats.backlog += again.length;
      this.#wake();
    }
  }

  /** False when the time was over first. */
  async #wait(ms: number, until_ms: number): Promise<boolean> {
    const { signal } = this.#stopped;
    await delay(Math.max(0, Math.min(ms, until_ms - performance.now())), undefined, { signal }).catch(() => {});
    return !signal.aborted && performance.now() < until_ms;
  }
}

function pick({ sha256, start_ms, end_ms, says }: RecordedChunk) {
  return { sha256, start_ms, end_ms, says };
}

function intentOf({ source_stream_ref, epoch: binding_epoch }: SentStream, chunk: RecordedChunk) {
  return { ...announcedOf(chunk), size_bytes: chunk.size_bytes, source_stream_ref, binding_epoch };
}

function announcedOf({ source_chunk_ref, sequence, start_ms, end_ms, sha256 }: RecordedChunk) {
  return {
    ...{ source_chunk_ref, sequence, codec: 'pcm_u8', container: 'wav', sha256 },
    ...{ source_start_ms: start_ms, publication_start_ms: start_ms, source_end_ms: end_ms },
  };
}

function wholeBetween(random: SeededRandom, [least, most]: [number, number]): number {
  return least + random.below(most - least + 1);
}

/** The time to the next of something that comes at random, so often on the mean. */
function expected(random: SeededRandom, every_ms: number): number {
  return every_ms === Number.POSITIVE_INFINITY ? every_ms : -Math.log(1 - random.fraction()) * every_ms;
}

function uuid(random: SeededRandom): string {
  const hex = Buffer.from(random.bytes(16)).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}
