import { effect, signal } from '@preact/signals';
import type { Import } from '../../kits/typescript/src/api.js';
import { importFile, localTime } from '../../kits/typescript/src/file_import.js';
import { backoffAfter } from '../../src/domain/backoff.js';
import {
  isTranscriptName,
  isTranscriptOf,
  TRANSCRIPT_BYTES_MAX,
} from '../../src/domain/transcript_files/transcript_names.js';
import { api, payloadOf, send } from '../api/api.js';
import { ApiError } from '../api/api_error.js';
import { localText, momentOf } from '../language/formats.js';
import { say } from '../language/say.js';
import { chosenWorkspace } from '../recorder/recorded_into.js';
import type { TranscriptPreview } from './transcript_preview.js';

/**
 * Audio files and transcripts that become recordings. They go on while other pages are looked at, two at a time. A transcript
 * is read here first, and sent when somebody has confirmed what was found in it.
 */

export type ImportRow = {
  key: number;
  file: File;
  /** Null until it is announced. */
  import_id: string | null;
  /** `looking`: at a transcript, before anything is sent. `review`: it waits for somebody's word. */
  step: 'looking' | 'review' | 'waiting' | 'reading' | 'uploading' | 'decoding' | 'done' | 'failed';
  /** Of this step. */
  bytes: number;
  /** Why the last request came to nothing, while it is made again. */
  problem: string | null;
  error: string | null;
  /** Another try reads the same. */
  is_unreadable: boolean;
  stream_id: string | null;
  /** When its recording began, and what says so; null until it is done. */
  began: { at: string; by: Import['captured_at_by'] } | null;
  /** The workspace that was chosen when it was begun; undefined for the private one. */
  workspace_id: string | undefined;
  /** When it began, as somebody has set it here. */
  captured_at: string | null;
  is_transcript: boolean;
  /** The transcript of the audio, which came with it under the same name; null for none. */
  text: File | null;
  /** The contents of the transcript; null before it was read. */
  preview: TranscriptPreview | null;
  /** When a transcript was recorded, as its field has it. */
  time: string;
};

const AT_ONCE = 2;
const RETRY = { first_ms: 1_000, max_ms: 15_000 };
/** Refusals that may pass: the request is made again. */
const PASSING = ['NETWORK', 'UNAVAILABLE', 'TOO_MANY_REQUESTS', 'REQUEST_TIMEOUT', 'INTERNAL', 'UNKNOWN'];
/** The server takes no larger ones; a larger one need not be read. */
const FILE_BYTES_MAX = 1024 ** 3;

export const imports = signal<readonly ImportRow[]>([]);
const running = new Map<number, AbortController>();
let count = 0;

export function isOver({ step }: ImportRow): boolean {
  return step === 'done' || step === 'failed';
}

/** `import_id`: of an upload that the file goes on with. */
export function beginImports(files: Iterable<File>, import_id: string | null = null): void {
  const all = Array.from(files);
  const textOf = (file: File) => all.find(({ name }) => isTranscriptOf(name, file.name)) ?? null;
  const own = all.filter(({ name }) => !all.some((audio) => isTranscriptOf(name, audio.name)));
  const rows = own.map((file): ImportRow => {
    const is_transcript = isTranscriptName(file.name);
    const text = textOf(file);
    return {
      ...{ key: ++count, file, text, ...FRESH, import_id, captured_at: null },
      // What was begun on an earlier page is confirmed.
      step: (is_transcript || text !== null) && import_id === null ? 'looking' : 'waiting',
      ...{ is_transcript, preview: null, time: localText(file.lastModified) },
      workspace_id: chosenWorkspace(),
    };
  });
  imports.value = [...imports.value, ...rows];
  for (const row of rows) if (row.step === 'looking') void look(row);
  next();
}

/** Once more from the start; what the server has of it is not sent again. */
export function againImport(key: number): void {
  const is_previewed = rowOf(key)?.preview != null;
  change(key, { ...FRESH, ...(is_previewed && { step: 'review' as const }) });
  next();
}

/** Sets when a transcript was recorded, as a field for date and time has it; empty where nobody knows. */
export function setTranscriptTime(key: number, time: string): void {
  change(key, { time });
}

/** Sends a transcript that somebody has looked at. */
export function confirmTranscript(key: number): void {
  const row = rowOf(key);
  if (row?.step !== 'review') return;
  if (!row.is_transcript) {
    change(key, FRESH);
    next();
    return;
  }
  const is_told = row.preview?.recorded_ms != null || row.time === '';
  change(key, { ...FRESH, captured_at: is_told ? null : localTime(momentOf(row.time)) });
  next();
}

async function look({ key, file: of, text }: ImportRow): Promise<void> {
  const file = text ?? of;
  try {
    if (file.size === 0) throw new Error(say('The file is empty.'));
    if (file.size > TRANSCRIPT_BYTES_MAX) throw new Error(say('The transcript is larger than 20 MiB.'));
    const { previewOf } = await import('./transcript_preview.js');
    const preview = previewOf(new Uint8Array(await bytesOf(file, 0, file.size)));
    change(key, { step: 'review', preview });
  } catch (error) {
    if (text === null) return change(key, { step: 'failed', is_unreadable: true, error: wordsOf(error) });
    // The audio is transcribed, and the text says for itself what is wrong with it.
    change(key, { ...FRESH, text: null });
    beginImports([text]);
  }
}

