import { hash as hashOf } from 'node:crypto';
import { z } from 'zod';
import type { Intended } from '../../../actors/recordings/stream_chunks.js';
import { type Chunk, type ChunkIntent, hasExpired } from '../../../actors/recordings/stream_state.js';
import { mediaName, sha256, uuid, whole } from '../../access/request_schemas.js';
import { count, id } from '../../access/response_schemas.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefused, Refused, refuse } from '../../domain/refusals.js';
import { type AnnouncedAudio, audioKindOf } from '../../engine/audio/kinds.js';
import { audioKey } from '../../engine/blobs/blob_keys.js';
import type { TakeBody } from '../../engine/blobs/blob_store.js';
import { putAudio } from '../../engine/blobs/put_audio.js';
import type { Fence } from '../../engine/store/store.js';
import type { FeatureServices } from '../services.js';
import type { ChunkProcessing } from './chunk_processing.js';

/** Announces a chunk and uploads its bytes, for devices and apps alike. Rules H-015 to H-024. */

/** The fields of an intent; devices send more, to name the stream. */
export const INTENT_FIELDS = {
  source_chunk_ref: uuid.describe("The uploader's own name for it, unique within the stream."),
  sequence: whole({ min: 0 }).describe('Its number in the stream.'),
  source_start_ms: whole({ min: 0 }).describe("Where it begins on the stream's timeline, in ms."),
  publication_start_ms: whole({ min: Number.MIN_SAFE_INTEGER }).describe(
    'From where on it holds what no earlier chunk does, in ms; it may lie outside the chunk.',
  ),
  source_end_ms: whole({ min: 1 }).describe('Where it ends, in ms.'),
  codec: mediaName.describe('How the audio is coded, such as opus or pcm_s16le.'),
  container: mediaName.describe('What holds the coded audio, such as ogg or wav; raw for samples without a header.'),
  sample_rate_hz: whole({ min: 1, max: LIMITS.sample_rate_hz_max })
    .optional()
    .describe('How many samples a second raw PCM has; only with it can such chunks be joined and played.'),
  channels: whole({ min: 1, max: LIMITS.channels_max })
    .optional()
    .describe('How many channels raw PCM has, interleaved; needed like sample_rate_hz.'),
  size_bytes: whole({ min: 1, max: LIMITS.chunk_bytes_max }).describe('How many bytes will be uploaded.'),
  sha256: sha256.describe('Of those bytes, in hexadecimal.'),
};

/** The fields of an intent that answers repeat. */
export const announcedShape = z.strictObject({
  sequence: count.describe('Its number in the stream.'),
  source_start_ms: count.describe("Where it begins on the stream's timeline, in ms."),
  publication_start_ms: z.int().describe('From where on it holds what no earlier chunk does, in ms.'),
  source_end_ms: count.describe('Where it ends, in ms.'),
  codec: z.string().describe('How the audio is coded, such as opus.'),
  container: z.string().describe('What holds the coded audio, such as ogg.'),
  sample_rate_hz: count.nullable().describe('How many samples a second raw PCM has; null where that was not said.'),
  channels: count.nullable().describe('How many channels raw PCM has; null where that was not said.'),
  size_bytes: count.describe('How many bytes it has.'),
  sha256: z.string().describe('Of those bytes, in hexadecimal.'),
});

/** The status of a chunk, from its announcement on. */
export const chunkStatus = z
  .enum(['awaiting_upload', 'stored', 'processing', 'processed', 'failed', 'expired'])
  .describe(
    'From stored on its bytes are here, with failed too. expired: they never came, or, where stored_at says when they did, the workspace does not keep them any longer or their owner deleted them.',
  );

export const chunkFailure = z
  .strictObject({
    code: z.string().describe('Why, for programs, such as BAD_AUDIO.'),
    message: z.string().describe('The same for people.'),
  })
  .nullable()
  .describe('Why its audio could not be processed; null unless that is so.');

export const warnings = z
  .array(z.string())
  .optional()
  .describe('What will never be possible with such audio, which is taken all the same; absent for nothing.');

export const intentShape = z
  .strictObject({
    source_chunk_ref: id.describe('As it was sent.'),
    chunk_id: id.describe('What the chunk is called here.'),
    upload_path: z.string().describe('Where to PUT the bytes.'),
    warnings,
  })
  .meta({ id: 'UploadIntent' });

export const uploadShape = z
  .strictObject({
    chunk_id: id.describe('The chunk that was uploaded.'),
    source_chunk_ref: id.describe("The uploader's own name for it."),
    status: z
      .enum(['awaiting_upload', 'stored', 'expired'])
      .describe('stored: its bytes are on disk. expired: they were, and are not kept any longer.'),
    size_bytes: count.describe('How many bytes came.'),
    sha256: z.string().describe('Of those bytes, in hexadecimal.'),
  })
  .meta({ id: 'Upload' });

export type UploadView = z.infer<typeof uploadShape>;

type Range = Pick<ChunkIntent, 'source_start_ms' | 'source_end_ms'>;

