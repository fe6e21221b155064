import { mkdir, readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { holdDataFolder } from '../process/data_folder.js';
import type { DataPlaces } from './back_up.js';
import { copyFile, hashFile } from './backup_files.js';
import { BackupRefused, listedFiles, type Manifest, readManifest } from './manifest.js';

const KEYS = `keys${sep}`;
/** Damage that is shown; where one file is damaged, thousands may be. */
const SHOWN_MAX = 20;

/** The faults of a backup; empty when every file is there as it was. */
export type Damage = { path: string; what: string };

/** Reads every byte of a backup and holds it against its list. */
export async function verifyBackup(folder: string): Promise<{ manifest: Manifest; damage: Damage[] }> {
  const manifest = await readManifest(folder);
  const damage: Damage[] = [];
  const seen = { files: 0, bytes: 0 };
  for await (const { path, bytes, sha256 } of listedFiles(folder)) {
    seen.files += 1;
    seen.bytes += bytes;
    if (damage.length >= SHOWN_MAX) continue;
    const found = await hashFile(join(folder, path)).catch((error: NodeJS.ErrnoException) => error);
    if (found instanceof Error) damage.push({ path, what: found.code ?? found.message });
    else if (found.bytes !== bytes) damage.push({ path, what: `${found.bytes} bytes instead of ${bytes}` });
    else if (found.sha256 !== sha256) damage.push({ path, what: 'other content' });
  }
  if (seen.files !== manifest.files || seen.bytes !== manifest.bytes) {
    damage.push({ path: 'files.ndjson', what: `${seen.files} files instead of ${manifest.files}` });
  }
  return { manifest, damage };
}

/** Makes a data folder out of a backup. What is there already stays: the folder must be empty. */
export async function restore(from: string, { data_dir, keys_dir }: DataPlaces): Promise<Manifest> {
  const { manifest, damage } = await verifyBackup(from);
  const [first] = damage;
  if (first !== undefined) throw new BackupRefused(`${join(from, first.path)} is damaged: ${first.what}.`);
  await mkdir(data_dir, { recursive: true, mode: 0o700 });
  // Held meanwhile, so that no server begins on half of it.
  const held = await holdDataFolder(data_dir);
  try {
    for (const folder of [data_dir, keys_dir]) {
      const there = await readdir(folder).catch(() => []);
      const [taken] = there.filter((name) => !name.startsWith('lock.'));
      if (taken !== undefined)
        throw new BackupRefused(`${folder} is not empty: it holds ${taken}. Nothing was changed.`);
    }
    for await (const { path } of listedFiles(from)) {
      const to = path.startsWith(KEYS) ? join(keys_dir, path.slice(KEYS.length)) : join(data_dir, path);
      await copyFile({ from: join(from, path), to });
    }
    return manifest;
  } finally {
    await held.release();
  }
}
