import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { fileName, listLimit, mediaType, sha256, whole } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { BODY_UPLOAD_REFUSALS, bodyOf } from '../../src/edge/http/body_upload.js';
import { savedAs, sendBytes } from '../../src/edge/http/byte_download.js';
import {
  announceFile,
  deleteFile,
  fileContent,
  fileShape,
  listFiles,
  READS_FILES,
  renameFile,
  uploadFile,
  viewFile,
} from '../../src/features/accounts/files.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

const WRITES_FILES = ['files:write'] as const;
const name = fileName(LIMITS.file_name_chars_max);

/** Files that people keep beside recordings, for themselves alone. Rule K-014; docs/choices.md, "Files and exports". */
export const FILE_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'POST',
    path: '/files',
    summary: 'Announces a file.',
    notes: `The answer says where its bytes go; they have a day to come. An account has at most ${LIMITS.files_per_account_max} files and 1 GiB, where what is announced counts: beyond that 409.`,
    credential: 'account',
    permission: WRITES_FILES,
    status: 201,
    body: z.object({
      name: name.describe('As which it is saved; no path.'),
      media_type: mediaType.describe('Of which sort it is.'),
      size_bytes: whole({ min: 0, max: LIMITS.file_bytes_max }).describe('How many bytes will be uploaded.'),
      sha256: sha256.describe('Of those bytes, in hexadecimal.'),
    }),
    example: {
      name: 'notes.pdf',
      media_type: 'application/pdf',
      size_bytes: 48_213,
      sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    },
    answer: z.strictObject({ file: fileShape, upload_path: z.string().describe('Where to PUT the bytes.') }),
    refusals: ['CONFLICT'],
    async handler({ services, who, body }) {
      const file = await announceFile(services, who, body);
      return { file, upload_path: `/files/${file.id}/content` };
    },
  }),

  accountRoute({
    method: 'PUT',
    path: '/files/:id/content',
    params: { id: PARAMETERS.file },
    summary: "Uploads a file's bytes.",
    notes:
      'They must have the size and the SHA-256 that were announced. `stored` means that they are on disk. The same bytes again are fine.',
    credential: 'account',
    permission: WRITES_FILES,
    raw: true,
    answer: fileShape,
    refusals: BODY_UPLOAD_REFUSALS,
    handler: ({ services, who, params, request, reply }) =>
      uploadFile(services, who, { file_id: params.id, takeBody: bodyOf({ request, reply }) }),
  }),

  accountRoute({
    method: 'GET',
    path: '/files',
    summary: "The account's files, newest first.",
    credential: 'account',
    permission: READS_FILES,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(fileShape),
    handler: ({ services, who, query }) => listFiles(services, who, query),
  }),

  accountRoute({
    method: 'GET',
    path: '/files/:id',
    params: { id: PARAMETERS.file },
    summary: 'A file.',
    credential: 'account',
    permission: READS_FILES,
    answer: fileShape,
    handler: ({ services, who, params }) => viewFile(services, who, params.id),
  }),

  accountRoute({
    method: 'GET',
    path: '/files/:id/content',
    params: { id: PARAMETERS.file },
    summary: "A file's bytes, to be saved.",
    notes: 'No browser shows them: the answer says so in `Content-Disposition` and `Content-Security-Policy`.',
    credential: 'account',
    permission: READS_FILES,
    answer: 'bytes',
    refusals: ['CONFLICT', 'CONTENT_MISSING'],
    async handler({ services, who, params, request, reply }) {
      const file = await fileContent(services, who, params.id);
      return sendBytes({ request, reply }, file, savedAs(file.file_name));
    },
  }),

  accountRoute({
    method: 'PATCH',
    path: '/files/:id',
    params: { id: PARAMETERS.file },
    summary: 'Renames a file.',
    credential: 'account',
    permission: WRITES_FILES,
    body: z.object({ name: name.describe('As which it is saved from now on; no path.') }),
    answer: fileShape,
    handler: ({ services, who, params, body }) => renameFile(services, who, { file_id: params.id, name: body.name }),
  }),

  accountRoute({
    method: 'DELETE',
    path: '/files/:id',
    params: { id: PARAMETERS.file },
    summary: 'Deletes a file.',
    credential: 'account',
    permission: WRITES_FILES,
    status: 204,
    handler: ({ services, who, params }) => deleteFile(services, who, params.id),
  }),
];
