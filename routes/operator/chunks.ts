import { z } from 'zod';
import { claim, leaseField, leaseShape } from '../../src/access/job_schemas.js';
import { failureCode, trimmedQuery, whole } from '../../src/access/request_schemas.js';
import { no_cursor } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { withoutFormat } from '../../src/domain/plain_text.js';
import { sendBytes } from '../../src/edge/http/byte_download.js';
import {
  chunkWorkShape,
  claimChunks,
  downloadChunk,
  finishChunk,
  finishedChunkShape,
  prolongChunkClaim,
} from '../../src/features/recordings/chunk_jobs.js';
import { PARAMETERS } from '../path_parameters.js';
import { operatorRoute, type Route } from '../rows.js';

/** Jobs for workers that process stored chunks. docs/architecture.md, "Jobs". */

const CHUNK_LEASE_MS_MAX = 3_600_000; // ours

const lease_s = leaseField({ lease_ms: LIMITS.chunk_lease_ms, lease_ms_max: CHUNK_LEASE_MS_MAX });

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
    answer: z.strictObject({ items: z.array(chunkWorkShape), cursor: no_cursor }),
    example: { limit: 10, lease_s: 60 },
    handler: async ({ services, body }) => ({ items: await claimChunks(services, body), cursor: null }),
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/chunks/:chunk_id/content',
    params: { chunk_id: PARAMETERS.chunk },
    summary: "A chunk's bytes.",
    credential: 'operator',
    worker_too: true,
    answer: 'audio',
    refusals: ['CONTENT_MISSING'],
    handler: async ({ services, who, params, request, reply }) =>
      sendBytes({ request, reply }, await downloadChunk(services, { chunk_id: params.chunk_id, who })),
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/chunks/:chunk_id/progress',
    params: { chunk_id: PARAMETERS.chunk },
    summary: 'Says that a worker is still at a chunk.',
    refusals: ['CONFLICT'],
    credential: 'operator',
    body: z.object({ claim, lease_s }),
    answer: leaseShape,
    handler: ({ services, params, body }) => prolongChunkClaim(services, { chunk_id: params.chunk_id, ...body }),
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/chunks/:chunk_id/done',
    params: { chunk_id: PARAMETERS.chunk },
    summary: 'Says that a chunk is processed.',
    credential: 'operator',
    body: z.object({
      claim,
      checked: z
        .boolean('must be true or false')
        .default(false)
        .describe('Whether the audio was held against its announcement.'),
    }),
    answer: finishedChunkShape,
    refusals: ['CONFLICT'],
    handler({ services, params, body: { claim, checked } }) {
      const result = { status: 'processed' as const, checked };
      return finishChunk(services, { chunk_id: params.chunk_id, claim, result });
    },
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/chunks/:chunk_id/failed',
    params: { chunk_id: PARAMETERS.chunk },
    summary: 'Says why a chunk can not be processed.',
    credential: 'operator',
    body: z.object({
      claim,
      code: failureCode.describe('Why, for programs.'),
      message: trimmedQuery(LIMITS.failure_message_chars_max).transform(withoutFormat).describe('The same for people.'),
    }),
    answer: finishedChunkShape,
    refusals: ['CONFLICT'],
    handler({ services, params, body: { claim, ...failure } }) {
      const result = { status: 'failed' as const, failure };
      return finishChunk(services, { chunk_id: params.chunk_id, claim, result });
    },
  }),
];
