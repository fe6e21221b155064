/** Recordings of an app's own with a chunk of audio, for rows in which something is said. */
import { createHash, randomUUID } from 'node:crypto';
import { pcm16Format, writeWav } from '../../dist/src/engine/audio/wav.js';

const RATE = 8_000;
export const CAPTURED_AT = '2026-01-31T08:30:00.000Z';
const SECONDS = 2;
const WAV = tone(SECONDS);

/** Two seconds of audio, the first of a stream; gives where they go. */
export async function announce(app, stream_id) {
  const { upload_path } = await app.ask('POST', `/audio/streams/${stream_id}/chunks/intents`, {
    ...{ source_chunk_ref: randomUUID(), sequence: 0, source_start_ms: 0, publication_start_ms: 0 },
    ...{ source_end_ms: SECONDS * 1_000, codec: 'pcm_s16le', container: 'wav', size_bytes: WAV.length },
    sha256: createHash('sha256').update(WAV).digest('hex'),
  });
  return upload_path;
}

export async function upload({ spool, app }, path) {
  const headers = { authorization: `Bearer ${app.access_token}`, 'content-type': 'application/octet-stream' };
  const put = await fetch(spool.base_url + path, { method: 'PUT', headers, body: WAV });
  if (put.status !== 200) throw new Error(`an upload got ${put.status}`);
}

/** A recording whose transcript has been told of its audio; gives the stream's id. */
export async function toldRecording(spool, app, name) {
  const { id: source_id } = await app.ask('POST', '/sources', { name: String(name) });
  const { id } = await app.ask('POST', '/audio/streams', { source_id, captured_at: CAPTURED_AT });
  await upload({ spool, app }, await announce(app, id));
  const isTold = async () => (await app.ask('GET', `/audio/streams/${id}/transcript`)).waiting.length > 0;
  while (!(await isTold())) await new Promise((resolve) => setTimeout(resolve, 50));
  return id;
}

function tone(seconds) {
  const samples = Buffer.alloc(seconds * RATE * 2);
  for (let at = 0; at < samples.length; at += 2) samples.writeInt16LE(Math.round(8_000 * Math.sin(at / 20)), at);
  return writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: RATE }) }, samples);
}
