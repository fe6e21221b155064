import fs from 'node:fs';
import { promisify } from 'node:util';

const openFile = promisify(fs.open);
const syncFile = promisify(fs.fsync);
const closeFile = promisify(fs.close);

/**
 * Makes names in directories durable. One fsync serves all callers that asked before it began. A caller that asks
 * during a run waits for the next one, since the running one may have read the directory before the caller's name was
 * in it.
 */
export class DirectorySync {
  readonly #directories = new Map<string, { next: Promise<void> | null; running: Promise<void> }>();
  readonly #syncNow: (directory: string) => Promise<void>;

  /** `syncNow` replaces the file system in tests. */
  constructor(syncNow = syncDirectory) {
    this.#syncNow = syncNow;
  }

  /** Resolves when every name that was in the directory at the time of the call is on disk. */
  sync(directory: string): Promise<void> {
    const group = this.#directories.get(directory);
    if (group === undefined) {
      const running = this.#run(directory);
      this.#directories.set(directory, { running, next: null });
      return running;
    }
    if (group.next === null) {
      const go = () => {
        group.running = this.#run(directory);
        group.next = null;
        return group.running;
      };
      group.next = group.running.then(go, go);
    }
    return group.next;
  }

  async #run(directory: string): Promise<void> {
    try {
      await this.#syncNow(directory);
    } finally {
      if (this.#directories.get(directory)?.next === null) this.#directories.delete(directory);
    }
  }
}

async function syncDirectory(directory: string): Promise<void> {
  // Opened anew each time: an open handle would keep syncing a directory that was removed and made again.
  const fd = await openFile(directory, 'r');
  try {
    await syncFile(fd);
  } finally {
    await closeFile(fd);
  }
}
