import { randomBytes } from 'node:crypto';
import { isId, partitionOfId } from '../../domain/ids.js';

/** The folder of all audio of a partition's streams in the blob store. */
export function partitionFolder(partition: number): string {
  return partition.toString(16).padStart(2, '0');
}

/** The folder of all audio of a stream in the blob store. */
export function streamFolder(stream_id: string): string {
  return `${partitionFolder(partitionOfId(stream_id))}/${stream_id}`;
}

/**
 * The key of a stored chunk's audio. Its `place` is `container@offset`, in a segment or an object that holds other
 * chunks too, or the name of a blob of its own.
 */
export function audioKey(stream_id: string, { place, size_bytes }: { place: string; size_bytes: number }): string {
  return `${streamFolder(stream_id)}/${place}${place.includes('@') ? `-${size_bytes}` : ''}`;
}

/** The name of what is drawn of a stream's audio, beside the audio in its folder. */
export const WAVEFORM_NAME = 'waveform';

/** The key of a stream's waveform. */
export function waveformKey(stream_id: string): string {
  return `${streamFolder(stream_id)}/${WAVEFORM_NAME}`;
}

/** The bytes of one chunk among others: `offset` is that of its record in the container. */
export type PlacedBytes = { stream_id: string; container: string; offset: number; size_bytes: number };

const PLACED_KEY = /^[0-9a-f]{2}\/([0-9a-f-]{36})\/([0-9a-z]{17,19})@(\d{1,12})-(\d{1,12})$/;

/** Null for the key of a blob of its own. */
export function placedBytes(key: string): PlacedBytes | null {
  const [, stream_id = '', container = '', offset, size_bytes] = PLACED_KEY.exec(key) ?? [];
  return container === '' ? null : { stream_id, container, offset: Number(offset), size_bytes: Number(size_bytes) };
}

const CONTAINER_TIME_DIGITS = 9; // until the year 5188
const CONTAINER_RANDOM_BYTES = 5;

/** A name of 17 letters and digits that no other container has. */
export function newContainer(now_ms: number): string {
  const random = randomBytes(CONTAINER_RANDOM_BYTES).readUIntBE(0, CONTAINER_RANDOM_BYTES);
  return now_ms.toString(36).padStart(CONTAINER_TIME_DIGITS, '0') + random.toString(36).padStart(8, '0');
}

/** The folders of an account beside the audio of its streams. */
export const ACCOUNT_FOLDERS = ['files', 'exports', 'imports'] as const;
export type AccountFolder = (typeof ACCOUNT_FOLDERS)[number];

/** The folder of all files, archive parts or import pieces of an account. */
export function accountFolder(of: AccountFolder, account_id: string): string {
  return `${partitionFolder(partitionOfId(account_id))}/${of}-${account_id}`;
}

/** The key of an account's file. */
export function fileKey(account_id: string, file_id: string): string {
  return `${accountFolder('files', account_id)}/${file_id}`;
}

/** The part of an archive: its export, and the number of the try. Parts count from 0. */
export type ArchivePart = { export_id: string; attempt: number; part: number };

/** The key of a part of an archive. */
export function archiveKey(account_id: string, { export_id, attempt, part }: ArchivePart): string {
  return `${accountFolder('exports', account_id)}/${export_id}-${attempt}-${part}`;
}

/** A piece of a file that is imported. Pieces count from 0. */
export type ImportPiece = { import_id: string; piece: number };

/** The key of a piece of an import. */
export function importPieceKey(account_id: string, { import_id, piece }: ImportPiece): string {
  return `${accountFolder('imports', account_id)}/${import_id}-${piece}`;
}

const ACCOUNT_KEY = /^[0-9a-f]{2}\/(files|exports|imports)-([^/]+)\/(.+)$/;
const ARCHIVE_NAME = /^([0-9a-f-]{36})-(\d{1,9})-(\d{1,9})$/;
const PIECE_NAME = /^([0-9a-f-]{36})-(\d{1,9})$/;

/**
 * The file, archive part or import piece that a key names; null for a key that `fileKey`, `archiveKey` or
 * `importPieceKey` did not make.
 */
export function placeOfAccountKey(
  key: string,
): ({ account_id: string } & ({ file_id: string } | { archive: ArchivePart } | { import: ImportPiece })) | null {
  const [, of, account_id = '', name = ''] = ACCOUNT_KEY.exec(key) ?? [];
  if (!isId(account_id)) return null;
  if (of === 'files') return isId(name) && fileKey(account_id, name) === key ? { account_id, file_id: name } : null;
  if (of === 'imports') {
    const [, import_id = '', number] = PIECE_NAME.exec(name) ?? [];
    const piece = { import_id, piece: Number(number) };
    return isId(import_id) && importPieceKey(account_id, piece) === key ? { account_id, import: piece } : null;
  }
  const [, export_id = '', attempt, part] = ARCHIVE_NAME.exec(name) ?? [];
  const archive = { export_id, attempt: Number(attempt), part: Number(part) };
  return isId(export_id) && archiveKey(account_id, archive) === key ? { account_id, archive } : null;
}
