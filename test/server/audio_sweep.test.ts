import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pino from 'pino';
import t from 'tap';
import { blobKey, streamFolder } from '../../src/blobs/blob_keys.js';
import { type IntentView, sha256Of } from '../../src/client/device_client.js';
import { drawId } from '../../src/draw.js';
import { chunkId, streamOfChunk } from '../../src/vocabulary/ids.js';
import { record } from '../fixtures/recording.js';
import { TestSpool } from '../fixtures/spool.js';
import { audioOf, differences, unclaimed } from './audio_crashes.js';

const DAY_MS = 86_400_000;
const lines: Record<string, unknown>[] = [];
const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
const spool = await TestSpool.start({}, log);
t.teardown(() => spool.end());
const blobs = join(spool.folder, 'blobs');
const { app } = await spool.signIn('sweep@x.test');
const { device, epoch } = await spool.boundDevice(app);

/** As if it had been there for two hours. */
function age(file: string): string {
  const then = new Date(Date.now() - 2 * 3_600_000);
  utimesSync(file, then, then);
  return file;
}

function lay(key: string): string {
  const file = join(blobs, key);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, randomBytes(10));
  return file;
}

function metric(name: string): Promise<number> {
  const pattern = new RegExp(`^spool_${name}_total (\\d+)$`, 'm');
  return spool.server.services.metrics.registry.metrics().then((text) => Number(pattern.exec(text)?.[1] ?? 0));
}

const placeOf = (chunk_id: string) => blobKey(streamOfChunk(chunk_id)?.stream_id as string, chunk_id);
const freshApp = async () => (await spool.signIn('sweep@x.test')).app;
const sweep = () => spool.operator.advanceClock(DAY_MS + 60_000);

t.test('H-023 bytes that no chunk claims go, all others stay', async (t) => {
  const one = await record(device, { epoch });
  const stream_id = streamOfChunk(one.chunk_id)?.stream_id as string;
  const intend = (sequence: number) => {
    const bytes = randomBytes(100);
    return device.ask<IntentView>('POST', '/device/chunks/intents', {
      ...{ source_chunk_ref: randomUUID(), source_stream_ref: one.source_stream_ref, binding_epoch: epoch, sequence },
      ...{ source_start_ms: 0, publication_start_ms: 0, source_end_ms: 1000, codec: 'opus', container: 'ogg' },
      ...{ size_bytes: bytes.length, sha256: sha256Of(bytes) },
    });
  };
  const expires = await intend(1);
  const stranger = drawId({ partition: 7, now_ms: Date.now() });
  const gone = [
    age(lay(placeOf(expires.chunk_id))),
    age(lay(blobKey(stranger, chunkId(stranger, 1)))),
    age(lay(blobKey(stream_id, chunkId(stream_id, 900)))),
    age(lay(`${streamFolder(stream_id)}/.left.tmp`)),
  ];
  await sweep();
  t.match(await device.ask('GET', `/device/chunks/${expires.chunk_id}`), { status: 'expired' });
  const awaits = await intend(2);
  const stays = [
    join(blobs, placeOf(one.chunk_id)),
    age(lay(placeOf(awaits.chunk_id))),
    lay(blobKey(stranger, chunkId(stranger, 2))),
    lay(`${streamFolder(stream_id)}/.young.tmp`),
    age(lay(`${streamFolder(stream_id)}/${randomUUID()}`)),
    age(lay('07/foreign/file')),
  ];
  age(join(blobs, placeOf(one.chunk_id)));
  await sweep();
  await sweep();
  for (const file of gone) t.notOk(existsSync(file), file.slice(blobs.length));
  // The intent that waited has expired by now as well: a day for it, a day until its partition came.
  for (const file of stays.filter((file) => file !== stays[1])) t.ok(existsSync(file), file.slice(blobs.length));
  t.ok(one.bytes.equals(readFileSync(join(blobs, placeOf(one.chunk_id)))));
  t.equal(await metric('audio_missing'), 0);
  t.ok((await metric('audio_removed')) >= gone.length);
  t.ok((await metric('audio_sweeps')) >= 2 * 257);
  for (const file of stays.slice(2)) rmSync(file);
  await sweep();
  t.strictSame(differences(await audioOf(await freshApp(), blobs)), { unclaimed: [], missing: [], wrong: [] });
});

t.test('H-023 what awaits its upload keeps bytes that lie there, and is stored by a repeat', async (t) => {
  const one = await record(device, { epoch });
  const bytes = randomBytes(100);
  const { chunk_id, upload_path } = await device.ask<IntentView>('POST', '/device/chunks/intents', {
    ...{ source_chunk_ref: randomUUID(), source_stream_ref: one.source_stream_ref, binding_epoch: epoch, sequence: 1 },
    ...{ source_start_ms: 0, publication_start_ms: 0, source_end_ms: 1000, codec: 'opus', container: 'ogg' },
    ...{ size_bytes: bytes.length, sha256: sha256Of(bytes) },
  });
  const file = age(lay(placeOf(chunk_id)));
  await spool.operator.advanceClock(DAY_MS - 60_000);
  t.ok(existsSync(file));
  t.match(await device.upload(upload_path, bytes), { status: 'stored' });
  age(file);
  await sweep();
  t.ok(bytes.equals(readFileSync(file)));
});

t.test('stored chunks without bytes are reported, one by one or a whole stream of them', async (t) => {
  const one = await record(device, { epoch });
  const other = await record(device, { epoch });
  const again = await device.ask<IntentView>('POST', '/device/chunks/intents', {
    ...{ source_chunk_ref: randomUUID(), source_stream_ref: one.source_stream_ref, binding_epoch: epoch, sequence: 1 },
    ...{ source_start_ms: 0, publication_start_ms: 0, source_end_ms: 1000, codec: 'opus', container: 'ogg' },
    ...{ size_bytes: 64, sha256: sha256Of(one.bytes) },
  });
  await device.upload(again.upload_path, one.bytes);
  rmSync(join(blobs, placeOf(one.chunk_id)));
  rmSync(join(blobs, streamFolder(streamOfChunk(other.chunk_id)?.stream_id as string)), { recursive: true });
  lines.length = 0;
  await sweep();
  t.equal(await metric('audio_missing'), 2);
  const said = lines.filter(({ msg }) => String(msg).startsWith('audio is lost'));
  t.equal(said.length, 2);
  t.match(
    said.find(({ stream_id }) => stream_id === streamOfChunk(one.chunk_id)?.stream_id),
    { level: 50, missing: 1, some: [1] },
  );
  t.match(
    said.find(({ stream_id }) => stream_id === streamOfChunk(other.chunk_id)?.stream_id),
    { level: 50, missing: 1 },
  );
});

t.test('beside a Redis that does not know these bytes nothing is removed', async (t) => {
  const stranger = drawId({ partition: 9, now_ms: Date.now() });
  const file = age(lay(blobKey(stranger, chunkId(stranger, 1))));
  const owner = readFileSync(join(blobs, '.owner'), 'utf8');
  writeFileSync(join(blobs, '.owner'), 'another\n');
  lines.length = 0;
  await sweep();
  t.ok(existsSync(file));
  t.ok(lines.some(({ level, msg }) => level === 50 && String(msg).startsWith('audio is not swept')));
  writeFileSync(join(blobs, '.owner'), owner);
  await spool.operator.advanceClock(11 * 60_000);
  t.notOk(existsSync(file), 'and it goes on by itself');
  t.strictSame(unclaimed(await audioOf(await freshApp(), blobs)), []);
});
