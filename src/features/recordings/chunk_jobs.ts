import { z } from 'zod';
import {
  type Chunk,
  type ChunkResult,
  isStored,
  type Stream,
  statusOf,
} from '../../../actors/recordings/stream_state.js';
import { count, id, moment } from '../../access/response_schemas.js';
import { streamOfChunk } from '../../domain/ids.js';
import type { Interval } from '../../domain/intervals.js';
import { Refused, refuse } from '../../domain/refusals.js';
import type { FeatureServices } from '../services.js';
import type { ChunkProcessing, Work } from './chunk_processing.js';
import { announcedShape, intentView } from './chunk_upload.js';
import type { MissingAudio } from './missing_audio.js';
import { chunkContent } from './missing_audio.js';

/** Jobs for workers that process stored chunks. docs/architecture.md, "Jobs". */

const NO_CHUNK = refuse('NOT_FOUND', 'There is no such chunk.');
const NOT_CLAIMED = refuse(
  'FORBIDDEN',
  'The worker token opens audio only while a window that it reaches into is claimed.',
);
const NOT_HELD = refuse('CONFLICT', 'The claim does not hold any more; the chunk may be in other hands.');

export const chunkWorkShape = z
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

export const finishedChunkShape = z.strictObject({
  chunk_id: id.describe('The chunk.'),
  status: z.enum(['processed', 'failed']).describe('Its status from now on.'),
});

/** Leases stored chunks to a worker. */
export async function claimChunks(
  { processing }: { processing: ChunkProcessing },
  { limit, lease_s }: { limit: number; lease_s: number },
): Promise<z.infer<typeof chunkWorkShape>[]> {
  return (await processing.claim({ limit, lease_ms: lease_s * 1_000 })).map(workView);
}

/** The bytes of a chunk, to send; a worker gets only those of the windows that it has claimed. */
export async function downloadChunk(
  services: Pick<FeatureServices, 'actors'> & {
    lost_audio: MissingAudio;
    transcription: { isClaimed(stream_id: string, span: Interval): Promise<boolean> };
  },
  { chunk_id, who }: { chunk_id: string; who: 'staff' | 'worker' },
) {
  const { chunk, stream } = await chunkOf(services, chunk_id);
  if (!isStored(chunk)) throw new Refused(NO_CHUNK);
  const span: Interval = [chunk.source_start_ms, chunk.source_end_ms];
  if (who === 'worker' && !(await services.transcription.isClaimed(stream.id, span))) throw new Refused(NOT_CLAIMED);
  return {
    size_bytes: chunk.size_bytes,
    etag: chunk.sha256,
    content_type: 'application/octet-stream',
    open: (range?: { start: number; end: number }) => chunkContent(services, chunk, { range, gone: NO_CHUNK }),
  };
}

/** Extends the lease of a worker that still processes a chunk. */
export async function prolongChunkClaim(
  { actors }: Pick<FeatureServices, 'actors'>,
  { chunk_id, claim: token, lease_s }: { chunk_id: string; claim: string; lease_s: number },
): Promise<{ lease_until: string }> {
  const home = streamOfChunk(chunk_id);
  if (home === null) throw new Refused(NO_CHUNK);
  const lease = await actors
    .stream(home.stream_id)
    .prolong_claim({ number: home.number, token, lease_ms: lease_s * 1_000 });
  return { lease_until: new Date(lease.until_ms).toISOString() };
}

/** Takes a worker's result for a chunk: processed, or the reason for the failure. */
export async function finishChunk(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'metrics'> & { processing: ChunkProcessing },
  { chunk_id, claim: token, result }: { chunk_id: string; claim: string; result: ChunkResult },
): Promise<z.infer<typeof finishedChunkShape>> {
  const home = streamOfChunk(chunk_id);
  if (home === null) throw new Refused(NO_CHUNK);
  const { stream_id, number } = home;
  const answer = await services.processing.result(stream_id, { token, results: [{ number, result }] });
  if (!answer.taken.includes(number)) throw new Refused(NOT_HELD);
  services.metrics.chunks_processed.inc({ worker: 'operator_port', status: result.status });
  const { chunk, stream } = await chunkOf(services, chunk_id);
  return { chunk_id, status: statusOf(chunk, stream, services.clock.now()) as 'processed' | 'failed' };
}

async function chunkOf(
  { actors }: Pick<FeatureServices, 'actors'>,
  chunk_id: string,
): Promise<{ chunk: Chunk; stream: Stream }> {
  const home = streamOfChunk(chunk_id);
  if (home === null) throw new Refused(NO_CHUNK);
  return actors.stream(home.stream_id).chunk({ number: home.number });
}

function workView({ chunk, stream, token, tries, until_ms }: Work): z.infer<typeof chunkWorkShape> {
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
