import { hash } from 'node:crypto';
import { z } from 'zod';
import type { ArrivalOutcome, ArrivalReply, ArrivedChunk } from '../../../actors/recordings/stream_arrivals.js';
import { type ChunkResult, failureOf, statusOf } from '../../../actors/recordings/stream_state.js';
import { bytes, sha256, uuid, whole } from '../../access/request_schemas.js';
import { count, id } from '../../access/response_schemas.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefused, type Refusal, refuse } from '../../domain/refusals.js';
import { audioKey } from '../../engine/blobs/blob_keys.js';
import type { Fence } from '../../engine/store/store.js';
import { parseGiven } from '../../engine/wire/schema_faults.js';
import type { FeatureServices } from '../services.js';
import type { ChunkProcessing } from './chunk_processing.js';
import {
  chunkFailure,
  chunkStatus,
  INTENT_FIELDS,
  intended,
  intentForm,
  warnings,
  warningsOf,
} from './chunk_upload.js';
import { plainChunk } from './plain_chunk.js';
import { askRecordingEvents } from './stream_access.js';

/** Chunks that are announced and stored with one request. docs/devices.md, "Chunks with their bytes in one request". */

const { size_bytes: _, sha256: __, ...announced } = INTENT_FIELDS;
const ARRIVAL_FIELDS = {
  ...announced,
  sha256: sha256.optional().describe('Of its bytes, in hexadecimal; they are held against it where it is there.'),
  bytes: bytes.describe('The bytes: a byte string in CBOR, base64 in JSON.'),
};

/** A chunk with its bytes, each checked by itself. */
export const arrivalForm = intentForm(ARRIVAL_FIELDS);

/** The fields of a request with chunks, besides those that name the stream. */
export const ARRIVALS_FIELDS = {
  chunks: z
    .array(z.looseObject({ source_chunk_ref: uuid }))
    .min(1, 'must hold at least one chunk')
    .max(LIMITS.chunks_per_request_max, `must hold at most ${LIMITS.chunks_per_request_max} chunks`)
    .describe('The chunks with their bytes.'),
  end_ms: whole({ min: 0 })
    .optional()
    .describe('Where the timeline of the stream ends, in ms from its beginning, where that is known now.'),
};

/** The same in the form of the reference. */
export const arrivalsShown = {
  ...ARRIVALS_FIELDS,
  chunks: z
    .array(z.object(ARRIVAL_FIELDS))
    .min(1)
    .max(LIMITS.chunks_per_request_max)
    .describe('The chunks with their bytes.'),
};

const fault = z
  .strictObject({
    code: z.string().describe('Why, for programs: BAD_REQUEST, CHECKSUM_MISMATCH or CONFLICT.'),
    message: z.string().describe('The same for people.'),
  })
  .meta({ id: 'ChunkRefusal' });

const storedShape = z
  .strictObject({
    source_chunk_ref: id.describe("The uploader's own name for it."),
    chunk_id: id.describe('What the chunk is called here.'),
    status: chunkStatus,
    size_bytes: count.describe('How many bytes it has.'),
    sha256: z.string().describe('Of those bytes, in hexadecimal.'),
    failure: chunkFailure.optional(),
    warnings,
  })
  .meta({ id: 'StoredChunk' });

const refusedShape = z
  .strictObject({
    source_chunk_ref: id.describe("The uploader's own name for it."),
    error: fault.describe('Why it was refused. Nothing of it is stored.'),
  })
  .meta({ id: 'RefusedChunk' });

export const arrivalsShape = z
  .strictObject({
    items: z.array(z.union([storedShape, refusedShape])).describe('One for each chunk, in their order.'),
    end_error: fault.optional().describe('Why the stream was not ended; absent where it was, or was not to be.'),
  })
  .meta({ id: 'ChunkArrivals' });

export type ArrivalsView = z.infer<typeof arrivalsShape>;

export type Arrivals = {
  chunks: readonly ({ source_chunk_ref: string } & Record<string, unknown>)[];
  end_ms?: number | undefined;
  upload_started_at_ms: number;
};

/** A chunk whose bytes are right, with the result of checking its audio. */
type GoodChunk = Omit<ArrivedChunk, 'place'> & { bytes: Buffer };

type ArrivalServices = Pick<FeatureServices, 'actors' | 'blobs' | 'clock' | 'metrics' | 'runtime'> & {
  processing: ChunkProcessing;
};

/** A stream that the caller may write. */
type WritableStream = { stream_id: string; source_id: string; fences: Fence[] };

const OTHER_BYTES = refuse('CHECKSUM_MISMATCH', 'The bytes are not those of the announced sha256.');

/**
 * Stores chunks that arrived with their bytes: one sync for all bytes, then one commit. Each chunk that cannot be
 * stored is refused by itself. `stored` gets the ids of newly stored chunks.
 */
export async function storeArrivals(
  services: ArrivalServices,
  stream: WritableStream,
  { chunks, end_ms, upload_started_at_ms }: Arrivals,
): Promise<{ view: ArrivalsView; stored: string[] }> {
  const read = await Promise.all(
    chunks.map((chunk) => readChunk(services.processing, chunk, { upload_started_at_ms })),
  );
  const good = read.filter((chunk): chunk is GoodChunk => 'intent' in chunk);
  const reply = await storeGood(services, stream, { good, end_ms });
  const stored = noteStored(services, stream, reply);
  const outcomes = reply.outcomes.values();
  const items = read.map((chunk, index): ArrivalsView['items'][number] => {
    const { source_chunk_ref } = chunks[index] as { source_chunk_ref: string };
    const outcome = 'intent' in chunk ? (outcomes.next().value as ArrivalOutcome) : { refusal: chunk.refusal };
    return itemOf(source_chunk_ref, outcome, { stream: reply.stream, now_ms: services.clock.now() });
  });
  return { view: { items, ...(reply.end_refusal && { end_error: faultOf(reply.end_refusal) }) }, stored };
}

