import { randomUUID } from 'node:crypto';
import { type FileHandle, link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** A file to keep: its path, its text, and its permission bits. */
export type KeyFile = { path: string; text: string; mode: number };

/** The text of a file, or undefined if it does not exist. */
export async function readKeyFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Writes a file unless it exists and returns what is in it afterwards: of several processes that start at once, one
 * writes and all read the same. A half-written file is never seen.
 */
export async function keepFirst(file: KeyFile): Promise<string> {
  await withDraft(file, async (draft_path) => {
    try {
      // Unlike rename, link refuses to replace what another process has put there.
      await link(draft_path, file.path);
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error;
    }
  });
  return readFile(file.path, 'utf8');
}

/** Writes a file in place of an older one; readers see the old text or the new, never a part. */
export async function keepNewest(file: KeyFile): Promise<void> {
  await withDraft(file, (draft_path) => rename(draft_path, file.path));
}

/** Makes a folder only its owner can list. */
export async function makeKeyFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

async function withDraft(file: KeyFile, publish: (draft_path: string) => Promise<void>): Promise<void> {
  const draft_path = `${file.path}.${randomUUID()}.draft`;
  try {
    const draft = await open(draft_path, 'wx', file.mode);
    await closeAfter(draft, async () => {
      await draft.writeFile(file.text);
      await draft.sync();
    });
    await publish(draft_path);
    const folder = await open(dirname(file.path), 'r');
    await closeAfter(folder, () => folder.sync());
  } finally {
    await rm(draft_path, { force: true });
  }
}

async function closeAfter(handle: FileHandle, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } finally {
    await handle.close();
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
