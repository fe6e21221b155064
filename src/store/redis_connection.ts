import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';

const COMMAND_DEADLINE_MS = 5_000;
const RECONNECT_MAX_MS = 1_000;
const LIBRARY = readFileSync(new URL('./commit.lua', import.meta.url), 'utf8');

/** Where Redis is: a Unix socket of our own child, or an address somebody gave. */
export type RedisPlace = { socket_path: string } | { url: string };

/**
 * A connection that refuses at once while Redis is away, gives every command a deadline, and sends nothing twice by
 * itself: what was in flight when a connection broke rejects, and the caller decides (design section 9).
 */
export function openRedis(place: RedisPlace): Redis {
  const options = {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResubscribe: false, // it would be nobody's to hear that this failed, which ends the process
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableAutoPipelining: true,
    commandTimeout: COMMAND_DEADLINE_MS,
    disconnectTimeout: 100, // a connection that was closed holds the process no longer than this
    connectTimeout: COMMAND_DEADLINE_MS,
    retryStrategy: (times: number) =>
      Math.min(RECONNECT_MAX_MS, 25 * 2 ** Math.min(times, 10)) * (0.5 + Math.random() / 2),
  };
  return 'url' in place ? new Redis(place.url, options) : new Redis(place.socket_path, options);
}

/** Loads the commit function; repeating it is harmless. */
export async function loadLibrary(redis: Redis): Promise<void> {
  await redis.call('FUNCTION', 'LOAD', 'REPLACE', LIBRARY);
}
