import { createHash } from 'node:crypto';
import { type FileHandle, open, readFile, stat, unlink } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import type { Import } from '../../kits/typescript/src/api.js';
import { CallRefused } from '../../kits/typescript/src/call.js';
import { type ImportProgress, localTime } from '../../kits/typescript/src/file_import.js';
import { fileName } from '../../src/access/request_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { TRANSCRIPT_BYTES_MAX } from '../../src/domain/transcript_files/transcript_names.js';
import { isTranscript } from '../import/file_texts.js';
import { sizeFault } from '../import/size_fault.js';
import { SAID_BY } from '../import/time_words.js';
import type { AccountAccess } from '../listen/access.js';
import { UserError } from '../user_error.js';
import { type FoundFile, isSameFile } from './folder_scan.js';
import type { Waiting } from './waiting.js';
import type { WatchState } from './watch_state.js';

/** Names that other texts have as well. */
const PERHAPS_TRANSCRIPT = /\.(?:txt|json)$/i;
/** Another try changes nothing. */
const UNREADABLE = 'TRANSCRIPT_UNREADABLE';
const FINAL = new Set(['UNSUPPORTED_AUDIO', 'TOO_LONG', UNREADABLE, 'RECORDING_DELETED']);
/** The account's imports are as many as there may be, or another program sends this file. */
const TOO_MANY = 409;
const NAMES = fileName(LIMITS.file_name_chars_max);
const NAME_CHARS = 200;
const SAY_EVERY_MS = 60_000;

export type SenderDeps = {
  access: AccountAccess;
  waiting: Waiting;
  state: WatchState;
  folder: string;
  server: URL;
  say: (text: string) => void;
  signal: AbortSignal;
  workspace_id: string | undefined;
};

/**
 * `with_text`: it is a recording with the text beside it. `changed`: it is written again, or has gone; a later look finds it.
 * `unread`: why it could not be read.
 */
type SendResult = 'over' | 'with_text' | 'changed' | { unread: string };

/**
 * Makes a recording of one file that stands still, unless its content was one before. `text`: the path of a transcript beside
 * it.
 */
export async function sendFile(
  deps: SenderDeps,
  { path, text }: { path: string; text: string | undefined },
  found: FoundFile,
): Promise<SendResult> {
  try {
    const handle = await open(join(deps.folder, path));
    try {
      const transcript = text === undefined ? undefined : await textAt(join(deps.folder, text));
      return await handled(deps, { path, found, handle, text, transcript });
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code, syscall = '' } = error as NodeJS.ErrnoException;
    if (syscall !== 'open' && syscall !== 'read') throw error;
    return code === 'ENOENT' ? 'changed' : { unread: code ?? 'UNKNOWN' };
  }
}

/** Deletes a file whose recording is made, if it is still the one that was sent; says why it can't be. */
export async function deleteSent(folder: string, path: string, found: FoundFile): Promise<string | null> {
  try {
    const handle = await open(join(folder, path));
    const is_same = await isAsFound(handle, found).finally(() => handle.close());
    if (is_same) await unlink(join(folder, path));
    return null;
  } catch (error) {
    const { code = 'UNKNOWN' } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? null : code;
  }
}

/** `transcript`: the bytes of the text beside it; undefined for none. */
type OfFile = {
  path: string;
  found: FoundFile;
  handle: FileHandle;
  text: string | undefined;
  transcript: Uint8Array<ArrayBuffer> | undefined;
};

async function handled(deps: SenderDeps, file: OfFile): Promise<SendResult> {
  const { state, say, signal } = deps;
  const { path, found, handle } = file;
  const sha256 = await hashOf(handle, path, signal);
  if (!(await isAsFound(handle, found))) return 'changed';
  const outcome = sha256 === null ? undefined : state.outcome(sha256);
  state.setPath(path, found, { sha256, sent: false });
  if (sha256 !== null && !state.isSettled(sha256, Date.now())) return send(deps, { ...file, sha256 });
  await state.save();
  if (outcome?.status === 'done') say(`${path}: was imported before, and stays`);
  if (outcome?.status === 'failed') say(`${path}: ${outcome.message} (${outcome.code})`);
  return 'over';
}

async function send(deps: SenderDeps, file: OfFile & { sha256: string }): Promise<SendResult> {
  const { state, say, server } = deps;
  const { path, found, sha256, handle } = file;
  const made = await askServer(deps, file);
  if (made === null) return 'changed';
  if (made.error?.code === UNREADABLE && file.transcript !== undefined) {
    say(`${file.text}: ${made.error.message} ${path} is transcribed instead.`);
    return send(deps, { ...file, transcript: undefined });
  }
  const at = new Date().toISOString();
  if (made.stream_id !== null) {
    state.setPath(path, found, { sha256, sent: true });
    await state.settle(sha256, { status: 'done', stream_id: made.stream_id, at });
    say(wordsFor(server, path, made));
    if (file.transcript === undefined) return 'over';
    say(`${path}: its text is that of ${file.text}`);
    return 'with_text';
  }
  if (!(await isAsFound(handle, found))) return 'changed';
  const { code, message } = made.error ?? { code: 'UNKNOWN', message: 'It was not imported.' };
  await state.settle(sha256, { status: 'failed', code, message, again: !FINAL.has(code), at });
  say(`${path}: ${message} (${code})`);
  return 'over';
}

