import type { Bound, ConcurrencyGroups } from './concurrency_limit.js';

/** Freed places are handed out together after this time, several to one endpoint. */
const SERVE_AFTER_MS = 5;

export interface Queued {
  /** The groups whose places it takes; null while they are not known: it then needs no place to start. */
  readonly groups: ConcurrencyGroups | null;
  /** Starts if there is a place; otherwise returns the bound that it waits for. */
  tryStart(): Bound | null;
}

/**
 * Endpoints that have something to do, each once. An endpoint without a place waits in the queue of the bound that
 * stopped it: of all, of its origin or of its account. A freed place is offered only where it can be used, so thousands
 * of endpoints that wait for a hanging receiver cost the others nothing.
 */
export class ReadyQueue {
  readonly #lines = new Map<string, Set<Queued>>();
  /** Queues in which an endpoint may start now. */
  readonly #freed = new Set<string>();
  #timer: NodeJS.Timeout | null = null;

  /** Starts the endpoint, or puts it at the end of the queue of its bound. */
  add(one: Queued): void {
    const line = this.#linesOf(one.groups).find((name) => this.#lines.has(name));
    if (line !== undefined) {
      this.#lines.get(line)?.add(one);
      this.#serveSoon([line]);
      return;
    }
    const bound = one.tryStart();
    if (bound !== null) this.#wait(one, bound);
  }

  /** Whether an endpoint waits that comes before a user of these places. */
  isAhead(groups: ConcurrencyGroups | null): boolean {
    return this.#linesOf(groups).some((name) => this.#lines.has(name));
  }

  remove(one: Queued): void {
    for (const name of this.#linesOf(one.groups)) this.#leave(one, name);
  }

  /** Must be called when places of these groups may have become free. */
  freed(groups: ConcurrencyGroups): void {
    this.#serveSoon(this.#linesOf(groups).filter((name) => this.#lines.has(name)));
  }

  #serveSoon(names: string[]): void {
    if (names.length === 0) return;
    for (const name of names) this.#freed.add(name);
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      const freed = [...this.#freed];
      this.#freed.clear();
      for (const name of freed) this.#serve(name);
    }, SERVE_AFTER_MS);
  }

  /**
   * Serves a queue in order. An endpoint that another bound stops moves to that bound's queue. If the queue's own bound
   * stops one, those behind it wait as well, except in an account's queue.
   */
  #serve(name: string): void {
    const [bound] = name.split(' ', 1) as [Bound];
    for (const one of this.#lines.get(name) ?? []) {
      const stopped_by = one.tryStart();
      // Of an account's places an endpoint gets fewer the more it has, so that one behind may still get one.
      if (stopped_by === bound && bound !== 'account') return;
      if (stopped_by === bound) continue;
      this.#leave(one, name);
      if (stopped_by !== null) this.#wait(one, stopped_by);
    }
  }

  #wait(one: Queued, bound: Bound): void {
    const name = nameOf(bound, one.groups as ConcurrencyGroups);
    const line = this.#lines.get(name);
    if (line === undefined) this.#lines.set(name, new Set([one]));
    else line.add(one);
  }

  #leave(one: Queued, name: string): void {
    const line = this.#lines.get(name);
    if (line?.delete(one) && line.size === 0) this.#lines.delete(name);
  }

  #linesOf(groups: ConcurrencyGroups | null): string[] {
    if (groups === null) return [];
    return (['all', 'origin', 'account'] as const).map((bound) => nameOf(bound, groups));
  }
}

function nameOf(bound: Bound, { origin, account_id }: ConcurrencyGroups): string {
  return bound === 'all' ? bound : `${bound} ${bound === 'origin' ? origin : account_id}`;
}
