import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import pino from 'pino';
import t from 'tap';
import { type IntentView, sha256Of } from '../../kits/typescript/src/device_client.js';
import { chunkId, streamOfChunk } from '../../src/domain/ids.js';
import { streamFolder } from '../../src/engine/blobs/blob_keys.js';
import { openFolderBlobStore } from '../../src/engine/blobs/folder_blob_store.js';
import { randomId } from '../../src/engine/random/random.js';
import { appendAll, chunkOf, expectationOf, streamOf } from '../engine/blobs/blob_store_contract.js';
import { ageRecords, segmentsIn } from '../engine/blobs/segments.js';
import { record } from '../fixtures/recording.js';
import { TestSpool } from '../fixtures/spool.js';
import { audioOf, differences, keyOfChunk } from '../fixtures/stored_audio.js';

const DAY_MS = 86_400_000;
const lines: Record<string, unknown>[] = [];
const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
const spool = await TestSpool.start({}, log);
t.teardown(() => spool.end());
const blobs = join(spool.folder, 'blobs');
const { app } = await spool.signIn('sweep@x.test');
const { device, epoch } = await spool.boundDevice(app);

/** Another process on the same folder. */
const lying = await openFolderBlobStore(blobs);
t.teardown(() => lying.close());
const AGE_MS = 2 * 3_600_000;

/** As if it had been appended two hours ago. */
function ageAll(): void {
  for (const segment of segmentsIn(blobs)) ageRecords(segment, AGE_MS);
}

/** Bytes of a stream of which no chunk knows; gives their key. */
async function append(stream_id: string): Promise<string> {
  const [key] = await appendAll(lying, [chunkOf(randomBytes(10), stream_id)]);
  return key as string;
}

async function layYoungFile(key: string): Promise<string> {
  const bytes = randomBytes(10);
  await lying.put(key, streamOf(bytes), expectationOf(bytes));
  return key;
}

async function layFile(key: string): Promise<string> {
  await layYoungFile(key);
  const then = new Date(Date.now() - AGE_MS);
  utimesSync(join(blobs, key), then, then);
  return key;
}

async function read(key: string): Promise<Buffer | null> {
  const blob = await lying.open(key);
  return blob === null ? null : buffer(blob.stream);
}

function metric(name: string, labels = ''): Promise<number> {
  const pattern = new RegExp(`^spool_${name}_total${labels} (\\d+)$`, 'm');
  return spool.server.services.metrics.registry.metrics().then((text) => Number(pattern.exec(text)?.[1] ?? 0));
}

const fileOf = (chunk_id: string) => `${streamFolder(streamOfChunk(chunk_id)?.stream_id as string)}/${chunk_id}`;
const keyOf = (chunk_id: string) => keyOfChunk(spool.server.services.actors, chunk_id);
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
  const stranger = randomId({ partition: 7, now_ms: Date.now() });
  await layFile(`${streamFolder(stream_id)}/other`);
  const left = join(blobs, streamFolder(stream_id), '.left.tmp');
  writeFileSync(left, 'half');
  utimesSync(left, new Date(Date.now() - AGE_MS), new Date(Date.now() - AGE_MS));
  const gone = [
    await layFile(fileOf(expires.chunk_id)),
    await layFile(fileOf(chunkId(stranger, 3))),
    await layFile(fileOf(chunkId(stream_id, 900))),
    `${streamFolder(stream_id)}/other`,
    await append(stranger),
    await append(stream_id),
  ];
  ageAll();
  await sweep();
  t.match(await device.ask('GET', `/device/chunks/${expires.chunk_id}`), { status: 'expired' });
  await sweep();
  const awaits = await intend(2);
  const stays = [
    await keyOf(one.chunk_id),
    await layFile(fileOf(awaits.chunk_id)),
    await layYoungFile(fileOf(chunkId(stranger, 2))),
    await layFile('07/foreign/file'),
  ];
  const young_bytes = await append(stranger);
  const young = join(blobs, streamFolder(stream_id), '.young.tmp');
  writeFileSync(young, 'half');
  await sweep();
  t.ok(await read(young_bytes));
  await sweep();
  for (const key of gone) t.equal(await read(key), null, key);
  t.notOk(existsSync(left));
  t.ok(existsSync(young));
  rmSync(young);
  // The intent that waited has expired by now as well: a day for it, a day until its partition came.
  for (const key of stays.filter((key) => key !== stays[1])) t.ok(await lying.has(key), key);
  t.ok(one.bytes.equals((await read(await keyOf(one.chunk_id))) as Buffer));
  t.equal(await metric('audio_missing'), 0);
  t.ok((await metric('audio_removed')) >= gone.length);
  t.ok((await metric('due', '{pool="audio_sweeps",outcome="done"}')) >= 2 * 258);
  ageAll();
  for (const key of [...stays.slice(2), young_bytes]) await lying.remove([key]);
  await sweep();
  t.strictSame(differences(await audioOf(await freshApp(), blobs)), { unclaimed: [], missing: [] });
});

