import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import https from 'node:https';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { type IntentView, sha256Of } from '../../../kits/typescript/src/device_client.js';
import { LIMITS } from '../../../src/domain/limits.js';
import type { AppClient } from '../../fixtures/app_client.js';
import { TestSpool } from '../../fixtures/spool.js';

const HOUR_MS = 3_600_000;

const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
t.teardown(() => spool.end());
const { app, session } = await spool.signIn('streams@x.test');
const { device, device_id, epoch } = await spool.boundDevice(app);
const register = (more: object = {}) =>
  device.ask<{ id: string; end_ms?: number; source_stream_ref: string }>('POST', '/device/streams', {
    source_stream_ref: randomUUID(),
    captured_at: '2026-11-01T10:00:00.000Z',
    clock_uncertainty_ms: 12,
    binding_epoch: epoch,
    ...more,
  });
const intentOf = (source_stream_ref: string, bytes: Uint8Array, more: object = {}) => ({
  source_chunk_ref: randomUUID(),
  source_stream_ref,
  sequence: 0,
  source_start_ms: 0,
  publication_start_ms: 0,
  source_end_ms: 1000,
  codec: 'opus',
  container: 'ogg',
  size_bytes: bytes.length,
  sha256: sha256Of(bytes),
  binding_epoch: epoch,
  ...more,
});
const intend = (body: object) => device.ask<IntentView>('POST', '/device/chunks/intents', body);
const end = (source_stream_ref: string, end_ms: number) =>
  device.ask('POST', '/device/streams/end', { source_stream_ref, end_ms, binding_epoch: epoch });
const events = async (type: string) =>
  (await app.ask<{ items: { resource: { id: string }; data: object }[] }>('GET', `/events?type=${type}&limit=100`))
    .items;
const put = (path: string, bytes: Uint8Array, headers: Record<string, string> = {}) =>
  device.send('PUT', path, { body: bytes, headers });

await t.test('H-009 H-014 a stream has exactly these members', async (t) => {
  const ref = randomUUID();
  const { id, created_at, ...rest } = (await register({ source_stream_ref: ref })) as {
    id: string;
    created_at?: string;
  };
  t.match(id, /^[0-9a-f-]{36}$/);
  t.equal(new Date(created_at ?? '').toISOString(), created_at);
  t.same(rest, {
    owner_user_id: session.user.id,
    source_stream_ref: ref,
    captured_at: '2026-11-01T10:00:00.000Z',
    clock_uncertainty_ms: 12,
    transcript_revision: 0,
    source_device_id: device_id,
    binding_epoch: epoch,
  });
});

await t.test(
  'H-010 H-011 H-037 a repeat returns the first registration with its end, and one stream.created',
  async (t) => {
    const ref = randomUUID();
    const all = await Promise.all(Array.from({ length: 10 }, () => register({ source_stream_ref: ref })));
    t.equal(new Set(all.map(({ id }) => id)).size, 1);
    const other = await register({
      source_stream_ref: ref,
      captured_at: '2020-01-01T00:00:00Z',
      clock_uncertainty_ms: 99,
    });
    t.match(other, { id: all[0]?.id, captured_at: '2026-11-01T10:00:00.000Z', clock_uncertainty_ms: 12 });
    await end(ref, 5000);
    t.equal((await register({ source_stream_ref: ref })).end_ms, 5000);
    t.equal((await register({ source_stream_ref: ref, end_ms: 5000 })).end_ms, 5000);
    await t.rejects(register({ source_stream_ref: ref, end_ms: 5001 }), { status: 409, code: 'CONFLICT' });
    const id = all[0]?.id;
    t.equal((await events('stream.created')).filter(({ resource }) => resource.id === id).length, 1);
    const updates = (await events('stream.updated')).filter(({ resource }) => resource.id === id);
    t.match(updates, [{ data: { changed_fields: ['end_ms'], source_id: /^[0-9a-f-]{36}$/ } }]);
    t.equal(updates.length, 1);
  },
);

