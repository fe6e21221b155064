import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { DATA_FORM } from '../process/data_form.js';
import type { BackupFile } from './backup_files.js';

/** Written last: a backup without it was cut off. */
export const MANIFEST = 'backup.json';
/** One line of JSON a file, see BackupFile. */
export const FILE_LIST = 'files.ndjson';

const Manifest = z.object({
  /** Of the data. */
  form: z.literal(DATA_FORM),
  made_at: z.string(),
  files: z.number().int(),
  bytes: z.number().int(),
  /** Audio lay in another store, which has its own backups. */
  audio_elsewhere: z.boolean(),
});
export type Manifest = z.infer<typeof Manifest>;

const Line = z.object({
  path: z.string().refine((path) => !path.startsWith('/') && normalize(path) === path && !path.startsWith('..')),
  bytes: z.number().int(),
  sha256: z.string(),
});

/** The backup can't be used, or not be made; the message says why. */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused';
}

export async function readManifest(folder: string): Promise<Manifest> {
  let text: string;
  try {
    text = await readFile(join(folder, MANIFEST), 'utf8');
  } catch {
    throw new BackupRefused(`${folder} is no backup, or one that was cut off: ${MANIFEST} is not there.`);
  }
  try {
    return Manifest.parse(JSON.parse(text));
  } catch {
    throw new BackupRefused(`${join(folder, MANIFEST)} is not in a form that this version reads.`);
  }
}

export async function* listedFiles(folder: string): AsyncGenerator<BackupFile> {
  const input = createReadStream(join(folder, FILE_LIST), 'utf8');
  let number = 0;
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    try {
      yield Line.parse(JSON.parse(line));
    } catch {
      throw new BackupRefused(`${join(folder, FILE_LIST)}: line ${number} can't be read.`);
    }
  }
}
