import { randomUUID } from 'node:crypto';
import t from 'tap';
import { type DeviceClient, type IntentView, sha256Of } from '../../../kits/typescript/src/device_client.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { pcm16Format, writeWav } from '../../../src/engine/audio/wav.js';
import { makeTone } from '../../../tools/demo/tone.js';
import { TestSpool } from '../../fixtures/spool.js';
import { until } from '../../fixtures/until.js';

type ChunkView = { status: string; failure: { code: string; message: string } | null };
type WorkView = {
  chunk_id: string;
  claim: string;
  tries: number;
  stream_id: string;
  content_path: string;
  sha256: string;
};

/** A WAV of so many ms. */
function wavOf(ms: number): Buffer {
  return writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: 8_000 }) }, Buffer.alloc(ms * 16));
}

async function recorder(spool: TestSpool, email: string) {
  const { app } = await spool.signIn(email);
  const { device, epoch: binding_epoch } = await spool.boundDevice(app);
  const source_stream_ref = randomUUID();
  const stream = { captured_at: '2026-11-01T10:00:00Z', clock_uncertainty_ms: 0 };
  const { id: stream_id } = await device.ask<{ id: string }>('POST', '/device/streams', {
    ...{ source_stream_ref, binding_epoch, ...stream },
  });
  let sequence = 0;
  const store = async (
    bytes: Buffer,
    { container = 'wav', duration_ms = 1_000, codec = 'any', ...samples }: Of = {},
  ) => {
    const { chunk_id, upload_path } = await device.ask<IntentView>('POST', '/device/chunks/intents', {
      ...{ source_chunk_ref: randomUUID(), source_stream_ref, binding_epoch, sequence },
      ...{ source_start_ms: sequence * 5_000, publication_start_ms: sequence * 5_000 },
      ...{ source_end_ms: sequence * 5_000 + duration_ms, codec, container, ...samples },
      ...{ size_bytes: bytes.length, sha256: sha256Of(bytes) },
    });
    sequence += 1;
    await device.upload(upload_path, bytes);
    return chunk_id;
  };
  return { app, device, stream_id, store };
}

type Of = { container?: string; duration_ms?: number; codec?: string; sample_rate_hz?: number; channels?: number };

const statusOf = (device: DeviceClient, chunk_id: string) => device.ask<ChunkView>('GET', `/device/chunks/${chunk_id}`);

const UNCHECKED = ['raw samples of no rate', 'a container that nobody knows'];
const RAW = { container: 'raw', codec: 'pcm_s16le', sample_rate_hz: 8_000, channels: 2 };

t.test('chunks checked by the worker that is built in', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1' });
  t.teardown(() => spool.end());
  const { app, device, stream_id, store } = await recorder(spool, 'check@x.test');
  const cases: [name: string, bytes: Buffer, of: Of, outcome: string][] = [
    ['a WAV as long as it should be', wavOf(1_000), {}, 'processed'],
    ['1 % longer', wavOf(1_010), {}, 'processed'],
    ['more than 1 % longer', wavOf(1_011), {}, 'failed WRONG_DURATION'],
    ['more than 1 % shorter', wavOf(989), {}, 'failed WRONG_DURATION'],
    ['a tone', makeTone({ seconds: 2, hertz: 440 }), { duration_ms: 2_000 }, 'processed'],
    ['no WAV at all', Buffer.from('not audio at all'), {}, 'failed BAD_AUDIO'],
    ['a WAV that breaks off', wavOf(1_000).subarray(0, 9_000), {}, 'failed WRONG_DURATION'],
    ['no Ogg', wavOf(1_000), { container: 'ogg' }, 'failed BAD_AUDIO'],
    ['raw samples', Buffer.alloc(32_000), RAW, 'processed'],
    ['raw samples of another rate', Buffer.alloc(32_000), { ...RAW, sample_rate_hz: 16_000 }, 'failed WRONG_DURATION'],
    ['half a raw sample', Buffer.alloc(31_999), RAW, 'failed BAD_AUDIO'],
    ['raw samples of no rate', Buffer.alloc(31_999), { container: 'raw', codec: 'pcm_s16le' }, 'processed'],
    ['a container with parameters', wavOf(989), { container: 'Audio/WAV; codecs=1' }, 'failed WRONG_DURATION'],
    ['a container that nobody knows', Buffer.from('anything'), { container: 'flac' }, 'processed'],
  ];
  const chunks: string[] = [];
  for (const [, bytes, of] of cases) chunks.push(await store(bytes, of));
  let views: ChunkView[] = [];
  await until('all chunks are checked', async () => {
    views = await Promise.all(chunks.map((id) => statusOf(device, id)));
    return views.every(({ status }) => status === 'processed' || status === 'failed');
  });
  for (const [index, [name, , , outcome]] of cases.entries()) {
    const { status, failure } = views[index] as ChunkView;
    t.equal(failure === null ? status : `${status} ${failure.code}`, outcome, name);
    // Whoever sends pieces of one file hears what each of them should have been.
    if (failure?.code === 'BAD_AUDIO') t.match(failure.message, /A chunk (in|of) (WAV|Ogg|raw PCM) must be /, name);
  }
  const listed = await app.ask<{ items: (ChunkView & { checked: boolean | null })[] }>(
    'GET',
    `/audio/streams/${stream_id}/chunks`,
  );
  t.same(
    listed.items.map(({ status, checked }) => `${status} ${checked}`),
    cases.map(([name, , , outcome]) =>
      outcome === 'processed' ? `processed ${!UNCHECKED.includes(name)}` : 'failed null',
    ),
  );
  t.same((await app.ask<{ items: unknown[] }>('GET', '/events?type=stream.updated')).items, [], 'no event tells of it');
});

