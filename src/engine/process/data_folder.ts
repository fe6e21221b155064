import { randomBytes } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { isRunning } from './redis_process.js';

/*
 * Node has no flock, so the lock is a listening Unix socket: the kernel closes it when its process dies, however it
 * dies, and a connection to it is refused from then on.
 *
 * The hard part is taking over a dead holder's lock: two starters see the same dead one, the first replaces it, the
 * second then removes the living one. So nothing is ever replaced. Each holder has a number, and a folder
 * `lock.<number>` with the socket and a note on who holds it:
 *
 * 1. A folder appears complete and listening, by renaming a folder, which fails if the number is taken.
 * 2. A starter may take only the number after the highest one, and only when that one is dead.
 * 3. It then looks again: with a higher number there it has lost. (It was slow, and the numbers in between were taken
 *    and cleaned up meanwhile.)
 * 4. Only the holder cleans up, and only lower numbers. The highest stays, even after `release`, so numbers only grow.
 *
 * Sockets in a folder work between containers that share it on one machine. They do not work between machines.
 */

/** Attempts lost to other starters before giving up; each loss means that another one got further. */
const attempts_max = 50;
const connect_ms = 5_000;
/** The processes of a primary that was killed end by themselves. */
const orphans_ms = 20_000;
const orphans_poll_ms = 50;
const lock_name = /^lock\.(\d{1,15})$/;

const Note = z.object({ pid: z.number().int().positive(), since: z.string() });

/** Another living process holds the folder. `pid` and `since` (RFC 3339) are null when its note can't be read. */
export class DataFolderHeld extends Error {
  override readonly name = 'DataFolderHeld';
  readonly pid: number | null;
  readonly since: string | null;

  constructor({ folder, pid, since }: { folder: string; pid: number | null; since: string | null }) {
    const who = pid === null ? 'another process' : `process ${pid}, since ${since}`;
    super(`${folder} is in use by ${who}. Stop it, or set DATA_DIR to another folder.`);
    this.pid = pid;
    this.since = since;
  }
}

export interface HeldFolder {
  /** The folder's real path. */
  readonly path: string;
  /** The descriptor of the lock. A child that inherits it holds the folder too, until it ends. */
  readonly lock_fd: number;
  /** Lets go of the folder. May be called twice. */
  release(): Promise<void>;
}

/**
 * Makes the folder if need be and holds it for this process, until `release` or the process' end. Throws
 * `DataFolderHeld` if another process, or this one, holds it already.
 */
export const holdDataFolder = async (folder: string): Promise<HeldFolder> => {
  for (const until = performance.now() + orphans_ms; ; ) {
    try {
      return await holdNow(folder);
    } catch (error) {
      // Whoever took it is gone, and processes that it started are about to end.
      const is_orphaned = error instanceof DataFolderHeld && error.pid !== null && !isRunning(error.pid);
      if (!is_orphaned || performance.now() > until) throw error;
      await delay(orphans_poll_ms);
    }
  }
};

const holdNow = async (folder: string): Promise<HeldFolder> => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = realpathSync(folder);
  // Socket paths end at 107 bytes, here and in the kernel. A link from a short place makes every folder reachable.
  const short = mkdtempSync(join(tmpdir(), 'spool-'));
  try {
    symlinkSync(path, join(short, 'd'));
    return await takeTurns({ path, reach: join(short, 'd') });
  } finally {
    rmSync(short, { recursive: true, force: true });
  }
};

