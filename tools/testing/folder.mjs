/* Where tests have their folders. */
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Every Redis of a test writes to disk before each answer; in memory, where there is enough, nobody waits for that. */
const MEMORY_FOLDER = '/dev/shm';
const MEMORY_BYTES_MIN = 2 ** 31;

const hasMemoryFolder = () => {
  if (process.env.TMPDIR !== undefined || !existsSync(MEMORY_FOLDER)) return false;
  const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
  return bavail * bsize >= MEMORY_BYTES_MIN;
};

/** A folder that goes with this process, and all that a test leaves there. */
export const makeRunFolder = () => {
  const folder = mkdtempSync(join(hasMemoryFolder() ? MEMORY_FOLDER : tmpdir(), 'spool-tests-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
  return folder;
};
