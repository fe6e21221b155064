import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sizeInWords } from '../../../domain/limit_text.js';
import { LIMITS } from '../../../domain/limits.js';
import { lengthOf } from '../window_audio.js';
import { AUDIO_WORD } from './command_line.js';
import { type Engine, EngineFailed, type Transcription, type TranscriptionRequest } from './engine.js';
import { readTranscription } from './transcription_json.js';

/** A program of this machine: it gets a file, and writes the transcription to its output. */

/** One of the words holds `{audio}`. */
type CommandOptions = { name: string; words: readonly string[]; answer_ms_max?: number };

/** The environment variables that a program gets: others may be secret. `env NAME=value program …` sets more. */
const ENVIRONMENT = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'LD_LIBRARY_PATH'];
const FOLDER = 'spool-audio-';
/** A folder of a server that was killed: older than any that is in use. */
const LEFT_BEHIND_MS = 3_600_000;
/** The output of processes that a program left running is closed after this. */
const CLOSED_AFTER_MS = 1_000;

export class Command implements Engine {
  readonly name: string;
  readonly #options: CommandOptions;

  constructor(options: CommandOptions) {
    this.#options = options;
    this.name = options.name;
  }

  async hear({ file }: TranscriptionRequest, signal: AbortSignal): Promise<Transcription> {
    const { bytes, extension } = file;
    const folder = await mkdtemp(join(tmpdir(), FOLDER));
    try {
      const path = join(folder, `audio.${extension}`);
      await writeFile(path, bytes, { mode: 0o600 });
      return readOutput(await this.#run(path, { folder, signal }), lengthOf(file) / 1_000);
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  async close(): Promise<void> {}

  /**
   * Runs the program and returns its output. It has a process group of its own, which is killed completely afterwards.
   */
  async #run(path: string, { folder, signal }: { folder: string; signal: AbortSignal }): Promise<string> {
    const [program = '', ...args] = this.#options.words.map((word) => word.replaceAll(AUDIO_WORD, path));
    const deadline = AbortSignal.timeout(this.#options.answer_ms_max ?? LIMITS.engine_ms_max);
    if (signal.aborted) throw stopped();
    const child = spawn(program, args, {
      cwd: folder,
      env: environment(folder),
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const either = AbortSignal.any([signal, deadline]);
    const kill = () => killGroup(child);
    either.addEventListener('abort', kill);
    const output = collect(child, { bytes_max: LIMITS.engine_answer_bytes_max, onTooMany: kill });
    try {
      const { code } = await endOf(child);
      if (signal.aborted) throw stopped();
      if (deadline.aborted) throw new EngineFailed('ENGINE_TIMEOUT', 'The program did not end in time.');
      const text = output();
      if (text === null)
        throw new EngineFailed(
          'ENGINE_ANSWER_TOO_LARGE',
          `The program wrote more than ${sizeInWords(LIMITS.engine_answer_bytes_max)}.`,
        );
      if (code === null) throw new EngineFailed('ENGINE_EXITED', 'The program was killed by a signal.');
      if (code !== 0) throw new EngineFailed('ENGINE_EXITED', `The program ended with exit code ${code}.`);
      return text;
    } finally {
      either.removeEventListener('abort', kill);
    }
  }
}

/** The program and the arguments of TRANSCRIBE_COMMAND. */
export function commandEngine(words: readonly string[], answer_ms_max?: number): Command {
  const name = words[0]?.split('/').at(-1) ?? '';
  return new Command({ name, words, ...(answer_ms_max === undefined ? {} : { answer_ms_max }) });
}

/** Removes audio that a killed server left. */
export async function removeLeftBehind(now_ms: number): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    if (!name.startsWith(FOLDER)) continue;
    const path = join(tmpdir(), name);
    const found = await stat(path).catch(() => null);
    if (found !== null && found.uid === process.getuid?.() && now_ms - found.mtimeMs > LEFT_BEHIND_MS)
      await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

/** A transcription as JSON, or plain text. */
function readOutput(output: string, length_s: number): Transcription {
  if (output.trimStart().startsWith('{')) return readTranscription(output, length_s);
  return { segments: [{ start_s: 0, end_s: length_s, text: output, words: [] }] };
}

function environment(folder: string): NodeJS.ProcessEnv {
  const known = ENVIRONMENT.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(known), TMPDIR: folder };
}

/** Null once it was more than so many bytes. */
function collect({ stdout }: ChildProcess, limit: { bytes_max: number; onTooMany: () => void }): () => string | null {
  const pieces: Buffer[] = [];
  let bytes = 0;
  stdout?.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes <= limit.bytes_max) pieces.push(piece);
    else limit.onTooMany();
  });
  return () => (bytes > limit.bytes_max ? null : Buffer.concat(pieces).toString());
}

/** Ends when the program has and its output is read. What it started is killed with it. */
async function endOf(child: ChildProcess): Promise<{ code: number | null }> {
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('exit', resolve);
    child.once('error', (error: NodeJS.ErrnoException) => reject(missing(error)));
  });
  killGroup(child);
  // A program that left its group may hold the output open.
  const late = setTimeout(() => child.stdout?.destroy(), CLOSED_AFTER_MS);
  await closed;
  clearTimeout(late);
  return { code };
}

function missing({ code }: NodeJS.ErrnoException): EngineFailed {
  return new EngineFailed('ENGINE_MISSING', `The program can not be started${code === undefined ? '' : ` (${code})`}.`);
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody is left in the group.
  }
}

function stopped(): EngineFailed {
  return new EngineFailed('ENGINE_STOPPED', 'The server stopped meanwhile.');
}
