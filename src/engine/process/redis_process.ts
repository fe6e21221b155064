import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';

const command_ms = 2_000;

/** The identity of a Redis, as it gives it itself. */
export interface Identity {
  readonly pid: number;
  readonly version: string;
  /** Its data folder. */
  readonly folder: string;
  /** True until all its data is read. */
  readonly loading: boolean;
}

/**
 * Connects to a socket for a few questions. The client never reconnects and no command waits longer than two seconds.
 * Rejects with the connection's own error (`code` is ENOENT or ECONNREFUSED when nobody listens).
 */
export const withRedis = async <Answer>(
  socket_path: string,
  ask: (client: Redis) => Promise<Answer>,
): Promise<Answer> => {
  const client = new Redis({
    path: socket_path,
    lazyConnect: true,
    connectTimeout: command_ms,
    commandTimeout: command_ms,
    retryStrategy: () => null,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    disableClientInfo: true,
  });
  let cause: unknown = null;
  client.on('error', (error) => {
    cause ??= error;
  });
  try {
    await client.connect();
    return await ask(client);
  } catch (error) {
    throw cause ?? error;
  } finally {
    client.disconnect();
  }
};

/** Null if nobody listens on the socket; rejects if somebody does and gives no answer in time. */
export const identify = async (socket_path: string): Promise<Identity | null> => {
  try {
    return await withRedis(socket_path, async (client) => {
      const info = await client.info();
      const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
      const [, folder] = (await client.call('CONFIG', 'GET', 'dir')) as [string, string];
      return {
        pid: Number(field('process_id')),
        version: field('redis_version'),
        folder,
        loading: field('loading') !== '0',
      };
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return null;
    throw error;
  }
};

/** False for a zombie too, which an adopted process can be for as long as nobody collects it. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  try {
    // The state is the first field after the name, which stands in brackets and may hold any character.
    const state = readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /s, '')[0];
    return state !== 'Z' && state !== 'X';
  } catch {
    return !existsSync('/proc/self/stat');
  }
};

/** Ids of the redis-servers whose data folder this is, answering or not. The folder must be a real path. */
export const redisProcessesIn = (folder: string): number[] => {
  const candidates = existsSync('/proc/self/cwd') ? processesWorkingIn(folder) : processNotedIn(folder);
  return candidates.filter(isRunning);
};

const processesWorkingIn = (folder: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        // A forked child that rewrites the AOF has the same folder, but another title.
        if (readlinkSync(`/proc/${name}/cwd`) !== folder) return false;
        return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('redis-server');
      } catch {
        // Gone, or another user's.
        return false;
      }
    })
    .map(Number);

const processNotedIn = (folder: string): number[] => {
  try {
    const pid = Number(readFileSync(join(folder, 'redis.pid'), 'utf8'));
    const command = execFileSync('ps', ['-p', String(pid), '-o', 'command='], {
      encoding: 'utf8',
      timeout: command_ms,
    });
    return command.includes('redis-server') ? [pid] : [];
  } catch {
    return [];
  }
};