await t.test('H-006 H-012 what is missing or of the wrong form is refused, the field named', async (t) => {
  const good = {
    source_stream_ref: randomUUID(),
    captured_at: '2026-01-01T00:00:00Z',
    clock_uncertainty_ms: 0,
    binding_epoch: epoch,
  };
  for (const [name, value] of [
    ['source_stream_ref', undefined],
    ['source_stream_ref', 'x'],
    ['captured_at', undefined],
    ['captured_at', '2026-01-01'],
    ['captured_at', '2026-01-01T00:00:00'],
    ['captured_at', '2026-02-30T00:00:00Z'],
    ['captured_at', '2026-01-01T24:00:00Z'],
    ['captured_at', '2026-01-01T00:00:60Z'],
    ['captured_at', '9999-12-31T23:59:59-01:00'],
    ['captured_at', 1767225600000],
    ['clock_uncertainty_ms', undefined],
    ['clock_uncertainty_ms', -1],
    ['clock_uncertainty_ms', 1.5],
    ['clock_uncertainty_ms', '0'],
    ['binding_epoch', undefined],
    ['end_ms', -1],
    ['end_ms', '5'],
  ] as const) {
    const body = { ...good, [name]: value };
    const answer = await device.send('POST', '/device/streams', {
      body: Buffer.from(JSON.stringify(body)),
      headers: { 'Content-Type': 'application/json' },
    });
    t.equal(answer.status, 400, `${name}: ${String(value)}`);
    t.match(JSON.parse(answer.body.toString()), { error: { code: 'BAD_REQUEST', details: [{ path: name }] } });
  }
});

await t.test('H-012 a clock that is far off is stored, not refused', async (t) => {
  t.match(await register({ captured_at: '1970-01-01T00:00:10Z' }), { captured_at: '1970-01-01T00:00:10.000Z' });
  t.match(await register({ captured_at: '2099-01-01T00:00:00Z' }), { captured_at: '2099-01-01T00:00:00.000Z' });
});

await t.test('H-013 another epoch is no binding', async (t) => {
  const other = await spool.boundDevice(app);
  await t.rejects(register({ binding_epoch: other.epoch }), { status: 403, code: 'DEVICE_UNBOUND' });
  await t.rejects(register({ binding_epoch: randomUUID() }), { status: 403, code: 'DEVICE_UNBOUND' });
  const unbound = await spool.device();
  await t.rejects(unbound.device.ask('POST', '/device/heartbeat'), { status: 403, code: 'DEVICE_UNBOUND' });
  await t.rejects(unbound.device.ask('GET', '/device/binding'), { status: 403, code: 'DEVICE_UNBOUND' });
});

await t.test(
  'H-015 H-019 an intent gives a chunk and a path; the same again the same, other content a conflict',
  async (t) => {
    const { source_stream_ref } = await register();
    const bytes = randomBytes(1000);
    const body = intentOf(source_stream_ref, bytes);
    const first = await intend(body);
    t.same(Object.keys(first).sort(), ['chunk_id', 'source_chunk_ref', 'upload_path']);
    t.equal(first.source_chunk_ref, body.source_chunk_ref);
    t.same(await intend(body), first);
    t.same(await intend({ ...body, sha256: body.sha256.toUpperCase() }), first);
    for (const change of [
      { sequence: 1 },
      { source_end_ms: 999 },
      { codec: 'pcm' },
      { size_bytes: 999 },
      { sha256: sha256Of(randomBytes(1)) },
    ]) {
      await t.rejects(intend({ ...body, ...change }), { status: 409, code: 'CONFLICT' });
    }
    await t.rejects(
      intend({ ...body, source_chunk_ref: randomUUID() }),
      { status: 409, code: 'CONFLICT' },
      'the sequence is taken',
    );
    await put(first.upload_path, bytes);
    t.same(await intend(body), first, 'the same also when it is stored');
  },
);

