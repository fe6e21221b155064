import { randomUUID } from 'node:crypto';
import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Files that are whole or absent, whatever cuts the power. */

const ASIDE = '.tmp';
const OWN = 0o600;

/** Resolves once the file is on disk under its name. */
export async function writeDurably(path: string, ...parts: (string | Uint8Array)[]): Promise<void> {
  // Several programs may write the same file.
  const aside = `${path}.${randomUUID()}${ASIDE}`;
  const file = await open(aside, 'w', OWN);
  try {
    for (const part of parts) await file.writeFile(part);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(aside, path);
  await syncFolder(dirname(path));
}

/** What was being written when the program ended. */
export async function removeHalfWritten(folder: string): Promise<void> {
  for (const name of await readdir(folder)) if (name.endsWith(ASIDE)) await rm(join(folder, name), { force: true });
}

/** What lies in a file; null where there is none. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

export async function readJson<T>(path: string): Promise<T | null> {
  const text = await readIfThere(path);
  return text === null ? null : (JSON.parse(text) as T);
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
