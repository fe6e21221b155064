import { z } from 'zod';
import {
  type Chunk,
  type ChunkIntent,
  failureOf,
  type Stream,
  statusOf,
} from '../../../actors/recordings/stream_state.js';
import type { DeviceIdentity } from '../../access/principal.js';
import { count, id, moment, momentOrNull } from '../../access/response_schemas.js';
import { streamOfChunk } from '../../domain/ids.js';
import { orNull, refuse } from '../../domain/refusals.js';
import type { TakeBody } from '../../engine/blobs/blob_store.js';
import type { DeviceActivity } from '../devices/activity.js';
import { boundBy, refuseAs } from '../devices/device_binding.js';
import type { FeatureServices } from '../services.js';
import { type Arrivals, type ArrivalsView, storeArrivals } from './chunk_arrivals.js';
import type { ChunkProcessing } from './chunk_processing.js';
import { chunkFailure, chunkStatus, intend, type Uploadable, type UploadView, uploadChunk } from './chunk_upload.js';
import { type DeviceStreamRef, deviceStream } from './device_streams.js';
import { requireWorkspace } from './workspace_status.js';

/** Chunks as their device sees them. Rules H-015 to H-024. */

const NO_CHUNK = refuse('NOT_FOUND', 'There is no such chunk.');

export const chunkStatusShape = z
  .strictObject({
    chunk_id: id.describe('What it is called here.'),
    source_chunk_ref: id.describe("The device's own name for it."),
    sequence: count.describe('Its number in the stream.'),
    status: chunkStatus,
    stored_at: moment.nullable().describe('When its bytes were on disk; null until then.'),
    failure: chunkFailure,
  })
  .meta({ id: 'ChunkStatus' });

type ChunkStatusView = z.infer<typeof chunkStatusShape>;

/** Announces a chunk of a device's stream. The same announcement again gives the same chunk. */
export async function announceDeviceChunk(
  services: Pick<FeatureServices, 'actors' | 'runtime'> & { device_activity: DeviceActivity },
  who: DeviceIdentity,
  { intent, ...ref }: DeviceStreamRef & { intent: ChunkIntent },
): Promise<Chunk> {
  const { stream_id, fences } = await deviceStream(services, who, ref);
  const { chunk } = await intend(services, { stream_id, fences, intent });
  if (chunk.status === 'awaiting_upload') services.device_activity.chunkAnnounced(who.device_id, chunk.chunk_id);
  return chunk;
}

/** Stores the bytes of a chunk that the device has announced. */
export async function uploadDeviceChunk(
  services: Pick<FeatureServices, 'actors' | 'blobs' | 'clock' | 'metrics'> & {
    device_activity: DeviceActivity;
    processing: ChunkProcessing;
  },
  who: DeviceIdentity,
  { chunk_id, takeBody }: { chunk_id: string; takeBody: TakeBody },
): Promise<UploadView> {
  const found = await deviceChunk(services, who, chunk_id);
  const upload = await uploadChunk(services, found, takeBody);
  services.device_activity.chunkUploaded(who.device_id, chunk_id);
  return upload;
}

/** Stores chunks of a device's stream that arrived with their bytes, and ends the stream if the request says so. */
export async function storeDeviceChunks(
  services: Pick<FeatureServices, 'actors' | 'blobs' | 'clock' | 'metrics' | 'runtime'> & {
    device_activity: DeviceActivity;
    processing: ChunkProcessing;
  },
  who: DeviceIdentity,
  { chunks, end_ms, upload_started_at_ms, ...ref }: DeviceStreamRef & Arrivals,
): Promise<ArrivalsView> {
  const { stream_id, fences, terms } = await deviceStream(services, who, ref);
  const { source_id } = terms;
  const { view, stored } = await storeArrivals(
    services,
    { stream_id, source_id, fences },
    { chunks, end_ms, upload_started_at_ms },
  );
  for (const chunk_id of stored) services.device_activity.chunkUploaded(who.device_id, chunk_id);
  if (end_ms !== undefined && view.end_error === undefined)
    services.device_activity.streamEnded(who.device_id, stream_id);
  return view;
}

/** Reads a chunk of the device. */
export async function viewDeviceChunk(
  services: Pick<FeatureServices, 'actors' | 'clock'>,
  who: DeviceIdentity,
  chunk_id: string,
): Promise<ChunkStatusView> {
  const found = await deviceChunk(services, who, chunk_id);
  return chunkStatusView(services, found);
}

/** Lists chunks of a stream by the device's own references. An unannounced chunk has no item. */
export async function listDeviceChunks(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'runtime'>,
  who: DeviceIdentity,
  { source_chunk_refs, ...ref }: DeviceStreamRef & { source_chunk_refs: string[] },
): Promise<ChunkStatusView[]> {
  const { stream_id } = await deviceStream(services, who, ref);
  const stream = services.actors.stream(stream_id);
  const { numbers } = await stream.chunks_of_refs({ refs: source_chunk_refs });
  const known = source_chunk_refs.flatMap((ref) => numbers[ref] ?? []);
  const chunks = await Promise.all(known.map((number) => stream.chunk({ number })));
  return chunks.map((found) => chunkStatusView(services, found));
}

/** A chunk of this device under a binding that has not ended; for other devices the chunk does not exist. */
async function deviceChunk(
  services: Pick<FeatureServices, 'actors'>,
  who: DeviceIdentity,
  chunk_id: string,
): Promise<Uploadable & { stream: Stream }> {
  const home = streamOfChunk(chunk_id);
  if (home === null) return refuseAs(services, who, NO_CHUNK);
  const { stream_id, number } = home;
  const found = await orNull(services.actors.stream(stream_id).chunk({ number }), 'NOT_FOUND');
  if (found === null) return refuseAs(services, who, NO_CHUNK);
  const { recorder } = found.stream;
  if (recorder?.device_id !== who.device_id) return refuseAs(services, who, NO_CHUNK);
  const bound = await boundBy(services, who, recorder.binding_epoch);
  await requireWorkspace(services, found.stream.workspace_id);
  return { fences: bound.fences, chunk: found.chunk, stream: found.stream, number };
}

function chunkStatusView(
  { clock }: Pick<FeatureServices, 'clock'>,
  { chunk, stream }: { chunk: Chunk; stream: Stream },
): ChunkStatusView {
  const { chunk_id, source_chunk_ref, sequence, stored_at_ms } = chunk;
  const status = statusOf(chunk, stream, clock.now());
  return {
    chunk_id,
    source_chunk_ref,
    sequence,
    status,
    stored_at: momentOrNull(stored_at_ms),
    failure: failureOf(chunk),
  };
}
