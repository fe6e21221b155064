import type { ActorKind, Address } from '../../../actors/actor.js';
import { isRefusal, type Refusal } from '../../domain/refusals.js';
import { randomBytes } from '../random/random.js';
import type { EntityVersion } from '../store/entity_version.js';
import { partitionOf } from '../store/partitions.js';
import type { EntityLocation, Fence } from '../store/store.js';
import { every } from '../time/periodic_timer.js';
import type { BatchObserver } from '../tracing/batch_record.js';
import type { RequestScope } from '../tracing/request_scope.js';
import { Activation } from './activation.js';
import { ActiveEntities } from './active_entities.js';
import type { Incoming, StoredMessage } from './batch.js';
import { Caches } from './caches.js';
import { Deadlines } from './deadlines.js';
import { EntityActors } from './entity_actors.js';
import { type Inspection, inspect, lookAt, type Pressure, pressureOf } from './inspection.js';
import { type MessageAnswer, refused, type WaitingMessage } from './mailbox.js';
import { RecentMessages } from './recent_messages.js';
import type { RuntimeDeps } from './runtime_deps.js';
import { LATE, SHUT } from './runtime_refusals.js';
import { readSnapshot } from './snapshot.js';

const ASK_DEADLINE_MS = 8_000;
const DOWNSTREAM_MAX_MS = 2_000;
const ACTIVE_MAX = 50_000;
/** Entities that a fleet uses every minute stay; ended streams, a dozen for each recorder and hour, do not pile up. */
const IDLE_MAX_MS = 2 * 60_000;
/**
 * Records beside a state are kept for the next message of a burst; those of thousands of quiet entities would fill
 * memory.
 */
const RECORDS_IDLE_MS = 5_000;
const REST_EVERY_MS = 2_000;
const REST_TRIES_MAX = 2_000;
const NEWER_SAID_EVERY_MS = 60_000;

/** A kind whose own types only its callers know. */
// biome-ignore lint/suspicious/noExplicitAny: state and message types differ by kind and meet only in its own decide
export type AnyActorKind = ActorKind<any, any, any>;

export type RuntimeOptions = Pick<RuntimeDeps, 'store' | 'metrics' | 'log' | 'now' | 'trust_memory'> & {
  told?: RuntimeDeps['told'];
  onBatch?: BatchObserver | null;
  certain?: () => number;
  kinds: AnyActorKind[];
  pause?: (ms: number) => Promise<void>;
  active_max?: number;
  ask_deadline_ms?: number;
};

/** Wakes the relay of a partition and resolves when it has applied these messages. */
export type DownstreamWaiter = (partition: number, messages: StoredMessage[]) => Promise<void>;

/** The functions of the runtime for callers that do not run it. */
export type Asks = Pick<
  Runtime,
  | 'ask'
  | 'askDownstream'
  | 'deliver'
  | 'invalidations'
  | 'caches'
  | 'homeOf'
  | 'locate'
  | 'inspect'
  | 'look'
  | 'stored'
  | 'releaseQuarantine'
  | 'invalidateCache'
>;

/**
 * All entities of this process: finds or loads the entity at an address, sends it messages, and unloads idle ones. nact
 * delivers messages to each; asking, saving and answering are ours (docs/architecture.md, "What nact does").
 */
export class Runtime {
  readonly #kinds = new Map<string, ActorKind>();
  readonly #active = new ActiveEntities();
  readonly #parts: RuntimeDeps;
  readonly #recent = new RecentMessages();
  readonly #actors = new EntityActors<WaitingMessage>();
  readonly #deadlines: Deadlines;
  readonly #options: RuntimeOptions;
  readonly #stopTicking: () => void;
  /** Caches for data of entities beside their states. */
  readonly caches = new Caches();
  readonly #writer = Buffer.from(randomBytes(6)).toString('hex');
  #awaitDownstream: DownstreamWaiter = () => Promise.resolve();
  #commits = 0;
  #spawned = 0;
  #invalidations = 0;
  #shut = false;
  #waiting = 0;
  readonly #newer_said_at = new Map<string, number>();