/** Sets when its recording began: the recording is made anew from the file. */
export async function changeTime(key: number, captured_at: string): Promise<void> {
  const id = rowOf(key)?.stream_id;
  if (id !== null && id !== undefined) await api('DELETE /audio/streams/{id}', { path: { id } });
  change(key, { ...FRESH, captured_at });
  next();
}

/** Takes a row from the list; what is under way is given up. */
export function dropImport(key: number): void {
  running.get(key)?.abort();
  const row = rowOf(key);
  imports.value = imports.value.filter((one) => one.key !== key);
  // One that can't be given up any more becomes a recording; one that is not reached ends after a day.
  if (row !== undefined && row.import_id !== null && !isOver(row))
    void api('DELETE /audio/imports/{id}', { path: { id: row.import_id } }).catch(() => {});
}

const FRESH = {
  step: 'waiting' as const,
  import_id: null,
  bytes: 0,
  problem: null,
  error: null,
  is_unreadable: false,
  stream_id: null,
  began: null,
};

function rowOf(key: number): ImportRow | undefined {
  return imports.value.find((row) => row.key === key);
}

function change(key: number, changed: Partial<ImportRow>): void {
  imports.value = imports.value.map((row) => (row.key === key ? { ...row, ...changed } : row));
}

function next(): void {
  for (const row of imports.value) {
    if (running.size >= AT_ONCE) return;
    if (row.step === 'waiting' && !running.has(row.key)) void run(row);
  }
}

async function run({ key, ...row }: ImportRow): Promise<void> {
  const stop = new AbortController();
  running.set(key, stop);
  try {
    change(key, await imported(key, row, stop.signal));
  } catch (error) {
    change(key, { step: 'failed', problem: null, error: wordsOf(error) });
  }
  running.delete(key);
  next();
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : say('It was not imported.');
}

async function imported(
  key: number,
  { file, text, captured_at, workspace_id, is_transcript }: Omit<ImportRow, 'key'>,
  signal: AbortSignal,
): Promise<Partial<ImportRow>> {
  if (file.size === 0) throw new Error(say('The file is empty.'));
  if (file.size > FILE_BYTES_MAX) throw new Error(say('The file is larger than 1 GiB.'));
  const patiently = <T>(ask: () => Promise<T>) =>
    repeated(ask, { signal, onProblem: (problem) => change(key, { problem }) });
  const about = {
    name: file.name,
    size_bytes: file.size,
    ...(captured_at === null ? {} : { captured_at }),
    // Of a transcript it was asked.
    ...(is_transcript ? {} : { modified_ms: file.lastModified }),
    workspace_id,
    ...(text !== null && { transcript: new Uint8Array(await bytesOf(text, 0, text.size)) }),
    read: async (start: number, end: number) => new Uint8Array(await bytesOf(file, start, end)),
  };
  const headers = { 'Content-Type': 'application/octet-stream' };
  const found = await importFile(
    {
      call: (name, ...given) => patiently(() => api(name, ...given)),
      put: (path, bytes) =>
        patiently(async () =>
          payloadOf<Import>(await send('PUT', path, { body: bytes as Uint8Array<ArrayBuffer>, headers, signal })),
        ),
    },
    about,
    {
      signal,
      onProgress({ step, bytes, import_id }) {
        change(key, { step, bytes, ...(import_id !== null && { import_id }) });
      },
    },
  );
  if (found.error !== null) throw new Error(found.error.message);
  const { stream_id, captured_at: at, captured_at_by: by } = found;
  return { step: 'done', stream_id, problem: null, began: at === null ? null : { at, by } };
}

async function bytesOf(file: File, start: number, end: number): Promise<ArrayBuffer> {
  try {
    return await file.slice(start, end).arrayBuffer();
  } catch {
    throw new Error(say('The file can’t be read any more. It may have been moved or changed.'));
  }
}

/** Asks until there is an answer that would not be another one later. */
async function repeated<T>(
  ask: () => Promise<T>,
  { signal, onProblem }: { signal: AbortSignal; onProblem: (problem: string | null) => void },
): Promise<T> {
  for (let failures = 0; ; ) {
    try {
      const answer = await ask();
      onProblem(null);
      return answer;
    } catch (error) {
      if (signal.aborted || !(error instanceof ApiError) || !PASSING.includes(error.code)) throw error;
      onProblem(error.message);
      failures += 1;
      const wait_ms = Math.max(backoffAfter(failures, RETRY), (error.retry_after_s ?? 0) * 1_000);
      await new Promise((resolve) => setTimeout(resolve, wait_ms));
    }
  }
}

/** Asks before the page closes while files are sent. An upload goes on when the same file is chosen again. */
function warn(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

effect(() => {
  if (imports.value.some((row) => !isOver(row) && row.step !== 'review')) addEventListener('beforeunload', warn);
  else removeEventListener('beforeunload', warn);
});
