import { z } from 'zod';
import {
  type Chunk,
  type ChunkIntent,
  failureOf,
  hasExpired,
  isStored,
  type Stream,
  statusOf,
} from '../../../actors/recordings/stream_state.js';
import { type Page, type PageQuery, pageOf } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import { id, moment, momentOrNull } from '../../access/response_schemas.js';
import { Refused, refuse } from '../../domain/refusals.js';
import type { ByteContent, TakeBody } from '../../engine/blobs/blob_store.js';
import type { FeatureServices } from '../services.js';
import { type Arrivals, type ArrivalsView, storeArrivals } from './chunk_arrivals.js';
import type { ChunkProcessing } from './chunk_processing.js';
import {
  announcedShape,
  chunkFailure,
  chunkStatus,
  intend,
  intentView,
  type UploadView,
  uploadChunk,
} from './chunk_upload.js';
import { AUDIO_EXPIRED } from './joined_audio.js';
import type { MissingAudio } from './missing_audio.js';
import { chunkContent } from './missing_audio.js';
import { NO_CHUNK, readableChunk, readableStream, writableChunk, writableStream } from './stream_access.js';

/** Chunks as accounts see them. Devices' side: device_chunks.ts. */

export const chunkShape = z
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

export type ChunkView = z.infer<typeof chunkShape>;

/** A page of the chunks of a stream, by their start. */
export async function listChunks(
  services: Pick<FeatureServices, 'actors' | 'clock'>,
  who: Principal,
  { stream_id, limit, cursor }: PageQuery & { stream_id: string },
): Promise<Page<ChunkView>> {
  const stream = await readableStream(services, who, stream_id);
  const after = cursor === undefined ? undefined : { order: cursor.order, id: cursor.member };
  const listed = await services.actors.stream(stream.id).list_chunks({ range: { after, limit: limit + 1 } });
  const page = pageOf(listed.chunks, limit);
  return { items: page.rows.map((chunk) => chunkView(services, chunk, listed.stream)), cursor: page.cursor };
}

/** Announces a chunk of the caller's stream. The same announcement again gives the same chunk. */
export async function announceChunk(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { stream_id, intent }: { stream_id: string; intent: ChunkIntent },
): Promise<Chunk> {
  const stream = await writableStream(services, who, stream_id);
  const { chunk } = await intend(services, { stream_id: stream.id, intent, fences: who.fences });
  return chunk;
}

/** Stores the bytes of an announced chunk. */
export async function uploadOwnChunk(
  services: Pick<FeatureServices, 'actors' | 'blobs' | 'clock' | 'metrics'> & { processing: ChunkProcessing },
  who: Principal,
  { chunk_id, takeBody }: { chunk_id: string; takeBody: TakeBody },
): Promise<UploadView> {
  const found = await writableChunk(services, who, chunk_id);
  return uploadChunk(services, found, takeBody);
}

/** Stores chunks of the caller's stream that arrived with their bytes, and ends the stream if the request says so. */
export async function storeOwnChunks(
  services: Pick<FeatureServices, 'actors' | 'blobs' | 'clock' | 'metrics' | 'runtime'> & {
    processing: ChunkProcessing;
  },
  who: Principal,
  { stream_id, ...arrivals }: Arrivals & { stream_id: string },
): Promise<ArrivalsView> {
  const { source_id } = await writableStream(services, who, stream_id);
  const { view } = await storeArrivals(services, { stream_id, source_id, fences: who.fences }, arrivals);
  return view;
}

/** The bytes of a stored chunk that the caller may read. */
export async function chunkAudio(
  services: Pick<FeatureServices, 'actors'> & { lost_audio: MissingAudio },
  who: Principal,
  chunk_id: string,
): Promise<ByteContent> {
  const { chunk } = await readableChunk(services, who, chunk_id);
  if (hasExpired(chunk)) throw new Refused(AUDIO_EXPIRED);
  if (!isStored(chunk))
    throw new Refused(refuse('CONFLICT', `The chunk's audio is not here: its status is ${chunk.status}.`));
  return {
    size_bytes: chunk.size_bytes,
    etag: chunk.sha256,
    content_type: 'application/octet-stream',
    open: (range) => chunkContent(services, chunk, { range, gone: NO_CHUNK }),
  };
}

function chunkView({ clock }: Pick<FeatureServices, 'clock'>, chunk: Chunk, stream: Stream): ChunkView {
  return {
    id: chunk.chunk_id,
    ...intentView(chunk),
    status: statusOf(chunk, stream, clock.now()),
    checked: chunk.result?.status === 'processed' ? chunk.result.checked : null,
    failure: failureOf(chunk),
    registered_at: new Date(chunk.registered_at_ms).toISOString(),
    upload_started_at: momentOrNull(chunk.upload_started_at_ms),
    stored_at: momentOrNull(chunk.stored_at_ms),
  };
}
