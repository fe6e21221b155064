import type { Address } from '../../../actors/actor.js';
import { PARTITIONS } from '../../domain/ids.js';
import { PollPhase } from '../time/poll_phase.js';
import { ENTRY_BYTES, type EntityVersion, readEntry } from './entity_version.js';
import { addressOf } from './partitions.js';

/**
 * The most by which an answer from memory may be older than the newest commit of another process
 * (docs/architecture.md).
 */
const MEMORY_AGE_MAX_MS = 250;
/** The interval of beats: one beat may be late and memory stays trusted. */
const BEAT_EVERY_MS = 100;
/** A line is given up after this number of lost beats: five seconds. */
const BEATS_LOST_MAX = 50;
/** The time before another line is opened to a server that has announced nothing on the last one. */
const OPENS_AGAIN_MS = 1_000;
/** After this number of beats without a read, a second, the process sends no beats until the next read. */
const BEATS_UNUSED_MAX = 10;

/** A Redis server with its partitions. */
export type TellingServer = { name: string; partitions: readonly number[] };

/** Receives the messages of a line, in the order in which Redis sent them. */
export type TellingListener = {
  /** Versions that were committed, as commit.lua writes them. */
  versions(told: Buffer): void;
  /** A beat of this process. */
  beat(number: number): void;
  /** Called when the line has ended. */
  lost(): void;
};

/** The transport of versions and beats. */
export interface Tellings {
  servers(): TellingServer[];
  /** Resolves when all later commits in the partitions of this server are heard. */
  listen(server: TellingServer, listener: TellingListener): Promise<{ close(): void }>;
  /** Publishes a beat on the server that commits to these partitions. Rejects if commits may be made elsewhere. */
  beat(server: TellingServer, number: number): Promise<void>;
}

/**
 * The memory that is told. It asks whether it may be trusted, and is told if not: neither can be made without the
 * other.
 */
export type ToldMemory = {
  /** Called when any process has committed this version, this process included. */
  tell(address: Address, version: EntityVersion): void;
  /** Called when commits may have been missed: nothing read before is certain any more. */
  invalidateCache(): void;
};

type ToldVersionsDeps = {
  tellings: Tellings;
  poll?: Pick<PollPhase, 'is_over' | 'over'>;
};

/**
 * Knows whether this process has been told of other processes' commits. Redis announces each commit on a line of its
 * own (docs/architecture.md, "Memory and storage"). The process publishes beats the way commits go; a returned beat
 * proves that all commits before it have been announced.
 */
export class ToldVersions {
  readonly #deps: ToldVersionsDeps;
  readonly #poll: Pick<PollPhase, 'is_over' | 'over'>;
  readonly #lines = new Map<string, Line>();
  readonly #by_partition: (Line | undefined)[] = new Array(PARTITIONS).fill(undefined);
  #memory: ToldMemory | null = null;
  #timer: NodeJS.Timeout | null = null;
  #unused = 0;
  #opens_from_ms = 0;
  #stopped = false;

  constructor(deps: ToldVersionsDeps) {
    this.#deps = deps;
    this.#poll = deps.poll ?? new PollPhase();
  }

  /** Connects the memory that asks here; it must be connected before it asks. */
  tellTo(memory: ToldMemory): void {
    this.#memory = memory;
  }

  /** Whether all announcements have been handled that had come before the present request. */
  get is_handled(): boolean {
    return this.#poll.is_over;
  }

  /** Resolves when all announcements so far have been handled. */
  handled(): Promise<void> {
    return this.#poll.over();
  }

