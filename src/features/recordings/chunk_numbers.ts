import { LRUCache } from 'lru-cache';
import { LIMITS } from '../../domain/limits.js';
import type { Fence } from '../../engine/store/store.js';
import type { FeatureServices } from '../services.js';

/** Streams of which some reserved numbers are left; those of a forgotten one are used by nobody. */
const STREAMS_MAX = 50_000; // ours: some ten megabytes

/** `next` to `last` are free. */
type NumberRange = { next: number; last: number };

/**
 * The numbers that this process has reserved in streams, for chunks that are stored with their announcement: their bytes
 * are written under their number before the stream knows of them, so no other process may give it to another chunk.
 */
const reserved = new LRUCache<string, NumberRange>({ max: STREAMS_MAX });

/** Takes numbers of a stream that nobody else ever gets. Each is used once, whatever comes of it. */
export async function takeChunkNumbers(
  { actors, runtime }: Pick<FeatureServices, 'actors' | 'runtime'>,
  { stream_id, count, fences }: { stream_id: string; count: number; fences: Fence[] },
): Promise<number[]> {
  // Storage that is in doubt may have lost what was reserved in it.
  const key = `${runtime.cacheEpoch} ${stream_id}`;
  const numbers = takeFrom(reserved.get(key), count);
  if (numbers.length === count) return numbers;
  const { first } = await actors.stream(stream_id).reserve_numbers({ count: LIMITS.chunk_numbers_reserved }, fences);
  const range = { next: first, last: first + LIMITS.chunk_numbers_reserved - 1 };
  const further = takeFrom(range, count - numbers.length);
  reserved.set(key, range);
  return [...numbers, ...further];
}

function takeFrom(range: NumberRange | undefined, count: number): number[] {
  const numbers: number[] = [];
  if (range === undefined) return numbers;
  while (numbers.length < count && range.next <= range.last) numbers.push(range.next++);
  return numbers;
}