/** The schema of an intent's body with these fields. */
export function intentForm<Fields extends Pick<typeof INTENT_FIELDS, keyof Range>>(fields: Fields) {
  return z.object(fields).superRefine((intent, context) => {
    const { source_start_ms, source_end_ms } = intent as Range;
    const wrong = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (source_start_ms >= source_end_ms) wrong('source_end_ms', 'must be after source_start_ms');
  });
}

/** Announces a chunk of a stream that the caller may write. A repetition gets the same chunk. */
export function intend(
  { actors }: Pick<FeatureServices, 'actors'>,
  { stream_id, intent, fences }: { stream_id: string; intent: ChunkIntent; fences: Fence[] },
): Promise<{ chunk: Chunk }> {
  return actors.stream(stream_id).intend(intended(intent), fences);
}

/** An intent with the digest that identifies a repetition. */
export function intended(intent: ChunkIntent): Intended {
  return { intent, content: digestOf(intent) };
}

/** The upload address, and facts that an uploader needs before it deletes its copy. */
export function intentAnswer(
  { source_chunk_ref, chunk_id, ...chunk }: Chunk,
  upload_path: string,
): z.infer<typeof intentShape> {
  return { source_chunk_ref, chunk_id, upload_path, ...warningsOf(chunk) };
}

/** The warnings of an answer about such audio; absent if everything is possible with it. */
export function warningsOf(announced: AnnouncedAudio): { warnings?: string[] } {
  const audio = audioKindOf(announced);
  return audio.kind === 'other' ? { warnings: [audio.why] } : {};
}

export function intentView(chunk: Chunk): z.infer<typeof announcedShape> {
  const { sequence, source_start_ms, publication_start_ms, source_end_ms } = chunk;
  const { codec, container, sample_rate_hz = null, channels = null, size_bytes, sha256 } = chunk;
  const times = { source_start_ms, publication_start_ms, source_end_ms };
  return { sequence, ...times, codec, container, sample_rate_hz, channels, size_bytes, sha256 };
}

/** A chunk that the caller may upload, and the conditions of storing it. `is_decoded`: the chunk needs no check. */
export type Uploadable = {
  chunk: Chunk;
  stream: { id: string };
  number: number;
  fences: Fence[];
  is_decoded?: boolean;
};

/** Takes the bytes of a chunk. Refuses before the bytes are read if possible. */
export async function uploadChunk(
  services: Pick<FeatureServices, 'actors' | 'blobs' | 'clock' | 'metrics'> & { processing: ChunkProcessing },
  { chunk, stream, number, fences, is_decoded = false }: Uploadable,
  takeBody: TakeBody,
): Promise<UploadView> {
  const is_known = chunk.status === 'stored' || hasExpired(chunk);
  if (chunk.status === 'expired' && !is_known)
    throw new Refused(refuse('UPLOAD_EXPIRED', 'The upload intent has expired; ask for it again.'));
  const upload_started_at_ms = services.clock.now();
  const { size_bytes, sha256 } = chunk.announced ?? chunk;
  const owner = { stream_id: stream.id, ...chunk };
  const taken = await takeBody({
    size_bytes,
    sha256,
    is_known,
    put: (body, expected) => putAudio(services.blobs, owner, { body, expected }),
  });
  if (taken === null) return uploadView(chunk);
  services.metrics.uploads.inc();
  services.metrics.uploads_bytes.inc(chunk.size_bytes);
  const { processing } = services;
  const { place, bytes } = taken;
  const key = audioKey(stream.id, { place, size_bytes });
  const parts = bytes && [bytes];
  const result = await processing.check({ ...chunk, parts, is_decoded });
  const { transcribes } = processing;
  const recorded = services.actors
    .stream(stream.id)
    .stored({ number, place, upload_started_at_ms, result, transcribes }, fences);
  // The stream was erased while its bytes came, or the chunk came twice: nobody would know of these.
  const { chunk: stored } = await recorded.catch(async (error: unknown) => {
    if (isRefused(error, 'NOT_FOUND')) await services.blobs.remove([key]);
    throw error;
  });
  if (stored.place !== place) await services.blobs.remove([key]);
  else if (stored.result === undefined) processing.offer(stream.id, { key, parts });
  else processing.noteChecked(stream.id, [stored.result]);
  return uploadView(stored);
}

function uploadView(chunk: Chunk): UploadView {
  const { chunk_id, source_chunk_ref, status } = chunk;
  const { size_bytes, sha256: hash } = chunk.announced ?? chunk;
  return { chunk_id, source_chunk_ref, status, size_bytes, sha256: hash };
}

/** The digest that identifies an intent: over all its fields. Codecs are compared without letter case. */
function digestOf(intent: ChunkIntent): string {
  const { source_chunk_ref, sequence, source_start_ms, publication_start_ms, source_end_ms } = intent;
  const { codec, container, sample_rate_hz = null, channels = null, size_bytes, sha256: hash } = intent;
  const fields = [
    source_chunk_ref,
    sequence,
    source_start_ms,
    publication_start_ms,
    source_end_ms,
    codec.toLowerCase(),
    container.toLowerCase(),
    sample_rate_hz,
    channels,
    size_bytes,
    hash,
  ];
  return hashOf('sha256', JSON.stringify(fields), 'base64url');
}