await t.test('H-016 H-017 the numbers and forms of an intent', async (t) => {
  const { source_stream_ref } = await register();
  const good = intentOf(source_stream_ref, randomBytes(10));
  for (const change of [
    { sequence: -1 },
    { sequence: 2 ** 53 },
    { source_start_ms: -1 },
    { source_end_ms: 0 },
    { source_start_ms: 1000 },
    { source_start_ms: 500, source_end_ms: 400 },
    { publication_start_ms: 0.5 },
    { size_bytes: 0 },
    { size_bytes: LIMITS.chunk_bytes_max + 1 },
    { sha256: 'ab' },
    { sha256: 'g'.repeat(64) },
    { codec: '' },
    { codec: 5 },
    { codec: ' ' },
    { container: 'a\nb' },
    { container: 'x'.repeat(LIMITS.media_name_chars_max + 1) },
    { sample_rate_hz: 0 },
    { channels: 1.5 },
    { channels: '2' },
  ]) {
    await t.rejects(intend({ ...good, ...change }), { status: 400, code: 'BAD_REQUEST' }, JSON.stringify(change));
  }
});

await t.test('H-015 H-019 codecs have parameters, and a publication may begin anywhere', async (t) => {
  const { id, source_stream_ref } = await register();
  const bytes = randomBytes(10);
  const said = [
    { codec: 'mp4a.40.2', container: 'audio/mp4; codecs="mp4a.40.2"', publication_start_ms: 5_000 },
    { codec: 'Opus', container: 'audio/ogg; codecs=opus', publication_start_ms: -20 },
    { codec: 'mu-law (ü)', container: 'x'.repeat(LIMITS.media_name_chars_max), publication_start_ms: 0 },
  ];
  for (const [sequence, named] of said.entries()) {
    const body = { ...intentOf(source_stream_ref, bytes), sequence, ...named };
    const first = await intend(body);
    t.same(await intend({ ...body, codec: named.codec.toUpperCase() }), first, 'letter case tells none apart');
  }
  const { items } = await app.ask<{ items: { sequence: number }[] }>('GET', `/audio/streams/${id}/chunks`);
  for (const [sequence, named] of said.entries())
    t.match(
      items.find((item) => item.sequence === sequence),
      named,
      'as they were sent',
    );
});

await t.test('H-023 a chunk of 64 MiB goes to disk as it comes', async (t) => {
  const { source_stream_ref } = await register();
  const piece = randomBytes(64 * 1024);
  const pieces = LIMITS.chunk_bytes_max / piece.length;
  t.equal(LIMITS.chunk_bytes_max, 64 * 1024 * 1024);
  const hash = createHash('sha256');
  for (let sent = 0; sent < pieces; sent++) hash.update(piece);
  const { upload_path } = await intend({
    ...intentOf(source_stream_ref, piece),
    ...{ size_bytes: LIMITS.chunk_bytes_max, sha256: hash.digest('hex') },
  });
  const { key, cert, ca } = spool.credentialsOf(device_id);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const held = () => {
    collect();
    return process.memoryUsage().arrayBuffers;
  };
  const before = held();
  let most = 0;
  const answer = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const request = https.request(new URL(upload_path, spool.device_url), {
      ...{ method: 'PUT', key, cert, ca, headers: { 'Content-Length': LIMITS.chunk_bytes_max } },
    });
    request.on('error', reject).on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (more: string) => {
        text += more;
      });
      response.on('end', () => resolve({ status: response.statusCode, text }));
    });
    const pump = async () => {
      for (let sent = 0; sent < pieces; sent++) {
        if (sent % 64 === 0) most = Math.max(most, held() - before);
        if (!request.write(piece)) await once(request, 'drain');
      }
      request.end();
    };
    pump().catch(reject);
  });
  t.match(answer, { status: 200, text: /"status":"stored"/ });
  t.ok(most < 12 * 1024 * 1024, `${Math.round(most / 1024 / 1024)} MiB held at most, both ends`);
});

await t.test('H-018 an intent for a stream that nobody registered', async (t) => {
  await t.rejects(intend(intentOf(randomUUID(), randomBytes(10))), { status: 404, code: 'NOT_FOUND' });
});

