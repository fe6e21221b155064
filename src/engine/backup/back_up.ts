import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { DATA_FORM, folderProblem } from '../process/data_form.js';
import { type BackupFile, copyFile, filesIn, hashFile } from './backup_files.js';
import { BackupRefused, FILE_LIST, MANIFEST, type Manifest } from './manifest.js';

/** Folders of a server, as its settings name them. */
export type DataPlaces = { data_dir: string; keys_dir: string };

export type BackupWishes = DataPlaces & {
  /** Must not exist yet. */
  to: string;
  audio_elsewhere: boolean;
  now_ms: number;
};

/** Redis rewrites its file now and then; a copy that met it begins anew. */
const REDIS_TRIES_MAX = 5;
const REDIS_FOLDER = join('redis', 'appendonlydir');
const REDIS_MANIFEST = 'appendonly.aof.manifest';
/** Beside the data: locks, sockets, Redis' own log and process id, and what was being written. */
const LEFT_OUT = /^((models\/)?lock\.[^/]*(\/|$)|models\/\.|redis\/|keys\/|blobs\/)|(^|\/)\.[^/]*\.tmp$/;

/**
 * Copies a data folder, whether its server runs or not. Redis goes first, then what it speaks of: what the copy of
 * Redis calls stored has its bytes, unless an erasure came between.
 */
export async function backUp(wishes: BackupWishes): Promise<Manifest> {
  const { data_dir, to } = wishes;
  const target = resolve(to);
  if (await exists(target)) throw new BackupRefused(`${target} is there already.`);
  const inside = relative(resolve(data_dir), target);
  if (!inside.startsWith('..')) throw new BackupRefused(`${target} lies in the data folder itself.`);
  if (!(await exists(join(data_dir, REDIS_FOLDER, REDIS_MANIFEST)))) {
    throw new BackupRefused(`${data_dir} holds no data of a server. Is DATA_DIR right?`);
  }
  const problem = await folderProblem(data_dir);
  if (problem !== null) throw new BackupRefused(problem);
  const partial = `${target}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true, mode: 0o700 });
  try {
    const manifest = await fill(partial, wishes);
    await rename(partial, target);
    await syncFolder(dirname(target));
    return manifest;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

async function fill(partial: string, wishes: BackupWishes): Promise<Manifest> {
  const { data_dir, keys_dir, audio_elsewhere, now_ms } = wishes;
  const list = await open(join(partial, FILE_LIST), 'wx', 0o600);
  const total = { files: 0, bytes: 0 };
  const note = async (file: BackupFile) => {
    total.files += 1;
    total.bytes += file.bytes;
    await list.write(`${JSON.stringify(file)}\n`);
  };
  try {
    for (const file of await copyRedis(data_dir, partial)) await note(file);
    for await (const path of filesIn(keys_dir)) await copyOne(join(keys_dir, path), join('keys', path));
    for await (const path of filesIn(data_dir)) {
      if (!LEFT_OUT.test(path)) await copyOne(join(data_dir, path), path);
    }
    if (!audio_elsewhere) {
      const audio = join(data_dir, 'blobs');
      for await (const path of filesIn(audio)) {
        if (!LEFT_OUT.test(path)) await copyOne(join(audio, path), join('blobs', path));
      }
    }
    await list.sync();
  } finally {
    await list.close();
  }
  const manifest: Manifest = { form: DATA_FORM, made_at: new Date(now_ms).toISOString(), ...total, audio_elsewhere };
  await writeSynced(join(partial, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;

  /** One that is gone meanwhile was erased, and belongs in no backup. */
  async function copyOne(from: string, path: string): Promise<void> {
    const to = join(partial, path);
    try {
      await note({ path, ...(await copyFile({ from, to })) });
    } catch (error) {
      const { code, path: where } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' || where !== from) throw error;
      await rm(to, { force: true });
    }
  }
}

/**
 * Redis only ever appends to the last file of its list, and writes the rest once; so the files of one list, each as
 * long as it was found, are its data at one moment. A last command that was cut off is left out when it is loaded.
 */
async function copyRedis(data_dir: string, partial: string): Promise<BackupFile[]> {
  const from = join(data_dir, REDIS_FOLDER);
  for (let tries = 1; ; tries++) {
    const before = await readFile(join(from, REDIS_MANIFEST), 'utf8');
    try {
      const copied = await copyListed(from, join(partial, REDIS_FOLDER), before);
      if ((await readFile(join(from, REDIS_MANIFEST), 'utf8')) === before) return copied;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    await rm(join(partial, REDIS_FOLDER), { recursive: true, force: true });
    if (tries === REDIS_TRIES_MAX) throw new BackupRefused('Redis rewrites its files again and again; try later.');
  }
}

async function copyListed(from: string, to: string, manifest: string): Promise<BackupFile[]> {
  const copied: BackupFile[] = [];
  // Lines such as: file appendonly.aof.12.incr.aof seq 12 type i. Type h is history, which Redis is about to remove.
  const lines = manifest.split('\n').filter((line) => / type [bi]\b/.test(line));
  for (const line of lines) {
    const name = line.split(' ')[1] ?? '';
    const { size: bytes } = await stat(join(from, name));
    const file = await copyFile({ from: join(from, name), to: join(to, name), bytes });
    copied.push({ path: join(REDIS_FOLDER, name), ...file });
  }
  const text = `${lines.join('\n')}\n`;
  await writeSynced(join(to, REDIS_MANIFEST), text);
  return [...copied, { path: join(REDIS_FOLDER, REDIS_MANIFEST), ...(await hashFile(join(to, REDIS_MANIFEST))) }];
}

async function writeSynced(path: string, text: string): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
