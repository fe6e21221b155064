import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import {
  capturedAt,
  intoWorkspace,
  listLimit,
  timestamp,
  trimmedText,
  uuid,
  whole,
} from '../../src/access/request_schemas.js';
import { count, pageShape } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { leftSignal } from '../../src/edge/http/body_arrival.js';
import { arrivedAt, BODY_UPLOAD_REFUSALS, bodyOf } from '../../src/edge/http/body_upload.js';
import { sendBytes } from '../../src/edge/http/byte_download.js';
import { findStreams, withDetails } from '../../src/features/insights/reading/stream_titles.js';
import { ARRIVALS_FIELDS, arrivalsShape, arrivalsShown } from '../../src/features/recordings/chunk_arrivals.js';
import {
  INTENT_FIELDS,
  intentAnswer,
  intentForm,
  intentShape,
  uploadShape,
} from '../../src/features/recordings/chunk_upload.js';
import {
  announceChunk,
  chunkAudio,
  chunkShape,
  listChunks,
  storeOwnChunks,
  uploadOwnChunk,
} from '../../src/features/recordings/chunks.js';
import { joinedAudio } from '../../src/features/recordings/joined_audio.js';
import { moveStream } from '../../src/features/recordings/move_stream.js';
import { deletePart } from '../../src/features/recordings/part_deletion.js';
import { READS_STREAMS, WRITES_STREAMS } from '../../src/features/recordings/stream_access.js';
import { streamTag, streamTags } from '../../src/features/recordings/stream_tags.js';
import {
  changeOwnStream,
  deleteStream,
  endStream,
  registerStream,
  streamShape,
  viewStream,
} from '../../src/features/recordings/streams.js';
import { streamWaveform } from '../../src/features/recordings/waveform.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

const STREAM_END_WAIT_S_MAX = 600; // ours: a page that is loaded anew needs seconds

const title = trimmedText(LIMITS.stream_title_chars_max).nullable();
const DETAILS = ['title_suggested', 'speakers', 'tags', 'notes'] as const;
const DETAILS_RULE = 'must be title_suggested, speakers, tags or notes, or several of them with commas between them';
const NOTHING = 'must name at least one of title, starred, tags and workspace_id';
const include = z
  .string()
  .optional()
  .transform((text) => (text === undefined ? [] : [...new Set(text.split(','))]))
  .pipe(z.array(z.enum(DETAILS, DETAILS_RULE)))
  .meta({ type: 'string' })
  .describe(
    'What else is shown, separated by commas. title_suggested: `title_suggested` and `first_line`; speakers: `speakers`; tags: `starred` and `tags`; notes: `notes`.',
  );
const STREAM_FIELD = { stream_id: uuid.describe('The stream that they are pieces of.') };
const paging = { limit: listLimit, cursor: listCursor };