  constructor(options: RuntimeOptions) {
    for (const kind of options.kinds) this.#kinds.set(kind.kind, kind);
    this.#options = options;
    this.#deadlines = new Deadlines(options.ask_deadline_ms ?? ASK_DEADLINE_MS);
    this.#parts = {
      store: options.store,
      actors: this.#actors,
      metrics: options.metrics,
      recent: this.#recent,
      log: options.log,
      now: options.now,
      certain: options.certain ?? options.now,
      pause: options.pause ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms))),
      trust_memory: options.trust_memory,
      told: options.told ?? null,
      onBatch: options.onBatch ?? null,
      invalidations: () => this.#invalidations,
      nextCommitId: () => this.#writer + (++this.#commits).toString(16).padStart(12, '0'),
      isOwnCommit: (commit_id) => commit_id.startsWith(this.#writer),
      awaitDownstream: (partition, messages) => this.#awaitDownstream(partition, messages),
      onNewer: ({ address: { kind } }, schema) => this.#noteNewer(kind, schema),
      onRegress: (place, seen, stored) => {
        options.log.error({ kind: place.address.kind, seen, stored }, 'storage went back in time; memory is dropped');
        this.invalidateCache();
      },
    };
    options.told?.tellTo(this);
    this.#stopTicking = every(REST_EVERY_MS, () => {
      this.#restIdle();
      this.#forgetRecords();
    });
  }

  /** Waits for outbox messages; set once, after the relay is made. */
  set downstreamWaiter(waiter: DownstreamWaiter) {
    this.#awaitDownstream = waiter;
  }

  /** The way in which ids of a kind determine their partition; null for an unknown kind. */
  homeOf(kind: string): 'id' | 'hash' | null {
    return this.#kinds.get(kind)?.home ?? null;
  }

  /** The place of an entity. */
  locate(address: Address): EntityLocation {
    return { address, partition: partitionOf(address, this.#kind(address).home) };
  }

  /**
   * Sends a message and waits for its answer, which may be a refusal. Every ask is answered: by the actor, or with
   * UNAVAILABLE when the mailbox is full, storage is away, or the deadline passes.
   */
  async ask<Reply = unknown>(
    address: Address,
    message: unknown,
    fences: Fence[] = [],
    scope?: RequestScope,
  ): Promise<Reply | Refusal> {
    const sent = this.#send(address, { message, source: { from: 'ask', fences }, scope });
    return (sent instanceof Promise ? await sent : sent).reply as Reply | Refusal;
  }

  /** As `ask`, but answers when all outbox messages that it caused have been applied, or after two seconds. */
  async askDownstream<Reply = unknown>(
    address: Address,
    message: unknown,
    fences: Fence[] = [],
    scope?: RequestScope,
  ): Promise<Reply | Refusal> {
    const answer = await this.#send(address, { message, source: { from: 'ask', fences }, scope });
    if (answer.downstream !== null && !isRefusal(answer.reply)) await withinMs(answer.downstream, DOWNSTREAM_MAX_MS);
    return answer.reply as Reply | Refusal;
  }

  /** Delivers an outbox message or a reminder; the answer says whether it may be removed. */
  async deliver(address: Address, incoming: Incoming): Promise<MessageAnswer> {
    return this.#send(address, incoming);
  }

  /** Answers from memory if possible: at once, unless commits of other processes must be handled first. */
  #send(address: Address, incoming: Incoming): MessageAnswer | Promise<MessageAnswer> {
    if (this.#shut) return refused(SHUT);
    const activation = this.#activation(address);
    const { told } = this.#parts;
    if (told !== null && !told.is_handled && activation.isRead(incoming))
      return told.handled().then(() => this.#sendHandled(address, incoming));
    return activation.readNow(incoming) ?? this.#enqueue(activation, incoming);
  }

  /** The entity may have left memory meanwhile. */
  #sendHandled(address: Address, incoming: Incoming): MessageAnswer | Promise<MessageAnswer> {
    if (this.#shut) return refused(SHUT);
    const activation = this.#activation(address);
    return activation.readNow(incoming) ?? this.#enqueue(activation, incoming);
  }

  /** Notes that some process has committed this version of an entity. */
  tell(address: Address, version: EntityVersion): void {
    this.#active.get(address)?.memory.tell(version);
  }

  #enqueue(activation: Activation, incoming: Incoming): Promise<MessageAnswer> {
    return new Promise<MessageAnswer>((resolve) => {
      this.#waiting += 1;
      let is_late = false;
      const deadline = this.#deadlines.add(() => {
        is_late = true;
        this.#waiting -= 1;
        this.#options.metrics.refused.inc({ kind: activation.kind.kind, reason: 'deadline' });
        resolve(refused(LATE));
      });
      activation.enqueue(incoming, (answer) => {
        if (is_late) return;
        this.#deadlines.remove(deadline);
        this.#waiting -= 1;
        resolve(answer);
      });
    });
  }

  #kind(address: Address): ActorKind {
    const kind = this.#kinds.get(address.kind);
    if (kind === undefined) throw new Error(`no actor of kind ${address.kind}`);
    return kind;
  }

  #activation(address: Address): Activation {
    let found = this.#active.get(address);
    if (found === undefined) {
      const kind = this.#kind(address);
      found = new Activation(this.locate(address), kind, this.#parts, ++this.#spawned);
      this.#options.metrics.activations.inc({ kind: kind.kind });
      this.#options.metrics.active.inc({ kind: kind.kind });
      this.#active.add(found);
    } else {
      this.#active.use(found);
    }
    if (this.#active.size > this.#bound) this.#restIdle(found);
    found.last_used = performance.now();
    return found;
  }

  /** Entities are in order of use, so the quiet ones come first. */
  #forgetRecords(): void {
    const quiet_since = performance.now() - RECORDS_IDLE_MS;
    for (const activation of this.#active) {
      if (activation.last_used > quiet_since) break;
      activation.memory.forgetRecords();
    }
  }

  get #bound(): number {
    return this.#options.active_max ?? ACTIVE_MAX;
  }

  /** Unloads entities that were idle for long, and the least recently used if there are too many. */
  #restIdle(kept: Activation | null = null): void {
    const old = performance.now() - IDLE_MAX_MS;
    let tries = 0;
    for (const activation of this.#active) {
      if (tries++ >= REST_TRIES_MAX) break;
      if (this.#active.size <= this.#bound && activation.last_used > old) break;
      if (activation.memory.quarantined !== null) {
        // It stays for operators to see, and must not stand in the way of those behind it.
        this.#active.use(activation);
        activation.last_used = performance.now();
        continue;
      }
      // Until its message is in, the one that is kept looks idle itself.
      if (activation !== kept && activation.idle) this.#rest(activation);
    }
  }

  #rest(activation: Activation): void {
    const { metrics } = this.#options;
    activation.stop();
    this.#active.delete(activation);
    metrics.passivations.inc({ kind: activation.kind.kind });
    metrics.active.dec({ kind: activation.kind.kind });
  }

  /** Counts how often memory was invalidated, for example by a new connection to Redis. */
  get invalidations(): number {
    return this.#invalidations;
  }

  /** Makes each entity check its memory against storage before using it again. */
  invalidateCache(): void {
    this.#invalidations += 1;
  }

  /** Measures the load: it reads every entity in memory, so call it rarely. */
  pressure(): Pressure {
    return pressureOf(this.#active);
  }

  /** Lists the entities in memory for operators: by kind, the busiest, and the busiest and slowest of the last minute. */
  inspect(limit: number): Inspection {
    return inspect(this.#active, this.#recent, limit);
  }

  /** One entity in memory and its last messages, the newest first; null if it is not in memory. */
  look(address: Address) {
    const found = this.#active.get(address);
    return found === undefined ? null : lookAt(found, this.#recent);
  }

  /**
   * Reads the stored state of an entity without its mailbox. Null if nothing is stored; a null state is that of an
   * ended entity.
   */
  async stored(address: Address): Promise<{ version: number; bytes: number; state: unknown } | null> {
    const [stored] = await this.#parts.store.load([this.locate(address)]);
    if (stored === undefined || stored === null) return null;
    const { state } = readSnapshot(this.#kind(address), stored.snapshot);
    return { version: stored.version, bytes: stored.snapshot.length, state };
  }

  /** Lets a quarantined entity try again with its next message; false if no entity of that address is quarantined. */
  releaseQuarantine(address: Address): boolean {
    const found = this.#active.get(address);
    if (found === undefined || found.memory.quarantined === null) return false;
    found.memory.releaseQuarantine();
    return true;
  }

  /** Logs now and then, not for each entity: during a rolling release there may be many. */
  #noteNewer(kind: string, schema: number): void {
    this.#options.metrics.refused.inc({ kind, reason: 'newer_schema' });
    const now = performance.now();
    if (now < (this.#newer_said_at.get(kind) ?? Number.NEGATIVE_INFINITY) + NEWER_SAID_EVERY_MS) return;
    this.#newer_said_at.set(kind, now);
    const known = this.#kinds.get(kind)?.schema;
    this.#options.log.warn(
      { kind, schema, known },
      'a newer server wrote what can not be read here: 503 until it serves',
    );
  }

  /** Takes no more messages, and waits up to the deadline until the accepted ones are answered. */
  async shutdown(deadline_ms: number): Promise<void> {
    this.#shut = true;
    const until = performance.now() + deadline_ms;
    while (this.#waiting > 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 10));
    this.#stopTicking();
    // nact stops no child with its parent, and a child that is not stopped holds the process by its timer.
    for (const activation of this.#active) activation.stop();
    this.#actors.stopAll();
  }
}

async function withinMs(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
