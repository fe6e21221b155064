import { randomBytes, randomUUID } from 'node:crypto';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import t from 'tap';
import { type IntentView, sha256Of } from '../../kits/typescript/src/device_client.js';
import { call } from '../../kits/typescript/src/http_call.js';
import { streamOfChunk } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { pcm16Format, writeWav } from '../../src/engine/audio/wav.js';
import { type PlacedBytes, placedBytes, streamFolder } from '../../src/engine/blobs/blob_keys.js';
import { announceFile, importFile, putPiece } from '../fixtures/importing.js';
import { record } from '../fixtures/recording.js';
import { type S3Server, startS3Server } from '../fixtures/s3_server.js';
import { TestSpool } from '../fixtures/spool.js';
import { keyOfChunk } from '../fixtures/stored_audio.js';
import { until } from '../fixtures/until.js';

const DAY_MS = 86_400_000;

const store = await startS3Server();

t.test('H-023 a server keeps its audio in a bucket', { skip: store === null }, async (t) => {
  if (store === null) return;
  let is_running = true;
  t.teardown(() => is_running && store.end());
  const { endpoint, bucket } = store;
  const spool = await TestSpool.start({ BLOB_URL: `s3://${bucket}/audio?endpoint=${endpoint}` });
  t.teardown(() => spool.end());
  const { app } = await spool.signIn('bucket@x.test');
  const { device, epoch } = await spool.boundDevice(app);

  const one = await record(device, { epoch });
  const stream_id = streamOfChunk(one.chunk_id)?.stream_id as string;
  const { container } = placedBytes(await keyOfChunk(spool.server.services.actors, one.chunk_id)) as PlacedBytes;
  const name = `audio/${streamFolder(stream_id)}/${container}`;
  t.strictSame(await namesIn(store), [name]);
  const download = (headers: Record<string, string> = {}) =>
    call({
      ...{ method: 'GET', url: new URL(`/audio/chunks/${one.chunk_id}/content`, spool.base_url) },
      headers: { authorization: `Bearer ${app.access_token}`, ...headers },
    });
  t.ok(one.bytes.equals((await download()).body));
  const part = await download({ range: 'bytes=10-19' });
  t.equal(part.status, 206);
  t.equal(part.headers['content-range'], 'bytes 10-19/64');
  t.ok(one.bytes.subarray(10, 20).equals(part.body));

  const intend = (sequence: number, bytes: Buffer) =>
    device.ask<IntentView>('POST', '/device/chunks/intents', {
      ...{ source_chunk_ref: randomUUID(), source_stream_ref: one.source_stream_ref, binding_epoch: epoch, sequence },
      ...{ source_start_ms: 0, publication_start_ms: 0, source_end_ms: 1000, codec: 'opus', container: 'ogg' },
      ...{ size_bytes: bytes.length, sha256: sha256Of(bytes) },
    });
  const large = randomBytes(3_000_000);
  const second = await intend(1, large);
  await t.rejects(device.upload(second.upload_path, randomBytes(3_000_000)), {
    status: 422,
    code: 'CHECKSUM_MISMATCH',
  });
  t.strictSame(await namesIn(store), [name], 'wrong bytes are in no object');
  t.match(await device.upload(second.upload_path, large), { status: 'stored' });
  t.equal((await namesIn(store)).length, 2);

  const sound = writeWav(
    { fmt: pcm16Format({ channels: 1, frames_per_second: 16_000 }) },
    Buffer.alloc(LIMITS.import_piece_bytes + 4_000, 3),
  );
  const done = await importFile({ app, base_url: spool.base_url }, sound);
  t.match(done, { status: 'done' });
  const content = await app.send('GET', `/audio/streams/${done.stream_id}/content`);
  t.ok(content.body.equals(sound), 'an imported file is one object');
  await until('its pieces are gone', async () => (await namesIn(store)).length === 3);

  await app.ask('DELETE', '/me');
  await spool.operator.advanceClock(7 * DAY_MS + 60_000);
  t.strictSame(await namesIn(store), [], 'an erased account leaves no object');

  const { app: other } = await spool.signIn('other@x.test');
  const next = await spool.boundDevice(other);
  const two = await record(next.device, { epoch: next.epoch });
  const waiting = await next.device.ask<IntentView>('POST', '/device/chunks/intents', {
    ...{ source_chunk_ref: randomUUID(), source_stream_ref: two.source_stream_ref, binding_epoch: next.epoch },
    ...{ sequence: 1, source_start_ms: 0, publication_start_ms: 0, source_end_ms: 1000 },
    ...{ codec: 'opus', container: 'ogg', size_bytes: large.length, sha256: sha256Of(large) },
  });
  const importer = { app: other, base_url: spool.base_url };
  const announced = await announceFile(importer, large);
  is_running = false;
  await store.end();
  t.equal(await putPiece(importer, announced.upload_path, 0, large), '503 UNAVAILABLE');
  t.match(await other.ask('GET', `/audio/imports/${announced.id}`), { status: 'uploading', received_bytes: 0 });
  const refused = { status: 503, code: 'UNAVAILABLE' };
  await t.rejects(next.device.upload(waiting.upload_path, large), refused, 'a bucket that is away');
  t.match(await next.device.ask('GET', `/device/chunks/${waiting.chunk_id}`), { status: 'awaiting_upload' });
  const missed = await call({
    ...{ method: 'GET', url: new URL(`/audio/chunks/${two.chunk_id}/content`, spool.base_url) },
    headers: { authorization: `Bearer ${other.access_token}` },
  });
  t.equal(missed.status, 503, 'what can not be read is not said to be gone');
});

async function namesIn({ client, bucket }: S3Server): Promise<string[]> {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
  return Contents.map(({ Key }) => Key as string).filter((name) => !name.endsWith('/.owner'));
}

t.test('a server whose bucket is not there does not start', async (t) => {
  const env = { BLOB_URL: 's3://bucket?endpoint=http://127.0.0.1:1' };
  process.env.AWS_ACCESS_KEY_ID = 'key';
  process.env.AWS_SECRET_ACCESS_KEY = 'secret';
  await t.rejects(TestSpool.start(env), {
    name: 'CannotStart',
    message: /bucket of BLOB_URL can't be used: ECONNREFUSED/,
  });
});
