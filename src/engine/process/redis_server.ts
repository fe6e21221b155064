import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { backoffAfter } from '../../domain/backoff.js';
import { type Identity, identify, isRunning, redisProcessesIn, withRedis } from './redis_process.js';
import { findRedisProgram, isAtLeast, type Log, NoRedisProgram, redis_version_min } from './redis_program.js';

/** The length that every system takes: Linux ends at 107 bytes, BSD and macOS at 103. */
const socket_path_bytes_max = 103;
/** Loading an AOF takes about a second for each 100 MB. */
const ready_ms = 120_000;
const poll_ms = 10;
const adopted_poll_ms = 100;
const shutdown_ms = 15_000;
const signal_ms = 5_000;
const log_bytes_max = 8 * 1024 * 1024;
const log_lines_shown = 8;
/** The wait between restarts is bounded, their number is not: after giving up, a person would have to come. */
const restart_wait = { first_ms: 50, max_ms: 5_000 };
/** A Redis that ran this long was healthy; after it the waits begin again with the first. */
const healthy_ms = 30_000;

/**
 * Of a node of a stream; larger ones take less for each entry. An account's log of 1,000 compact events takes 156 B an event
 * in nodes of 512, 101 in 2,048, 94 in 4,096. A node takes all of its size with its first entry: commit.lua shrinks that of
 * a new log, so that a log of one event takes 1 KB.
 */
export const STREAM_NODE_BYTES = '2048';

/** Given at each start, and set again on a Redis that is adopted. */
const live_config = {
  appendonly: 'yes',
  appendfsync: 'always',
  'maxmemory-policy': 'noeviction',
  save: '',
  'stream-node-max-bytes': STREAM_NODE_BYTES,
  'aof-load-truncated': 'yes',
  // Its own periodic work, ten times a second else, is most of what an idle Redis costs. Commands do not wait for it.
  hz: '1',
} as const;

