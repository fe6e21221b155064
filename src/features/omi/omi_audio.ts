import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { OMI_PAUSE_MS, type OmiPlace } from '../../../actors/recordings/omi.js';
import type { Principal } from '../../access/principal.js';
import { partitionOfId, streamOfChunk } from '../../domain/ids.js';
import { isRefused, Refused, refuse } from '../../domain/refusals.js';
import { randomId } from '../../engine/random/random.js';
import type { ChunkProcessing } from '../recordings/chunk_processing.js';
import { intend, uploadChunk } from '../recordings/chunk_upload.js';
import { askRecordingEvents } from '../recordings/stream_access.js';
import type { FeatureServices } from '../services.js';
import { omiSource } from './omi_source.js';

/** Audio of omi: each body is the next chunk of the recording that is under way. docs/choices.md, "omi". */

const SAMPLE_BYTES = 2;
const BODY_MS_MIN = 10;
const KEY_CHARS_MAX = 200;
/** A recording that takes no more is followed by one other. */
const TRIES_MAX = 2;

export type OmiAudioServices = Pick<FeatureServices, 'actors' | 'blobs' | 'clock' | 'metrics'> & {
  processing: ChunkProcessing;
};

/** `idempotency_key`: names the body; null where the sender gave none. */
type AudioBody = { bytes: Buffer; sample_rate: number; idempotency_key: string | null };

/** Stores a body of samples (16 bits, one channel). One that has come before gets its place again. */
export async function takeOmiAudio(services: OmiAudioServices, who: Principal, body: AudioBody): Promise<void> {
  const { bytes, sample_rate, idempotency_key } = body;
  const samples = bytes.length / SAMPLE_BYTES;
  if (!Number.isInteger(samples)) throw bad('must be whole samples of 16 bits');
  if (samples * 1_000 < sample_rate * BODY_MS_MIN) throw bad(`must hold at least ${BODY_MS_MIN} ms of audio`);
  const { account_id, fences } = who;
  const made = () => randomId({ partition: partitionOfId(account_id), now_ms: services.clock.now() });
  const key = hashOf(idempotency_key?.slice(0, KEY_CHARS_MAX) ?? made());
  const source_id = await omiSource(services, who);
  for (let tries = 1; ; tries++) {
    const arrived = { key, stream_id: made(), chunk_ref: made(), samples, sample_rate };
    const place = await services.actors.omi(account_id).place_audio(arrived, fences);
    try {
      if (!place.is_registered) await register(services, who, { place, source_id });
      return await store(services, who, { place, source_id, body });
    } catch (error) {
      if (!isRefused(error, 'NOT_FOUND', 'CONFLICT') || tries >= TRIES_MAX) throw error;
      // It was deleted, or has ended.
      await services.actors.omi(account_id).audio_over({ stream_id: place.stream_id }, fences);
    }
  }
}

type Placed = { place: OmiPlace; source_id: string };

async function register({ actors }: OmiAudioServices, who: Principal, { place, source_id }: Placed): Promise<void> {
  const { account_id, account, fences } = who;
  const { stream_id } = place;
  const registered = {
    ...{ account_id, workspace_id: account.private_workspace.id, source_id, recorder: null, title: null, end_ms: null },
    captured_at: new Date(place.began_at_ms).toISOString(),
  };
  await askRecordingEvents({ actors }, { stream_id, source_id, fences }, (stream, silence, holds) =>
    stream.register({ ...registered, ...silence }, holds),
  );
  await actors.omi(account_id).audio_registered({ stream_id }, fences);
}

async function store(
  services: OmiAudioServices,
  { fences }: Principal,
  { place, source_id, body: { bytes, sample_rate } }: Placed & { body: AudioBody },
): Promise<void> {
  const { actors } = services;
  const { stream_id, chunk_ref: source_chunk_ref, sequence, start_ms, end_ms } = place;
  const intent = {
    ...{ source_chunk_ref, sequence, size_bytes: bytes.length, sha256: hashOf(bytes) },
    ...{ codec: 'pcm_s16le', container: 'raw', sample_rate_hz: sample_rate, channels: 1 },
    ...{ source_start_ms: start_ms, publication_start_ms: start_ms, source_end_ms: end_ms },
  };
  const { chunk } = await intend({ actors }, { stream_id, intent, fences });
  const number = streamOfChunk(chunk.chunk_id)?.number as number;
  const uploadable = { chunk, stream: { id: stream_id }, number, fences };
  await uploadChunk(services, uploadable, async ({ size_bytes, sha256: sha256_hex, is_known, put }) => {
    if (is_known) return null;
    const result = await put(Readable.from([bytes]), { size_bytes, sha256_hex });
    if (!result.ok) throw new Error(`a body of audio is not what it was: ${result.reason}`);
    return result;
  });
  // Each one puts the end off; without another it comes.
  await askRecordingEvents({ actors }, { stream_id, source_id, fences }, (stream, silence, holds) =>
    stream.end_later({ end_ms, after_ms: OMI_PAUSE_MS, ...silence }, holds),
  ).catch((error: unknown) => {
    // A later body has come meanwhile.
    if (!isRefused(error, 'CONFLICT')) throw error;
  });
}

function bad(message: string): Refused {
  return new Refused(refuse('BAD_REQUEST', `The body ${message}.`, { details: [{ path: '', message }] }));
}

function hashOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
