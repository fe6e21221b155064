import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import pMap from 'p-map';
import { nodeTransport } from '../../kits/typescript/src/http_call.js';
import { AccountAccess } from '../listen/access.js';
import { readAccount, readServer } from '../listen/options.js';
import { signIn } from '../listen/sign_in.js';
import { UserError, WRONG_USAGE } from '../user_error.js';
import { deleteSent, type SenderDeps, sendFile } from './file_sending.js';
import { FolderEvents } from './folder_events.js';
import { type FolderLook, type FoundFile, lookAt } from './folder_scan.js';
import { SettledFiles } from './settled_files.js';
import { textsBeside } from './texts_beside.js';
import { Waiting } from './waiting.js';
import { WatchState } from './watch_state.js';

/** The options as commander gives them. */
export type WatchOptions = {
  settle: number;
  every: number;
  once?: true;
  deleteAfter?: true;
  state?: string;
  workspace?: string;
  server?: string;
  email?: string;
  codeFromInbox?: true;
};

const STATE_NAME = '.spool-watch.json';
/** A piece on a slow line takes its time. */
const PIECE_MAX_MS = 10 * 60_000;
const FILES_AT_ONCE = 3;
/** With --once another run follows. */
const ONCE_WAITS_MS = 10 * 60_000;
/** Timers may end a little early. */
const TIMERS_MS = 20;

/** Imports what appears in a folder until a signal ends it, or once. The exit code is 1 where a file has failed. */
export async function watchFolder(dir: string, options: WatchOptions): Promise<void> {
  const folder = resolve(dir);
  const server = readServer(options.server, process.env);
  const who = readAccount(options, process.env);
  await requireFolder(folder);
  const state_file = resolve(options.state ?? join(folder, STATE_NAME));
  const state = await WatchState.open(state_file, server.origin);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  const { signal } = stop;
  const say = (text: string) => console.log(text);
  const access = new AccountAccess(server, {
    timeout_ms: PIECE_MAX_MS,
    patience: null,
    transport: nodeTransport({ maxSockets: 2 * FILES_AT_ONCE }),
  });
  const give_up_ms = options.once === true ? ONCE_WAITS_MS : null;
  const waiting = new Waiting({ say: (text) => console.error(text), signal, give_up_ms });
  const sender = { access, waiting, state, folder, server, say, signal };
  const watcher = new FolderWatcher({ ...sender, workspace_id: options.workspace }, { ...options, state_file });
  try {
    const as = await signIn(access, who);
    if (options.once !== true) say(`watching ${folder} for ${server.origin}, signed in ${as}`);
    if ((await watcher.run()) > 0) process.exitCode = 1;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    stop.abort();
    watcher.close();
    await access.leave();
  }
}

async function requireFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => null);
  if (!found?.isDirectory()) throw new UserError(`${folder} is not a folder.`, WRONG_USAGE);
}

class FolderWatcher {
  readonly #sender: SenderDeps;
  readonly #options: WatchOptions & { state_file: string };
  readonly #settled: SettledFiles;
  readonly #events: FolderEvents;
  /** Files that can't be read or deleted, by path; each is said once. The folder's own path is ''. */
  readonly #problems = new Map<string, string>();

  constructor(sender: SenderDeps, options: WatchOptions & { state_file: string }) {
    this.#sender = sender;
    this.#options = options;
    this.#settled = new SettledFiles(options.settle * 1_000);
    this.#events = new FolderEvents(sender.folder);
  }

