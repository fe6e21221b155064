import type { ClaimedImport } from '../../../actors/recordings/imports_state.js';
import { LIMITS } from '../../domain/limits.js';
import { fitsPages, TOO_DENSE, type TranscriptFile } from '../../domain/transcript_files/transcript_file.js';
import { isTranscriptName, TRANSCRIPT_BYTES_MAX } from '../../domain/transcript_files/transcript_names.js';
import { importPieceKey } from '../../engine/blobs/blob_keys.js';
import type { BlobStore } from '../../engine/blobs/blob_store.js';
import type { TranscriptReaders } from './transcript_reader.js';

/** The bytes of a file that was fully uploaded, and the transcript in it. */

/** The reason why a file becomes no recording. `retry`: another try may succeed. */
export class ImportFailed extends Error {
  override name = 'ImportFailed';
  constructor(
    readonly code: string,
    message: string,
    readonly retry = false,
  ) {
    super(message);
  }
}

export type HeldFile = { account_id: string; item: ClaimedImport; signal: AbortSignal };

/** The number of bytes that are audio; a transcript may follow. 0 for a file that is a transcript. */
export function audioBytes({ name, size_bytes, transcript_bytes = 0 }: ClaimedImport): number {
  return isTranscriptName(name) ? 0 : size_bytes - transcript_bytes;
}

export function hasText({ name, transcript_bytes = 0 }: ClaimedImport): boolean {
  return isTranscriptName(name) || transcript_bytes > 0;
}

/** The bytes from `start` to `end`; the whole upload without them. */
export async function* bytesOf(
  blobs: Pick<BlobStore, 'open'>,
  { account_id, item: { id: import_id, size_bytes } }: Pick<HeldFile, 'account_id' | 'item'>,
  { start, end }: { start: number; end: number } = { start: 0, end: size_bytes },
): AsyncGenerator<Buffer> {
  const piece_bytes = LIMITS.import_piece_bytes;
  const last = Math.min(end, size_bytes);
  for (let piece = Math.floor(start / piece_bytes); piece * piece_bytes < last; piece++) {
    const begins = piece * piece_bytes;
    const range = { start: Math.max(0, start - begins), end: Math.min(piece_bytes, last - begins) - 1 };
    const blob = await blobs.open(importPieceKey(account_id, { import_id, piece }), range);
    if (blob === null) throw new ImportFailed('CONTENT_MISSING', 'The server has lost bytes of the file.');
    yield* blob.stream as AsyncIterable<Buffer>;
  }
}

/** Reads the transcript of a file. `audio_ms`: the length of its audio; null where it has none. */
export async function readText(
  {
    blobs,
    transcript_readers,
  }: { blobs: Pick<BlobStore, 'open'>; transcript_readers: Pick<TranscriptReaders, 'read'> },
  { account_id, item, signal }: HeldFile,
  { audio_ms }: { audio_ms: number | null },
): Promise<TranscriptFile> {
  const bad = (why: string) => new ImportFailed('TRANSCRIPT_UNREADABLE', `The transcript ${why}.`);
  const start = audioBytes(item);
  if (item.size_bytes - start > TRANSCRIPT_BYTES_MAX)
    throw bad(`has more than ${TRANSCRIPT_BYTES_MAX / 1024 / 1024} MiB`);
  const pieces: Buffer[] = [];
  for await (const piece of bytesOf(blobs, { account_id, item }, { start, end: item.size_bytes })) pieces.push(piece);
  const found = await transcript_readers.read(Buffer.concat(pieces), signal);
  if (!found.ok) throw bad(found.why);
  const { file } = found;
  if (!fitsPages(file)) throw bad(TOO_DENSE);
  if (audio_ms === null) return file;
  if (file.length_ms > audio_ms + LONGER_MS_MAX) throw bad('goes on after the audio has ended: it is of another file');
  // All of the audio has its text, and no engine hears it.
  const lines = file.lines.map((line) => ({ ...line, start_ms: Math.min(line.start_ms, audio_ms - 1) }));
  return { ...file, lines, length_ms: audio_ms };
}

/** So much longer the text of the same audio may be. */
const LONGER_MS_MAX = 60_000;