await t.test('H-020 H-021 H-022 an end is set once and no chunk goes past it', async (t) => {
  const { source_stream_ref } = await register();
  await intend(intentOf(source_stream_ref, randomBytes(10), { source_end_ms: 1000 }));
  await t.rejects(end(source_stream_ref, 999), { status: 409, code: 'CONFLICT' });
  const ends = await Promise.allSettled([1000, 1200, 1000, 1300].map((end_ms) => end(source_stream_ref, end_ms)));
  const kept = ends
    .filter(({ status }) => status === 'fulfilled')
    .map((answer) => (answer as PromiseFulfilledResult<{ end_ms: number }>).value.end_ms);
  t.equal(new Set(kept).size, 1);
  const end_ms = kept[0] as number;
  const late = intentOf(source_stream_ref, randomBytes(10), {
    sequence: 1,
    source_start_ms: 500,
    publication_start_ms: 500,
  });
  await t.rejects(intend({ ...late, source_end_ms: end_ms + 1 }), { status: 409, code: 'CONFLICT' });
  t.ok(await intend({ ...late, source_end_ms: end_ms }));
  await t.rejects(end(randomUUID(), 5), { status: 404, code: 'NOT_FOUND' });
});

await t.test('H-023 bytes are stored when size and hash are right, and the same again is welcome', async (t) => {
  const { source_stream_ref } = await register();
  const bytes = randomBytes(200_000);
  const { upload_path, chunk_id, source_chunk_ref } = await intend(intentOf(source_stream_ref, bytes));
  const wrong = Buffer.from(bytes);
  wrong[5] = (wrong[5] ?? 0) ^ 1;
  t.equal((await put(upload_path, wrong)).status, 422);
  t.equal((await put(upload_path, bytes.subarray(1))).status, 400);
  t.equal((await put(upload_path, Buffer.concat([bytes, bytes]))).status, 400);
  t.equal((await put(upload_path, bytes, { 'Content-Encoding': 'gzip' })).status, 415);
  t.match(await device.ask('GET', `/device/chunks/${chunk_id}`), { status: 'awaiting_upload', stored_at: null });
  const stored = await device.upload(upload_path, bytes);
  t.same(stored, { chunk_id, source_chunk_ref, status: 'stored', size_bytes: bytes.length, sha256: sha256Of(bytes) });
  t.same(await device.upload(upload_path, bytes), stored);
  t.equal((await put(upload_path, wrong)).status, 422);
  const back = await app.send('GET', `/audio/chunks/${chunk_id}/content`);
  t.ok(back.body.equals(bytes));
});

await t.test('H-023 twenty uploads of one chunk at once, half of them cut, store it once and whole', async (t) => {
  const { source_stream_ref, id } = await register();
  const bytes = randomBytes(300_000);
  const { upload_path, chunk_id } = await intend(intentOf(source_stream_ref, bytes));
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0 ? put(upload_path, bytes) : cutUpload(spool, device_id, upload_path, bytes),
    ),
  );
  const statuses = answers.flatMap((answer) => (answer === null ? [] : [answer.status]));
  t.same(new Set(statuses), new Set([200]));
  t.match(await app.ask('GET', `/audio/streams/${id}`), { stored_chunks: 1, stored_bytes: bytes.length });
  t.ok((await app.send('GET', `/audio/chunks/${chunk_id}/content`)).body.equals(bytes));
});

await t.test('H-023 without a length 411, another device 404, a bad path 404', async (t) => {
  const { source_stream_ref } = await register();
  const bytes = randomBytes(100);
  const { upload_path } = await intend(intentOf(source_stream_ref, bytes));
  t.equal(
    (
      await device.send('PUT', upload_path, {
        body: bytes,
        headers: { 'Transfer-Encoding': 'chunked', 'Content-Length': [] },
      })
    ).status,
    411,
  );
  const other = await spool.boundDevice(app);
  t.equal((await other.device.send('PUT', upload_path, { body: bytes })).status, 404);
  t.equal((await other.device.send('GET', upload_path.replace('/content', ''))).status, 404);
  for (const path of [`/device/chunks/${randomUUID()}/content`, '/device/chunks/x/content'])
    t.equal((await put(path, bytes)).status, 404);
});

