import { z } from 'zod';
import type { Chunk, ChunkResult, Stream } from '../../actors/recordings/stream_state.js';
import { statusOf } from '../../actors/recordings/stream_state.js';
import { failureCode, trimmedText, whole } from '../../src/access/request_schemas.js';
import { count, id, moment, no_cursor } from '../../src/access/response_schemas.js';
import { streamOfChunk } from '../../src/domain/ids.js';
import type { Interval } from '../../src/domain/intervals.js';
import { LIMITS } from '../../src/domain/limits.js';
import { Refused, refuse } from '../../src/domain/refusals.js';
import { sendBytes } from '../../src/edge/http/byte_download.js';
import type { Work } from '../../src/features/recordings/chunk_processing.js';
import { announcedShape, intentView } from '../../src/features/recordings/chunk_upload.js';
import { chunkContent } from '../../src/features/recordings/lost_audio.js';
import { withoutFormat } from '../../src/features/transcripts/engines/plain_text.js';
import { operatorRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';
import { claim, leaseField, progressRow, SECOND_MS } from './claims.js';

/** Jobs for workers that process stored chunks. docs/architecture.md, "Jobs". */

const NO_CHUNK = refuse('NOT_FOUND', 'There is no such chunk.');
const NOT_CLAIMED = refuse(
  'FORBIDDEN',
  'The worker token opens audio only while a window that it reaches into is claimed.',
);
const NOT_HELD = refuse('CONFLICT', 'The claim does not hold any more; the chunk may be in other hands.');

const lease_s = leaseField({ lease_ms: LIMITS.chunk_lease_ms, lease_ms_max: LIMITS.chunk_lease_ms_max });

const workShape = z
  .strictObject({
    chunk_id: id.describe('What is to be processed.'),
    claim: z.string().describe('Goes with what the worker says of the chunk.'),
    lease_until: moment.describe('Until then nobody else gets it.'),
    tries: count.describe('How often it was handed out.'),
    stream_id: id.describe('The stream that it is a piece of.'),
    account_id: id.describe('Whose recording it is.'),
    ...announcedShape.shape,
    content_path: z.string().describe('Where to GET the audio.'),
  })
  .meta({ id: 'Work' });

const finishedShape = z.strictObject({
  chunk_id: id.describe('The chunk.'),
  status: z.enum(['processed', 'failed']).describe('How it stands from now on.'),
});

export const STAFF_CHUNK_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'POST',
    path: '/ops/chunks/claim',
    summary: 'Hands stored chunks to a worker, for a time.',
    credential: 'operator',
    body: z.object({
      limit: whole({ min: 1, max: LIMITS.chunk_claims_max }).default(1).describe('How many at most; 1 when absent.'),
      lease_s,
    }),
    answer: z.strictObject({ items: z.array(workShape), cursor: no_cursor }),
    example: { limit: 10, lease_s: 60 },
    async handler({ services, body }) {
      const work = await services.processing.claim({ limit: body.limit, lease_ms: body.lease_s * SECOND_MS });
      return { items: work.map(workView), cursor: null };
    },
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/chunks/:chunk_id/content',
    summary: "A chunk's bytes.",
    credential: 'operator',
    worker_too: true,
    answer: 'audio',
    refusals: ['CONTENT_MISSING'],
    async handler({ services, who, params, request, reply }) {
      const found = await chunkOf(services, params.chunk_id as string);
      const { chunk, stream } = found;
      const span: Interval = [chunk.source_start_ms, chunk.source_end_ms];
      if (who === 'worker' && !(await services.transcription.isClaimed(stream.id, span)))
        throw new Refused(NOT_CLAIMED);
      const { size_bytes, sha256: etag } = chunk;
      const open = (range?: { start: number; end: number }) => chunkContent(services, chunk, { range, gone: NO_CHUNK });
      return sendBytes({ request, reply }, { size_bytes, etag, content_type: 'application/octet-stream', open });
    },
  }),

  progressRow({
    path: '/ops/chunks/:chunk_id/progress',
    summary: 'Says that a worker is still at a chunk.',
    refusals: ['CONFLICT'],
    lease_s,
    async prolong({ actors }, { chunk_id = '' }, { claim: token, lease_ms }) {
      const home = streamOfChunk(chunk_id);
      if (home === null) throw new Refused(NO_CHUNK);
      return actors.stream(home.stream_id).prolong_claim({ number: home.number, token, lease_ms });
    },
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/chunks/:chunk_id/done',
    summary: 'Says that a chunk is processed.',
    credential: 'operator',
    body: z.object({
      claim,
      checked: z
        .boolean('must be true or false')
        .default(false)
        .describe('Whether the audio was held against its announcement.'),
    }),
    answer: finishedShape,
    refusals: ['CONFLICT'],
    async handler({ services, params, body: { claim: token, checked } }) {
      return finish(services, { chunk_id: params.chunk_id as string, token, result: { status: 'processed', checked } });
    },
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/chunks/:chunk_id/failed',
    summary: 'Says why a chunk can not be processed.',
    credential: 'operator',
    body: z.object({
      claim,
      code: failureCode.describe('Why, for programs.'),
      message: trimmedText(LIMITS.failure_message_chars_max).transform(withoutFormat).describe('The same for people.'),
    }),
    answer: finishedShape,
    refusals: ['CONFLICT'],
    async handler({ services, params, body: { claim: token, ...failure } }) {
      return finish(services, { chunk_id: params.chunk_id as string, token, result: { status: 'failed', failure } });
    },
  }),
];

async function finish(
  services: Services,
  { chunk_id, token, result }: { chunk_id: string; token: string; result: ChunkResult },
): Promise<unknown> {
  const home = streamOfChunk(chunk_id);
  if (home === null) throw new Refused(NO_CHUNK);
  const { stream_id, number } = home;
  const answer = await services.processing.result(stream_id, { token, results: [{ number, result }] });
  if (!answer.taken.includes(number)) throw new Refused(NOT_HELD);
  services.metrics.chunks_processed.inc({ worker: 'operator_port', status: result.status });
  const found = await chunkOf(services, chunk_id);
  return { chunk_id, status: statusOf(found.chunk, found.stream, services.clock.now()) };
}

async function chunkOf({ actors }: Services, chunk_id: string): Promise<{ chunk: Chunk; stream: Stream }> {
  const home = streamOfChunk(chunk_id);
  if (home === null) throw new Refused(NO_CHUNK);
  return actors.stream(home.stream_id).chunk({ number: home.number });
}

function workView({ chunk, stream, token, tries, until_ms }: Work): z.infer<typeof workShape> {
  return {
    chunk_id: chunk.chunk_id,
    claim: token,
    lease_until: new Date(until_ms).toISOString(),
    tries,
    stream_id: stream.id,
    account_id: stream.account_id,
    ...intentView(chunk),
    content_path: `/ops/chunks/${chunk.chunk_id}/content`,
  };
}
