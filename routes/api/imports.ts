import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import {
  capturedAt,
  fileName,
  intoWorkspace,
  listLimit,
  sha256,
  trimmedText,
  uuid,
  whole,
} from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isTranscriptName, TRANSCRIPT_BYTES_MAX } from '../../src/domain/transcript_files/transcript_names.js';
import { BODY_UPLOAD_REFUSALS, bodyOf } from '../../src/edge/http/body_upload.js';
import {
  announceImport,
  deleteImport,
  importShape,
  listImports,
  uploadImportPiece,
  viewImport,
} from '../../src/features/recordings/imports.js';
import { WRITES_STREAMS } from '../../src/features/recordings/stream_access.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

const IMPORT_REF_CHARS_MAX = 128; // ours: as a signal's

const offset = z
  .string('must be a whole number from 0')
  .regex(/^\d{1,10}$/, 'must be a whole number from 0')
  .transform(Number)
  .meta({ type: 'integer', minimum: 0 })
  .describe('Where the piece begins in the file.');

/** Audio files that become recordings. Rules K-150 to K-157; docs/choices.md, "Imports". */
export const IMPORT_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'POST',
    path: '/audio/imports',
    summary: 'Announces an audio file, or a transcript, that becomes a recording.',
    notes:
      'Its bytes go to `upload_path` in pieces of `piece_bytes`. The same `import_ref` again gets the same import, under which the upload goes on; other content is refused. A file whose name ends with `.vtt`, `.srt`, `.txt` or `.json` is read as a transcript: its lines become turns, and there is no audio.',
    credential: 'account',
    permission: WRITES_STREAMS,
    status: 201,
    body: z
      .object({
        import_ref: trimmedText(IMPORT_REF_CHARS_MAX).describe(
          "The caller's own name for it, such as the file's SHA-256.",
        ),
        name: fileName(LIMITS.file_name_chars_max).describe('The name of the file; the recording is called by it.'),
        size_bytes: whole({ min: 1, max: LIMITS.import_bytes_max }).describe('How many bytes it has.'),
        sha256: sha256.describe('Of those bytes, in hexadecimal.'),
        transcript_bytes: whole({ min: 1, max: TRANSCRIPT_BYTES_MAX })
          .optional()
          .describe(
            'How many of the last bytes are a transcript of the audio before them. It becomes the text; no engine is asked.',
          ),
        captured_at: capturedAt
          .optional()
          .describe('When the recording began; where absent, the file tells it, or it is counted back from its end.'),
        file_modified_at: capturedAt
          .optional()
          .describe(
            'When the file was last written, which counts as the end of the recording where neither the file nor its name says when it began. Its offset says the local time there.',
          ),
        source_id: uuid
          .optional()
          .describe('Where it comes from: a source of the account; where absent, one that is called “Imported files”.'),
        workspace_id: intoWorkspace,
      })
      .refine(({ transcript_bytes = 0, size_bytes }) => transcript_bytes < size_bytes, {
        path: ['transcript_bytes'],
        message: 'must be less than size_bytes',
      })
      .refine(({ name, size_bytes }) => !isTranscriptName(name) || size_bytes <= TRANSCRIPT_BYTES_MAX, {
        path: ['size_bytes'],
        message: `must be at most ${TRANSCRIPT_BYTES_MAX} where the file is a transcript`,
      })
      .refine(({ transcript_bytes, name }) => transcript_bytes === undefined || !isTranscriptName(name), {
        path: ['transcript_bytes'],
        message: 'must be absent where the file is a transcript itself',
      }),
    example: {
      import_ref: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      name: 'interview.m4a',
      size_bytes: 14_205_113,
      sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      captured_at: '2026-01-31T08:30:00.000+01:00',
    },
    answer: importShape,
    refusals: ['CONFLICT', 'NOT_FOUND', 'WORKSPACE_SHARING_REQUIRED'],
    handler: ({ services, who, body }) => announceImport(services, who, body),
  }),

  accountRoute({
    method: 'PUT',
    path: '/audio/imports/:id/content',
    params: { id: PARAMETERS.import },
    summary: 'Uploads a piece of the file.',
    notes:
      'A piece has `piece_bytes`, the last one the rest, and begins at `received_bytes`; any other offset is 409, and says the right one. A piece that has come before is fine. After the last one the file is decoded and becomes a recording.',
    credential: 'account',
    permission: WRITES_STREAMS,
    raw: true,
    query: z.object({ offset, sha256: sha256.describe('Of the piece, in hexadecimal.') }),
    answer: importShape,
    refusals: ['CONFLICT', ...BODY_UPLOAD_REFUSALS],
    handler: ({ services, who, params, query, request, reply }) =>
      uploadImportPiece(services, who, {
        import_id: params.id,
        ...query,
        takeBody: bodyOf({ request, reply }),
      }),
  }),

  accountRoute({
    method: 'GET',
    path: '/audio/imports',
    summary: "The account's imports, newest first.",
    notes: 'Each is known for 30 days.',
    credential: 'account',
    permission: WRITES_STREAMS,
    query: z.object({
      limit: listLimit,
      cursor: listCursor,
      status: z
        .enum(['open'], 'must be open')
        .optional()
        .describe('open: only those that are neither done nor failed.'),
    }),
    answer: pageShape(importShape),
    handler: ({ services, who, query }) => listImports(services, who, query),
  }),

  accountRoute({
    method: 'GET',
    path: '/audio/imports/:id',
    params: { id: PARAMETERS.import },
    summary: 'An import.',
    credential: 'account',
    permission: WRITES_STREAMS,
    answer: importShape,
    handler: ({ services, who, params }) => viewImport(services, who, params.id),
  }),

  accountRoute({
    method: 'DELETE',
    path: '/audio/imports/:id',
    params: { id: PARAMETERS.import },
    summary: 'Gives up an import that is no recording yet, or forgets one that has ended.',
    notes: 'The recording of one that is done stays. While it becomes one the answer is 409.',
    credential: 'account',
    permission: WRITES_STREAMS,
    status: 204,
    refusals: ['CONFLICT'],
    handler: ({ services, who, params }) => deleteImport(services, who, params.id),
  }),
];
