import type { Redis } from 'ioredis';
import { storeCall } from './redis_calls.js';
import { mastersOf } from './redis_connection.js';

const SCAN_COUNT = 1_000;
const STREAM_KEY = /:e:stream:([0-9a-f-]{36})$/;

/** Ids of all streams, unordered, some perhaps twice. Scans all keys in small steps. */
export async function* streamIds(redis: Redis): AsyncIterable<string> {
  for (const master of mastersOf(redis)) {
    let cursor = '0';
    do {
      const [next, names] = await storeCall(master.scan(cursor, 'MATCH', '*:e:stream:*', 'COUNT', SCAN_COUNT));
      for (const name of names) {
        const id = STREAM_KEY.exec(name)?.[1];
        if (id !== undefined) yield id;
      }
      cursor = next;
    } while (cursor !== '0');
  }
}
