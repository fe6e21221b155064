import { LRUCache } from 'lru-cache';

/**
 * A kind of cache: what is kept of entities beside their states. At most `max` values, or as many as sum up to it by `sizeOf`;
 * the least recently used give way.
 */
export type CacheKind<Value extends object> = { max: number; sizeOf?: (value: Value) => number };

/** A kind of cache by objects that never change, such as states: a value is kept for as long as its object lives. */
export type ObjectCacheKind<Of extends object, Value> = { name: string; readonly types?: [Of, Value] };

/** The caches of one server, one of each kind, made when it is first asked for. */
export class Caches {
  readonly #made = new Map<object, unknown>();

  of<Value extends object>(kind: CacheKind<Value>): LRUCache<string, Value> {
    // Under a kind lies only what was made for it here.
    const made = this.#made.get(kind) as LRUCache<string, Value> | undefined;
    return made ?? this.#make(kind);
  }

  byObject<Of extends object, Value>(kind: ObjectCacheKind<Of, Value>): WeakMap<Of, Value> {
    const made = this.#made.get(kind) as WeakMap<Of, Value> | undefined;
    if (made !== undefined) return made;
    const cache = new WeakMap<Of, Value>();
    this.#made.set(kind, cache);
    return cache;
  }

  #make<Value extends object>(kind: CacheKind<Value>): LRUCache<string, Value> {
    const { max, sizeOf } = kind;
    const made = new LRUCache<string, Value>(
      sizeOf === undefined ? { max } : { maxSize: max, sizeCalculation: sizeOf },
    );
    this.#made.set(kind, made);
    return made;
  }
}
