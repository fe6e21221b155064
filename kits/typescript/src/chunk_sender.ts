import type { DeviceApi } from './api.js';
import { CallRefused } from './call.js';
import type { ChunkArrivalsBody, DeviceClient } from './device_client.js';

export type ChunkIntent = DeviceApi['POST /device/chunks/intents']['body'];

/** Repeats a call that may be repeated, as patiently as its caller likes. */
export type Repeat = <T>(call: () => Promise<T>) => Promise<T>;

const SENDS_MAX = 5;
/** The upload broke off, the announcement has expired, or other bytes came: all of it once more. */
const AGAIN = new Set([400, 410, 422]);

/**
 * Announces a chunk and sends its bytes. When this resolves the server has them on disk, or had and does not keep them any
 * longer: they may be let go of.
 */
export async function sendChunk(
  device: DeviceClient,
  repeat: Repeat,
  { intent, read }: { intent: ChunkIntent; read(): Promise<Uint8Array> },
): Promise<'stored' | 'expired'> {
  for (let sends = 1; ; sends++) {
    const { upload_path } = await repeat(() => device.call('POST /device/chunks/intents', { body: intent }));
    const bytes = await read();
    try {
      const { status } = await repeat(() => device.upload(upload_path, bytes));
      if (status !== 'awaiting_upload') return status;
    } catch (error) {
      if (!(error instanceof CallRefused && AGAIN.has(error.status)) || sends >= SENDS_MAX) throw error;
    }
    if (sends >= SENDS_MAX) throw new Error(`chunk ${intent.source_chunk_ref} was not stored after ${sends} uploads`);
  }
}

/** These are about the device, or pass; any other refusal is of a chunk or its stream. */
const NOT_OF_CHUNKS = new Set([401, 403, 429]);

/**
 * Sends chunks with their bytes in one request; gives for each, in order, whether the server has it on disk, had it, or
 * refuses it. Where the request is refused as a whole, all of them are.
 */
export async function sendChunks(
  device: DeviceClient,
  repeat: Repeat,
  body: ChunkArrivalsBody,
): Promise<('stored' | 'expired' | 'refused')[]> {
  const { items } = await repeat(() => device.storeChunks(body).catch(noneIfRefused));
  return body.chunks.map(({ source_chunk_ref }) => {
    const item = items.find((one) => one.source_chunk_ref === source_chunk_ref);
    if (item === undefined || 'error' in item || item.status === 'awaiting_upload') return 'refused';
    return item.status === 'expired' ? 'expired' : 'stored';
  });
}

function noneIfRefused(error: unknown): { items: [] } {
  if (error instanceof CallRefused && error.status < 500 && !NOT_OF_CHUNKS.has(error.status)) return { items: [] };
  throw error;
}
