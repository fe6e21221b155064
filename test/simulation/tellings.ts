import { PARTITIONS } from '../../src/domain/ids.js';
import type { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { entryOf } from '../../src/engine/store/entity_version.js';
import { keysOf } from '../../src/engine/store/partitions.js';
import type { TellingListener, TellingServer, Tellings } from '../../src/engine/store/told_versions.js';
import type { Connection } from './connection.js';
import type { Applied } from './model_store.js';
import type { VirtualTime } from './virtual_time.js';

/** An answer that no commit proves may be so much older than the newest commit (docs/architecture.md). */
export const STALE_MAX_MS = 250;
const HANDLED_MAX_MS = 8;
const POLLED_MAX_MS = 0.05;
const NOTICED_MAX_MS = 3_000;
const MOVING_MAX_MS = 2_000;
const LISTENS_MAX_MS = 40;
const BEAT_LOST = 0.02;

type Parts = { random: SeededRandom; time: VirtualTime; record: (line: string) => void };
type Message = { versions: Buffer } | { beat: number };

/** Redis as it tells processes of commits. */
export class TellingModel {
  readonly #parts: Parts;
  readonly #lines = new Set<SimulatedLine>();
  readonly #servers: TellingServer[];
  readonly #moving = new Set<number>();
  /** Whether what is told arrives before the writer's answer can, so that no read is stale; else late, or lost in silence. */
  readonly is_prompt: boolean;
  #late_max_ms = 0;
  is_calm = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { random } = parts;
    this.is_prompt = random.chance(0.5);
    if (!this.is_prompt) this.#late_max_ms = random.pick([0, 30, 240, 2_500]);
    const shards = 1 + random.below(2);
    const all = Array.from({ length: PARTITIONS }, (_, partition) => partition);
    this.#servers = Array.from({ length: shards }, (_, shard) => ({
      name: `shard ${shard}`,
      partitions: all.filter((partition) => partition % shards === shard),
    }));
  }

  get servers(): TellingServer[] {
    return this.#servers;
  }

  get late_ms(): number {
    const { random } = this.#parts;
    return this.is_calm || random.chance(0.9) ? 0 : random.between(0, this.#late_max_ms);
  }

  add(line: SimulatedLine): void {
    this.#lines.add(line);
  }

  remove(line: SimulatedLine): void {
    this.#lines.delete(line);
  }

  isMoving({ partitions }: TellingServer): boolean {
    return partitions.some((partition) => this.#moving.has(partition));
  }

  committed({ place, version, commit }: Applied): void {
    const { address, partition } = place;
    if (this.#moving.has(partition)) return; // it was made on another node, where nobody listens
    const key = Buffer.from(keysOf(partition).entity(address));
    const length = Buffer.alloc(2);
    length.writeUInt16BE(key.length);
    const versions = Buffer.concat([length, key, entryOf({ version, commit_id: commit.commit_id })]);
    for (const line of this.#lines) if (line.server.partitions.includes(partition)) line.tell({ versions });
  }

  /** A line breaks, or a partition moves to another node and back. */
  meddle(): void {
    const { random, time, record } = this.#parts;
    if (random.chance(0.1)) [...this.#lines][random.below(this.#lines.size)]?.break();
    if (this.is_prompt || !random.chance(0.05)) return;
    const partition = random.below(PARTITIONS / 51) * 51;
    record(`partition ${partition} moves`);
    this.#moving.add(partition);
    time.after(random.between(0, MOVING_MAX_MS), () => this.#moving.delete(partition));
  }

  rest(): void {
    this.is_calm = true;
    this.#moving.clear();
  }
}

/** A line of one process: what was told arrives in order, lies there until the process handles it, and may be lost. */
class SimulatedLine {
  readonly server: TellingServer;
  readonly #process: ProcessTellings;
  readonly #listener: TellingListener;
  readonly #arrived: Message[] = [];
  #last_at_ms = 0;
  #is_broken = false;

  constructor(server: TellingServer, process: ProcessTellings, listener: TellingListener) {
    this.server = server;
    this.#process = process;
    this.#listener = listener;
  }

  tell(message: Message): void {
    const { time, model } = this.#process.parts;
    this.#last_at_ms = Math.max(this.#last_at_ms, time.elapsed_ms + model.late_ms);
    const arrive = () => {
      if (this.#is_broken) return;
      this.#arrived.push(message);
      this.#process.handleSoon();
    };
    if (this.#last_at_ms <= time.elapsed_ms) arrive();
    else time.after(this.#last_at_ms - time.elapsed_ms, arrive);
  }

  handle(): void {
    for (const message of this.#arrived.splice(0)) {
      if ('beat' in message) this.#listener.beat(message.beat);
      else this.#listener.versions(message.versions);
    }
  }

  /** Where all is prompt the process learns of it with what had arrived before, else some time later. */
  break(): void {
    const { time, random, model, record } = this.#process.parts;
    if (this.#is_broken) return;
    this.#is_broken = true;
    record(`a line to ${this.server.name} breaks`);
    model.remove(this);
    const lost = () => {
      this.handle();
      this.#listener.lost();
    };
    if (model.is_prompt) this.#process.onBroken(lost);
    else time.after(random.between(0, NOTICED_MAX_MS), lost);
  }

  close(): void {
    this.#is_broken = true;
    this.#process.parts.model.remove(this);
    this.#process.closed(this);
  }
}

/** What one process is told, and when it handles it. */
export class ProcessTellings implements Tellings {
  readonly parts: Parts & { model: TellingModel; connection: Connection };
  readonly #lines = new Set<SimulatedLine>();
  #broken: (() => void)[] = [];

  constructor(parts: Parts & { model: TellingModel; connection: Connection }) {
    this.parts = parts;
  }

  servers(): TellingServer[] {
    return this.parts.model.servers;
  }

  listen(server: TellingServer, listener: TellingListener): Promise<{ close(): void }> {
    const { time, random, model, connection } = this.parts;
    return new Promise((resolve, reject) => {
      time.after(random.between(0, LISTENS_MAX_MS), () => {
        if (connection.is_cut) return;
        if (connection.away) return reject(new Error('away'));
        const line = new SimulatedLine(server, this, listener);
        this.#lines.add(line);
        model.add(line);
        time.after(random.between(0, LISTENS_MAX_MS), () => resolve(line));
      });
    });
  }

  beat(server: TellingServer, number: number): Promise<void> {
    const { time, random, model, connection } = this.parts;
    return new Promise((resolve, reject) => {
      time.after(random.between(0.02, LISTENS_MAX_MS), () => {
        if (connection.is_cut) return;
        if (connection.away || model.isMoving(server)) return reject(new Error('away'));
        if (!model.is_calm && random.chance(BEAT_LOST)) return;
        for (const line of this.#lines) if (line.server === server) line.tell({ beat: number });
        resolve();
      });
    });
  }

  closed(line: SimulatedLine): void {
    this.#lines.delete(line);
  }

  onBroken(lost: () => void): void {
    this.#broken.push(lost);
    this.handleSoon();
  }

  handleSoon(): void {
    const { time, random, connection } = this.parts;
    time.after(random.between(0, HANDLED_MAX_MS), () => connection.whenAwake(() => this.#handle()));
  }

  #handle(): void {
    for (const line of this.#lines) line.handle();
    for (const lost of this.#broken.splice(0)) lost();
  }

  readonly poll = {
    is_over: false,
    over: (): Promise<void> => {
      const { time, random, connection } = this.parts;
      return new Promise((resolve) => {
        time.after(random.between(0, POLLED_MAX_MS), () =>
          connection.whenAwake(() => {
            this.#handle();
            resolve();
          }),
        );
      });
    },
  };
}