/** `reach` is a short way to the folder `path`. */
const takeTurns = async ({ path, reach }: { path: string; reach: string }): Promise<HeldFolder> => {
  for (let attempt = 0; attempt < attempts_max; attempt++) {
    const highest = numbersIn(path).at(-1) ?? 0;
    if (highest > 0) {
      const holder = await probe(join(reach, `lock.${highest}`, 's'));
      if (holder === 'gone' && numbersIn(path).at(-1) !== highest) continue;
      if (holder === 'alive') throw new DataFolderHeld({ folder: path, ...readNote(path, highest) });
    }
    const server = await claim({ path, reach, number: highest + 1 });
    if (server === null) continue;
    if (numbersIn(path).at(-1) !== highest + 1) {
      await close(server);
      continue;
    }
    await cleanUp({ path, reach, own: highest + 1 });
    return { path, lock_fd: descriptorOf(server), release: () => close(server) };
  }
  throw new Error(`${path} could not be locked: ${attempts_max} times another process was faster`);
};

const numbersIn = (path: string): number[] =>
  readdirSync(path)
    .map((name) => Number(lock_name.exec(name)?.[1] ?? 0))
    .filter((number) => number > 0)
    .sort((a, b) => a - b);

/**
 * `gone`: the socket is not there. Either a higher number has cleaned it up, or the whole folder is a copy made by
 * something that leaves sockets out. Then it is the highest still, and as good as dead.
 */
const probe = (socket_path: string): Promise<'alive' | 'dead' | 'gone'> =>
  new Promise((resolve, reject) => {
    const socket = connect(socket_path);
    const answer = (state: 'alive' | 'dead' | 'gone') => {
      socket.destroy();
      resolve(state);
    };
    // The kernel accepts connections for a busy or stopped process; a full queue of them is a sign of life too.
    socket.setTimeout(connect_ms, () => answer('alive'));
    socket.once('connect', () => answer('alive'));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') answer('dead');
      else if (error.code === 'ENOENT' || error.code === 'ENOTDIR') answer('gone');
      else if (error.code === 'EAGAIN' || error.code === 'ECONNRESET' || error.code === 'EPIPE') answer('alive');
      else reject(error);
    });
  });

/** Returns null if the number is taken, or the unfinished folder was cleaned up by a holder. */
const claim = async (wanted: { path: string; reach: string; number: number }): Promise<Server | null> => {
  const { path, reach, number } = wanted;
  const name = `lock.new.${process.pid}.${randomBytes(4).toString('hex')}`;
  mkdirSync(join(path, name), { mode: 0o700 });
  const server = createServer((socket) => socket.destroy());
  try {
    await listen(server, join(reach, name, 's'));
    const note: z.infer<typeof Note> = { pid: process.pid, since: new Date().toISOString() };
    writeFileSync(join(path, name, 'holder.json'), `${JSON.stringify(note)}\n`);
    renameSync(join(path, name), join(path, `lock.${number}`));
    server.unref();
    // A failed accept, for example with no file descriptors left, must not end the process.
    server.on('error', () => {});
    return server;
  } catch (error) {
    if (server.listening) await close(server);
    rmSync(join(path, name), { recursive: true, force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOENT') return null;
    throw error;
  }
};

const listen = (server: Server, socket_path: string): Promise<AddressInfo | string | null> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(socket_path, () => resolve(server.address()));
  });

/** Node has no public name for it. */
const descriptorOf = (server: Server): number => (server as unknown as { _handle: { fd: number } })._handle.fd;

const close = (server: Server): Promise<void> => new Promise((resolve) => void server.close(() => resolve()));

const readNote = (path: string, number: number): { pid: number | null; since: string | null } => {
  try {
    return Note.parse(JSON.parse(readFileSync(join(path, `lock.${number}`, 'holder.json'), 'utf8')));
  } catch {
    return { pid: null, since: null };
  }
};

/** Removes lower numbers, and what starters left behind that were killed before they had one. */
const cleanUp = async ({ path, reach, own }: { path: string; reach: string; own: number }): Promise<void> => {
  for (const name of readdirSync(path)) {
    const number = Number(lock_name.exec(name)?.[1] ?? Number.POSITIVE_INFINITY);
    const abandoned = name.startsWith('lock.new.') && (await probe(join(reach, name, 's'))) === 'dead';
    if (abandoned || number < own) rmSync(join(path, name), { recursive: true, force: true });
  }
};
