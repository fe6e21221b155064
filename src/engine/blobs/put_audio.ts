import { gathered } from './arriving_body.js';
import { streamFolder } from './blob_keys.js';
import type { ArrivingBytes, BlobExpectation, BlobStore, PutResult } from './blob_store.js';

/** Larger chunks are blobs of their own: their syncs run in parallel, and delay no small chunk. */
const APPENDED_BYTES_MAX = 262_144;

type AudioOwner = { stream_id: string; chunk_id: string; source_chunk_ref: string };

/** `bytes` are those of a small chunk; null for a larger one, which is not in memory. */
export type PutAudio = { place: string; bytes: Buffer | null };

/** Stores the audio of a chunk as it arrives: a small chunk together with others, a larger one as a blob of its own. */
export async function putAudio(
  blobs: BlobStore,
  { stream_id, chunk_id, source_chunk_ref }: AudioOwner,
  { body, expected }: { body: ArrivingBytes; expected: BlobExpectation },
): Promise<PutResult<PutAudio>> {
  if (expected.size_bytes > APPENDED_BYTES_MAX) {
    const put = await blobs.put(`${streamFolder(stream_id)}/${chunk_id}`, body, expected);
    return put.ok ? { ok: true, place: chunk_id, bytes: null } : put;
  }
  const came = await gathered(body, expected);
  if (!came.ok) return came;
  const { bytes } = came;
  const [place] = (await blobs.append([{ stream_id, source_chunk_ref, bytes }])) as [string];
  return { ok: true, place, bytes };
}
