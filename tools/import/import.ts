import { open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Import } from '../../kits/typescript/src/api.js';
import { CallRefused } from '../../kits/typescript/src/call.js';
import { type ImportProgress, localTime } from '../../kits/typescript/src/file_import.js';
import { Patience } from '../../kits/typescript/src/retries.js';
import { isTranscriptOf } from '../../src/domain/transcript_files/transcript_names.js';
import { Progress, type UploadProgress } from '../demo/progress.js';
import { AccountAccess } from '../listen/access.js';
import { type AccountChoice, readAccount, readServer } from '../listen/options.js';
import { signIn } from '../listen/sign_in.js';
import { UserError } from '../user_error.js';
import { type FileText, textBeside } from './file_texts.js';
import type { ServiceName } from './services/service.js';
import { sizeFault } from './size_fault.js';
import { SAID_BY } from './time_words.js';

/** The options as commander gives them. */
export type ImportOptions = {
  source?: string;
  capturedAt?: string;
  server?: string;
  email?: string;
  codeFromInbox?: true;
  json?: true;
  from?: ServiceName;
  state?: string;
};

/** The recording of a file, or why there is none. */
type ImportedFile = {
  file: string;
  /** The file beside it that is its text; absent for none. */
  text?: string;
  stream_id: string | null;
  error: { code: string; message: string } | null;
  captured_at?: string | null | undefined;
  captured_at_by?: Import['captured_at_by'] | undefined;
};

type SentFile = Pick<Import, 'stream_id' | 'error'> & Partial<Pick<Import, 'captured_at' | 'captured_at_by'>>;

/** A piece on a slow line takes its time. */
const PIECE_MAX_MS = 10 * 60_000;

/** Imports files one after the other; one that fails stops no other. The exit code is 1 where some have failed. */
export async function importFiles(files: readonly string[], options: ImportOptions): Promise<void> {
  const server = readServer(options.server, process.env);
  const who: AccountChoice = readAccount(options, process.env);
  const access = new AccountAccess(server, { timeout_ms: PIECE_MAX_MS, patience: new Patience({ tries_max: 10 }) });
  const imported: ImportedFile[] = [];
  try {
    await signIn(access, who);
    for (const file of withoutTexts(files)) {
      const found = await importOne(access, file, options);
      imported.push(found);
      if (options.json !== true) console.log(wordsFor(found, server, options.capturedAt));
    }
  } finally {
    await access.leave();
  }
  if (options.json === true) console.log(JSON.stringify(imported, null, 2));
  if (imported.some(({ stream_id }) => stream_id === null)) process.exitCode = 1;
}

/** Leaves out the texts of audio files that are named as well: they go with these. */
function withoutTexts(files: readonly string[]): string[] {
  const isTextOf = (text: string, audio: string) =>
    dirname(text) === dirname(audio) && isTranscriptOf(basename(text), basename(audio));
  return files.filter((text) => !files.some((audio) => isTextOf(text, audio)));
}

async function importOne(access: AccountAccess, file: string, options: ImportOptions): Promise<ImportedFile> {
  try {
    const text = await textBeside(file);
    const { stream_id, error, captured_at, captured_at_by } = await sent(access, { file, text }, options);
    return { file, ...(text !== null && { text: text.path }), stream_id, error, captured_at, captured_at_by };
  } catch (error) {
    if (error instanceof CallRefused && error.status !== 401)
      return { file, stream_id: null, error: { code: error.code, message: error.message } };
    if ((error as NodeJS.ErrnoException).syscall === undefined || error instanceof UserError) throw error;
    const { code = 'UNREADABLE', message } = error as NodeJS.ErrnoException;
    return { file, stream_id: null, error: { code, message } };
  }
}

async function sent(
  access: AccountAccess,
  { file, text }: { file: string; text: FileText | null },
  options: ImportOptions,
): Promise<SentFile> {
  const handle = await open(file);
  const shown = new ImportBar(basename(file));
  try {
    const { size: size_bytes, mtimeMs } = await handle.stat();
    const too_large = sizeFault(file, size_bytes);
    if (too_large !== null) return { stream_id: null, error: too_large };
    if (size_bytes === 0) return { stream_id: null, error: { code: 'BAD_REQUEST', message: 'The file is empty.' } };
    const read = async (start: number, end: number) => {
      const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafeSlow(end - start), 0, end - start, start);
      if (bytesRead < end - start) throw new UserError(`${file} became shorter while it was read.`);
      return buffer;
    };
    const source = options.source === undefined ? {} : { source_id: options.source };
    const time = options.capturedAt === undefined ? {} : { captured_at: options.capturedAt };
    const about = {
      name: basename(file),
      size_bytes,
      read,
      modified_ms: mtimeMs,
      ...time,
      ...source,
      transcript: text?.bytes,
    };
    const onProgress = (progress: ImportProgress) => shown.show(progress, size_bytes);
    return await access.ask((app) => app.importFile(about, { onProgress }));
  } finally {
    shown.end();
    await handle.close();
  }
}

/** How far one file is, on stderr: what came of it is what a program reads. */
class ImportBar {
  readonly #name: string;
  #step: ImportProgress['step'] | null = null;
  #bar: Progress | null = null;
  #lane: UploadProgress | null = null;

  constructor(name: string) {
    this.#name = name;
  }

  show({ step, bytes }: ImportProgress, bytes_total: number): void {
    if (step !== this.#step) {
      if (this.#lane !== null) this.#lane.bytes = bytes_total;
      this.end();
      this.#step = step;
      if (step === 'decoding') process.stderr.write(`decoding ${this.#name}\n`);
      else if (step === 'uploading' || process.stderr.isTTY) {
        this.#lane = { name: this.#name, bytes, bytes_total, chunks: 0, chunks_total: 0 };
        this.#bar = new Progress(process.stderr, step, [this.#lane]);
      }
    }
    if (this.#lane !== null) this.#lane.bytes = bytes;
  }

  end(): void {
    this.#bar?.end();
    this.#bar = null;
    this.#lane = null;
  }
}

function wordsFor(imported: ImportedFile, server: URL, wanted: string | undefined): string {
  const { file, text, stream_id, error, captured_at = null, captured_at_by: by = null } = imported;
  if (stream_id !== null) {
    const lines = [`${file}: ${server.origin}/app/recordings/${stream_id}`];
    if (text !== undefined) lines.push(`  its text is that of ${text}`);
    if (captured_at !== null) {
      const is_other = wanted !== undefined && Date.parse(wanted) !== Date.parse(captured_at);
      const change = is_other
        ? 'it was imported before: delete the recording to import it with another time'
        : '--captured-at sets another time';
      lines.push(`  began ${localTime(Date.parse(captured_at))}${by === null ? '' : ` ${SAID_BY[by]}`}; ${change}`);
    }
    return lines.join('\n');
  }
  return `${file}: ${error?.message ?? 'it was not imported.'} (${error?.code ?? 'UNKNOWN'})`;
}