t.test('chunks processed by workers on the operator port', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '0' });
  t.teardown(() => spool.end());
  const { operator } = spool;
  const claim = async (limit = 1, lease_s = 60) =>
    (await operator.ask<{ items: WorkView[] }>('POST', '/ops/chunks/claim', { limit, lease_s })).items;
  const says = async (path: string, body: unknown) => (await operator.send('POST', path, body)).status;
  const { device, store, stream_id } = await recorder(spool, 'work@x.test');

  await t.test('a chunk is in one hand at a time, and a result counts once', async (t) => {
    const chunk_id = await store(wavOf(1_000));
    t.equal((await statusOf(device, chunk_id)).status, 'stored');
    const [[work], others] = await Promise.all([claim(), claim(100)]);
    const held = work ?? others[0];
    t.equal([work, ...others].filter((one) => one !== undefined).length, 1, 'one of two who ask gets it');
    t.match(held, { chunk_id, stream_id, tries: 1, sha256: /^[0-9a-f]{64}$/, content_path: String });
    t.equal((await statusOf(device, chunk_id)).status, 'processing');
    const audio = await operator.send('GET', held?.content_path as string);
    t.equal(sha256Of(audio.body), held?.sha256);
    const path = `/ops/chunks/${chunk_id}`;
    t.equal(await says(`${path}/done`, { claim: 'another' }), 409);
    t.equal(await says(`${path}/progress`, { claim: 'another' }), 409);
    t.equal(await says(`${path}/progress`, { claim: held?.claim, lease_s: 120 }), 200);
    t.equal(await says(`${path}/done`, { claim: held?.claim, checked: true }), 200);
    t.equal(await says(`${path}/done`, { claim: held?.claim, checked: true }), 200, 'again');
    t.equal(await says(`${path}/done`, { claim: held?.claim, checked: false }), 409, 'another result');
    t.equal(await says(`${path}/failed`, { claim: held?.claim, code: 'CODE', message: 'm' }), 409, 'another result');
    t.equal(await says(`${path}/progress`, { claim: held?.claim }), 409, 'it is over');
    t.match(await statusOf(device, chunk_id), { status: 'processed', failure: null });
    t.same(await claim(100), []);
  });

  await t.test('a worker that is not heard of loses its chunk, and its late result is refused', async (t) => {
    const chunk_id = await store(wavOf(1_000));
    const [first] = await claim(1, 30);
    await spool.operator.advanceClock(30_000);
    t.equal((await statusOf(device, chunk_id)).status, 'stored', 'it waits again');
    const [second] = await claim();
    t.match(second, { chunk_id, tries: 2 });
    t.equal(await says(`/ops/chunks/${chunk_id}/failed`, { claim: first?.claim, code: 'LATE', message: 'late' }), 409);
    const failure = { code: 'NO_SPEECH', message: 'Nothing is said in it.' };
    t.equal(await says(`/ops/chunks/${chunk_id}/failed`, { claim: second?.claim, ...failure }), 200);
    t.match(await statusOf(device, chunk_id), { status: 'failed', failure });
  });

  await t.test('a chunk that every worker loses counts as failed', async (t) => {
    const chunk_id = await store(wavOf(1_000));
    for (let tries = 1; tries <= LIMITS.chunk_tries_max; tries++) {
      t.match(await claim(1, 5), [{ chunk_id, tries }]);
      await spool.operator.advanceClock(5_000);
    }
    t.same(await claim(), []);
    t.match(await statusOf(device, chunk_id), { status: 'failed', failure: { code: 'GIVEN_UP' } });
  });

  await t.test('claims outlive a restart, and bad requests are refused', async (t) => {
    const chunk_id = await store(wavOf(1_000));
    const [held] = await claim(1, 600);
    await spool.close();
    await spool.open();
    const { operator: after } = spool;
    const again = await after.ask<{ items: WorkView[] }>('POST', '/ops/chunks/claim', {});
    t.same(again.items, [], 'it is still in the first hand');
    const done = await after.send('POST', `/ops/chunks/${chunk_id}/done`, { claim: held?.claim });
    t.equal(done.status, 200);
    const bad: [string, unknown][] = [
      ['/ops/chunks/claim', { limit: 0 }],
      ['/ops/chunks/claim', { limit: LIMITS.chunk_claims_max + 1 }],
      ['/ops/chunks/claim', { lease_s: 3_601 }],
      [`/ops/chunks/${chunk_id}/done`, {}],
      [`/ops/chunks/${chunk_id}/failed`, { claim: 'x', code: 'lower', message: 'm' }],
      [`/ops/chunks/${chunk_id}/failed`, { claim: 'x', code: 'CODE' }],
    ];
    for (const [path, body] of bad) t.equal((await after.send('POST', path, body)).status, 400, JSON.stringify(body));
    t.equal((await after.send('POST', `/ops/chunks/${randomUUID()}/done`, { claim: 'x' })).status, 404);
  });
});
