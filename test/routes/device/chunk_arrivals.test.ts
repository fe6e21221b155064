import { createHash, randomBytes, randomUUID } from 'node:crypto';
import https from 'node:https';
import net from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { sha256Of } from '../../../kits/typescript/src/device_client.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { encodeCbor } from '../../../src/engine/wire/cbor.js';
import { TestAccount } from '../../fixtures/account.js';
import { TestSpool } from '../../fixtures/spool.js';
import { bytesLying } from '../../fixtures/stored_audio.js';
import { until } from '../../fixtures/until.js';

const SECOND_BYTES = 2_000;

type Item = { source_chunk_ref: string; chunk_id?: string; status?: string; error?: { code: string; message: string } };
type Arrivals = { items: Item[]; end_error?: { code: string; message: string } };
type Sent = ReturnType<typeof secondOf>;

/** A second of raw samples of its own. */
function secondOf(sequence: number, given: Record<string, unknown> = {}) {
  const start = sequence * 1_000;
  return {
    ...{ source_chunk_ref: randomUUID(), sequence, source_start_ms: start, publication_start_ms: start },
    ...{ source_end_ms: start + 1_000, codec: 'pcm_u8', container: 'raw', sample_rate_hz: 2_000, channels: 1 },
    bytes: randomBytes(SECOND_BYTES) as Uint8Array,
    ...given,
  };
}

const refusalOf = (work: Promise<unknown>) => work.catch((error: unknown) => error);
const inBase64 = (chunk: Sent) => ({ ...chunk, bytes: Buffer.from(chunk.bytes).toString('base64') });
const intentOf = ({ bytes, ...chunk }: Sent) => ({ ...chunk, size_bytes: bytes.length, sha256: sha256Of(bytes) });

