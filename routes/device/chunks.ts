import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Chunk, ChunkIntent, Stream, StreamMessage } from '../../actors/stream.js';
import { blobKey } from '../../src/blobs/blob_keys.js';
import type { Services } from '../../src/services.js';
import { streamOfChunk } from '../../src/vocabulary/ids.js';
import { LIMITS } from '../../src/vocabulary/limits.js';
import { isRefusal, type Refusal, refuse } from '../../src/vocabulary/refusals.js';
import { mediaName, sha256, uuid, whole } from '../forms.js';
import { askForBody } from '../listener.js';
import { deviceRoute, type Route } from '../route.js';
import { type Bound, boundBy, type Recording } from './bound.js';
import { deviceStream } from './streams.js';

/** Chunks: announced by an intent, uploaded as raw bytes, stored before anything says so. Choices: "Devices". */

const NO_CHUNK = refuse('NOT_FOUND', 'There is no such chunk.');
/** An upload that gives no byte for so long is cut. */
const SILENCE_MAX_MS = 20_000;

const INTENT = z
  .object({
    source_chunk_ref: uuid,
    source_stream_ref: uuid,
    sequence: whole({ min: 0 }),
    source_start_ms: whole({ min: 0 }),
    publication_start_ms: whole({ min: 0 }),
    source_end_ms: whole({ min: 1 }),
    codec: mediaName,
    container: mediaName,
    size_bytes: whole({ min: 1, max: LIMITS.chunk_bytes_max }),
    sha256,
    binding_epoch: uuid,
  })
  .refine(({ source_start_ms, source_end_ms }) => source_start_ms < source_end_ms, {
    path: ['source_end_ms'],
    message: 'must be after source_start_ms',
  })
  .refine(
    ({ source_start_ms, publication_start_ms, source_end_ms }) =>
      source_start_ms <= publication_start_ms && publication_start_ms <= source_end_ms,
    { path: ['publication_start_ms'], message: 'must lie between source_start_ms and source_end_ms' },
  );

export const CHUNK_ROUTES: readonly Route[] = [
  deviceRoute({
    method: 'POST',
    path: '/device/chunks/intents',
    credential: 'device',
    body: INTENT,
    async handler({ services, who, body }) {
      const { source_stream_ref, binding_epoch: epoch, ...intent } = body;
      const found = await deviceStream(services, who, { epoch, source_stream_ref });
      if (isRefusal(found)) return found;
      const message: StreamMessage = { type: 'intend', intent, content: digestOf(intent) };
      const registered = await services.runtime.ask<{ chunk: Chunk }>(
        { kind: 'stream', id: found.stream_id },
        message,
        found.guards,
      );
      if (isRefusal(registered)) return registered;
      const { chunk_id, source_chunk_ref } = registered.chunk;
      return { source_chunk_ref, chunk_id, upload_path: `/device/chunks/${chunk_id}/content` };
    },
  }),

  deviceRoute({
    method: 'PUT',
    path: '/device/chunks/:chunk_id/content',
    credential: 'device',
    raw: true,
    async handler({ services, who, params, request, reply }) {
      const answer = await upload(services, who, {
        chunk_id: params.chunk_id as string,
        request,
        ask: () => askForBody(request, reply),
      });
      // A body that nobody reads to its end must not become the next request.
      if (isRefusal(answer) && !request.raw.readableEnded) reply.header('Connection', 'close');
      return answer;
    },
  }),

  deviceRoute({
    method: 'GET',
    path: '/device/chunks/:chunk_id',
    credential: 'device',
    shed: 'last',
    async handler({ services, who, params }) {
      const found = await deviceChunk(services, who, params.chunk_id as string);
      return isRefusal(found) ? found : chunkStatusView(found.chunk);
    },
  }),

  deviceRoute({
    method: 'POST',
    path: '/device/chunks/status',
    credential: 'device',
    shed: 'last',
    body: z.object({
      binding_epoch: uuid,
      source_stream_ref: uuid,
      source_chunk_refs: z
        .array(uuid)
        .min(1, 'must name at least one chunk')
        .max(LIMITS.chunk_status_refs_max, `must name at most ${LIMITS.chunk_status_refs_max} chunks`),
    }),
    async handler({ services, who, body }) {
      const { binding_epoch: epoch, source_stream_ref, source_chunk_refs } = body;
      const found = await deviceStream(services, who, { epoch, source_stream_ref });
      if (isRefusal(found)) return found;
      const address = { kind: 'stream', id: found.stream_id };
      const ask: StreamMessage = { type: 'chunks_of_refs', refs: source_chunk_refs };
      const known = await services.runtime.ask<{ numbers: Record<string, number> }>(address, ask);
      if (isRefusal(known)) return known;
      // A reference that nobody registered has no item: the device asks for its intent again.
      const numbers = source_chunk_refs.flatMap((ref) => known.numbers[ref] ?? []);
      const chunks = await Promise.all(
        numbers.map((number) =>
          services.runtime.ask<{ chunk: Chunk }>(address, { type: 'chunk', number } satisfies StreamMessage),
        ),
      );
      const failed = chunks.find(isRefusal);
      return failed ?? { items: chunks.map((found) => chunkStatusView((found as { chunk: Chunk }).chunk)) };
    },
  }),
];

type Upload = { chunk_id: string; request: FastifyRequest; ask: () => void };