/** The account's side of streams and their audio. Rule K-003; docs/choices.md, "Recordings". */
export const STREAM_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/audio/streams',
    summary: 'Streams of the account, of one source, person or workspace, newest first.',
    notes:
      "A page may be short where few of many pass; the list is at its end when `cursor` is null. With contact_id the permission turns:read is needed, and the streams are the account's own.",
    credential: 'account',
    permission: READS_STREAMS,
    query: z
      .object({
        ...paging,
        source_id: uuid.optional().describe('Only streams of this source.'),
        workspace_id: uuid
          .optional()
          .describe('Streams of this workspace, whoever recorded them. Not together with source_id.'),
        contact_id: uuid.optional().describe('Only streams in which this contact speaks.'),
        from: timestamp.optional().describe('Only streams that began at this time or later.'),
        to: timestamp.optional().describe('Only streams that began before this time.'),
        tag: streamTag.optional().describe('Only streams of the account with this tag, in any case.'),
        starred: z
          .literal('true', 'must be true')
          .transform(() => true as const)
          .optional()
          .meta({ type: 'string', enum: ['true'] })
          .describe('Only streams that the account has starred.'),
        include,
      })
      .refine(({ source_id, workspace_id }) => source_id === undefined || workspace_id === undefined, {
        path: ['workspace_id'],
        message: 'must not be combined with source_id',
      }),
    answer: pageShape(streamShape),
    refusals: ['NOT_FOUND'],
    handler: ({ services, who, query }) => findStreams(services, who, query),
  }),

  accountRoute({
    method: 'POST',
    path: '/audio/streams',
    summary: 'Registers a stream.',
    credential: 'account',
    permission: WRITES_STREAMS,
    status: 201,
    body: z.object({
      source_id: uuid.describe('Where it comes from: a source of the account.'),
      captured_at: capturedAt,
      title: title.default(null),
      workspace_id: intoWorkspace,
    }),
    answer: streamShape,
    refusals: ['NOT_FOUND', 'WORKSPACE_SHARING_REQUIRED'],
    handler: ({ services, who, body }) => registerStream(services, who, body),
  }),

  accountRoute({
    method: 'GET',
    path: '/audio/streams/:id',
    params: { id: PARAMETERS.stream },
    summary: 'A stream.',
    credential: 'account',
    permission: READS_STREAMS,
    query: z.object({ include }),
    answer: streamShape,
    async handler({ services, who, params, query }) {
      const stream = await viewStream(services, who, params.id);
      const [detailed] = await withDetails(services, who, [stream], query.include);
      return detailed ?? stream;
    },
  }),

  accountRoute({
    method: 'PATCH',
    path: '/audio/streams/:id',
    params: { id: PARAMETERS.stream },
    summary: 'Changes the title, the star and the tags of a stream, or moves it to another workspace.',
    notes:
      'What is not named stays. `tags` takes the place of all tags. A star and tags are seen by their owner alone, and no event tells of them. A stream is moved as one is recorded into a workspace: 409 while it is under way, or while an earlier move is. Its transcript and what was made of it move with it and keep their ids; its retention is that of the workspace from then on.',
    credential: 'account',
    permission: WRITES_STREAMS,
    query: z.object({ include }),
    body: z
      .object({
        title: title.optional(),
        starred: z.boolean('must be true or false').optional().describe('Whether it has a star.'),
        tags: streamTags.optional().describe('Its tags; of those that differ in case alone the first stays.'),
        workspace_id: uuid.optional().describe('The workspace of the account that it belongs to from now on.'),
      })
      .refine((body) => Object.values(body).some((value) => value !== undefined), NOTHING),
    answer: streamShape,
    refusals: ['CONFLICT', 'WORKSPACE_SHARING_REQUIRED'],
    async handler({ services, who, params, body: { workspace_id, ...change }, query }) {
      if (workspace_id !== undefined) await moveStream(services, who, { id: params.id, workspace_id });
      const stream = await changeOwnStream(services, who, { id: params.id, ...change });
      const [detailed] = await withDetails(services, who, [stream], query.include);
      return detailed ?? stream;
    },
  }),

  accountRoute({
    method: 'DELETE',
    path: '/audio/streams/:id',
    params: { id: PARAMETERS.stream },
    summary: 'Deletes a recording.',
    notes:
      'It is gone at once and for good; its audio, its transcript and its signals are removed soon after. A device that still sends some of it is told so.',
    credential: 'account',
    permission: WRITES_STREAMS,
    status: 204,
    handler: ({ services, who, params }) => deleteStream(services, who, params.id),
  }),

  accountRoute({
    method: 'POST',
    path: '/audio/streams/:id/deletions',
    params: { id: PARAMETERS.stream },
    summary: 'Deletes a part of a recording.',
    notes:
      'Its audio goes for good, and what was said in it. What is left keeps its times. Plain samples and Opus in Ogg are cut; a chunk of any other kind goes whole, and the answer says which part that makes. The same part again is fine. 409 while the recording is going on.',
    credential: 'account',
    permission: WRITES_STREAMS,
    body: z
      .object({
        from_ms: whole({ min: 0 }).describe("Where it begins, in ms on the stream's timeline."),
        to_ms: whole({ min: 1 }).describe('Where it ends. What lies behind the end of the stream is cut off.'),
        preview: z
          .boolean('must be true or false')
          .default(false)
          .describe('true: the answer says which part would go, and nothing is deleted.'),
      })
      .refine(({ from_ms, to_ms }) => from_ms < to_ms, { path: ['to_ms'], message: 'must be later than from_ms' }),
    answer: z.strictObject({
      from_ms: count.describe('Where the part that goes begins.'),
      to_ms: count.describe('Where it ends.'),
    }),
    refusals: ['CONFLICT'],
    handler: ({ services, who, params, body }) => deletePart(services, who, { stream_id: params.id, ...body }),
  }),

  accountRoute({
    method: 'POST',
    path: '/audio/streams/:id/end',
    params: { id: PARAMETERS.stream },
    summary: 'Says where a stream ends.',
    notes:
      'It is set once: the same end again is fine, another one is refused. With `unless_continued_s` it is not set yet; a later call takes the place of this one.',
    credential: 'account',
    permission: WRITES_STREAMS,
    body: z.object({
      end_ms: whole({ min: 0 }).describe('Where its timeline ends, in ms from its beginning.'),
      unless_continued_s: whole({ min: 1, max: STREAM_END_WAIT_S_MAX })
        .optional()
        .describe('It ends after so many seconds, unless a chunk that ends behind end_ms is announced by then.'),
    }),
    answer: streamShape,
    refusals: ['CONFLICT'],
    handler: ({ services, who, params, body }) => endStream(services, who, { id: params.id, ...body }),
  }),

  accountRoute({
    method: 'POST',
    path: '/audio/streams/:id/chunks/intents',
    params: { id: PARAMETERS.stream },
    summary: 'Announces a chunk of a stream.',
    notes: 'The answer says where its bytes go. The same announcement again gets the same answer.',
    credential: 'account',
    permission: WRITES_STREAMS,
    body: intentForm(INTENT_FIELDS),
    answer: intentShape,
    refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
    async handler({ services, who, params, body: intent }) {
      const chunk = await announceChunk(services, who, { stream_id: params.id, intent });
      return intentAnswer(chunk, `/audio/chunks/${chunk.chunk_id}/content`);
    },
  }),

  accountRoute({
    method: 'POST',
    path: '/audio/chunks',
    summary: 'Announces chunks of a stream and stores their bytes.',
    notes:
      'Each chunk is stored or refused by itself, and the answer has an item for each. From `stored` on its bytes are on disk. The same chunks again, in any request, get the same answers. Larger ones are announced and uploaded one by one.',
    credential: 'account',
    permission: WRITES_STREAMS,
    body_bytes_max: LIMITS.chunks_body_bytes_max,
    is_upload: true,
    body: z.object({ ...ARRIVALS_FIELDS, ...STREAM_FIELD }),
    reads: { body: z.object({ ...arrivalsShown, ...STREAM_FIELD }) },
    answer: arrivalsShape,
    refusals: ['NOT_FOUND', 'LENGTH_REQUIRED'],
    handler: ({ services, who, body, reply }) =>
      storeOwnChunks(services, who, { ...body, upload_started_at_ms: arrivedAt(services, reply) }),
  }),

  accountRoute({
    method: 'PUT',
    path: '/audio/chunks/:id/content',
    params: { id: PARAMETERS.chunk },
    summary: "Uploads a chunk's bytes.",
    notes:
      'They must have the size and the SHA-256 that were announced. `stored` means that they are on disk. The same bytes again are fine.',
    credential: 'account',
    permission: WRITES_STREAMS,
    raw: true,
    answer: uploadShape,
    refusals: ['UPLOAD_EXPIRED', ...BODY_UPLOAD_REFUSALS],
    handler: ({ services, who, params, request, reply }) =>
      uploadOwnChunk(services, who, {
        chunk_id: params.id,
        takeBody: bodyOf({ request, reply }),
      }),
  }),

  accountRoute({
    method: 'GET',
    path: '/audio/streams/:id/chunks',
    params: { id: PARAMETERS.stream },
    summary: 'The chunks of a stream, by their start.',
    credential: 'account',
    permission: READS_STREAMS,
    query: z.object(paging),
    answer: pageShape(chunkShape),
    handler: ({ services, who, params, query }) => listChunks(services, who, { stream_id: params.id, ...query }),
  }),

  accountRoute({
    method: 'GET',
    path: '/audio/streams/:id/content',
    params: { id: PARAMETERS.stream },
    summary: 'All audio of a stream as one file.',
    notes:
      'Chunks that are all WAV or raw PCM of one format, or Opus in Ogg, follow each other as they are. A single chunk that browsers play, such as MP3, M4A, AAC, FLAC or WebM, is the file. Others are decoded to a WAV of 32 kHz mono, in which each takes the time that it was announced with; 409 where that is not possible. `X-Joined-Chunks`, `X-Joined-Missing-Ms` and `X-Joined-Overlap-Ms` say what it is made of, `X-Joined-Lost-Chunks` how many stored chunks are not in it since the server has lost their bytes.',
    credential: 'account',
    permission: ['audio:read'],
    answer: 'audio',
    refusals: ['CONFLICT', 'CONTENT_EXPIRED', 'CONTENT_MISSING'],
    async handler({ services, who, params, request, reply }) {
      const signal = leftSignal({ request, reply });
      const audio = await joinedAudio(services, who, { stream_id: params.id, signal });
      return sendBytes({ request, reply }, audio, {
        'Content-Disposition': `attachment; filename="${audio.file_name}"`,
        'X-Joined-Chunks': audio.chunks,
        'X-Joined-Missing-Ms': audio.missing_ms,
        'X-Joined-Overlap-Ms': audio.overlap_ms,
        'X-Joined-Lost-Chunks': audio.lost_chunks,
      });
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/audio/streams/:id/waveform',
    params: { id: PARAMETERS.stream },
    summary: 'How loud a stream is, over its timeline.',
    notes:
      'One byte for each sixteenth of a second from the beginning of the timeline: the largest sample there, 255 for full scale; 0 where no audio is. It is made when it is first asked for, which takes a while for a long recording, and kept until the audio changes. 409 for audio that is not decoded here, and beyond a day.',
    credential: 'account',
    permission: ['audio:read'],
    answer: 'bytes',
    refusals: ['CONFLICT', 'CONTENT_EXPIRED', 'CONTENT_MISSING'],
    async handler({ services, who, params, request, reply }) {
      const signal = leftSignal({ request, reply });
      const waveform = await streamWaveform(services, who, { stream_id: params.id, signal });
      return sendBytes({ request, reply }, waveform);
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/audio/chunks/:id/content',
    params: { id: PARAMETERS.chunk },
    summary: "A chunk's bytes.",
    credential: 'account',
    permission: ['audio:read'],
    answer: 'audio',
    refusals: ['CONFLICT', 'CONTENT_EXPIRED', 'CONTENT_MISSING'],
    async handler({ services, who, params, request, reply }) {
      const audio = await chunkAudio(services, who, params.id);
      return sendBytes({ request, reply }, audio);
    },
  }),
];
