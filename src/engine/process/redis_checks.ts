import { isAtLeast, redis_version_min } from './redis_program.js';

/** The part of an ioredis client that the checks need. */
export interface AsksRedis {
  info(): Promise<unknown>;
  config(verb: 'GET', name: string): Promise<unknown>;
}

export interface RedisReplies {
  /** The text of `INFO`. */
  readonly info: string;
  /** The reply of `CONFIG GET appendfsync`; null where CONFIG is not allowed, as on most hosted Redis. */
  readonly appendfsync: string | null;
}

/** Asks a Redis what `checkRedis` wants to know. Rejects if it is away. */
export const askRedis = async (client: AsksRedis): Promise<RedisReplies> => {
  const info = String(await client.info());
  const reply = await client.config('GET', 'appendfsync').catch((error: Error) => {
    // A refusal is a reply (`ERR unknown command`, `NOPERM …`). Anything else is a broken connection.
    if (error.name === 'ReplyError' || /^(ERR|NOPERM) /.test(error.message)) return null;
    throw error;
  });
  const value = Array.isArray(reply) ? reply[1] : (reply as { appendfsync?: unknown } | null)?.appendfsync;
  return { info, appendfsync: typeof value === 'string' ? value : null };
};

interface Check {
  /** Null if it is not known. */
  readonly found: (replies: RedisReplies) => string | null;
  readonly holds: (found: string) => boolean;
  readonly says: (found: string) => string;
  readonly could_not: string;
}

const infoField = (name: string) => (replies: RedisReplies) =>
  new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(replies.info)?.[1] ?? null;

const checks: readonly Check[] = [
  {
    found: infoField('redis_version'),
    holds: (version) => isAtLeast(version, redis_version_min),
    says: (version) => `its version is ${version}; the oldest that works is ${redis_version_min}`,
    could_not: 'could not check its version',
  },
  {
    found: infoField('maxmemory_policy'),
    holds: (policy) => policy === 'noeviction',
    says: (policy) => `maxmemory-policy is ${policy}, so data can be evicted; it must be noeviction`,
    could_not: 'could not check maxmemory-policy; it must be noeviction',
  },
  {
    found: infoField('aof_enabled'),
    holds: (enabled) => enabled === '1',
    says: () => 'appendonly is no, so data is lost when Redis stops; it must be yes',
    could_not: 'could not check appendonly; it must be yes',
  },
  {
    found: (replies) => replies.appendfsync,
    holds: (when) => when === 'always',
    says: (when) => `appendfsync is ${when}, so a crash loses the last writes; it must be always`,
    could_not: 'could not check appendfsync, as CONFIG is not allowed; it must be always',
  },
];

/**
 * The ways in which a Redis falls short of safe storage, a text each; empty if there are none. Sees version, eviction,
 * persistence.
 */
export const checkRedis = (replies: RedisReplies): string[] =>
  checks.flatMap(({ found, holds, says, could_not }) => {
    const value = found(replies);
    if (value === null) return [could_not];
    return holds(value) ? [] : [says(value)];
  });
