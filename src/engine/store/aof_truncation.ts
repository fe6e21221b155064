import type { Redis } from 'ioredis';
import { z } from 'zod';

const KEY = 'spool:aof_cut';
/** The time for which operators are told of a truncation. */
const KEPT_S = 24 * 60 * 60;

const shape = z.object({ bytes: z.int(), at_ms: z.int() });

/** The bytes that Redis cut off its append-only file at a start, and when, in milliseconds since 1970. */
export type AofTruncation = z.infer<typeof shape>;

/** Records the truncation in Redis, where each process finds it. */
export async function recordTruncation(redis: Redis, cut: AofTruncation): Promise<void> {
  await redis.set(KEY, JSON.stringify(cut), 'EX', KEPT_S);
}

/** The last truncation of the last day; null if there was none. */
export async function readTruncation(redis: Redis): Promise<AofTruncation | null> {
  const text = await redis.get(KEY);
  return text === null ? null : shape.parse(JSON.parse(text));
}
