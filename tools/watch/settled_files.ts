import { type FoundFile, isSameFile } from './folder_scan.js';

/** Finds the files that nobody writes any more: size and time stand still for a while, and at a second look. */
export class SettledFiles {
  readonly #settle_ms: number;
  #seen = new Map<string, FoundFile & { since_ms: number }>();

  constructor(settle_ms: number) {
    this.#settle_ms = settle_ms;
  }

  /** The paths that are ready. `wait_ms`: until the next file may be; null where all are ready. */
  look(found: ReadonlyMap<string, FoundFile>, now_ms: number): { ready: string[]; wait_ms: number | null } {
    const seen = new Map<string, FoundFile & { since_ms: number }>();
    const ready: string[] = [];
    let wait_ms: number | null = null;
    for (const [path, file] of found) {
      const before = this.#seen.get(path);
      const stands = before !== undefined && isSameFile(before, file);
      const since_ms = stands ? before.since_ms : now_ms;
      seen.set(path, { ...file, since_ms });
      const left_ms = since_ms + this.#settle_ms - now_ms;
      if (stands && left_ms <= 0) ready.push(path);
      else wait_ms = Math.min(wait_ms ?? Number.POSITIVE_INFINITY, Math.max(0, left_ms));
    }
    this.#seen = seen;
    return { ready, wait_ms };
  }
}