async function readChunk(
  processing: ChunkProcessing,
  chunk: Record<string, unknown>,
  { upload_started_at_ms }: { upload_started_at_ms: number },
): Promise<GoodChunk | { refusal: Refusal }> {
  const plain = plainChunk(chunk);
  const parsed = plain === null ? parseGiven(arrivalForm, chunk) : { success: true as const, data: plain };
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.join('.') ?? '';
    return { refusal: refuse('BAD_REQUEST', `${field}: ${issue?.message ?? 'is not valid'}.`) };
  }
  const { bytes: sent, sha256: said, ...announced } = parsed.data;
  const bytes = Buffer.from(sent.buffer, sent.byteOffset, sent.byteLength);
  const sha256 = hash('sha256', bytes, 'hex');
  if (said !== undefined && said !== sha256) return { refusal: OTHER_BYTES };
  const intent = { ...announced, size_bytes: bytes.length, sha256 };
  const result = await processing.check({ ...intent, parts: [bytes] });
  return { ...intended(intent), bytes, upload_started_at_ms, result };
}

/** Appends the bytes and tells the stream; removes bytes that belong to no chunk afterwards. */
async function storeGood(
  services: ArrivalServices,
  stream: WritableStream,
  { good, end_ms }: { good: readonly GoodChunk[]; end_ms: number | undefined },
): Promise<ArrivalReply> {
  const { stream_id } = stream;
  const appended = good.map(({ intent: { source_chunk_ref }, bytes }) => ({ stream_id, source_chunk_ref, bytes }));
  const places = appended.length === 0 ? [] : await services.blobs.append(appended);
  const chunks = good.map(({ bytes: _, ...chunk }, index) => ({ ...chunk, place: places[index] as string }));
  const unclaimed = chunks.map(({ place, intent: { size_bytes } }) => audioKey(stream_id, { place, size_bytes }));
  try {
    const reply = await tellStream(services, stream, { chunks, end_ms });
    const claimed = reply.outcomes.map((outcome, index) => 'chunk' in outcome && outcome.chunk.place === places[index]);
    await removeBytes(
      services,
      unclaimed.filter((_, index) => claimed[index] !== true),
    );
    return reply;
  } catch (error) {
    // The stream was erased while its bytes came: nobody would know of these.
    if (isRefused(error, 'NOT_FOUND')) await removeBytes(services, unclaimed);
    throw error;
  }
}

function tellStream(
  services: ArrivalServices,
  { stream_id, source_id, fences }: WritableStream,
  { chunks, end_ms }: { chunks: ArrivedChunk[]; end_ms: number | undefined },
): Promise<ArrivalReply> {
  const { transcribes } = services.processing;
  if (end_ms === undefined) return services.actors.stream(stream_id).store_chunks({ chunks, transcribes }, fences);
  return askRecordingEvents(services, { stream_id, source_id, fences }, (stream, silence, holds) =>
    stream.store_chunks({ chunks, end: { end_ms, ...silence }, transcribes }, holds),
  );
}

/** Removes bytes that no chunk has; the sweep finds those that can't be removed now. */
async function removeBytes({ blobs }: ArrivalServices, keys: readonly string[]): Promise<void> {
  if (keys.length > 0) await blobs.remove(keys).catch(() => {});
}

/** Counts newly stored chunks, and has the others checked; returns the ids of the new ones. */
function noteStored(
  { metrics, processing }: ArrivalServices,
  { stream_id }: WritableStream,
  { outcomes }: ArrivalReply,
): string[] {
  const stored = outcomes.flatMap((outcome) => ('chunk' in outcome && outcome.is_new ? [outcome.chunk] : []));
  const results: ChunkResult[] = [];
  for (const { place, size_bytes, result } of stored) {
    metrics.uploads.inc();
    metrics.uploads_bytes.inc(size_bytes);
    if (result === undefined)
      processing.offer(stream_id, { key: audioKey(stream_id, { place: place as string, size_bytes }), parts: null });
    else results.push(result);
  }
  processing.noteChecked(stream_id, results);
  return stored.map(({ chunk_id }) => chunk_id);
}

function itemOf(
  source_chunk_ref: string,
  outcome: ArrivalOutcome | { refusal: Refusal },
  { stream, now_ms }: { stream: ArrivalReply['stream']; now_ms: number },
): ArrivalsView['items'][number] {
  if ('refusal' in outcome) return { source_chunk_ref, error: faultOf(outcome.refusal) };
  const { chunk } = outcome;
  const { chunk_id, size_bytes, sha256 } = chunk;
  const failure = failureOf(chunk);
  return {
    source_chunk_ref,
    chunk_id,
    status: statusOf(chunk, stream, now_ms),
    size_bytes,
    sha256,
    ...(failure !== null && { failure }),
    ...warningsOf(chunk),
  };
}

function faultOf({ refused: code, message }: Refusal): { code: string; message: string } {
  return { code, message };
}
