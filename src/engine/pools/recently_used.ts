import { LRUCache } from 'lru-cache';

/**
 * A cache of at most `max` values; the least recently used are evicted. It takes up room as it fills: LRUCache with its own
 * `max` takes that of all values when it is made, 3 MB for 100,000.
 */
export class RecentlyUsed<Value extends object | number | boolean> extends LRUCache<string, Value> {
  constructor(max: number, { ttl = 0 }: { ttl?: number } = {}) {
    super({ maxSize: max, sizeCalculation: () => 1, ttl });
  }
}
