import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import type { Chunk, ListedChunk, Stream, StreamMessage } from '../actors/stream.js';
import { blobKey } from '../src/blobs/blob_keys.js';
import type { Services } from '../src/services.js';
import { partitionOfId, streamOfChunk } from '../src/vocabulary/ids.js';
import { isRefusal, type Refusal, refuse } from '../src/vocabulary/refusals.js';
import { readRange } from './byte_range.js';
import { listCursor, type Position, pageOf } from './cursors.js';
import { listLimit } from './forms.js';
import type { Principal } from './principal.js';
import { accountRoute, type Route } from './route.js';

/** The account's side of streams and their audio. Choices: "Account side". */

const NO_STREAM = refuse('NOT_FOUND', 'There is no such stream.');
const NO_CHUNK = refuse('NOT_FOUND', 'There is no such chunk.');
/** A client that takes no byte for so long (twice that, when the last write began before) is cut: it holds a file. */
const UNREAD_MAX_MS = 10_000;
export const READS_STREAMS = ['audio:read', 'turns:read'] as const;

export const STREAM_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/audio/streams',
    credential: 'account',
    permission: READS_STREAMS,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    handler: async ({ services, who, query }) => listStreams(services, who.account_id, query),
  }),

  accountRoute({
    method: 'GET',
    path: '/audio/streams/:id',
    credential: 'account',
    permission: READS_STREAMS,
    async handler({ services, who, params }) {
      const stream = await ownStream(services, who, params.id as string);
      return isRefusal(stream) ? stream : streamView(stream);
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/audio/streams/:id/chunks',
    credential: 'account',
    permission: READS_STREAMS,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    async handler({ services, who, params, query: { limit, cursor } }) {
      const stream = await ownStream(services, who, params.id as string);
      if (isRefusal(stream)) return stream;
      const after = cursor === undefined ? undefined : { order: cursor.order, id: cursor.member };
      const message: StreamMessage = { type: 'list_chunks', range: { after, limit: limit + 1 } };
      const listed = await services.runtime.ask<{ chunks: ListedChunk[] }>({ kind: 'stream', id: stream.id }, message);
      if (isRefusal(listed)) return listed;
      const page = pageOf(listed.chunks, limit);
      return { items: page.rows.map(chunkView), cursor: page.cursor };
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/audio/chunks/:id/content',
    credential: 'account',
    permission: ['audio:read'],
    async handler({ services, who, params, request, reply }) {
      const home = streamOfChunk(params.id as string);
      if (home === null) return NO_CHUNK;
      const message: StreamMessage = { type: 'chunk', number: home.number };
      const found = await services.runtime.ask<{ chunk: Chunk; stream: Stream }>(
        { kind: 'stream', id: home.stream_id },
        message,
      );
      if (isRefusal(found)) return found.refused === 'NOT_FOUND' ? NO_CHUNK : found;
      if (found.stream.account_id !== who.account_id) return NO_CHUNK;
      const { chunk } = found;
      if (chunk.status !== 'stored')
        return refuse('CONFLICT', `The chunk's audio is not here: its status is ${chunk.status}.`);
      const range = readRange(request.headers.range, chunk.size_bytes);
      if (range === 'unsatisfiable') {
        reply.header('Content-Range', `bytes */${chunk.size_bytes}`);
        return refuse('RANGE_NOT_SATISFIABLE', 'The Range lies outside the audio.');
      }
      const blob = await services.blobs.open(blobKey(home.stream_id, chunk.chunk_id), range ?? undefined);
      if (blob === null) return NO_CHUNK;
      reply.hijack();
      const { raw } = reply;
      for (const [name, value] of Object.entries(reply.getHeaders()))
        if (value !== undefined) raw.setHeader(name, value);
      raw.setHeader('Content-Type', 'application/octet-stream');
      raw.setHeader('Accept-Ranges', 'bytes');
      raw.setHeader('ETag', `"${chunk.sha256}"`);
      raw.setHeader('X-Content-Type-Options', 'nosniff');
      if (range !== null) raw.setHeader('Content-Range', `bytes ${range.start}-${range.end}/${chunk.size_bytes}`);
      raw.setHeader('Content-Length', range === null ? chunk.size_bytes : range.end - range.start + 1);
      raw.setTimeout(UNREAD_MAX_MS);
      raw.writeHead(range === null ? 200 : 206);
      await pipeline(blob.stream, raw).catch(() => {}); // the client went away
      return reply;
    },
  }),
];

/** A page of an account's streams, newest first. */
export async function listStreams(
  services: Services,
  account_id: string,
  { limit, cursor }: { limit: number; cursor?: Position | undefined },
): Promise<{ items: ReturnType<typeof streamView>[]; cursor: string | null } | Refusal> {
  const place = { account_id, partition: partitionOfId(account_id) };
  const rows = await services.store.list(place, 'streams', { after: cursor, descending: true, limit: limit + 1 });
  const page = pageOf(rows, limit);
  const streams = await Promise.all(page.rows.map(({ member }) => viewStream(services, member)));
  const failed = streams.filter(isRefusal).find(({ refused }) => refused !== 'NOT_FOUND');
  if (failed !== undefined) return failed;
  return {
    items: streams.flatMap((stream) => (isRefusal(stream) ? [] : [streamView(stream)])),
    cursor: page.cursor,
  };
}

function viewStream({ runtime }: Services, id: string): Promise<Stream | Refusal> {
  const message: StreamMessage = { type: 'view' };
  return runtime.ask<Stream>({ kind: 'stream', id }, message);
}

/** The stream if it is the caller's; one of somebody else does not exist for them. */
async function ownStream(services: Services, who: Principal, id: string): Promise<Stream | Refusal> {
  const stream = await viewStream(services, id);
  if (isRefusal(stream)) return stream;
  return stream.account_id === who.account_id ? stream : NO_STREAM;
}

function streamView(stream: Stream) {
  return {
    id: stream.id,
    source_id: stream.source_id,
    workspace_id: stream.workspace_id,
    title: stream.title,
    captured_at: stream.captured_at,
    clock_uncertainty_ms: stream.clock_uncertainty_ms,
    transcript_revision: stream.transcript_revision,
    created_at: new Date(stream.created_at_ms).toISOString(),
    source_device_id: stream.device_id,
    ...(stream.end_ms === null ? {} : { end_ms: stream.end_ms }),
    chunks: stream.chunks,
    stored_chunks: stream.stored_chunks,
    stored_bytes: stream.stored_bytes,
  };
}

function chunkView(chunk: Chunk) {
  const iso = (at_ms: number | null) => (at_ms === null ? null : new Date(at_ms).toISOString());
  return {
    id: chunk.chunk_id,
    sequence: chunk.sequence,
    source_start_ms: chunk.source_start_ms,
    publication_start_ms: chunk.publication_start_ms,
    source_end_ms: chunk.source_end_ms,
    codec: chunk.codec,
    container: chunk.container,
    size_bytes: chunk.size_bytes,
    sha256: chunk.sha256,
    status: chunk.status,
    registered_at: iso(chunk.registered_at_ms),
    upload_started_at: iso(chunk.upload_started_at_ms),
    stored_at: iso(chunk.stored_at_ms),
  };
}
