import type { DeviceApi } from './api.js';
import { CallRefused, NoAnswer } from './call.js';
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

/** An earlier server does not know the route, or something between lets no such body through. */
const NOT_TAKEN = new Set([404, 405, 408, 413, 415]);

/**
 * Sends chunks with their bytes in one request; gives for each, in order, whether the server has it on disk, had it, or
 * refuses it. Null where the request is not taken at all, or nothing comes back: then each is sent by itself.
 */
export async function sendChunks(
  device: DeviceClient,
  repeat: Repeat,
  body: ChunkArrivalsBody,
): Promise<('stored' | 'expired' | 'refused')[] | null> {
  // An earlier server may close the connection while the body is on its way.
  const answer = await repeat(() => device.storeChunks(body).catch(nullIfNotTaken));
  if (answer === null) return null;
  return body.chunks.map(({ source_chunk_ref }) => {
    const item = answer.items.find((one) => one.source_chunk_ref === source_chunk_ref);
    if (item === undefined || 'error' in item || item.status === 'awaiting_upload') return 'refused';
    return item.status === 'expired' ? 'expired' : 'stored';
  });
}

function nullIfNotTaken(error: unknown): null {
  if (error instanceof NoAnswer || (error instanceof CallRefused && NOT_TAKEN.has(error.status))) return null;
  throw error;
}
