import { placeOfInsight } from '../../domain/ids.js';
import type { Item } from './export_resources.js';

/** The most passes over a list that changes without end; all items of its beginning were read by then. */
const PASSES_MAX = 20;

/**
 * All items of a list that is ordered by last change, each once, even if they change during the reading: items that
 * move to the head of the list are looked up there again, until nothing has moved.
 */
export async function* stableList(list: () => AsyncIterable<Item>, now: () => number): AsyncGenerator<Item> {
  const seen = new SeenItems();
  let since_ms = Number.NEGATIVE_INFINITY;
  for (let pass = 1; pass <= PASSES_MAX; pass++) {
    const began_ms = now();
    let moved = 0;
    for await (const item of list()) {
      if (Date.parse(String(item.updated_at)) < since_ms) break;
      moved += 1;
      if (seen.note(String(item.id))) yield item;
    }
    if (pass > 1 && moved === 0) return;
    since_ms = began_ms;
  }
}

/** The items of libraries that were read: one bit for each. */
class SeenItems {
  readonly #bits = new Map<string, Uint8Array>();

  /** Whether the item is new. */
  note(id: string): boolean {
    const place = placeOfInsight(id);
    if (place === null) throw new Error('no item of a library');
    const { library_id, number } = place;
    const [at, bit] = [number >>> 3, 1 << (number & 7)];
    let bits = this.#bits.get(library_id) ?? new Uint8Array(64);
    if (at >= bits.length) {
      const longer = new Uint8Array(Math.max(at + 1, bits.length * 2));
      longer.set(bits);
      bits = longer;
    }
    this.#bits.set(library_id, bits);
    const is_first = ((bits[at] ?? 0) & bit) === 0;
    bits[at] = (bits[at] ?? 0) | bit;
    return is_first;
  }
}
