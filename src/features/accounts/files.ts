import { z } from 'zod';
import type { FileRecord } from '../../../actors/accounts/files.js';
import { type Page, type PageQuery, pageOf } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import { count, id, moment } from '../../access/response_schemas.js';
import { partitionOfId } from '../../domain/ids.js';
import { CONTENT_MISSING, isRefused, Refused, refuse } from '../../domain/refusals.js';
import { fileKey } from '../../engine/blobs/blob_keys.js';
import type { ByteContent, TakeBody } from '../../engine/blobs/blob_store.js';
import { randomId } from '../../engine/random/random.js';
import type { FeatureServices } from '../services.js';

/**
 * Files that people keep beside recordings, visible to themselves alone. Rule K-014; docs/choices.md, "Files and
 * exports".
 */

export const READS_FILES = ['files:read'] as const;
const NOT_HERE = refuse('CONFLICT', 'The bytes of this file have not come yet.');

export const fileShape = z
  .strictObject({
    id,
    name: z.string().describe('As which it is saved.'),
    media_type: z.string().describe('Of which sort it is, as whoever sent it says; nobody has looked.'),
    size_bytes: count.describe('How many bytes it has.'),
    sha256: z.string().describe('Of those bytes, in hexadecimal.'),
    status: z
      .enum(['awaiting_upload', 'stored'])
      .describe('stored: its bytes are on disk. awaiting_upload: they have a day to come, and count already.'),
    created_at: moment,
  })
  .meta({ id: 'File' });

type FileView = z.infer<typeof fileShape>;

/** Announces a file; its bytes must arrive within a day. CONFLICT if the account has too many files or bytes. */
export async function announceFile(
  { actors, clock }: Pick<FeatureServices, 'actors' | 'clock'>,
  { account_id, fences }: Principal,
  announced: Pick<FileRecord, 'name' | 'media_type' | 'size_bytes' | 'sha256'>,
): Promise<FileView> {
  const file_id = randomId({ partition: partitionOfId(account_id), now_ms: clock.now() });
  const file = await actors.files(account_id).declare({ file_id, ...announced }, fences);
  return fileView(file);
}

/** Stores the bytes of an announced file. */
export async function uploadFile(
  { actors, blobs }: Pick<FeatureServices, 'actors' | 'blobs'>,
  { account_id, fences }: Principal,
  { file_id, takeBody }: { file_id: string; takeBody: TakeBody },
): Promise<FileView> {
  const file = await actors.files(account_id).view({ file_id });
  const { size_bytes, sha256 } = file;
  const key = fileKey(account_id, file_id);
  const is_known = file.status === 'stored';
  await takeBody({ size_bytes, sha256, is_known, put: (...body) => blobs.put(key, ...body) });
  if (is_known) return fileView(file);
  try {
    return fileView(await actors.files(account_id).stored({ file_id }, fences));
  } catch (error) {
    // It was deleted while its bytes came: nobody would know of these.
    if (isRefused(error, 'NOT_FOUND')) await blobs.remove([key]);
    throw error;
  }
}

/** A page of the account's files, newest first. */
export async function listFiles(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id }: Principal,
  { limit, cursor }: PageQuery,
): Promise<Page<FileView>> {
  const after = cursor === undefined ? undefined : { order: cursor.order, id: cursor.member };
  const found = await actors.files(account_id).list({ range: { after, descending: true, limit: limit + 1 } });
  const page = pageOf(
    found.files.map(({ id: member, order, value }) => ({ member, order, value })),
    limit,
  );
  return { items: page.rows.map(({ member, value }) => fileView({ id: member, ...value })), cursor: page.cursor };
}

/** A file of the account. */
export async function viewFile(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id }: Principal,
  file_id: string,
): Promise<FileView> {
  const file = await actors.files(account_id).view({ file_id });
  return fileView(file);
}

/** The bytes of a file of the account, and the name and type to save them under. */
export async function fileContent(
  { actors, blobs }: Pick<FeatureServices, 'actors' | 'blobs'>,
  { account_id }: Principal,
  file_id: string,
): Promise<ByteContent & { file_name: string }> {
  const files = actors.files(account_id);
  const file = await files.view({ file_id });
  if (file.status !== 'stored') throw new Refused(NOT_HERE);
  return {
    size_bytes: file.size_bytes,
    etag: file.sha256,
    content_type: file.media_type,
    file_name: file.name,
    async open(range) {
      const blob = await blobs.open(fileKey(account_id, file_id), range);
      if (blob !== null) return blob.stream;
      await files.view({ file_id }); // which says so where it was deleted
      throw new Refused(CONTENT_MISSING);
    },
  };
}

/** Renames a file. */
export async function renameFile(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id, fences }: Principal,
  { file_id, name }: { file_id: string; name: string },
): Promise<FileView> {
  const file = await actors.files(account_id).rename({ file_id, name }, fences);
  return fileView(file);
}

/** Deletes a file and its bytes. */
export async function deleteFile(
  { actors, blobs }: Pick<FeatureServices, 'actors' | 'blobs'>,
  { account_id, fences }: Principal,
  file_id: string,
): Promise<void> {
  await actors.files(account_id).delete({ file_id }, fences);
  // Cut off here, the bytes go with the daily comparison.
  await blobs.remove([fileKey(account_id, file_id)]);
}

function fileView({ id, created_at_ms, ...file }: FileRecord & { id: string }): FileView {
  const { name, media_type, size_bytes, sha256, status } = file;
  return { id, name, media_type, size_bytes, sha256, status, created_at: new Date(created_at_ms).toISOString() };
}