/** An exit that nobody asked for. Of an adopted Redis only the fact is known: `code` and `signal` are null. */
export interface RedisExit {
  readonly pid: number;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RedisServer {
  /** Stays the same over restarts. */
  readonly socket_path: string;
  /** Of the running process; while a restart is in progress, of the last one. */
  readonly pid: number;
  /** True for one that was left over from a killed server; false again once it had to be restarted. */
  readonly adopted: boolean;
  readonly version: string;
  /** Ends it in order, by force after some twenty seconds. May be called twice. */
  stop(): Promise<void>;
}

export interface RedisServerOptions {
  /** Must be held by this process, see `holdDataFolder`. Redis' files are in its folder `redis`. */
  readonly data_dir: string;
  readonly log: Log;
  /** Told of each unexpected exit, before the restart. Must not throw. */
  readonly onExit?: (exit: RedisExit) => void;
  /** Told where Redis cut an unfinished end of so many bytes off its append-only file as it started. Must not throw. */
  readonly onCut?: (bytes: number, socket_path: string) => void;
  /** The time that Redis may take to load its data. */
  readonly ready_deadline_ms?: number;
}

interface RedisFiles {
  readonly folder: string;
  readonly socket_path: string;
  readonly log_path: string;
}

interface Running {
  readonly pid: number;
  readonly version: string;
  readonly adopted: boolean;
  /** Bytes that it cut off its append-only file as it started. */
  readonly cut_bytes: number;
  readonly exit: Promise<RedisExit>;
}

/** One attempt to bring Redis up. */
interface Attempt {
  readonly place: RedisFiles;
  readonly program: string;
  readonly deadline_ms: number;
  readonly signal: AbortSignal;
}

/**
 * Runs a redis-server for this process alone: on a Unix socket, each write on disk before it is answered. One that a
 * killed server left running on the same data is adopted. Whenever it ends unasked it is started again. Throws
 * `NoRedisProgram` if there is none to run, and an error with Redis' own last log lines if it does not come up.
 */
export const startRedis = async (options: RedisServerOptions): Promise<RedisServer> => {
  const { log, onExit, onCut, ready_deadline_ms: deadline_ms = ready_ms } = options;
  const place = placeIn(options.data_dir);
  const stopping = new AbortController();
  const { signal } = stopping;
  let program: string | null = null;
  const startNew = async (): Promise<Running> => {
    program ??= (await findRedisProgram({ log })).program;
    const launched = await launch({ place, program, deadline_ms, signal });
    if (launched.cut_bytes > 0) onCut?.(launched.cut_bytes, place.socket_path);
    return launched;
  };

  let running = (await adopt(place, deadline_ms)) ?? (await startNew());
  if (running.adopted) log(`adopted the Redis that was left running, process ${running.pid}`);

  const keepRunning = async (): Promise<void> => {
    let restarts = 0;
    while (true) {
      const since = performance.now();
      const exit = await running.exit;
      if (signal.aborted) return;
      log(
        `Redis, process ${exit.pid}, ended (${exit.signal ?? exit.code ?? 'adopted, cause unknown'}); starting it again`,
      );
      onExit?.(exit);
      if (performance.now() - since > healthy_ms) restarts = 0;
      let next: Running | null = null;
      while (next === null) {
        restarts += 1;
        await delay(backoffAfter(restarts, restart_wait), undefined, { signal, ref: false }).catch(() => {});
        if (signal.aborted) return;
        next = await startNew().catch((error: Error) => {
          if (!signal.aborted) log(`Redis could not be started again: ${error.message}`);
          return null;
        });
      }
      running = next;
      log(`Redis runs again, process ${running.pid}`);
      // A stop that came at the very end of the launch has not seen this one.
      if (signal.aborted) await end(running, place);
    }
  };
  const kept = keepRunning();

  let stopped: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    stopping.abort();
    await end(running, place);
    await kept;
    const socket_folder = dirname(place.socket_path);
    if (socket_folder !== place.folder) rmSync(socket_folder, { recursive: true, force: true });
  };
  return {
    socket_path: place.socket_path,
    get pid() {
      return running.pid;
    },
    get adopted() {
      return running.adopted;
    },
    get version() {
      return running.version;
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
};

const placeIn = (data_dir: string): RedisFiles => {
  mkdirSync(join(data_dir, 'redis'), { recursive: true, mode: 0o700 });
  const folder = realpathSync(join(data_dir, 'redis'));
  return { folder, socket_path: socketPathFor(folder), log_path: join(folder, 'redis.log') };
};

/** Redis and its clients use this very path, so a folder with too long a name has its socket elsewhere. */
const socketPathFor = (folder: string): string => {
  const inside = join(folder, 'redis.sock');
  if (Buffer.byteLength(inside) <= socket_path_bytes_max) return inside;
  const user_id = process.getuid?.() ?? 0;
  const key = createHash('sha256').update(folder).digest('hex').slice(0, 16);
  const short = join(tmpdir(), `spool-${user_id}-${key}`);
  mkdirSync(short, { recursive: true, mode: 0o700 });
  // Anyone may write to the temporary folder, so it may have been there before, made by someone else.
  const found = lstatSync(short);
  if (!found.isDirectory() || found.uid !== user_id || (found.mode & 0o077) !== 0) {
    throw new Error(`${short} is not this user's alone. Remove it, or use a DATA_DIR with a shorter path.`);
  }
  return join(short, 'redis.sock');
};

/** Returns null if no Redis runs on this data. Waits for one that is still loading. */
const adopt = async (place: RedisFiles, deadline_ms: number): Promise<Running | null> => {
  const deadline = performance.now() + deadline_ms;
  while (performance.now() < deadline) {
    const found = await identify(place.socket_path).catch(() => 'silent' as const);
    if (found === null && redisProcessesIn(place.folder).length === 0) return null;
    if (found !== null && found !== 'silent') {
      if (found.folder !== place.folder) {
        throw new Error(
          `A Redis with its data in ${found.folder} answers on ${place.socket_path}. Stop process ${found.pid}.`,
        );
      }
      if (!isAtLeast(found.version, redis_version_min)) {
        throw new NoRedisProgram(`Process ${found.pid}, left running, is Redis ${found.version}. Stop it.`);
      }
      if (!found.loading) return await takeOver(found, place);
    }
    await delay(poll_ms);
  }
  const pids = redisProcessesIn(place.folder).join(', ') || 'unknown';
  throw new Error(`A redis-server (process ${pids}) already works in ${place.folder} but does not answer. Stop it.`);
};

const takeOver = async ({ pid, version }: Identity, place: RedisFiles): Promise<Running> => {
  await withRedis(place.socket_path, (client) => client.call('CONFIG', 'SET', ...Object.entries(live_config).flat()));
  const exit = new Promise<RedisExit>((resolve) => {
    const look = setInterval(() => {
      if (isRunning(pid)) return;
      clearInterval(look);
      resolve({ pid, code: null, signal: null });
    }, adopted_poll_ms);
    look.unref();
  });
  return { pid, version, adopted: true, cut_bytes: 0, exit };
};

const launch = async ({ place, program, deadline_ms, signal }: Attempt): Promise<Running> => {
  const deadline = performance.now() + deadline_ms;
  const log_start = startLog(place);
  const sizes = increments(place);
  const said = () => readFileSync(place.log_path).subarray(log_start).toString();
  const child = spawnRedis(place, program);
  const exit = exitOf(child);
  let ended: RedisExit | Error | null = null;
  exit.then(
    (how) => {
      ended = how;
    },
    (error: Error) => {
      ended = error;
    },
  );
  const fail = async (why: string): Promise<never> => {
    const lines = said().trim().split('\n').slice(-log_lines_shown);
    throw new Error(`${why}. The end of ${place.log_path}:\n${lines.map((line) => `  ${line}`).join('\n')}`);
  };
  while (ended === null) {
    const found = await identify(place.socket_path).catch(() => null);
    if (found?.pid === child.pid && found && !found.loading) {
      return { pid: found.pid, version: found.version, adopted: false, cut_bytes: cutBytes(said(), sizes), exit };
    }
    if (signal.aborted || performance.now() > deadline) {
      child.kill('SIGTERM');
      if (!(await settlesWithin(exit, signal_ms))) child.kill('SIGKILL');
      await settlesWithin(exit, signal_ms);
      return fail(
        signal.aborted ? 'Redis was stopped while it started' : `Redis was not ready within ${deadline_ms} ms`,
      );
    }
    await delay(poll_ms);
  }
  return fail(`Redis ended while it started (${describeEnd(ended)})`);
};

/** The files of changes since the last rewrite, with their sizes. */
const increments = ({ folder }: RedisFiles): Map<string, number> => {
  const files = join(folder, 'appendonlydir');
  if (!existsSync(files)) return new Map();
  const names = readdirSync(files).filter((name) => name.endsWith('.incr.aof'));
  return new Map(names.map((name) => [name, statSync(join(files, name)).size]));
};

/** Sums the bytes that Redis cut off such files. Its log names each file and the offset of the cut. */
const cutBytes = (said: string, sizes: ReadonlyMap<string, number>): number =>
  [...said.matchAll(/Truncating the AOF (\S+) at offset (\d+)/g)].reduce((sum, [, path = '', offset]) => {
    const size = sizes.get(basename(path));
    return size === undefined ? sum : sum + size - Number(offset);
  }, 0);

const describeEnd = (ended: RedisExit | Error): string =>
  ended instanceof Error ? ended.message : (ended.signal ?? `exit code ${ended.code}`);

/** Returns the size of the log so far. One that has grown too long is put aside, in place of the one put aside before. */
const startLog = ({ log_path }: RedisFiles): number => {
  const { size } = statSync(log_path, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size <= log_bytes_max) return size;
  renameSync(log_path, `${log_path}.old`);
  return 0;
};

const spawnRedis = (place: RedisFiles, program: string): ChildProcess => {
  const config = {
    ...live_config,
    port: '0',
    unixsocket: place.socket_path,
    unixsocketperm: '700',
    dir: place.folder,
    logfile: place.log_path,
    pidfile: join(place.folder, 'redis.pid'),
    daemonize: 'no',
  };
  const output = openSync(place.log_path, 'a', 0o600);
  try {
    const child = spawn(
      program,
      Object.entries(config).flatMap(([name, value]) => [`--${name}`, value]),
      {
        // The folder is how a left-over one is found while it does not answer yet.
        cwd: place.folder,
        // Ctrl-C goes to the whole process group; Redis must outlive the server's last commits.
        detached: true,
        stdio: ['ignore', output, output],
        // The server's own environment holds secrets.
        env: { PATH: process.env.PATH, LANG: process.env.LANG, TZ: process.env.TZ },
      },
    );
    child.unref();
    return child;
  } finally {
    closeSync(output);
  }
};

const exitOf = (child: ChildProcess): Promise<RedisExit> =>
  new Promise((resolve, reject) => {
    child.on('error', (error) => {
      // Without an id it never ran, so no exit will follow.
      if (child.pid === undefined) reject(error);
    });
    child.once('exit', (code, signal) => resolve({ pid: child.pid ?? 0, code, signal }));
  });

/** All data is in the AOF by now, so an end by force loses nothing; it only makes the next start check the AOF's end. */
const end = async ({ pid, exit }: Running, place: RedisFiles): Promise<void> => {
  if (await settlesWithin(exit, 0)) return;
  // The connection ends without a reply when it works.
  void withRedis(place.socket_path, (client) => client.call('SHUTDOWN', 'NOSAVE')).catch(() => {});
  if (await settlesWithin(exit, shutdown_ms)) return;
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    // An adopted process is no child, so its id can have been given to another by now.
    if (redisProcessesIn(place.folder).includes(pid)) process.kill(pid, signal);
    if (await settlesWithin(exit, signal_ms)) return;
  }
  throw new Error(`Redis, process ${pid}, could not be ended`);
};

const settlesWithin = async (promise: Promise<unknown>, wait_ms: number): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, wait_ms, false);
  });
  const settled = promise.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([settled, late]);
  } finally {
    clearTimeout(timer);
  }
};
