import type { Logger } from 'pino';
import { backoffAfter } from '../../domain/backoff.js';
import { PARTITIONS } from '../../domain/ids.js';
import type { DuePoll } from '../jobs/due_poll.js';
import type { Metrics } from '../metrics/metrics.js';
import { decodeStored, encodeStored } from '../store/codec.js';
import { type OutboxEntry, type Store, StoreUnavailable } from '../store/store.js';
import type { StoredMessage } from './batch.js';
import type { Runtime } from './runtime.js';

const READ_MAX = 200;
/** The most messages of one partition in memory during delivery; others wait in the outbox. */
const IN_HAND_MAX = 2_000;
/** The same including messages of stuck receivers; beyond it, only the first message of each stays in memory. */
const IN_HAND_STUCK_MAX = 20_000;
const POLL_EVERY_MS = 1_000;
const RETRY = { first_ms: 50, max_ms: 5_000 };
const THROWS_MAX = 5;
/** A receiver that refused its first message this often is stuck, and nobody waits for it. */
const REFUSALS_STUCK = 3;
const DRAIN_POLL_MS = 10;

type OutboxRelayDeps = {
  store: Store;
  runtime: Runtime;
  poll: DuePoll;
  metrics: Metrics;
  log: Pick<Logger, 'warn' | 'error'>;
  pause?: (ms: number) => Promise<void>;
};

type Box = {
  read_up_to: number;
  /**
   * The count of invalidations when `read_up_to` was reached; after another invalidation, storage is read from the
   * beginning.
   */
  invalidations: number;
  /** Ids of the messages in memory. */
  in_hand: Set<string>;
  /** Whether too many messages are in memory to read more. */
  full: boolean;
  receivers: Map<string, Receiver>;
  /** Receivers with messages left in the outbox. Later messages to them stay there too, to keep the order. */
  behind: Set<string>;
  /** Receivers that accept messages again: the outbox is read from its beginning for them. */
  recovered: Set<string>;
  /** Callbacks of the senders that wait for a message, by the message's id. */
  waiters: Map<string, () => void>;
  reading: Promise<void> | null;
  again: boolean;
};

type MessageInFlight = { number: number; stored: StoredMessage; began: number };

type Receiver = {
  /** The receiver's messages in memory; the first is being delivered. */
  queue: MessageInFlight[];
  /** Resolves when all of them are delivered. */
  serving: Promise<void>;
  /** The number of times that the receiver refused the first of its messages. */
  refusals: number;
};

/**
 * Delivers outbox messages: reads each partition's outbox in order, gives a receiver one message at a time, and removes
 * applied messages (docs/architecture.md, "Outbox messages"). A receiver that refuses its message delays no other: when
 * many are in memory, all but its first message go back to the outbox. Several processes may relay one partition;
 * receivers drop messages that they have already applied.
 */