  /** How many files of the folder have failed, at its last look. */
  async run(): Promise<number> {
    const { signal } = this.#sender;
    const every_ms = this.#options.every * 1_000;
    for (let looks = 1; ; looks++) {
      const look = await this.#look();
      const open = this.#open(look);
      const { ready, wait_ms } = this.#settled.look(open, performance.now());
      await this.#sendAll(look, { open, ready });
      if (this.#options.once === true && (wait_ms === null || looks > 1)) return this.#failures(look);
      const rest_ms = this.#options.once === true ? (wait_ms ?? 0) : Math.min(every_ms, wait_ms ?? every_ms);
      await this.#events.rest(rest_ms + TIMERS_MS, signal);
      if (signal.aborted) return 0;
    }
  }

  close(): void {
    this.#events.close();
  }

  /** A folder that is away for a while, as one of a network, is waited for. */
  async #look(): Promise<FolderLook> {
    const { folder, state } = this.#sender;
    try {
      const look = await lookAt(folder, new Set([this.#options.state_file]));
      if (this.#options.once !== true) this.#events.watch(look.folders);
      state.keep(look.files);
      for (const path of this.#problems.keys()) if (!look.files.has(path)) this.#problems.delete(path);
      return look;
    } catch (error) {
      const { code = 'UNKNOWN' } = error as NodeJS.ErrnoException;
      if (this.#options.once === true) throw new UserError(`${folder} can not be read (${code}).`);
      this.#problem('', `${folder} can not be read (${code})`);
      return { files: new Map(), folders: [] };
    }
  }

  /** The files with which something is to be done. */
  #open({ files }: FolderLook): FolderLook['files'] {
    const { state } = this.#sender;
    const now_ms = Date.now();
    return new Map(
      [...files].filter(([path, file]) => {
        if (!state.isOver(path, file, now_ms)) return true;
        return this.#options.deleteAfter === true && state.isSent(path, file);
      }),
    );
  }

  /** The text of an audio file goes with it; the audio waits until both are ready. */
  async #sendAll(
    { files }: FolderLook,
    { open, ready }: { open: FolderLook['files']; ready: readonly string[] },
  ): Promise<void> {
    const { signal, state } = this.#sender;
    const is_ready = new Set(ready);
    const texts = textsBeside([...open.keys()].filter((path) => !state.isSent(path, open.get(path) as FoundFile)));
    const going = new Set(texts.values());
    const waits = (path: string) => {
      const text = texts.get(path);
      return going.has(path) || (text !== undefined && !is_ready.has(text));
    };
    const send = async (path: string) => {
      const text = texts.get(path);
      const file = files.get(path) as FoundFile;
      const has_gone = await this.#send(path, file, text);
      if (text !== undefined && has_gone) await this.#textSent(text, files.get(text) as FoundFile);
    };
    await pMap(
      ready.filter((path) => !waits(path)),
      send,
      { concurrency: FILES_AT_ONCE, signal },
    );
  }

  /** The text of a recording becomes none of its own. */
  async #textSent(text: string, found: FoundFile): Promise<void> {
    const { state, folder } = this.#sender;
    state.setPath(text, found, { sha256: null, sent: false });
    await state.save();
    if (this.#options.deleteAfter !== true) return;
    const code = await deleteSent(folder, text, found);
    if (code !== null) this.#problem(text, `${text}: could not be deleted (${code})`);
  }

  /** Whether its text has gone with it. */
  async #send(path: string, file: FoundFile, text: string | undefined): Promise<boolean> {
    const { state, folder } = this.#sender;
    let has_gone = false;
    if (!state.isSent(path, file)) {
      const result = await sendFile(this.#sender, { path, text }, file);
      if (typeof result !== 'string') {
        this.#problem(path, `${path}: could not be read (${result.unread})`);
        return false;
      }
      has_gone = result === 'with_text';
    }
    this.#problems.delete(path);
    if (this.#options.deleteAfter !== true || !state.isSent(path, file)) return has_gone;
    const code = await deleteSent(folder, path, file);
    if (code !== null) this.#problem(path, `${path}: could not be deleted (${code})`);
    return has_gone;
  }

  #problem(path: string, words: string): void {
    if (this.#problems.get(path) !== words) this.#sender.say(words);
    this.#problems.set(path, words);
  }

  #failures({ files }: FolderLook): number {
    const { state } = this.#sender;
    const failed = [...files].filter(([path, file]) => state.hasFailed(path, file));
    return failed.length + this.#problems.size;
  }
}
