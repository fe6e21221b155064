import { createHash, randomUUID } from 'node:crypto';
import { lstat, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { NOTE_NAME } from './note_names.js';

/** Files of a folder that are written by what they held last: those that people have changed stay as they are. */

/** `changed`: by somebody else. `gone`: deleted or moved. */
type FileState = 'same' | 'changed' | 'gone';

export class NoteFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = resolve(folder);
  }

  async read(name: string): Promise<string | null> {
    try {
      return await readFile(this.#path(name), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  async has(name: string): Promise<boolean> {
    return (await lstat(this.#path(name)).catch(() => null)) !== null;
  }

  async state(name: string, hash: string): Promise<FileState> {
    const text = await this.read(name);
    if (text === null) return 'gone';
    return hashOf(text) === hash ? 'same' : 'changed';
  }

  /** Whole or not at all. */
  async write(name: string, text: string): Promise<void> {
    const aside = join(this.#folder, `.${randomUUID()}.tmp`);
    try {
      await writeFile(aside, text, { flag: 'wx' });
      await rename(aside, this.#path(name));
    } catch (error) {
      await unlink(aside).catch(() => {});
      throw error;
    }
  }

  async remove(name: string): Promise<void> {
    await unlink(this.#path(name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }

  /** No name leads out of the folder. */
  #path(name: string): string {
    const path = join(this.#folder, name);
    if (!NOTE_NAME.test(name) || dirname(path) !== this.#folder) throw new Error(`${name} is no name of a note`);
    return path;
  }
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
