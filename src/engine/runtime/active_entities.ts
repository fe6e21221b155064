import type { Address } from '../../../actors/actor.js';
import type { Activation } from './activation.js';

/**
 * Entities in memory, by address and in order of use. The order is a linked list through the entities: a Map that keeps
 * the order by moving used entries to its end is rehashed again and again, and needs keys made of kind and id.
 */
export class ActiveEntities implements Iterable<Activation> {
  readonly #by_kind = new Map<string, Map<string, Activation>>();
  #first: Activation | null = null;
  #last: Activation | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get({ kind, id }: Address): Activation | undefined {
    return this.#by_kind.get(kind)?.get(id);
  }

  /** Adds an entity as the most recently used one. */
  add(activation: Activation): void {
    const { kind, id } = activation.place.address;
    let same_kind = this.#by_kind.get(kind);
    if (same_kind === undefined) {
      same_kind = new Map();
      this.#by_kind.set(kind, same_kind);
    }
    same_kind.set(id, activation);
    this.#size += 1;
    this.#append(activation);
  }

  use(activation: Activation): void {
    if (activation === this.#last) return;
    this.#takeOut(activation);
    this.#append(activation);
  }

  delete(activation: Activation): void {
    const { kind, id } = activation.place.address;
    this.#by_kind.get(kind)?.delete(id);
    this.#size -= 1;
    this.#takeOut(activation);
  }

  /** Iterates from the least recently used on. The current entity may be deleted. */
  *[Symbol.iterator](): Generator<Activation> {
    for (let at = this.#first; at !== null; ) {
      const { used_after } = at;
      yield at;
      at = used_after;
    }
  }

  #append(activation: Activation): void {
    activation.used_before = this.#last;
    if (this.#last === null) this.#first = activation;
    else this.#last.used_after = activation;
    this.#last = activation;
  }

  #takeOut(activation: Activation): void {
    const { used_before, used_after } = activation;
    if (used_before === null) this.#first = used_after;
    else used_before.used_after = used_after;
    if (used_after === null) this.#last = used_before;
    else used_after.used_before = used_before;
    activation.used_before = null;
    activation.used_after = null;
  }
}
