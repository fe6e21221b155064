import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { pause } from '../../kits/typescript/src/retries.js';

/** Systems bound how many folders may be watched; others are seen by the next look. */
const WATCHED_MAX = 1_000;
/** Who writes a file makes an event a write. */
const REST_MS = 1_000;

/** Hears of changes in folders. Events get lost and come twice, so they only make the next look come earlier. */
export class FolderEvents {
  readonly #root: string;
  readonly #watchers = new Map<string, FSWatcher>();
  #wake = new AbortController();

  constructor(root: string) {
    this.#root = root;
  }

  watch(folders: readonly string[]): void {
    const wanted = new Set(folders.slice(0, WATCHED_MAX));
    for (const folder of this.#watchers.keys()) if (!wanted.has(folder)) this.#forget(folder);
    for (const folder of wanted) if (!this.#watchers.has(folder)) this.#add(folder);
  }

  /** Rests so long, until something changes, or until the signal. */
  async rest(ms: number, signal: AbortSignal): Promise<void> {
    const rest_ms = Math.min(ms, REST_MS);
    await pause(rest_ms, signal);
    await pause(ms - rest_ms, AbortSignal.any([signal, this.#wake.signal]));
    this.#wake = new AbortController();
  }

  close(): void {
    for (const folder of [...this.#watchers.keys()]) this.#forget(folder);
  }

  #add(folder: string): void {
    try {
      const watcher = watch(join(this.#root, folder), () => this.#wake.abort());
      watcher.on('error', () => this.#forget(folder));
      this.#watchers.set(folder, watcher);
    } catch {
      // It has gone, or the system watches no more of them.
    }
  }

  #forget(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }
}