await t.test(
  'H-023 an intent expires a day after its last repeat, frees its place, and can be asked for again',
  async (t) => {
    const { source_stream_ref } = await register();
    const bytes = randomBytes(100);
    const body = intentOf(source_stream_ref, bytes, { source_end_ms: 9000 });
    const { upload_path, chunk_id } = await intend(body);
    await spool.operator.advanceClock(23 * HOUR_MS);
    await intend(body);
    await spool.operator.advanceClock(23 * HOUR_MS);
    t.match(await device.ask('GET', `/device/chunks/${chunk_id}`), { status: 'awaiting_upload' });
    await spool.operator.advanceClock(2 * HOUR_MS);
    t.match(await device.ask('GET', `/device/chunks/${chunk_id}`), { status: 'expired' });
    t.equal((await put(upload_path, bytes)).status, 410);
    t.match(await end(source_stream_ref, 8000), { end_ms: 8000 }, 'an expired chunk holds no end back');
    await t.rejects(intend(body), { status: 409, code: 'CONFLICT' }, 'it would end past the end');
    app.access_token = (await spool.signIn('streams@x.test')).session.access_token; // two days have passed
  },
);

await t.test('H-024 the status of chunks, one by one and many at once', async (t) => {
  const { source_stream_ref } = await register();
  const bytes = randomBytes(100);
  const bodies = [0, 1, 2].map((sequence) => intentOf(source_stream_ref, bytes, { sequence }));
  const intents = [];
  for (const body of bodies) intents.push(await intend(body));
  await device.upload((intents[1] as IntentView).upload_path, bytes);
  const ask = (source_chunk_refs: string[]) =>
    device.ask<{ items: { status: string; stored_at: string | null }[] }>('POST', '/device/chunks/status', {
      binding_epoch: epoch,
      source_stream_ref,
      source_chunk_refs,
    });
  const { items } = await ask([...bodies.map(({ source_chunk_ref }) => source_chunk_ref), randomUUID()]);
  t.same(
    items.map(({ status }) => status),
    ['awaiting_upload', 'stored', 'awaiting_upload'],
  );
  t.same(Object.keys(items[0] ?? {}).sort(), [
    'chunk_id',
    'failure',
    'sequence',
    'source_chunk_ref',
    'status',
    'stored_at',
  ]);
  await t.rejects(ask([]), { status: 400, code: 'BAD_REQUEST' });
  await t.rejects(ask(Array.from({ length: 101 }, () => randomUUID())), { status: 400, code: 'BAD_REQUEST' });
});

await t.test('H-024 a device that was removed sees its chunks no more', async (t) => {
  const removed = await spool.boundDevice(app);
  const bytes = randomBytes(100);
  const source_stream_ref = randomUUID();
  const binding_epoch = removed.epoch;
  await removed.device.ask('POST', '/device/streams', {
    source_stream_ref,
    captured_at: '2026-11-01T10:00:00Z',
    clock_uncertainty_ms: 0,
    binding_epoch,
  });
  const intent = intentOf(source_stream_ref, bytes, { binding_epoch });
  const { chunk_id, upload_path } = await removed.device.ask<IntentView>('POST', '/device/chunks/intents', intent);
  t.match(await removed.device.ask('GET', `/device/chunks/${chunk_id}`), { status: 'awaiting_upload' });
  await app.ask('DELETE', `/devices/${removed.device_id}`);
  await t.rejects(removed.device.ask('GET', `/device/chunks/${chunk_id}`), { code: 'DEVICE_UNBOUND' });
  await t.rejects(removed.device.upload(upload_path, bytes), { code: 'DEVICE_UNBOUND' });
});