async function upload(
  services: Services,
  who: Recording,
  { chunk_id, request, ask }: Upload,
): Promise<unknown | Refusal> {
  const found = await deviceChunk(services, who, chunk_id);
  if (isRefusal(found)) return found;
  const { chunk, stream, number, guards } = found;
  if (chunk.status === 'expired') return refuse('UPLOAD_EXPIRED', 'The upload intent has expired; ask for it again.');
  const { 'content-length': length, 'content-encoding': encoding } = request.headers;
  if (encoding !== undefined && encoding !== 'identity') {
    return refuse('UNSUPPORTED_MEDIA_TYPE', 'Audio must come without Content-Encoding.');
  }
  if (length === undefined) return refuse('LENGTH_REQUIRED', 'An upload needs Content-Length.');
  if (Number(length) !== chunk.size_bytes) {
    const message = `Content-Length is ${length}, the intent's size_bytes ${chunk.size_bytes}.`;
    return refuse('BAD_REQUEST', message, {
      details: [{ path: 'Content-Length', message: `must be ${chunk.size_bytes}` }],
    });
  }
  ask();
  const upload_started_at_ms = services.clock.now();
  const { raw } = request;
  const silence = watchSilence(raw);
  try {
    const reading = chunk.status === 'stored' ? compare(raw, chunk) : store(services, chunk, raw);
    const refusal = await Promise.race([reading, silence.fell]);
    if (refusal !== null) return refusal;
  } finally {
    silence.end();
  }
  if (chunk.status === 'stored') return uploadView(chunk);
  services.metrics.uploads_bytes.inc(chunk.size_bytes);
  const message: StreamMessage = { type: 'stored', number, upload_started_at_ms };
  const stored = await services.runtime.ask<{ chunk: Chunk }>({ kind: 'stream', id: stream.id }, message, guards);
  return isRefusal(stored) ? stored : uploadView(stored.chunk);
}

const WRONG_BYTES = refuse('CHECKSUM_MISMATCH', "The bytes are not those of the intent's sha256.");
const CUT_SHORT = refuse('BAD_REQUEST', 'The upload broke off.');

/** Falls with a refusal when the connection gives no byte for too long; the connection is then closed with the answer. */
function watchSilence({ socket }: FastifyRequest['raw']): { fell: Promise<Refusal>; end: () => void } {
  let seen = socket.bytesRead;
  let timer: NodeJS.Timeout | undefined;
  const fell = new Promise<Refusal>((resolve) => {
    timer = setInterval(() => {
      if (socket.bytesRead === seen) resolve(refuse('REQUEST_TIMEOUT', 'No byte of the upload came for too long.'));
      seen = socket.bytesRead;
    }, SILENCE_MAX_MS);
  });
  return { fell, end: () => clearInterval(timer) };
}

async function store({ blobs }: Services, chunk: Chunk, body: FastifyRequest['raw']): Promise<Refusal | null> {
  const { size_bytes, sha256: sha256_hex } = chunk;
  const stream_id = streamOfChunk(chunk.chunk_id)?.stream_id as string;
  const put = await blobs.put(blobKey(stream_id, chunk.chunk_id), body, { size_bytes, sha256_hex });
  if (put.ok) return null;
  return put.reason === 'checksum' ? WRONG_BYTES : CUT_SHORT;
}

/** The same bytes again are welcome, other ones are not. */
async function compare(body: FastifyRequest['raw'], chunk: Chunk): Promise<Refusal | null> {
  const hash = createHash('sha256');
  try {
    for await (const piece of body) hash.update(piece as Buffer);
  } catch {
    return CUT_SHORT;
  }
  return hash.digest('hex') === chunk.sha256 ? null : WRONG_BYTES;
}

/** A chunk of this device's own, under a binding that has not ended; another device's does not exist for it. */
async function deviceChunk(
  services: Services,
  who: Recording,
  chunk_id: string,
): Promise<(Bound & { chunk: Chunk; stream: Stream; number: number }) | Refusal> {
  const home = streamOfChunk(chunk_id);
  if (home === null) return NO_CHUNK;
  const { stream_id, number } = home;
  const message: StreamMessage = { type: 'chunk', number };
  const found = await services.runtime.ask<{ chunk: Chunk; stream: Stream }>(
    { kind: 'stream', id: stream_id },
    message,
  );
  if (isRefusal(found)) return found.refused === 'NOT_FOUND' ? NO_CHUNK : found;
  if (found.stream.device_id !== who.device_id) return NO_CHUNK;
  const bound = await boundBy(services, who, found.stream.binding_epoch);
  return isRefusal(bound) ? bound : { ...bound, ...found, number };
}

function chunkStatusView({ chunk_id, source_chunk_ref, sequence, status, stored_at_ms }: Chunk) {
  const stored_at = stored_at_ms === null ? null : new Date(stored_at_ms).toISOString();
  return { chunk_id, source_chunk_ref, sequence, status, stored_at, failure: null };
}

function uploadView({ chunk_id, source_chunk_ref, status, size_bytes, sha256: hash }: Chunk) {
  return { chunk_id, source_chunk_ref, status, size_bytes, sha256: hash };
}

/** What makes two intents the same: all that the device says of the chunk. */
function digestOf(intent: ChunkIntent): string {
  const { source_chunk_ref, sequence, source_start_ms, publication_start_ms, source_end_ms } = intent;
  const { codec, container, size_bytes, sha256: hash } = intent;
  const fields = [
    source_chunk_ref,
    sequence,
    source_start_ms,
    publication_start_ms,
    source_end_ms,
    codec,
    container,
    size_bytes,
    hash,
  ];
  return createHash('sha256').update(JSON.stringify(fields)).digest('base64url');
}