export class OutboxRelay {
  readonly #deps: OutboxRelayDeps;
  readonly #boxes: Box[] = Array.from({ length: PARTITIONS }, () => ({
    read_up_to: 0,
    invalidations: 0,
    in_hand: new Set(),
    full: false,
    receivers: new Map(),
    behind: new Set(),
    recovered: new Set(),
    waiters: new Map(),
    reading: null,
    again: false,
  }));
  #drops: (() => void)[] = [];
  #stopped = false;

  constructor(deps: OutboxRelayDeps) {
    this.#deps = deps;
    deps.runtime.downstreamWaiter = (partition, messages) => this.#awaitDownstream(partition, messages);
  }

  /** The number of messages whose senders wait for them to be applied. */
  get waiters(): number {
    return this.#boxes.reduce((sum, { waiters }) => sum + waiters.size, 0);
  }

  /** Starts to read the messages that another process left, and those that this process made before the start. */
  start(): void {
    const { poll } = this.#deps;
    this.#drops = [
      poll.add({ queue: 'outbox', every_ms: POLL_EVERY_MS, look: (partitions) => this.#readAll(partitions) }),
      poll.add({ queue: null, every_ms: POLL_EVERY_MS, look: () => this.#readAll(this.#awaited()) }),
    ];
    void poll.due('outbox').then((partitions) => this.#readAll(partitions));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const drop of this.#drops) drop();
    await Promise.all(this.#boxes.flatMap(({ receivers }) => [...receivers.values()].map(({ serving }) => serving)));
    for (const { waiters } of this.#boxes) {
      for (const waiter of waiters.values()) waiter();
      waiters.clear();
    }
  }

  /** Resolves when no applicable message is left: for the test clock and for shutdown. */
  async drain(): Promise<void> {
    while (!this.#stopped) {
      const partitions = await this.#deps.poll.due('outbox');
      await Promise.all([...partitions, ...this.#awaited()].map((partition) => this.#read(partition)));
      const busy = this.#boxes
        .flatMap(({ receivers }) => [...receivers.values()])
        .filter(({ refusals }) => refusals < REFUSALS_STUCK);
      if (busy.length === 0) return;
      const polled = new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
      await Promise.race([Promise.all(busy.map(({ serving }) => serving)), polled]);
    }
  }

  #awaitDownstream(partition: number, messages: StoredMessage[]): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    const { waiters } = this.#boxes[partition] as Box;
    const all = messages.map(({ id }) => new Promise<void>((resolve) => waiters.set(id, resolve)));
    void this.#read(partition);
    return Promise.all(all).then(() => {});
  }

  #readAll(partitions: readonly number[]): void {
    for (const partition of partitions) void this.#read(partition);
  }

  /** The partitions in which a sender waits for a message: another process may have taken it away. */
  #awaited(): number[] {
    const partitions: number[] = [];
    this.#boxes.forEach(({ waiters }, partition) => {
      if (waiters.size > 0) partitions.push(partition);
    });
    return partitions;
  }

  #read(partition: number): Promise<void> {
    const box = this.#boxes[partition] as Box;
    if (this.#stopped) return Promise.resolve();
    if (box.reading !== null) {
      box.again = true;
      return box.reading;
    }
    box.reading = this.#readOn(partition, box);
    return box.reading;
  }

  async #readOn(partition: number, box: Box): Promise<void> {
    await null; // so that `reading` is set before it is cleared
    try {
      for (;;) {
        box.again = false;
        if (box.invalidations !== this.#deps.runtime.invalidations) {
          box.invalidations = this.#deps.runtime.invalidations;
          box.read_up_to = 0;
        }
        if (box.recovered.size > 0) {
          for (const name of box.recovered) box.behind.delete(name);
          box.recovered.clear();
          box.read_up_to = 0;
        }
        box.full = this.#isFull(box);
        if (box.full) return;
        const waited_for = [...box.waiters.keys()];
        const entries = await this.#deps.store.outbox(partition, box.read_up_to, READ_MAX);
        for (const entry of entries) {
          box.read_up_to = entry.number;
          this.#take(partition, box, entry);
        }
        if (entries.length === READ_MAX) continue;
        // What was committed before this read and is not in hand, another process has applied and taken away.
        for (const id of waited_for) {
          if (box.in_hand.has(id)) continue;
          box.waiters.get(id)?.();
          box.waiters.delete(id);
        }
        if (!box.again) return;
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable))
        this.#deps.log.error({ err: error, partition }, 'an outbox could not be read');
    } finally {
      box.reading = null;
    }
  }

  /** Releases messages that need not stay in memory; true if too many remain to read more. */
  #isFull(box: Box): boolean {
    if (box.in_hand.size < IN_HAND_MAX) return false;
    let stuck = 0;
    for (const [name, receiver] of box.receivers) {
      if (receiver.refusals < REFUSALS_STUCK) continue;
      stuck += 1;
      if (receiver.queue.length > 1) box.behind.add(name);
      for (const left of receiver.queue.splice(1)) this.#release(box, left);
    }
    return box.in_hand.size - stuck >= IN_HAND_MAX || box.in_hand.size >= IN_HAND_STUCK_MAX;
  }

  #release(box: Box, { stored }: MessageInFlight): void {
    box.in_hand.delete(stored.id);
    this.#deps.metrics.outbox_waiting.dec();
  }

  #take(partition: number, box: Box, { number, body }: OutboxEntry): void {
    const stored = readMessage(body);
    if (stored === null) {
      void this.#bury(partition, box, { number, body });
      return;
    }
    const name = `${stored.to.kind}:${stored.to.id}`;
    if (box.in_hand.has(stored.id) || box.behind.has(name)) return;
    box.in_hand.add(stored.id);
    this.#deps.metrics.outbox_waiting.inc();
    const one = { number, stored, began: performance.now() };
    const known = box.receivers.get(name);
    if (known !== undefined) {
      known.queue.push(one);
      return;
    }
    const receiver: Receiver = { queue: [one], serving: Promise.resolve(), refusals: 0 };
    box.receivers.set(name, receiver);
    receiver.serving = this.#serve({ partition, box, name, receiver });
  }

  /** Makes a dead letter of an unreadable message, which would otherwise be read again for ever. */
  async #bury(partition: number, box: Box, { number, body }: OutboxEntry): Promise<void> {
    const { store, log, metrics } = this.#deps;
    try {
      await store.addDeadLetter(partition, `outbox:${number}`, body);
      await store.removeFromOutbox(partition, [number]);
      metrics.dead_letters.inc({ what: 'outbox' });
      log.error({ partition, number }, 'an outbox message cannot be read and is a dead letter now');
    } catch {
      box.read_up_to = Math.min(box.read_up_to, number - 1); // storage is away: it is read again
    }
  }

  /** Delivers the messages of a receiver that are in memory, one after the other. */
  async #serve(serving: { partition: number; box: Box; name: string; receiver: Receiver }): Promise<void> {
    const { partition, box, name, receiver } = serving;
    for (let next = receiver.queue[0]; next !== undefined; next = receiver.queue[0]) {
      const { number, stored, began } = next;
      const { downstream } = await this.#deliver({ partition, number, stored, receiver });
      receiver.queue.shift();
      this.#release(box, next);
      this.#deps.metrics.outbox_lag.observe((performance.now() - began) / 1000);
      const waiter = box.waiters.get(stored.id);
      box.waiters.delete(stored.id);
      if (downstream === null) waiter?.();
      else if (waiter !== undefined) void downstream.then(waiter); // with the messages that this one caused
      if (box.behind.has(name)) {
        box.recovered.add(name);
        void this.#read(partition);
      } else if (box.full && box.in_hand.size <= IN_HAND_MAX / 2) void this.#read(partition);
    }
    box.receivers.delete(name);
  }

  /** Retries until the receiver took the message or it is a dead letter. Resolves with what waits for the messages it caused. */
  async #deliver(delivery: {
    partition: number;
    number: number;
    stored: StoredMessage;
    receiver: Receiver;
  }): Promise<{ downstream: Promise<void> | null }> {
    const { partition, number, stored, receiver } = delivery;
    const { runtime, store, log, metrics } = this.#deps;
    const pause = this.#deps.pause ?? ((ms) => new Promise<void>((resolve) => setTimeout(resolve, ms)));
    let throws = 0;
    for (let tries = 1; !this.#stopped; tries++) {
      try {
        const source = { from: 'outbox' as const, partition, number };
        const answer = await runtime.deliver(stored.to, { message: stored.message, source });
        if (answer.outcome === 'threw') throws += 1;
        if (throws >= THROWS_MAX) {
          await store.addDeadLetter(partition, `outbox:${number}`, encodeStored(stored));
          metrics.dead_letters.inc({ what: 'outbox' });
          log.error(
            { kind: stored.to.kind, partition, number },
            'an outbox message threw too often and is a dead letter now',
          );
        }
        if (answer.outcome === 'decided' || answer.outcome === 'already' || throws >= THROWS_MAX) {
          await store.removeFromOutbox(partition, [number]);
          receiver.refusals = 0;
          return { downstream: answer.downstream };
        }
        if (answer.outcome === 'refused') receiver.refusals += 1;
      } catch (error) {
        receiver.refusals += 1;
        log.warn({ err: error }, 'an outbox message could not be delivered yet');
      }
      await pause(backoffAfter(tries, RETRY));
    }
    return { downstream: null };
  }
}

/** Null if the bytes are no message. */
function readMessage(body: Uint8Array): StoredMessage | null {
  try {
    const stored = decodeStored(body) as Partial<StoredMessage> | null;
    const is_message = typeof stored?.id === 'string' && typeof stored.to?.kind === 'string';
    return is_message && typeof stored.to?.id === 'string' ? (stored as StoredMessage) : null;
  } catch {
    return null;
  }
}