await t.test('gaps are what no stored chunk covers', async (t) => {
  const { source_stream_ref } = await register();
  const gaps = () =>
    device.ask<{ missing: number[][]; awaiting_upload: number }>(
      'GET',
      `/device/streams/${source_stream_ref}/gaps?binding_epoch=${epoch}`,
    );
  t.same(await gaps(), { missing: [], truncated: false, awaiting_upload: 0 });
  const bytes = randomBytes(10);
  const spans = [
    [4000, 5000],
    [1000, 2000],
    [1500, 3000],
    [7000, 8000],
  ] as const;
  for (const [sequence, [source_start_ms, source_end_ms]] of spans.entries()) {
    const body = intentOf(source_stream_ref, bytes, {
      sequence,
      source_start_ms,
      publication_start_ms: source_start_ms,
      source_end_ms,
    });
    const { upload_path } = await intend(body);
    if (sequence < 3) await device.upload(upload_path, bytes);
  }
  t.same(await gaps(), {
    missing: [
      [0, 1000],
      [3000, 4000],
      [5000, 8000],
    ],
    truncated: false,
    awaiting_upload: 1,
  });
  await end(source_stream_ref, 9000);
  t.same((await gaps()).missing, [
    [0, 1000],
    [3000, 4000],
    [5000, 9000],
  ]);
});

await t.test('too many open intents of a stream wait with 429', async (t) => {
  const { source_stream_ref } = await register();
  const bytes = randomBytes(10);
  for (let sequence = 0; sequence < LIMITS.open_intents_max; sequence++)
    await intend(intentOf(source_stream_ref, bytes, { sequence }));
  await t.rejects(intend(intentOf(source_stream_ref, bytes, { sequence: 999 })), {
    status: 429,
    code: 'TOO_MANY_REQUESTS',
  });
});

await t.test('the account lists streams and chunks and reads their audio in ranges', async (t) => {
  const other = await spool.signIn('reader@x.test');
  const { source_stream_ref, id } = await register();
  const bytes = randomBytes(1000);
  const { upload_path, chunk_id } = await intend(intentOf(source_stream_ref, bytes));
  const content = (headers: Record<string, string> = {}, who: AppClient = app) =>
    who.send('GET', `/audio/chunks/${chunk_id}/content`, { headers });
  t.equal((await content()).status, 409, 'nothing is stored yet');
  await device.upload(upload_path, bytes);
  for (const [range, from, to] of [
    ['bytes=0-0', 0, 1],
    ['bytes=990-', 990, 1000],
    ['bytes=-10', 990, 1000],
    ['bytes=500-5000', 500, 1000],
  ] as const) {
    const part = await content({ Range: range });
    t.equal(part.status, 206, range);
    t.equal(part.headers['content-range'], `bytes ${from}-${to - 1}/1000`);
    t.ok(part.body.equals(bytes.subarray(from, to)));
  }
  for (const range of ['bytes=1000-', 'bytes=-0']) {
    const beyond = await content({ Range: range });
    t.equal(beyond.status, 416, range);
    t.equal(beyond.headers['content-range'], 'bytes */1000');
  }
  for (const range of ['items=0-1', 'bytes=5-2', 'bytes=0-1,3-4'])
    t.equal((await content({ Range: range })).status, 200, range);
  t.equal((await content({}, other.app)).status, 404);
  t.equal((await other.app.send('GET', `/audio/streams/${id}`)).status, 404);
  t.same(await other.app.ask('GET', '/audio/streams'), { items: [], cursor: null });
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: { items: { id: string }[]; cursor: string | null } = await app.ask(
      'GET',
      `/audio/streams?limit=5${cursor === null ? '' : `&cursor=${cursor}`}`,
    );
    seen.push(...page.items.map((stream) => stream.id));
    cursor = page.cursor;
  } while (cursor !== null);
  t.equal(seen[0], id, 'newest first');
  t.equal(new Set(seen).size, seen.length);
  t.equal(seen.length, (await events('stream.created')).length);
});

/** Begins an upload on a connection of its own and cuts it in the middle. */
async function cutUpload(spool: TestSpool, device_id: string, upload_path: string, bytes: Uint8Array): Promise<null> {
  const { key, cert, ca } = spool.credentialsOf(device_id);
  await new Promise<void>((resolve) => {
    const request = https.request(new URL(upload_path, spool.device_url), {
      method: 'PUT',
      key,
      cert,
      ca,
      headers: { 'Content-Length': bytes.length },
    });
    request.on('error', () => resolve());
    request.write(bytes.subarray(0, bytes.length / 2), () => request.destroy());
  });
  return null;
}
