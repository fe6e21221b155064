import fs from 'node:fs';
import path from 'node:path';
import { isPart } from './blob_store.js';
import { nullIfAbsent } from './file_errors.js';

/** Walks through the folders of a store. */

/** Folders of streams below a prefix of keys, or all. */
export async function* streamFolders(root: string, prefix: string | undefined): AsyncGenerator<string> {
  if (prefix?.includes('/')) return yield path.join(root, prefix);
  const partitions = prefix === undefined ? foldersIn(root) : [path.join(root, prefix)];
  for await (const partition of partitions) yield* foldersIn(partition);
}

async function* foldersIn(directory: string): AsyncGenerator<string> {
  const entries = await fs.promises.opendir(directory).catch(nullIfAbsent);
  if (entries === null) return;
  for await (const entry of entries)
    if (entry.isDirectory() && isPart(entry.name)) yield path.join(directory, entry.name);
}

/** All files. Directories that are removed meanwhile are skipped. */
export async function* filesBelow(directory: string): AsyncGenerator<string> {
  const entries = await fs.promises.opendir(directory).catch(nullIfAbsent);
  if (entries === null) return;
  for await (const entry of entries) {
    const found = path.join(directory, entry.name);
    if (entry.isDirectory()) yield* filesBelow(found);
    else if (entry.isFile()) yield found;
  }
}