type Made = Pick<Import, 'stream_id' | 'error'> & Partial<Pick<Import, 'captured_at' | 'captured_at_by'>>;

/** Null for a file that is written again. */
async function askServer(
  { access, waiting, signal, workspace_id, say }: SenderDeps,
  { path, found, sha256, handle, transcript }: OfFile & { sha256: string },
): Promise<Made | null> {
  const { size: size_bytes, mtime_ms: modified_ms } = found;
  const too_large = sizeFault(path, size_bytes);
  if (too_large !== null) return { stream_id: null, error: too_large };
  const file = { name: nameFor(path), size_bytes, modified_ms, sha256, read: reader(handle) };
  const about = { ...file, workspace_id, transcript };
  let progress: ImportProgress | null = null;
  const onProgress = (is: ImportProgress) => {
    progress = is;
  };
  const timer = setInterval(() => say(`${path}: ${stepWords(progress, size_bytes)}`), SAY_EVERY_MS);
  const work = () =>
    unlessStopped(
      access.ask((app) => app.importFile(about, { signal, onProgress })),
      signal,
    );
  try {
    return await waiting.until(work, { too_much: [TOO_MANY] });
  } catch (error) {
    if (error instanceof BecameShorter) return null;
    if (!(error instanceof CallRefused)) throw error;
    // Neither token nor workspace suits any other file better.
    if (error.status === 403 || error.status === 404) throw new UserError(`The server refused: ${error.message}`);
    return { stream_id: null, error: { code: error.code, message: error.message } };
  } finally {
    clearInterval(timer);
  }
}

function stepWords(progress: ImportProgress | null, size_bytes: number): string {
  if (progress === null) return 'waiting';
  if (progress.step === 'decoding') return 'the server is making the recording';
  return `uploading, ${Math.floor((100 * progress.bytes) / size_bytes)}%`;
}

/** A request under way does not keep the program. */
function unlessStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

class BecameShorter extends Error {}

function reader(handle: FileHandle) {
  return async (start: number, end: number) => {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafeSlow(end - start), 0, end - start, start);
    if (bytesRead < end - start) throw new BecameShorter();
    return buffer;
  };
}

/** Null for a text that is no transcript, and for a file without bytes. */
async function hashOf(handle: FileHandle, path: string, signal: AbortSignal): Promise<string | null> {
  const { size } = await handle.stat();
  if (size === 0) return null;
  if (PERHAPS_TRANSCRIPT.test(path)) {
    if (size > TRANSCRIPT_BYTES_MAX) return null;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, 0);
    if (!isTranscript(buffer.subarray(0, bytesRead))) return null;
  }
  const hash = createHash('sha256');
  const bytes = handle.createReadStream({ start: 0, autoClose: false, signal });
  for await (const piece of bytes) hash.update(piece);
  return hash.digest('hex');
}

/** Undefined for a text that is no transcript, or too large for one. */
async function textAt(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if ((await stat(path)).size > TRANSCRIPT_BYTES_MAX) return undefined;
  const bytes = new Uint8Array(await readFile(path));
  return isTranscript(bytes) ? bytes : undefined;
}

async function isAsFound(handle: FileHandle, found: FoundFile): Promise<boolean> {
  const { size, mtimeMs: mtime_ms } = await handle.stat();
  return isSameFile({ size, mtime_ms }, found);
}

/** A name that the server takes. */
function nameFor(path: string): string {
  const name = basename(path);
  if (NAMES.safeParse(name).success) return name;
  const ending = extname(name).replace(/[^.\w]/g, '');
  const plain = [
    ...name
      .slice(0, -ending.length)
      .toWellFormed()
      .replaceAll(/[\\\p{C}\p{Zl}\p{Zp}]/gu, '_'),
  ];
  const shorter = `${plain.slice(0, NAME_CHARS).join('').trim()}${ending}`;
  return NAMES.safeParse(shorter).success ? shorter : `Recording${ending}`;
}

function wordsFor(server: URL, path: string, { stream_id, captured_at = null, captured_at_by: by = null }: Made) {
  const began = captured_at === null ? '' : `, began ${localTime(Date.parse(captured_at))}`;
  return `${path}: ${server.origin}/app/recordings/${stream_id}${began}${by === null ? '' : ` ${SAID_BY[by]}`}`;
}
