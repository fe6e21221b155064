import { LRUCache } from 'lru-cache';

/**
 * A kind of cache for data of entities beside their states. It holds at most `max` values, or values with a sum of
 * `sizeOf` up to `max`; the least recently used are evicted.
 */
export type CacheKind<Value extends object> = { max: number; sizeOf?: (value: Value) => number };

/** A kind of cache keyed by immutable objects, such as states: a value is kept as long as its object lives. */
export type ObjectCacheKind<Of extends object, Value> = { name: string; readonly types?: [Of, Value] };

/** The caches of one server, one of each kind, created on first use. */
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
    const { max, sizeOf = () => 1 } = kind;
    const made = new LRUCache<string, Value>({ maxSize: max, sizeCalculation: sizeOf });
    this.#made.set(kind, made);
    return made;
  }
}
