import type { Logger } from 'pino';
import { PARTITIONS } from '../../domain/ids.js';
import type { Ownership } from '../cluster/cluster_processes.js';
import { randomFraction } from '../random/random.js';
import { type DueQueue, isRetryable, type Store } from '../store/store.js';
import { every } from '../time/periodic_timer.js';

const TICK_MS = 1_000;
/** Partitions of other processes are looked at so rarely, or so many times as rarely as own ones. */
const OTHERS_EVERY_MS = 15_000;
const OTHERS_TIMES = 4;
/** The owner of a partition has so long to see to what fell due there. */
const OTHERS_LATE_MS = 5_000;

export const ALL_PARTITIONS: readonly number[] = Array.from({ length: PARTITIONS }, (_, partition) => partition);

type DuePollDeps = {
  store: Pick<Store, 'duePartitions'>;
  ownership: Ownership;
  log: Pick<Logger, 'error'>;
  now: () => number;
};

/** `queue`: null where all partitions are looked at that have their turn. */
type Polled = { queue: DueQueue | null; every_ms: number; look: (partitions: readonly number[]) => void };

/**
 * Finds out for all workers of a process in which partitions something is due: one question a second. Own partitions have
 * their turn as often as the worker wants, others rarely, spread over time. So a wrong view of who owns what costs time and
 * nothing else.
 */
export class DuePoll {
  readonly #deps: DuePollDeps;
  readonly #polled = new Set<Polled>();
  /** Workers that have never polled: all own partitions are due at once. */
  readonly #new = new Set<Polled>();
  /** When a partition has its turn: in an order of this process' own, so that processes do not look there together. */
  readonly #places = shuffled(ALL_PARTITIONS);
  #ticks = 0;
  #stopTicking: (() => void) | null = null;
  #asking: Promise<void> | null = null;

  constructor(deps: DuePollDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#stopTicking = every(TICK_MS, () => void this.tick());
  }

  async stop(): Promise<void> {
    this.#stopTicking?.();
    await this.#asking;
  }

  /** Asks for those whose turn it is, unless that is being done. Never rejects. */
  tick(): Promise<void> {
    this.#asking ??= this.#tick().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  /** From now on `look` is told where something is due, until what this gives is called. */
  add(polled: Polled): () => void {
    this.#polled.add(polled);
    if (polled.queue !== null) this.#new.add(polled);
    return () => {
      this.#polled.delete(polled);
      this.#new.delete(polled);
    };
  }

  /** All partitions where something is due now; where that can't be told, all. Never rejects. */
  async due(queue: DueQueue | null): Promise<readonly number[]> {
    if (queue === null) return ALL_PARTITIONS;
    const { store, now } = this.#deps;
    const answers = await store
      .duePartitions([{ queue, partitions: ALL_PARTITIONS, by_ms: now() }])
      .catch(() => [ALL_PARTITIONS]);
    return answers[0] ?? [];
  }

  async #tick(): Promise<void> {
    const { store, ownership, log, now } = this.#deps;
    const tick = this.#ticks++;
    const own = ALL_PARTITIONS.filter((partition) => ownership.owns(partition));
    const owned = new Set(own);
    const others = ALL_PARTITIONS.filter((partition) => !owned.has(partition));
    const now_ms = now();
    const questions: { asked: Polled; queue: DueQueue; partitions: readonly number[]; by_ms: number }[] = [];
    for (const polled of this.#polled) {
      const others_every_ms = Math.max(OTHERS_EVERY_MS, OTHERS_TIMES * polled.every_ms);
      const own_due = this.#new.has(polled) ? own : this.#inTurn(own, polled.every_ms, tick);
      const others_turn = this.#inTurn(others, others_every_ms, tick);
      const { queue } = polled;
      if (queue === null) polled.look([...own_due, ...others_turn]);
      else {
        questions.push({ asked: polled, queue, partitions: own_due, by_ms: now_ms });
        questions.push({ asked: polled, queue, partitions: others_turn, by_ms: now_ms - OTHERS_LATE_MS });
      }
    }
    try {
      const answers = await store.duePartitions(questions.map(({ asked: _, ...question }) => question));
      for (const { asked } of questions) this.#new.delete(asked);
      const found = new Map<Polled, number[]>();
      for (const [nth, { asked }] of questions.entries())
        found.set(asked, [...(found.get(asked) ?? []), ...(answers[nth] ?? [])]);
      for (const [{ look }, partitions] of found) if (partitions.length > 0) look(partitions);
    } catch (error) {
      // Storage is away: the next tick asks again.
      if (!isRetryable(error)) log.error({ err: error }, 'what is due could not be looked for');
    }
  }

  /** The partitions that are due at a tick, when each is polled every so often. */
  #inTurn(partitions: readonly number[], every_ms: number, tick: number): readonly number[] {
    const every = Math.round(every_ms / TICK_MS);
    if (every <= 1) return partitions;
    return partitions.filter((partition) => ((this.#places[partition] ?? 0) + tick) % every === 0);
  }
}

function shuffled(values: readonly number[]): number[] {
  const order = values.map((value) => ({ value, at: randomFraction() }));
  return order.sort((a, b) => a.at - b.at).map(({ value }) => value);
}
