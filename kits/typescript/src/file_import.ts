import type { Import, PublicApi } from './api.js';
import { pause } from './retries.js';
import { Sha256 } from './sha256.js';
import type { Given } from './typed_call.js';

/** Audio files that become recordings. It runs in browsers too; no more than a piece of a file is in memory. */

export type ImportedFile = {
  name: string;
  size_bytes: number;
  /** Bytes from `start` up to `end`. */
  read(start: number, end: number): Promise<Uint8Array<ArrayBuffer>>;
  /** ISO 8601 with an offset. */
  captured_at?: string;
  /** When the file was last written, ms since 1970. The recording ended then where nothing says when it began. */
  modified_ms?: number;
  source_id?: string;
  /** The caller's own name for it; its SHA-256 where absent. */
  import_ref?: string;
  /** In hexadecimal, where it is known; the file is read for it otherwise. */
  sha256?: string;
  /** The private one where absent. */
  workspace_id?: string | undefined;
  /** A transcript of its audio, which becomes its text. At most 20 MiB. */
  transcript?: Uint8Array<ArrayBuffer> | undefined;
};

/** `reading`: for its hash. `decoding`: all bytes are there. `import_id`: null until it is announced. */
export type ImportProgress = { step: 'reading' | 'uploading' | 'decoding'; bytes: number; import_id: string | null };

type ImportName = 'POST /audio/imports' | 'GET /audio/imports/{id}' | 'DELETE /audio/imports/{id}';

/** How requests are made; all of them may be repeated. */
export type ImportCalls = {
  call<Name extends ImportName>(name: Name, ...given: Given<PublicApi[Name]>): Promise<PublicApi[Name]['answer']>;
  /** PUTs bytes. */
  put(path: string, bytes: Uint8Array): Promise<Import>;
};

type ImportOptions = { onProgress?: (progress: ImportProgress) => void; signal?: AbortSignal | undefined };

const READ_BYTES = 1024 * 1024;
/** A transcript is read in less; long audio takes minutes. */
const LOOK_MS = 50;
const LOOK_MS_MAX = 1_000;

/**
 * Imports a file, and resolves once it is a recording or has failed; `signal` ends it earlier. The same file again goes on
 * where it broke off, or gives the recording that it has become.
 */
export async function importFile(
  calls: ImportCalls,
  file: ImportedFile,
  { onProgress = () => {}, signal }: ImportOptions = {},
): Promise<Import> {
  const { name, captured_at, modified_ms, source_id, import_ref, workspace_id, transcript } = file;
  const { size_bytes, read, sha256: known } = withTranscript(file);
  const sha256 = known ?? (await hashOf({ size_bytes, read }, { onProgress, signal }));
  const body = {
    ...{ import_ref: import_ref ?? sha256, name, size_bytes, sha256 },
    ...(transcript !== undefined && { transcript_bytes: transcript.length }),
    ...(captured_at !== undefined && { captured_at }),
    ...(modified_ms !== undefined && modified_ms > 0 && { file_modified_at: localTime(modified_ms) }),
    ...(source_id !== undefined && { source_id }),
    ...(workspace_id !== undefined && { workspace_id }),
  };
  let item = await calls.call('POST /audio/imports', { body });
  if (item.status === 'failed') {
    await calls.call('DELETE /audio/imports/{id}', { path: { id: item.id } });
    item = await calls.call('POST /audio/imports', { body });
  }
  while (item.status === 'uploading') {
    signal?.throwIfAborted();
    const { received_bytes, piece_bytes, upload_path } = item;
    onProgress({ step: 'uploading', bytes: received_bytes, import_id: item.id });
    const piece = await read(received_bytes, Math.min(size_bytes, received_bytes + piece_bytes));
    item = await calls.put(`${upload_path}?offset=${received_bytes}&sha256=${await sha256Of(piece)}`, piece);
  }
  for (let look_ms = LOOK_MS; item.status === 'processing'; look_ms = Math.min(LOOK_MS_MAX, look_ms * 2)) {
    signal?.throwIfAborted();
    onProgress({ step: 'decoding', bytes: size_bytes, import_id: item.id });
    await pause(look_ms, signal);
    item = await calls.call('GET /audio/imports/{id}', { path: { id: item.id } });
  }
  return item;
}

/** The transcript follows the audio in one upload. */
function withTranscript({
  size_bytes,
  read,
  sha256,
  transcript,
}: ImportedFile): Pick<ImportedFile, 'size_bytes' | 'read' | 'sha256'> {
  if (transcript === undefined) return { size_bytes, read, ...(sha256 !== undefined && { sha256 }) };
  return {
    size_bytes: size_bytes + transcript.length,
    async read(start, end) {
      if (end <= size_bytes) return read(start, end);
      const text = transcript.subarray(Math.max(0, start - size_bytes), end - size_bytes);
      const audio = start < size_bytes ? await read(start, size_bytes) : new Uint8Array();
      const both = new Uint8Array(audio.length + text.length);
      both.set(audio);
      both.set(text, audio.length);
      return both;
    },
  };
}

async function hashOf(
  { size_bytes, read }: Pick<ImportedFile, 'size_bytes' | 'read'>,
  { onProgress = () => {}, signal }: ImportOptions,
): Promise<string> {
  const hash = new Sha256();
  for (let at = 0; at < size_bytes; at += READ_BYTES) {
    signal?.throwIfAborted();
    hash.update(await read(at, Math.min(size_bytes, at + READ_BYTES)));
    onProgress({ step: 'reading', bytes: Math.min(size_bytes, at + READ_BYTES), import_id: null });
  }
  return hash.hex();
}

async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A time with the offset of the clocks here. */
export function localTime(ms: number): string {
  const offset_min = -new Date(ms).getTimezoneOffset();
  const two = (part: number) => String(part).padStart(2, '0');
  const [hours, minutes] = [Math.floor(Math.abs(offset_min) / 60), Math.abs(offset_min) % 60];
  const local = new Date(ms + offset_min * 60_000).toISOString().slice(0, -1);
  return `${local}${offset_min < 0 ? '-' : '+'}${two(hours)}:${two(minutes)}`;
}