t.test('chunks that come with their bytes', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const { device, epoch, device_id } = await spool.boundDevice(ann.app);

  const begin = async () => {
    const source_stream_ref = randomUUID();
    const stream = { source_stream_ref, binding_epoch: epoch };
    const { id } = await device.ask<{ id: string }>('POST', '/device/streams', {
      ...{ ...stream, captured_at: '2026-11-01T10:00:00Z', clock_uncertainty_ms: 0 },
    });
    const send = (chunks: unknown[], more: Record<string, unknown> = {}) =>
      device.ask<Arrivals>('POST', '/device/chunks', { ...stream, chunks, ...more });
    const view = () => ann.ask<Record<string, unknown>>('GET', `/audio/streams/${id}`);
    const chunks = async () =>
      (await ann.ask<{ items: Record<string, unknown>[] }>('GET', `/audio/streams/${id}/chunks?limit=100`)).items;
    const blobs = async () => (await bytesLying(join(spool.folder, 'blobs'), id)).length;
    const announce = (chunk: Sent) =>
      device.ask<{ chunk_id: string; upload_path: string }>('POST', '/device/chunks/intents', {
        ...stream,
        ...intentOf(chunk),
      });
    return { id, stream, send, view, chunks, blobs, announce };
  };
  const codes = ({ items }: Arrivals) => items.map(({ status, error }) => error?.code ?? status);
  const heard = async (chunk_id = '') => {
    const audio = await fetch(`${spool.base_url}/audio/chunks/${chunk_id}/content`, {
      headers: { Authorization: `Bearer ${ann.app.access_token}` },
    });
    return createHash('sha256')
      .update(Buffer.from(await audio.arrayBuffer()))
      .digest('hex');
  };

  /** Sends so many bytes of a body and breaks the connection. */
  const cutOff = (body: Buffer, count: number) =>
    new Promise<void>((resolve) => {
      const headers = { 'Content-Type': 'application/cbor', 'Content-Length': body.length };
      const options = { method: 'POST', headers, agent: false as const, ...spool.credentialsOf(device_id) };
      const request = https.request(`${spool.device_url}/device/chunks`, options);
      request.on('error', () => {}).on('close', () => resolve());
      request.write(body.subarray(0, count), () => request.destroy());
    });

  await t.test('C-121 C-127 they are stored and checked, in the order of the request', async (t) => {
    const { send, view, chunks, blobs } = await begin();
    const sent = Array.from({ length: LIMITS.chunks_per_request_max }, (_, index) => secondOf(index));
    const failing = secondOf(64, { source_end_ms: 70_000 });
    const answer = await send(sent);
    t.same(
      answer.items.map(({ source_chunk_ref }) => source_chunk_ref),
      sent.map(({ source_chunk_ref }) => source_chunk_ref),
    );
    t.same(new Set(codes(answer)), new Set(['processed']));
    const [first] = answer.items;
    t.match(first, { size_bytes: SECOND_BYTES, sha256: sha256Of((sent[0] as Sent).bytes) });
    t.equal(await heard(first?.chunk_id), sha256Of((sent[0] as Sent).bytes));
    const { items } = await send([failing]);
    t.match(items, [{ status: 'failed', failure: { code: 'WRONG_DURATION' } }]);
    t.match(await view(), { chunks: 65, stored_chunks: 65, stored_bytes: 65 * SECOND_BYTES });
    t.match(
      await chunks(),
      sent.map(({ sequence }) => ({ sequence, status: 'processed', checked: true })),
    );
    t.equal(await blobs(), 65);
  });

  await t.test('C-121 other audio is taken with a warning, and larger chunks beside small ones', async (t) => {
    const { send, view } = await begin();
    const large = secondOf(0, { bytes: randomBytes(600_000), codec: 'x', container: 'y' });
    const answer = await send([large, secondOf(1)]);
    t.match(answer.items, [{ status: 'processed', warnings: [/./] }, { status: 'processed' }]);
    t.equal(await heard(answer.items[0]?.chunk_id), sha256Of(large.bytes));
    t.match(await view(), { stored_chunks: 2, stored_bytes: 602_000 });
  });

  await t.test('C-121 what is no list of chunks is refused as a whole', async (t) => {
    const { send, stream } = await begin();
    const many = Array.from({ length: LIMITS.chunks_per_request_max + 1 }, (_, index) => secondOf(index));
    const bad: [body: unknown[], path: string][] = [
      [[], 'chunks'],
      [many, 'chunks'],
      [[secondOf(0, { source_chunk_ref: 'x' })], 'chunks.0.source_chunk_ref'],
      [[7], 'chunks.0'],
    ];
    for (const [chunks, path] of bad)
      t.match(await refusalOf(send(chunks)), { status: 400, details: [{ path }] }, path);
    const one = [secondOf(0)];
    t.match(await refusalOf(send(one, { end_ms: -1 })), { status: 400, details: [{ path: 'end_ms' }] });
    t.match(await refusalOf(send(one, { source_stream_ref: randomUUID() })), { status: 404 });
    const over = await device.send('POST', '/device/chunks', {
      headers: { 'Content-Type': 'application/cbor' },
      body: Buffer.alloc(LIMITS.chunks_body_bytes_max + 1),
    });
    t.equal(over.status, 413);
    t.match(await device.ask('GET', `/device/streams/${stream.source_stream_ref}/gaps?binding_epoch=${epoch}`), {
      missing: [],
    });
  });

  await t.test('C-122 each that is wrong is refused by itself', async (t) => {
    const { send, view, blobs } = await begin();
    await send([secondOf(0)], { end_ms: 8_000 });
    const good = secondOf(1);
    const wrong: [code: string, message: RegExp, chunk: unknown][] = [
      ['CHECKSUM_MISMATCH', /sha256/, secondOf(2, { sha256: '0'.repeat(64) })],
      ['BAD_REQUEST', /^source_end_ms: /, secondOf(2, { source_end_ms: 1_000 })],
      ['BAD_REQUEST', /^sequence: /, secondOf(2, { sequence: -1 })],
      ['BAD_REQUEST', /^bytes: /, secondOf(2, { bytes: '***' })],
      ['BAD_REQUEST', /^bytes: /, secondOf(2, { bytes: Buffer.alloc(0) })],
      ['BAD_REQUEST', /^bytes: /, secondOf(2, { bytes: undefined })],
      ['CONFLICT', /past/, secondOf(8)],
      ['CONFLICT', /sequence/, secondOf(1)],
      ['CONFLICT', /content/, secondOf(3, { source_chunk_ref: good.source_chunk_ref })],
    ];
    const answer = await send([good, ...wrong.map(([, , chunk]) => chunk), secondOf(4)]);
    t.same(codes(answer), ['processed', ...wrong.map(([code]) => code), 'processed']);
    for (const [index, [, message]] of wrong.entries()) t.match(answer.items[index + 1]?.error?.message, message);
    t.match(await view(), { chunks: 3, stored_chunks: 3 });
    t.equal(await blobs(), 3, 'nothing else is left behind');
  });

  await t.test('C-123 repeats and overlaps get the same answers', async (t) => {
    const { send, announce, view, blobs } = await begin();
    const [a, b, c, d] = [secondOf(0), secondOf(1), secondOf(2), secondOf(3)] as [Sent, Sent, Sent, Sent];
    const first = await send([a, b]);
    t.same(await send([a, b]), first);
    const { chunk_id: announced } = await announce(c);
    const { upload_path, chunk_id: uploaded } = await announce(d);
    await device.upload(upload_path, d.bytes);
    const both = await send([b, c, d, a, c]);
    t.same(both.items[0], first.items[1]);
    t.same(both.items[3], first.items[0]);
    t.same(both.items[4], both.items[1], 'twice in one request');
    t.equal(both.items[1]?.chunk_id, announced, 'an intent keeps its id');
    t.equal(both.items[2]?.chunk_id, uploaded);
    t.equal((await announce(a)).chunk_id, first.items[0]?.chunk_id, 'an intent afterwards finds it');
    t.match(await view(), { chunks: 4, stored_chunks: 4, stored_bytes: 4 * SECOND_BYTES });
    t.equal(await blobs(), 4);
    t.equal(await heard(announced), sha256Of(c.bytes));
  });

  await t.test('C-123 the same chunks at once, from many', async (t) => {
    const { send, announce, view, blobs } = await begin();
    const sent = Array.from({ length: 6 }, (_, index) => secondOf(index));
    const all = await Promise.all([
      ...[0, 1, 2, 3].map((turn) => send([...sent.slice(turn), ...sent.slice(0, turn)])),
      ...sent.slice(0, 3).map(announce),
    ]);
    const ids = new Map<string, Set<string | undefined>>();
    for (const one of all.flatMap((answer) => ('items' in answer ? answer.items : [])))
      ids.set(one.source_chunk_ref, (ids.get(one.source_chunk_ref) ?? new Set()).add(one.chunk_id));
    t.same(
      [...ids.values()].map(({ size }) => size),
      [1, 1, 1, 1, 1, 1],
    );
    t.match(await view(), { chunks: 6, stored_chunks: 6 });
    t.equal(await blobs(), 6);
  });

  await t.test('C-121 bodies that come at once, and after ones that broke off, are not mixed', async (t) => {
    const { send, stream } = await begin();
    const broken = encodeCbor({ ...stream, chunks: [secondOf(99, { bytes: randomBytes(300_000) })] });
    const sent = Array.from({ length: 24 }, (_, index) =>
      secondOf(index, { bytes: randomBytes(40_000 + index * 7_000), codec: 'x', container: 'y' }),
    );
    const answers = await Promise.all(
      sent.flatMap((chunk, index) =>
        index % 3 === 0 ? [send([chunk]), cutOff(broken, 150_000).then(() => null)] : [send([chunk])],
      ),
    );
    const items = answers.flatMap((answer) => answer?.items ?? []);
    t.equal(items.length, sent.length);
    for (const [index, { chunk_id }] of items.entries())
      t.equal(await heard(chunk_id), sha256Of((sent[index] as Sent).bytes));
  });

  await t.test('C-121 of a request that breaks off anywhere nothing is stored', async (t) => {
    const { send, stream, view, blobs } = await begin();
    const sent = [0, 1, 2].map((index) => secondOf(index, { bytes: randomBytes(15_000), codec: 'x', container: 'y' }));
    const body = encodeCbor({ ...stream, chunks: sent });
    for (let count = 0; count < body.length; count += 4_096) await cutOff(body, count);
    t.match(await view(), { chunks: 0, stored_chunks: 0 });
    t.equal(await blobs(), 0);
    t.same(codes(await send(sent)), ['processed', 'processed', 'processed']);
    t.equal(await blobs(), 3);
  });

  await t.test('C-121 in JSON the bytes are base64', async (t) => {
    const { stream } = await begin();
    const chunk = secondOf(0);
    const said = { ...stream, chunks: [inBase64(chunk)] };
    const { body } = await device.send('POST', '/device/chunks', {
      headers: { 'Content-Type': 'application/json' },
      body: Buffer.from(JSON.stringify(said)),
    });
    t.match(JSON.parse(Buffer.from(body).toString()), {
      data: { items: [{ status: 'processed', sha256: sha256Of(chunk.bytes) }] },
    });
  });

  await t.test('C-124 an end comes along', async (t) => {
    const { id, send, view } = await begin();
    const ended = await send([secondOf(0), secondOf(1)], { end_ms: 2_000 });
    t.equal(ended.end_error, undefined);
    t.match(await view(), { end_ms: 2_000, stored_chunks: 2 });
    t.same(await send([secondOf(0)], { end_ms: 2_000 }).then(codes), ['CONFLICT'], 'its sequence is taken');
    const other = await send([secondOf(2, { source_start_ms: 500, source_end_ms: 1_500 })], { end_ms: 3_000 });
    t.match(other, { items: [{ status: 'processed' }], end_error: { code: 'CONFLICT' } });
    const { items } = await ann.ask<{ items: { type: string; resource: { id: string } }[] }>(
      'GET',
      '/events?limit=100',
    );
    const of_stream = items.filter(({ resource }) => resource.id === id).map(({ type }) => type);
    t.same(of_stream.toSorted(), ['stream.created', 'stream.updated']);
    const { send: again } = await begin();
    t.match(await again([secondOf(3)], { end_ms: 1_000 }), { end_error: { code: 'CONFLICT' } }, 'before a chunk');
  });

  await t.test('C-125 what has ended refuses all of it', async (t) => {
    const host = await TestAccount.open(spool, 'host@x.test');
    const made = await spool.boundDevice(host.app);
    const stream = { source_stream_ref: randomUUID(), binding_epoch: made.epoch };
    await made.device.ask('POST', '/device/streams', {
      ...{ ...stream, captured_at: '2026-11-01T10:00:00Z', clock_uncertainty_ms: 0 },
    });
    const send = (chunk: Sent) => made.device.ask('POST', '/device/chunks', { ...stream, chunks: [chunk] });
    await send(secondOf(0));
    await host.ask('DELETE', '/me');
    t.match(await refusalOf(send(secondOf(1))), { status: 403, code: 'ACCOUNT_DELETED' });
    await host.ask('POST', '/me/restore');
    await send(secondOf(1));
    await host.ask('DELETE', `/devices/${made.device_id}`);
    t.match(await refusalOf(send(secondOf(2))), { status: 403, code: 'DEVICE_UNBOUND' });
  });

  await t.test('C-126 a body names its length, and is refused where there is no room for what has come', async (t) => {
    const { send } = await begin();
    const { body_budget } = spool.server.services;
    const unknown = await device.send('POST', '/device/chunks', {
      headers: { 'Content-Type': 'application/cbor', 'Transfer-Encoding': 'chunked' },
    });
    t.equal(unknown.status, 411);
    const other = { is_large: false, hasLeft: () => new AbortController().signal };
    const others = await Promise.all(Array.from({ length: 8 }, (_, n) => body_budget.begin(`other ${n}`, other)));
    for (const body of others) body.take(LIMITS.bodies_bytes_max / others.length);
    t.match(await refusalOf(send([secondOf(0)])), { status: 503, code: 'UNAVAILABLE', retry_after_s: Number });
    for (const body of others) body.end();
    t.same(codes(await send([secondOf(0)])), ['processed']);
    await until('nothing is counted when it is over', () => body_budget.bytes === 0);
  });

  await t.test('C-126 an account that announces much and sends little keeps nobody else waiting', async (t) => {
    const flooder = await TestAccount.open(spool, 'flood@x.test');
    const { hostname, port } = new URL(spool.base_url);
    const head = [
      ...['POST /audio/chunks HTTP/1.1', `Host: ${hostname}`, `Authorization: Bearer ${flooder.app.access_token}`],
      ...['Content-Type: application/cbor', `Content-Length: ${LIMITS.chunks_body_bytes_max}`],
    ];
    const { large } = spool.server.services.body_budget;
    const before = large.counts.refused.waiting_share;
    const sockets = Array.from({ length: 40 }, () => net.connect({ host: '127.0.0.1', port: Number(port) }));
    for (const socket of sockets) socket.on('error', () => {}).write(`${head.join('\r\n')}\r\n\r\n\xa1`, 'latin1');
    await until('the rest is refused', () => large.counts.refused.waiting_share - before === 7);
    t.match(large.counts, { taken: 1, waiting: 32 });
    const { send } = await begin();
    t.same(codes(await send([secondOf(0)])), ['processed'], 'a small one');
    const bytes = randomBytes(100 * SECOND_BYTES);
    t.same(codes(await send([secondOf(1, { bytes, source_end_ms: 101_000 })])), ['processed'], 'a large one');
    for (const socket of sockets) socket.destroy();
    await until('all have left', () => large.counts.taken + large.counts.waiting === 0);
  });

  await t.test('C-127 a small upload is checked before it is stored', async (t) => {
    const { announce, chunks } = await begin();
    for (const chunk of [secondOf(0), secondOf(1, { source_end_ms: 5_000 })]) {
      const { upload_path } = await announce(chunk);
      t.equal((await device.upload(upload_path, chunk.bytes)).status, 'stored');
    }
    t.match(await chunks(), [{ status: 'processed', checked: true }, { status: 'failed' }]);
  });

  await t.test('C-128 apps send chunks of their streams in the same way', async (t) => {
    const eve = await TestAccount.open(spool, 'eve@x.test');
    const { id: source_id } = await ann.ask<{ id: string }>('POST', '/sources', { name: 'app' });
    const { id: stream_id } = await ann.ask<{ id: string }>('POST', '/audio/streams', {
      ...{ source_id, captured_at: '2026-11-01T10:00:00Z' },
    });
    const send = (who: TestAccount, type: string, body: Buffer) =>
      fetch(`${spool.base_url}/audio/chunks`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${who.app.access_token}`, 'Content-Type': type },
        body,
      });
    const [first, second, third] = [secondOf(0), secondOf(1), secondOf(2)] as [Sent, Sent, Sent];
    const cbor = encodeCbor({ stream_id, chunks: [first, second] });
    const answer = await send(ann, 'application/cbor', cbor);
    t.match(await answer.json(), { data: { items: [{ status: 'processed' }, { status: 'processed' }] } });
    const json = { stream_id, chunks: [second, third].map(inBase64), end_ms: 3_000 };
    const ended = await send(ann, 'application/json', Buffer.from(JSON.stringify(json)));
    t.match(await ended.json(), { data: { items: [{ status: 'processed' }, { status: 'processed' }] } });
    t.match(await ann.ask('GET', `/audio/streams/${stream_id}`), { chunks: 3, stored_chunks: 3, end_ms: 3_000 });
    t.equal((await send(eve, 'application/cbor', cbor)).status, 404);
    const plain = await fetch(`${spool.base_url}/sources`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${ann.app.access_token}`, 'Content-Type': 'application/cbor' },
      body: encodeCbor({ name: 'x' }),
    });
    t.equal(plain.status, 415, 'other routes of apps take no CBOR');
  });
});
