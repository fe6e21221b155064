import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { readIfThere, writeDurably } from '../../kits/typescript/src/durable_files.js';
import { UserError } from '../user_error.js';
import { type FoundFile, isSameFile } from './folder_scan.js';

/** The oldest are forgotten first. */
const FILES_MAX = 200_000;
const RETRY_MS = 3_600_000;

const outcomeShape = z.union([
  z.strictObject({ status: z.literal('done'), stream_id: z.string(), at: z.string() }),
  z.strictObject({
    status: z.literal('failed'),
    code: z.string(),
    message: z.string(),
    again: z.boolean(),
    at: z.string(),
  }),
]);
/** `sha256`: null for a file that is no recording, such as a note. `sent`: its bytes were sent, not those of a copy. */
const knownPathShape = z.strictObject({
  size: z.number(),
  mtime_ms: z.number(),
  sha256: z.string().nullable(),
  sent: z.boolean(),
});
const stateShape = z.strictObject({
  version: z.literal(1),
  server: z.string(),
  files: z.record(z.string(), outcomeShape),
  paths: z.record(z.string(), knownPathShape),
});

/** The end of a file's way. `again`: of a failure that may pass. */
export type FileOutcome = z.infer<typeof outcomeShape>;
type KnownPath = z.infer<typeof knownPathShape>;

/**
 * A file that says what has become of the files of a folder, by their SHA-256. Paths are kept so that a file is not read
 * again while its size and time are the same.
 */
export class WatchState {
  readonly #file: string;
  readonly #server: string;
  #files = new Map<string, FileOutcome>();
  #paths = new Map<string, KnownPath>();
  #written: FoundFile | null = null;
  #saving: Promise<void> = Promise.resolve();

  private constructor(file: string, server: string) {
    this.#file = file;
    this.#server = server;
  }

  /** Throws UserError where the file is of another server, or none of these. */
  static async open(file: string, server: string): Promise<WatchState> {
    const state = new WatchState(file, server);
    const found = await state.#read();
    for (const [path, known] of Object.entries(found?.paths ?? {})) state.#paths.set(path, known);
    return state;
  }

  outcome(sha256: string): FileOutcome | undefined {
    return this.#files.get(sha256);
  }

  /** The hash of a path whose file is the same as it was; null for what is no recording; undefined for a new one. */
  hashAt(path: string, file: FoundFile): string | null | undefined {
    const known = this.#paths.get(path);
    return known !== undefined && isSameFile(known, file) ? known.sha256 : undefined;
  }

  /** Whether nothing is left to do for a file. */
  isOver(path: string, file: FoundFile, now_ms: number): boolean {
    const sha256 = this.hashAt(path, file);
    if (sha256 === undefined || sha256 === null) return sha256 === null;
    return this.isSettled(sha256, now_ms);
  }

  isSettled(sha256: string, now_ms: number): boolean {
    const outcome = this.#files.get(sha256);
    if (outcome === undefined) return false;
    return outcome.status === 'done' || !outcome.again || now_ms < Date.parse(outcome.at) + RETRY_MS;
  }

  /** Whether the recording was made of this very file. */
  isSent(path: string, file: FoundFile): boolean {
    return typeof this.hashAt(path, file) === 'string' && this.#paths.get(path)?.sent === true;
  }

  hasFailed(path: string, file: FoundFile): boolean {
    const sha256 = this.hashAt(path, file);
    return typeof sha256 === 'string' && this.#files.get(sha256)?.status === 'failed';
  }

  setPath(path: string, { size, mtime_ms }: FoundFile, is: { sha256: string | null; sent: boolean }): void {
    this.#paths.set(path, { size, mtime_ms, ...is });
  }

  /** Resolves once it is on disk. */
  settle(sha256: string, outcome: FileOutcome): Promise<void> {
    this.#files.delete(sha256);
    this.#files.set(sha256, outcome);
    return this.save();
  }

  /** Forgets paths that are not there any more; what became of their files stays known. */
  keep(paths: ReadonlyMap<string, unknown>): void {
    for (const path of this.#paths.keys()) if (!paths.has(path)) this.#paths.delete(path);
  }

  save(): Promise<void> {
    this.#saving = this.#saving.catch(() => {}).then(() => this.#save());
    return this.#saving;
  }

  async #save(): Promise<void> {
    // A second program may watch the same folder.
    if (!(await this.#isOwn())) await this.#read();
    for (const sha256 of this.#files.keys()) {
      if (this.#files.size <= FILES_MAX) break;
      this.#files.delete(sha256);
    }
    const [files, paths] = [Object.fromEntries(this.#files), Object.fromEntries(this.#paths)];
    await writeDurably(this.#file, `${JSON.stringify({ version: 1, server: this.#server, files, paths }, null, 1)}\n`);
    this.#written = await this.#found();
  }

  async #isOwn(): Promise<boolean> {
    const found = await this.#found();
    return found === null || (this.#written !== null && isSameFile(found, this.#written));
  }

  async #found(): Promise<FoundFile | null> {
    const found = await stat(this.#file).catch(() => null);
    return found === null ? null : { size: found.size, mtime_ms: found.mtimeMs };
  }

  /** Adds what the file knows to what is known here. */
  async #read(): Promise<z.infer<typeof stateShape> | null> {
    const text = await readIfThere(this.#file);
    if (text === null) return null;
    const { success, data } = stateShape.safeParse(jsonOf(text));
    if (!success) throw new UserError(`${this.#file} is not a state of spool watch: name another one with --state.`);
    if (data.server !== this.#server)
      throw new UserError(
        `${this.#file} says what was imported at ${data.server}. For another server give --state FILE; if that server has moved, change its address there.`,
      );
    const own = this.#files;
    this.#files = new Map(Object.entries(data.files));
    for (const [sha256, outcome] of own)
      if (this.#files.get(sha256)?.status !== 'done') this.#files.set(sha256, outcome);
    return data;
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