t.test('H-023 what awaits its upload keeps bytes that lie there, and is stored by a repeat', async (t) => {
  const one = await record(device, { epoch });
  const bytes = randomBytes(100);
  const { chunk_id, upload_path } = await device.ask<IntentView>('POST', '/device/chunks/intents', {
    ...{ source_chunk_ref: randomUUID(), source_stream_ref: one.source_stream_ref, binding_epoch: epoch, sequence: 1 },
    ...{ source_start_ms: 0, publication_start_ms: 0, source_end_ms: 1000, codec: 'opus', container: 'ogg' },
    ...{ size_bytes: bytes.length, sha256: sha256Of(bytes) },
  });
  const key = await layFile(fileOf(chunk_id));
  await spool.operator.advanceClock(DAY_MS - 60_000);
  t.ok(await lying.has(key));
  t.match(await device.upload(upload_path, bytes), { status: 'stored' });
  ageAll();
  await sweep();
  t.ok(bytes.equals((await read(await keyOf(chunk_id))) as Buffer));
  t.equal(await read(key), null);
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
  await lying.remove([await keyOf(one.chunk_id), await keyOf(other.chunk_id)]);
  lines.length = 0;
  await sweep();
  t.equal(await metric('audio_missing'), 2);
  const { health_problems } = await spool.operator.call('GET /ops/overview');
  t.match(health_problems, [{ name: 'audio_lost', text: /Audio of 2 recordings is lost/ }]);
  const said = lines.filter(({ msg }) => String(msg).startsWith('audio is lost'));
  t.equal(said.length, 2);
  t.match(
    said.find(({ stream_id }) => stream_id === streamOfChunk(one.chunk_id)?.stream_id),
    { level: 50, missing: 1, some: [one.chunk_id] },
  );
  t.match(
    said.find(({ stream_id }) => stream_id === streamOfChunk(other.chunk_id)?.stream_id),
    { level: 50, missing: 1, some: [other.chunk_id] },
  );
});

t.test('beside a Redis that does not know these bytes nothing is removed', async (t) => {
  const stranger = randomId({ partition: 9, now_ms: Date.now() });
  const key = await layFile(fileOf(chunkId(stranger, 1)));
  const owner = readFileSync(join(blobs, '.owner'), 'utf8');
  writeFileSync(join(blobs, '.owner'), 'another\n');
  lines.length = 0;
  await sweep();
  t.ok(await lying.has(key));
  t.ok(lines.some(({ level, msg }) => level === 50 && String(msg).startsWith('audio is not swept')));
  writeFileSync(join(blobs, '.owner'), owner);
  await spool.operator.advanceClock(11 * 60_000);
  t.notOk(await lying.has(key), 'and it goes on by itself');
});
