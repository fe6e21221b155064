import { z } from 'zod';
import { STREAMS, streamIndexOf } from '../../actors/recordings/stream.js';
import { type Chunk, failureOf, hasExpired, type Stream, statusOf } from '../../actors/recordings/stream_state.js';
import { listCursor, type Position, pageOf } from '../../src/access/cursors.js';
import type { Principal } from '../../src/access/principal.js';
import { capturedAt, listLimit, trimmedText, uuid, whole } from '../../src/access/request_schemas.js';
import { count, id, moment, pageShape } from '../../src/access/response_schemas.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { orNull, Refused, refuse } from '../../src/domain/refusals.js';
import { sendBytes } from '../../src/edge/http/byte_download.js';
import { isClosed } from '../../src/engine/runtime/activation.js';
import { randomId } from '../../src/engine/runtime/random.js';
import {
  announcedShape,
  chunkFailure,
  chunkStatus,
  INTENT_FIELDS,
  intend,
  intentAnswer,
  intentForm,
  intentShape,
  intentView,
  UPLOAD_REFUSALS,
  uploadChunk,
  uploadShape,
} from '../../src/features/recordings/chunk_upload.js';
import { AUDIO_EXPIRED, joinedAudio } from '../../src/features/recordings/joined_audio.js';
import { chunkContent } from '../../src/features/recordings/lost_audio.js';
import {
  askRecordingEvents,
  NO_CHUNK,
  READS_STREAMS,
  readableChunk,
  readableStream,
  type StreamChange,
  WRITES_STREAMS,
  writableChunk,
  writableStream,
} from '../../src/features/recordings/stream_access.js';
import { withTranscriptRevision } from '../../src/features/recordings/transcript_revision.js';
import { askWorkspace } from '../../src/features/workspaces/workspace_calls.js';
import { accountRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';
import { ownSource } from './sources.js';

/** The account's side of streams and their audio. Rule K-003; docs/choices.md, "Recordings". */

const title = trimmedText(LIMITS.stream_title_chars_max).nullable();
const paging = { limit: listLimit, cursor: listCursor };

const streamShape = z
  .strictObject({
    id,
    source_id: id.describe('Where it comes from.'),
    workspace_id: id.describe('What it belongs to: whose members may read it.'),
    title: z.string().nullable(),
    captured_at: moment.describe('When its timeline begins.'),
    clock_uncertainty_ms: count
      .nullable()
      .describe("How far off the recorder's clock may have been, in ms; null where an app recorded."),
    transcript_revision: count.describe('Rises with every change of its transcript; 0 while there is none.'),
    created_at: moment,
    source_device_id: id.nullable().describe('The device that recorded it; null where an app did.'),
    end_ms: count
      .optional()
      .describe('Where its timeline ends, in ms from its beginning; absent until that is recorded.'),
    chunks: count.describe('Announced so far.'),
    stored_chunks: count.describe('Of these, those whose bytes are here.'),
    stored_bytes: count.describe('Bytes of those.'),
  })
  .meta({ id: 'Stream' });

export type StreamView = z.infer<typeof streamShape>;

const chunkShape = z
  .strictObject({
    id,
    ...announcedShape.shape,
    status: chunkStatus,
    checked: z.boolean().nullable().describe('Whether processing held the audio against the announcement.'),
    failure: chunkFailure,
    registered_at: moment.describe('When it was first announced.'),
    upload_started_at: moment.nullable().describe('When the first byte of its upload came; null until then.'),
    stored_at: moment.nullable().describe('When its bytes were on disk; null until then.'),
  })
  .meta({ id: 'Chunk' });

const streamPageShape = pageShape(streamShape);

export const STREAM_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/audio/streams',
    summary: 'Streams of the account, of one source or of one workspace, newest first.',
    credential: 'account',
    permission: READS_STREAMS,
    query: z
      .object({
        ...paging,
        source_id: uuid.optional().describe('Only streams of this source.'),
        workspace_id: uuid
          .optional()
          .describe('Streams of this workspace, whoever recorded them. Not together with source_id.'),
      })
      .refine(({ source_id, workspace_id }) => source_id === undefined || workspace_id === undefined, {
        path: ['workspace_id'],
        message: 'must not be combined with source_id',
      }),
    answer: streamPageShape,
    refusals: ['NOT_FOUND'],
    handler: async ({ services, who, query }) => listStreams(services, who, query),
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
    }),
    answer: streamShape,
    refusals: ['NOT_FOUND'],
    handler: ({ services, who, body }) => registerStream(services, who, body),
  }),

  accountRoute({
    method: 'GET',
    path: '/audio/streams/:id',
    summary: 'A stream.',
    credential: 'account',
    permission: READS_STREAMS,
    answer: streamShape,
    async handler({ services, who, params }) {
      const stream = await readableStream(services, who, params.id as string);
      return viewStream(services, stream);
    },
  }),

  accountRoute({
    method: 'PATCH',
    path: '/audio/streams/:id',
    summary: 'Gives a stream another title.',
    credential: 'account',
    permission: WRITES_STREAMS,
    body: z.object({ title }),
    answer: streamShape,
    handler: ({ services, who, params, body }) =>
      changeStream(services, who, params, (stream, silence, fences) =>
        stream.retitle({ title: body.title, ...silence }, fences),
      ),
  }),

  accountRoute({
    method: 'DELETE',
    path: '/audio/streams/:id',
    summary: 'Deletes a recording.',
    notes:
      'It is gone at once and for good; its audio, its transcript and its signals are removed soon after. A device that still sends some of it is told so.',
    credential: 'account',
    permission: WRITES_STREAMS,
    status: 204,
    async handler({ services, who, params }) {
      const found = await writableStream(services, who, params.id as string);
      const { id: stream_id, source_id, recorder } = found;
      await askRecordingEvents(services, { stream_id, source_id, fences: who.fences }, (_, silence, fences) =>
        services.actors.downstream.stream(stream_id).delete(silence, fences),
      );
      await services.speech_withdrawal.ofStream(found);
      if (recorder !== null) services.device_activity.streamEnded(recorder.device_id, stream_id);
      return undefined;
    },
  }),

  accountRoute({
    method: 'POST',
    path: '/audio/streams/:id/end',
    summary: 'Says where a stream ends.',
    notes: 'It is set once: the same end again is fine, another one is refused.',
    credential: 'account',
    permission: WRITES_STREAMS,
    body: z.object({ end_ms: whole({ min: 0 }).describe('Where its timeline ends, in ms from its beginning.') }),
    answer: streamShape,
    refusals: ['CONFLICT'],
    handler: ({ services, who, params, body }) =>
      changeStream(services, who, params, (stream, silence, fences) =>
        stream.end({ end_ms: body.end_ms, ...silence }, fences),
      ),
  }),

  accountRoute({
    method: 'POST',
    path: '/audio/streams/:id/chunks/intents',
    summary: 'Announces a chunk of a stream.',
    notes: 'The answer says where its bytes go. The same announcement again gets the same answer.',
    credential: 'account',
    permission: WRITES_STREAMS,
    body: intentForm(INTENT_FIELDS),
    answer: intentShape,
    refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
    async handler({ services, who, params, body: intent }) {
      const stream = await writableStream(services, who, params.id as string);
      const registered = await intend(services, { stream_id: stream.id, intent, fences: who.fences });
      return intentAnswer(registered.chunk, `/audio/chunks/${registered.chunk.chunk_id}/content`);
    },
  }),

  accountRoute({
    method: 'PUT',
    path: '/audio/chunks/:id/content',
    summary: "Uploads a chunk's bytes.",
    notes:
      'They must have the size and the SHA-256 that were announced. `stored` means that they are on disk. The same bytes again are fine.',
    credential: 'account',
    permission: WRITES_STREAMS,
    raw: true,
    answer: uploadShape,
    refusals: UPLOAD_REFUSALS,
    async handler({ services, who, params, request, reply }) {
      const found = await writableChunk(services, who, params.id as string);
      return uploadChunk(services, found, { request, reply });
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/audio/streams/:id/chunks',
    summary: 'The chunks of a stream, by their start.',
    credential: 'account',
    permission: READS_STREAMS,
    query: z.object(paging),
    answer: pageShape(chunkShape),
    async handler({ services, who, params, query: { limit, cursor } }) {
      const stream = await readableStream(services, who, params.id as string);
      const after = cursor === undefined ? undefined : { order: cursor.order, id: cursor.member };
      const listed = await services.actors.stream(stream.id).list_chunks({ range: { after, limit: limit + 1 } });
      const page = pageOf(listed.chunks, limit);
      return { items: page.rows.map((chunk) => chunkView(services, chunk, listed.stream)), cursor: page.cursor };
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/audio/streams/:id/content',
    summary: 'All audio of a stream as one file.',
    notes:
      'Possible where all chunks are WAV or raw PCM of one format, or Opus in Ogg. `X-Joined-Chunks`, `X-Joined-Missing-Ms` and `X-Joined-Overlap-Ms` say what it is made of, `X-Joined-Lost-Chunks` how many stored chunks are not in it since the server has lost their bytes.',
    credential: 'account',
    permission: ['audio:read'],
    answer: 'audio',
    refusals: ['CONFLICT', 'CONTENT_EXPIRED', 'CONTENT_MISSING'],
    async handler({ services, who, params, request, reply }) {
      const stream = await readableStream(services, who, params.id as string);
      const audio = await joinedAudio(services, stream);
      return sendBytes({ request, reply }, audio);
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/audio/chunks/:id/content',
    summary: "A chunk's bytes.",
    credential: 'account',
    permission: ['audio:read'],
    answer: 'audio',
    refusals: ['CONFLICT', 'CONTENT_EXPIRED', 'CONTENT_MISSING'],
    async handler({ services, who, params, request, reply }) {
      const found = await readableChunk(services, who, params.id as string);
      const { chunk } = found;
      if (hasExpired(chunk)) throw new Refused(AUDIO_EXPIRED);
      if (chunk.status !== 'stored')
        throw new Refused(refuse('CONFLICT', `The chunk's audio is not here: its status is ${chunk.status}.`));
      return sendBytes(
        { request, reply },
        {
          size_bytes: chunk.size_bytes,
          etag: chunk.sha256,
          content_type: 'application/octet-stream',
          open: (range) => chunkContent(services, chunk, { range, gone: NO_CHUNK }),
        },
      );
    },
  }),
];

/** The source must be there, and still be when the stream is. */
async function registerStream(
  services: Services,
  { account, account_id, fences }: Principal,
  {
    source_id,
    captured_at,
    title,
  }: { source_id: string; captured_at: z.infer<typeof capturedAt>; title: string | null },
) {
  await ownSource(services, { account_id, id: source_id });
  const id = randomId({ partition: partitionOfId(account_id), now_ms: services.clock.now() });
  const open = [...fences, { fence: 'open' as const, id: source_id }];
  const workspace_id = account.private_workspace.id;
  const registered = { account_id, workspace_id, source_id, recorder: null, title, end_ms: null, silent: false };
  try {
    const stream = await services.actors.stream(id).register({ ...registered, ...captured_at }, open);
    return viewStream(services, stream);
  } catch (error) {
    if (isClosed(error)) await ownSource(services, { account_id, id: source_id }); // which now says that it is gone
    throw error;
  }
}

async function changeStream(services: Services, who: Principal, params: Record<string, string>, change: StreamChange) {
  const found = await writableStream(services, who, params.id as string);
  const { id: stream_id, source_id } = found;
  const stream = await askRecordingEvents(services, { stream_id, source_id, fences: who.fences }, change);
  return viewStream(services, stream);
}

type ListQuery = {
  limit: number;
  cursor?: Position | undefined;
  source_id?: string | undefined;
  workspace_id?: string | undefined;
};

/** A page of the streams of an account, of one of its sources, or of a workspace that it belongs to; newest first. */
export async function listStreams(
  services: Services,
  who: Principal,
  query: ListQuery,
): Promise<{ items: StreamView[]; cursor: string | null }> {
  const rows = await listedStreams(services, who, query);
  const page = pageOf(rows, query.limit);
  const streams = await Promise.all(
    page.rows.map(async ({ member }) => {
      const stream = await orNull(readableStream(services, who, member), 'NOT_FOUND');
      return stream === null ? null : viewStream(services, stream);
    }),
  );
  return { items: streams.filter((stream) => stream !== null), cursor: page.cursor };
}

/** Each of these lists is kept in its order: none is filtered out of a larger one. */
async function listedStreams(
  services: Services,
  { account, account_id }: Principal,
  { limit, cursor: after, source_id, workspace_id }: ListQuery,
): Promise<Position[]> {
  const run = { descending: true, limit: limit + 1 };
  if (workspace_id !== undefined && workspace_id !== account.private_workspace.id) {
    const behind = after === undefined ? undefined : { order: after.order, id: after.member };
    const range = { ...run, after: behind };
    const listed = await askWorkspace(services, workspace_id, (workspace) =>
      workspace.list_streams({ by: account_id, range }),
    );
    return listed.streams.map(({ id, order }) => ({ member: id, order }));
  }
  const of = source_id ?? workspace_id;
  const list = of === undefined ? STREAMS : streamIndexOf(of);
  return services.store.list({ owner: account_id, partition: partitionOfId(account_id) }, list, { ...run, after });
}

async function viewStream(services: Services, stream: Stream): Promise<StreamView> {
  const seen = await withTranscriptRevision(services, stream);
  return streamView(seen);
}

function streamView(stream: Stream): StreamView {
  return {
    id: stream.id,
    source_id: stream.source_id,
    workspace_id: stream.workspace_id,
    title: stream.title,
    captured_at: stream.captured_at,
    clock_uncertainty_ms: stream.recorder?.clock_uncertainty_ms ?? null,
    transcript_revision: stream.transcript_revision,
    created_at: new Date(stream.created_at_ms).toISOString(),
    source_device_id: stream.recorder?.device_id ?? null,
    ...(stream.end_ms === null ? {} : { end_ms: stream.end_ms }),
    chunks: stream.chunks,
    stored_chunks: stream.stored_chunks,
    stored_bytes: stream.stored_bytes,
  };
}

function chunkView({ clock }: Services, chunk: Chunk, stream: Stream): z.infer<typeof chunkShape> {
  const iso = (at_ms: number | null) => (at_ms === null ? null : new Date(at_ms).toISOString());
  return {
    id: chunk.chunk_id,
    ...intentView(chunk),
    status: statusOf(chunk, stream, clock.now()),
    checked: chunk.result?.status === 'processed' ? chunk.result.checked : null,
    failure: failureOf(chunk),
    registered_at: new Date(chunk.registered_at_ms).toISOString(),
    upload_started_at: iso(chunk.upload_started_at_ms),
    stored_at: iso(chunk.stored_at_ms),
  };
}
