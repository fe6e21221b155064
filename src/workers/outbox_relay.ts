import type { Logger } from 'pino';
import { PARTITIONS } from '../vocabulary/ids.js';
import type { Tell } from '../runtime/fold.js';
import type { Metrics } from '../runtime/metrics.js';
import type { Runtime } from '../runtime/runtime.js';
import { decodeStored, encodeStored } from '../store/codec.js';
import type { OutboxTell, Store } from '../store/store.js';

const READ_MAX = 200;
/** Tells of one partition that may be in hand; further ones wait in the outbox. */
const IN_HAND_MAX = 2_000;
const POLL_EVERY_MS = 1_000;
const RETRY_FIRST_MS = 50;
const RETRY_MAX_MS = 5_000;
const THROWS_MAX = 5;

type Parts = { store: Store; runtime: Runtime; metrics: Metrics; log: Pick<Logger, 'warn' | 'error'>; pause?: (ms: number) => Promise<void> };

type Box = {
  read_up_to: number;
  in_hand: number;
  /** Per receiver, the delivery of its last tell in hand: the next one waits for it. */
  receivers: Map<string, Promise<void>>;
  reading: Promise<void> | null;
  again: boolean;
};

/**
 * Applies tells: reads each partition's outbox in order, hands a receiver one tell at a time, and takes from the
 * outbox what was applied (design section 6). A receiver that can't take its tell holds up nobody else's. Several
 * processes may relay one partition; receivers drop what they have taken before.
 */
export class OutboxRelay {
  readonly #parts: Parts;
  readonly #boxes: Box[] = Array.from({ length: PARTITIONS }, () => ({
    read_up_to: 0,
    in_hand: 0,
    receivers: new Map(),
    reading: null,
    again: false,
  }));
  readonly #waiters = new Map<string, () => void>();
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.runtime.settler = (partition, tells) => this.#settle(partition, tells);
  }

  /** Begins to look at all partitions at intervals, for what another process left behind. */
  start(): void {
    this.#timer = setInterval(() => this.#wakeAll(), POLL_EVERY_MS);
    this.#timer.unref();
    this.#wakeAll();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    await Promise.all(this.#boxes.flatMap(({ receivers }) => [...receivers.values()]));
  }

  /** Resolves when no tell is left that could be applied: for the test clock and for shutting down. */
  async drain(): Promise<void> {
    await Promise.all(this.#boxes.map((_, partition) => this.#read(partition)));
    for (;;) {
      const busy = this.#boxes.flatMap(({ receivers }) => [...receivers.values()]);
      if (busy.length === 0) return;
      await Promise.race([Promise.all(busy), new Promise((resolve) => setTimeout(resolve, RETRY_MAX_MS))]);
      if (this.#boxes.every(({ receivers }) => receivers.size === 0)) return;
    }
  }

  #settle(partition: number, tells: Tell[]): Promise<void> {
    const all = tells.map(({ id }) => new Promise<void>((resolve) => this.#waiters.set(id, resolve)));
    void this.#read(partition);
    return Promise.all(all).then(() => {});
  }

  #wakeAll(): void {
    for (let partition = 0; partition < PARTITIONS; partition++) void this.#read(partition);
  }

  #read(partition: number): Promise<void> {
    const box = this.#boxes[partition] as Box;
    if (this.#stopped) return Promise.resolve();
    if (box.reading !== null) {
      box.again = true;
      return box.reading;
    }
    box.reading = this.#readOn(partition, box)
      .catch(() => {}) // storage is away: the next poll reads on
      .finally(() => {
        box.reading = null;
      });
    return box.reading;
  }

  async #readOn(partition: number, box: Box): Promise<void> {
    for (;;) {
      box.again = false;
      if (box.in_hand >= IN_HAND_MAX) return;
      const tells = await this.#parts.store.tells(partition, box.read_up_to, READ_MAX);
      for (const tell of tells) {
        box.read_up_to = tell.number;
        this.#take(partition, box, tell);
      }
      if (tells.length < READ_MAX && !box.again) return;
    }
  }

  #take(partition: number, box: Box, { number, body }: OutboxTell): void {
    const tell = decodeStored(body) as Tell;
    const receiver = `${tell.to.kind}:${tell.to.id}`;
    const before = box.receivers.get(receiver) ?? Promise.resolve();
    box.in_hand += 1;
    this.#parts.metrics.tells_waiting.inc();
    const began = performance.now();
    const delivery = before
      .then(() => this.#deliver(partition, number, tell))
      .then(({ settled }) => {
        this.#parts.metrics.tell_lag.observe((performance.now() - began) / 1000);
        const waiter = this.#waiters.get(tell.id);
        this.#waiters.delete(tell.id);
        if (waiter === undefined) return;
        if (settled === null) waiter();
        else void settled.then(waiter); // what it told others counts as well
      })
      .finally(() => {
        box.in_hand -= 1;
        this.#parts.metrics.tells_waiting.dec();
        if (box.receivers.get(receiver) === delivery) box.receivers.delete(receiver);
      });
    box.receivers.set(receiver, delivery);
  }

  /** Tries until the receiver has taken the tell, or set it aside; `settled` is what that in turn set off. */
  async #deliver(partition: number, number: number, tell: Tell): Promise<{ settled: Promise<void> | null }> {
    const { runtime, store, log, metrics } = this.#parts;
    const pause = this.#parts.pause ?? ((ms) => new Promise<void>((resolve) => setTimeout(resolve, ms)));
    let throws = 0;
    for (let wait_ms = RETRY_FIRST_MS; !this.#stopped; wait_ms = Math.min(wait_ms * 2, RETRY_MAX_MS)) {
      try {
        const source = { from: 'tell' as const, partition, number };
        const answer = await runtime.deliver(tell.to, { message: tell.message, source });
        if (answer.outcome === 'threw') throws += 1;
        if (throws >= THROWS_MAX) {
          await store.setAside(partition, `tell:${number}`, encodeStored(tell));
          metrics.set_aside.inc({ what: 'tell' });
          log.error({ kind: tell.to.kind, partition, number }, 'a tell threw too often and was set aside');
        }
        if (answer.outcome === 'decided' || answer.outcome === 'already' || throws >= THROWS_MAX) {
          await store.removeTells(partition, [number]);
          return { settled: answer.settled };
        }
      } catch (error) {
        log.warn({ err: error }, 'a tell could not be delivered yet');
      }
      await pause(wait_ms);
    }
    return { settled: null };
  }
}
