import { z } from 'zod';
import type { FileRecord, KeptFile } from '../../actors/accounts/files.js';
import { listCursor, pageOf } from '../../src/access/cursors.js';
import type { Principal } from '../../src/access/principal.js';
import { fileName, listLimit, mediaType, sha256, whole } from '../../src/access/request_schemas.js';
import { count, id, moment, pageShape } from '../../src/access/response_schemas.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isRefused, Refused, refuse } from '../../src/domain/refusals.js';
import { BODY_UPLOAD_REFUSALS, bodyOf } from '../../src/edge/http/body_upload.js';
import { savedAs, sendBytes } from '../../src/edge/http/byte_download.js';
import { fileKey } from '../../src/engine/blobs/blob_keys.js';
import { randomId } from '../../src/engine/runtime/random.js';
import { CONTENT_MISSING } from '../../src/features/recordings/lost_audio.js';
import { accountRoute, type Call, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** What people keep beside recordings, for themselves alone. Rule K-014; docs/choices.md, "Files and exports". */

const READS = ['files:read'] as const;
const WRITES = ['files:write'] as const;
const NOT_HERE = refuse('CONFLICT', 'The bytes of this file have not come yet.');
const name = fileName(LIMITS.file_name_chars_max);

const fileShape = z
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

export const FILE_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'POST',
    path: '/files',
    summary: 'Announces a file.',
    notes: `The answer says where its bytes go; they have a day to come. An account has at most ${LIMITS.files_per_account_max} files and 1 GiB, where what is announced counts: beyond that 409.`,
    credential: 'account',
    permission: WRITES,
    status: 201,
    body: z.object({
      name: name.describe('As which it is saved; no path.'),
      media_type: mediaType.describe('Of which sort it is.'),
      size_bytes: whole({ min: 0, max: LIMITS.file_bytes_max }).describe('How many bytes will be uploaded.'),
      sha256: sha256.describe('Of those bytes, in hexadecimal.'),
    }),
    example: {
      ...{ name: 'notes.pdf', media_type: 'application/pdf', size_bytes: 48_213 },
      sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    },
    answer: z.strictObject({ file: fileShape, upload_path: z.string().describe('Where to PUT the bytes.') }),
    refusals: ['CONFLICT'],
    async handler({ services, who: { account_id, fences }, body }) {
      const file_id = randomId({ partition: partitionOfId(account_id), now_ms: services.clock.now() });
      const file = await services.actors.files(account_id).declare({ file_id, ...body }, fences);
      return { file: fileView(file), upload_path: `/files/${file_id}/content` };
    },
  }),

  accountRoute({
    method: 'PUT',
    path: '/files/:id/content',
    summary: "Uploads a file's bytes.",
    notes:
      'They must have the size and the SHA-256 that were announced. `stored` means that they are on disk. The same bytes again are fine.',
    credential: 'account',
    permission: WRITES,
    raw: true,
    answer: fileShape,
    refusals: BODY_UPLOAD_REFUSALS,
    handler: upload,
  }),

  accountRoute({
    method: 'GET',
    path: '/files',
    summary: "The account's files, newest first.",
    credential: 'account',
    permission: READS,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(fileShape),
    async handler({ services, who: { account_id }, query: { limit, cursor } }) {
      const after = cursor === undefined ? undefined : { order: cursor.order, id: cursor.member };
      const range = { after, descending: true, limit: limit + 1 };
      const found = await services.actors.files(account_id).list({ range });
      const page = pageOf(
        found.files.map(({ id: member, order, value }) => ({ member, order, value })),
        limit,
      );
      return { items: page.rows.map((row) => fileView({ id: row.member, ...row.value })), cursor: page.cursor };
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/files/:id',
    summary: 'A file.',
    credential: 'account',
    permission: READS,
    answer: fileShape,
    async handler({ services, who, params }) {
      const file = await ownFile(services, who, params);
      return fileView(file);
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/files/:id/content',
    summary: "A file's bytes, to be saved.",
    notes: 'No browser shows them: the answer says so in `Content-Disposition` and `Content-Security-Policy`.',
    credential: 'account',
    permission: READS,
    answer: 'bytes',
    refusals: ['CONFLICT', 'CONTENT_MISSING'],
    async handler({ services, who, params, request, reply }) {
      const file = await ownFile(services, who, params);
      if (file.status !== 'stored') throw new Refused(NOT_HERE);
      const key = fileKey(who.account_id, file.id);
      const { size_bytes, sha256: etag, media_type: content_type } = file;
      const open = async (range?: { start: number; end: number }) => {
        const blob = await services.blobs.open(key, range);
        if (blob !== null) return blob.stream;
        await ownFile(services, who, params);
        throw new Refused(CONTENT_MISSING);
      };
      return sendBytes({ request, reply }, { size_bytes, etag, content_type, open }, savedAs(file.name));
    },
  }),

  accountRoute({
    method: 'PATCH',
    path: '/files/:id',
    summary: 'Renames a file.',
    credential: 'account',
    permission: WRITES,
    body: z.object({ name: name.describe('As which it is saved from now on; no path.') }),
    answer: fileShape,
    async handler({ services, who: { account_id, fences }, params, body }) {
      const rename = { file_id: params.id as string, name: body.name };
      const file = await services.actors.files(account_id).rename(rename, fences);
      return fileView(file);
    },
  }),

  accountRoute({
    method: 'DELETE',
    path: '/files/:id',
    summary: 'Deletes a file.',
    credential: 'account',
    permission: WRITES,
    status: 204,
    async handler({ services, who: { account_id, fences }, params }) {
      const file_id = params.id as string;
      await services.actors.files(account_id).delete({ file_id }, fences);
      // Cut off here, the bytes go with the daily comparison.
      await services.blobs.remove([fileKey(account_id, file_id)]);
      return undefined;
    },
  }),
];

function ownFile(
  { actors }: Services,
  { account_id }: Principal,
  { id: file_id = '' }: Record<string, string>,
): Promise<KeptFile> {
  return actors.files(account_id).view({ file_id });
}

async function upload({ services, who, params, request, reply }: Call<Principal, undefined, undefined>) {
  const file = await ownFile(services, who, params);
  const { id: file_id, size_bytes, sha256: announced } = file;
  const key = fileKey(who.account_id, file_id);
  const is_known = file.status === 'stored';
  await bodyOf(services, { request, reply })({ key, size_bytes, sha256: announced, is_known });
  if (is_known) return fileView(file);
  try {
    return fileView(await services.actors.files(who.account_id).stored({ file_id }, who.fences));
  } catch (error) {
    // It was deleted while its bytes came: nobody would know of these.
    if (isRefused(error, 'NOT_FOUND')) await services.blobs.remove([key]);
    throw error;
  }
}

function fileView({ id, created_at_ms, ...file }: FileRecord & { id: string }): z.infer<typeof fileShape> {
  const { name, media_type, size_bytes, sha256, status } = file;
  return { id, name, media_type, size_bytes, sha256, status, created_at: new Date(created_at_ms).toISOString() };
}