  /** Whether memory of a partition is no older than an answer may be, given that all that was told has been handled. */
  isTrusted(partition: number): boolean {
    this.#unused = 0;
    if (this.#timer === null && !this.#stopped) this.#start();
    return this.#by_partition[partition]?.is_fresh ?? false;
  }

  stop(): void {
    this.#stopped = true;
    this.#rest();
    for (const line of this.#lines.values()) line.close();
  }

  #start(): void {
    this.#timer = setInterval(() => this.#beat(), BEAT_EVERY_MS);
    this.#timer.unref();
    this.#beat();
  }

  #rest(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #beat(): void {
    this.#unused += 1;
    if (this.#unused > BEATS_UNUSED_MAX) {
      this.#rest();
      return;
    }
    const servers = this.#deps.tellings.servers();
    const names = new Set(servers.map(({ name }) => name));
    for (const [name, line] of this.#lines) if (!names.has(name)) line.close();
    for (const server of servers) {
      const line = this.#lines.get(server.name);
      if (line === undefined) {
        if (performance.now() >= this.#opens_from_ms) this.#open(server);
      } else if (line.server.partitions.join() !== server.partitions.join()) line.close();
      else line.beat();
    }
  }

  #open(server: TellingServer): void {
    const { tellings } = this.#deps;
    const line = new Line(server, {
      tellings,
      onTold: (address, version) => this.#memory?.tell(address, version),
      onFirstBeat: () => {
        for (const partition of server.partitions) this.#by_partition[partition] = line;
        this.#memory?.invalidateCache();
      },
      onClose: (has_told) => {
        if (!has_told) this.#opens_from_ms = performance.now() + OPENS_AGAIN_MS;
        if (this.#lines.get(server.name) === line) this.#lines.delete(server.name);
        for (const partition of server.partitions)
          if (this.#by_partition[partition] === line) this.#by_partition[partition] = undefined;
      },
    });
    this.#lines.set(server.name, line);
    void line.open();
  }
}

type LineDeps = Pick<ToldVersionsDeps, 'tellings'> & {
  onTold: ToldMemory['tell'];
  onFirstBeat(): void;
  onClose(has_told: boolean): void;
};

/** A line to one server. It is usable from the first returned beat until a message may be missed. */
class Line {
  readonly server: TellingServer;
  readonly #deps: LineDeps;
  /** The send time of each outstanding beat, by its number. */
  readonly #sent = new Map<number, number>();
  #beats = 0;
  /** The time before which all commits are handled; null until a beat has come back. */
  #told_until_ms: number | null = null;
  #listening: { close(): void } | null = null;
  #is_closed = false;

  constructor(server: TellingServer, deps: LineDeps) {
    this.server = server;
    this.#deps = deps;
  }

  get is_fresh(): boolean {
    return this.#told_until_ms !== null && performance.now() - this.#told_until_ms <= MEMORY_AGE_MAX_MS;
  }

  async open(): Promise<void> {
    const { tellings } = this.#deps;
    try {
      const listening = await tellings.listen(this.server, {
        versions: (told) => this.#hear(told),
        beat: (number) => this.#hearBeat(number),
        lost: () => this.close(),
      });
      this.#listening = listening;
      if (this.#is_closed) listening.close();
    } catch {
      this.close();
    }
    this.beat();
  }

  beat(): void {
    if (this.#listening === null || this.#is_closed) return;
    if (this.#sent.size >= BEATS_LOST_MAX) {
      this.close();
      return;
    }
    const number = ++this.#beats;
    this.#sent.set(number, performance.now());
    this.#deps.tellings.beat(this.server, number).catch(() => this.close());
  }

  close(): void {
    if (this.#is_closed) return;
    this.#is_closed = true;
    const has_told = this.#told_until_ms !== null;
    this.#told_until_ms = null;
    this.#listening?.close();
    this.#deps.onClose(has_told);
  }

  #hearBeat(number: number): void {
    const sent_ms = this.#sent.get(number);
    if (sent_ms === undefined || this.#is_closed) return;
    if (this.#told_until_ms === null) this.#deps.onFirstBeat();
    this.#told_until_ms = sent_ms;
    for (const earlier of this.#sent.keys()) {
      if (earlier > number) break;
      this.#sent.delete(earlier);
    }
  }

  /** For each entity: the length of its key as two bytes, the key, the version as stored. */
  #hear(told: Buffer): void {
    for (let at = 0; at < told.length; ) {
      const end = at + 2 + (told.length < at + 2 ? told.length : told.readUInt16BE(at));
      const address = end + ENTRY_BYTES > told.length ? null : addressOf(told.toString('utf8', at + 2, end));
      if (address === null) {
        this.close(); // nobody knows of what it was to tell
        return;
      }
      this.#deps.onTold(address, readEntry(told, end));
      at = end + ENTRY_BYTES;
    }
  }
}
