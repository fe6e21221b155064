import { randomBytes, randomUUID } from 'node:crypto';
import net from 'node:net';
import t from 'tap';
import { sha256Of } from '../../../kits/typescript/src/device_client.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { pcm16Format, readWav, writeWav } from '../../../src/engine/audio/wav.js';
import { TestAccount } from '../../fixtures/account.js';
import { opusFile } from '../../fixtures/opus_file.js';
import { TestSpool } from '../../fixtures/spool.js';

type Intent = { source_chunk_ref: string; chunk_id: string; upload_path: string };
type Times = { start: number; end: number };

const fmt = pcm16Format({ channels: 1, frames_per_second: 1_000 });
const captured_at = '2026-11-01T10:00:00Z';

t.test('audio of streams, from apps and as one file', async (t) => {
  const spool = await TestSpool.start();
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const bob = await TestAccount.open(spool, 'bob@x.test');
  const source = await ann.ask<{ id: string }>('POST', '/sources', { name: 'Desk' });
  const newStream = async () =>
    `/audio/streams/${(await ann.ask<{ id: string }>('POST', '/audio/streams', { source_id: source.id, captured_at })).id}`;
  const intentOf = (bytes: Buffer, sequence: number, { start, end }: Times, container = 'wav') => ({
    ...{ source_chunk_ref: randomUUID(), sequence, codec: 'x', container },
    ...{ source_start_ms: start, publication_start_ms: start, source_end_ms: end },
    ...{ size_bytes: bytes.length, sha256: sha256Of(bytes) },
  });
  const send = (method: string, path: string, body?: Uint8Array, headers: Record<string, string> = {}, by = ann) =>
    fetch(new URL(path, spool.base_url), {
      method,
      headers: { Authorization: `Bearer ${by.app.access_token}`, ...headers },
      ...(body === undefined ? {} : { body: Uint8Array.from(body) }),
    });
  const says = async (answer: Promise<Response>) => {
    const { status, text } = await answer.then(async (found) => ({ status: found.status, text: await found.text() }));
    const { error } = JSON.parse(text) as { error?: { code: string } };
    return error === undefined ? String(status) : `${status} ${error.code}`;
  };
  const upload = async (stream: string, bytes: Buffer, sequence: number, times: Times, container?: string) => {
    const intent = await ann.ask<Intent>(
      'POST',
      `${stream}/chunks/intents`,
      intentOf(bytes, sequence, times, container),
    );
    t.equal((await send('PUT', intent.upload_path, bytes)).status, 200);
    return intent;
  };
  const bytesOf = async (answer: Promise<Response>) => Buffer.from(await (await answer).arrayBuffer());

  await t.test('K-020 an app uploads chunks as a recorder does', async (t) => {
    const stream = await newStream();
    const bytes = randomBytes(500);
    const body = intentOf(bytes, 0, { start: 0, end: 100 });
    const intent = await ann.ask<Intent>('POST', `${stream}/chunks/intents`, body);
    t.same(Object.keys(intent).sort(), ['chunk_id', 'source_chunk_ref', 'upload_path']);
    t.equal(intent.upload_path, `/audio/chunks/${intent.chunk_id}/content`);
    t.same(await ann.ask('POST', `${stream}/chunks/intents`, body), intent, 'again: the same');
    t.equal(await ann.says('POST', `${stream}/chunks/intents`, { ...body, sequence: 1 }), '409 CONFLICT');
    t.equal(await ann.says('POST', `${stream}/chunks/intents`, { ...body, source_end_ms: 0 }), '400 BAD_REQUEST');
    t.equal(await says(send('GET', intent.upload_path)), '409 CONFLICT', 'its bytes are not here yet');
    const put = (sent: Buffer, headers?: Record<string, string>, by = ann) =>
      says(send('PUT', intent.upload_path, sent, headers, by));
    t.equal(await put(bytes.subarray(1)), '400 BAD_REQUEST');
    t.equal(await put(randomBytes(500)), '422 CHECKSUM_MISMATCH');
    t.equal(await put(bytes, { 'Content-Encoding': 'gzip' }), '415 UNSUPPORTED_MEDIA_TYPE');
    t.equal(await put(bytes, {}, bob), '404 NOT_FOUND');
    t.equal(await bob.says('POST', `${stream}/chunks/intents`, body), '404 NOT_FOUND');
    t.match(await (await send('PUT', intent.upload_path, bytes)).json(), {
      data: { chunk_id: intent.chunk_id, status: 'stored', size_bytes: 500, sha256: sha256Of(bytes) },
    });
    t.equal(await put(bytes), '200', 'the same bytes again');
    t.equal(await put(randomBytes(500)), '422 CHECKSUM_MISMATCH');
    t.same(await bytesOf(send('GET', intent.upload_path)), bytes);
    t.match(await ann.ask('GET', stream), { chunks: 1, stored_chunks: 1, stored_bytes: 500 });
    t.equal(await ann.says('POST', `${stream}/end`, { end_ms: 99 }), '409 CONFLICT', 'a chunk ends behind it');
    const refused = await refusedUnread(intent.upload_path, 'Content-Length: 1000000\r\nExpect: 100-continue\r\n');
    t.match(refused, /^HTTP\/1.1 400 /, 'before a byte is asked for');
    t.match(refused, /\r\nconnection: close\r\n/i);
    t.match(await refusedUnread(intent.upload_path, 'Transfer-Encoding: chunked\r\n'), /^HTTP\/1.1 411 /);
  });

  /** What a client hears that sends no body, until the connection closes. */
  function refusedUnread(path: string, headers: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(spool.server.ports.public, '127.0.0.1');
      let heard = '';
      socket.on('data', (piece) => {
        heard += piece;
      });
      socket.on('error', reject).on('close', () => resolve(heard));
      socket.write(
        `PUT ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ann.app.access_token}\r\n${headers}\r\n`,
      );
    });
  }

  await t.test('K-021 a stream of WAVs is one WAV, in the order of time, and any range of it', async (t) => {
    const stream = await newStream();
    t.equal(await says(send('GET', `${stream}/content`)), '409 CONFLICT', 'nothing is stored');
    const parts = [1, 2, 3, 4].map((byte) => Buffer.alloc(200, byte));
    const wav = (n: number) => writeWav({ fmt }, parts[n] as Buffer);
    await upload(stream, wav(2), 2, { start: 300, end: 400 });
    await upload(stream, wav(0), 5, { start: 0, end: 100 });
    await upload(stream, wav(1), 1, { start: 50, end: 150 });
    await ann.ask('POST', `${stream}/chunks/intents`, intentOf(wav(3), 9, { start: 150, end: 300 })); // never comes
    const whole = writeWav({ fmt }, Buffer.concat(parts.slice(0, 3)));
    const answer = await send('GET', `${stream}/content`);
    t.same(Buffer.from(await answer.arrayBuffer()), whole);
    const headers = Object.fromEntries(answer.headers);
    const etag = headers.etag as string;
    t.match(headers, {
      ...{ 'content-type': 'audio/wav', 'content-length': String(whole.length), 'accept-ranges': 'bytes' },
      ...{ 'x-joined-chunks': '3', 'x-joined-missing-ms': '150', 'x-joined-overlap-ms': '50' },
      ...{ etag: /^"[0-9a-f]{32}"$/, 'content-disposition': /^attachment; filename="[0-9a-f-]{36}\.wav"$/ },
    });
    for (const [asked, from, to] of [
      ['bytes=0-0', 0, 1],
      ['bytes=40-250', 40, 251],
      ['bytes=243-244', 243, 245],
      ['bytes=-5', whole.length - 5, whole.length],
      [`bytes=${whole.length - 1}-`, whole.length - 1, whole.length],
      ['bytes=0-99999', 0, whole.length],
    ] as const) {
      const part = await send('GET', `${stream}/content`, undefined, { Range: asked });
      t.equal(part.status, 206);
      t.equal(part.headers.get('content-range'), `bytes ${from}-${to - 1}/${whole.length}`);
      t.equal(part.headers.get('content-length'), String(to - from));
      t.same(Buffer.from(await part.arrayBuffer()), whole.subarray(from, to), asked);
    }
    const outside = await send('GET', `${stream}/content`, undefined, { Range: `bytes=${whole.length}-` });
    t.equal(outside.headers.get('content-range'), `bytes */${whole.length}`);
    t.equal(await says(Promise.resolve(outside)), '416 RANGE_NOT_SATISFIABLE');
    for (const [conditions, status] of [
      [{ 'If-None-Match': etag }, 304],
      [{ 'If-None-Match': etag, Range: 'bytes=0-9' }, 304],
      [{ 'If-None-Match': '"other"' }, 200],
      [{ 'If-Match': etag }, 200],
    ] as const) {
      const conditional = await send('GET', `${stream}/content`, undefined, conditions);
      t.same([conditional.status, conditional.headers.get('etag')], [status, etag], JSON.stringify(conditions));
      t.equal((await conditional.arrayBuffer()).byteLength, status === 304 ? 0 : whole.length);
    }
    const changed = send('GET', `${stream}/content`, undefined, { 'If-Match': '"other"' });
    t.equal(await says(changed), '412 PRECONDITION_FAILED');
    const ranged = (condition: string) =>
      send('GET', `${stream}/content`, undefined, { Range: 'bytes=1-2', 'If-Range': condition });
    t.equal((await ranged(etag)).status, 206);
    await upload(stream, wav(3), 10, { start: 400, end: 500 });
    const grown = await ranged(etag);
    t.equal(grown.status, 200, 'it has changed since: all of it');
    t.not(grown.headers.get('etag'), etag);
    t.same(Buffer.from(await grown.arrayBuffer()), writeWav({ fmt }, Buffer.concat(parts)));
    t.equal(await says(send('GET', `${stream}/content`, undefined, {}, bob)), '404 NOT_FOUND');
    const { value } = await ann.ask<{ value: string }>('POST', '/me/tokens', {
      ...{ name: 'x', permissions: ['turns:read'], expires_at: null },
    });
    t.equal((await send('GET', `${stream}/content`, undefined, { Authorization: `Bearer ${value}` })).status, 403);
    const head = await send('HEAD', `${stream}/content`);
    const got = await send('GET', `${stream}/content`);
    t.equal(head.status, 200);
    t.equal((await head.arrayBuffer()).byteLength, 0);
    for (const name of ['content-length', 'content-type', 'etag', 'accept-ranges'])
      t.equal(head.headers.get(name), got.headers.get(name), name);
    const part = await send('HEAD', `${stream}/content`, undefined, { Range: 'bytes=0-9' });
    t.equal(part.status, 206);
    t.equal(part.headers.get('content-length'), '10');
  });

  await t.test('K-021 K-022 K-164 a stream of Opus in Ogg is one; what can not be joined says why', async (t) => {
    const stream = await newStream();
    const chunks = [0, 1, 2].map((n) => opusFile({ serial: n, pages: [[30, 40], [50 + n]] }));
    for (const [n, bytes] of chunks.entries())
      await upload(stream, bytes, n, { start: n * 60, end: n * 60 + 60 }, 'ogg');
    const answer = await send('GET', `${stream}/content`);
    t.equal(answer.headers.get('content-type'), 'audio/ogg');
    const whole = Buffer.from(await answer.arrayBuffer());
    t.equal(whole.length, Number(answer.headers.get('content-length')));
    t.same(
      await bytesOf(send('GET', `${stream}/content`, undefined, { Range: 'bytes=100-300' })),
      whole.subarray(100, 301),
    );
    await upload(stream, writeWav({ fmt }, Buffer.alloc(2)), 3, { start: 180, end: 240 });
    const mixed = await send('GET', `${stream}/content`);
    t.equal(mixed.headers.get('content-type'), 'audio/wav', 'of several kinds: decoded');
    await mixed.arrayBuffer();
    const other = await newStream();
    await upload(other, randomBytes(9), 0, { start: 0, end: 1 }, 'caf');
    t.match(await (await send('GET', `${other}/content`)).json(), {
      error: { code: 'CONFLICT', message: /caf can not be joined/ },
    });
  });

  await t.test(
    'K-021 K-022 raw samples are one WAV once their rate and channels are said, and what can not be heard is said',
    async (t) => {
      const stream = await newStream();
      const announce = (bytes: Buffer, sequence: number, more: object) =>
        ann.ask<Intent & { warnings?: string[] }>('POST', `${stream}/chunks/intents`, {
          ...intentOf(bytes, sequence, { start: sequence * 10, end: sequence * 10 + 10 }, 'raw'),
          ...{ source_chunk_ref: `00000000-0000-0000-0000-00000000000${sequence}`, codec: 'pcm_s24le', ...more },
        });
      const stereo = { sample_rate_hz: 1_000, channels: 2 };
      const parts = [0, 1, 2].map((byte) => Buffer.alloc(60, byte + 1));
      for (const [sequence, bytes] of parts.entries()) {
        const intent = await announce(bytes, sequence, stereo);
        t.notOk('warnings' in intent);
        t.equal((await send('PUT', intent.upload_path, bytes)).status, 200);
      }
      const { items } = await ann.ask<{ items: object[] }>('GET', `${stream}/chunks`);
      t.match(items, [stereo, stereo, stereo]);
      const answer = await send('GET', `${stream}/content`);
      t.equal(answer.headers.get('content-type'), 'audio/wav');
      const joined = Buffer.from(await answer.arrayBuffer());
      const found = await readWav({
        size_bytes: joined.length,
        read: async (at, size) => joined.subarray(at, at + size),
      });
      t.match(found, {
        ok: true,
        wav: { format: { codec: 'pcm_s24le', channels: 2, frames_per_second: 1_000 }, frames: 30 },
      });
      t.same(joined.subarray(joined.length - 180), Buffer.concat(parts));
      await t.rejects(announce(parts[0] as Buffer, 0, { ...stereo, channels: 1 }), { status: 409, code: 'CONFLICT' });
      const mono = await announce(Buffer.alloc(30), 3, { sample_rate_hz: 1_000, channels: 1 });
      t.equal((await send('PUT', mono.upload_path, Buffer.alloc(30))).status, 200);
      t.match(await (await send('GET', `${stream}/content`)).json(), {
        error: { code: 'CONFLICT', message: /sequence 3 has another format/ },
      });

      const says_nothing = await announce(Buffer.alloc(30), 4, {});
      t.match(says_nothing.warnings, [/raw PCM can not .* without sample_rate_hz and channels/i]);
      await t.rejects(
        announce(Buffer.alloc(30), 4, stereo),
        { status: 409, code: 'CONFLICT' },
        'said later: other content',
      );
      for (const [codec, container, warning] of [
        ['pcm_s16le', 'wav', null],
        ['opus', 'audio/ogg; codecs=opus', null],
        ['noise', 'raw', /noise can not be joined or played/],
        ['aac', 'mp4', /mp4 can not be joined/],
        ['vorbis', 'ogg', /vorbis in ogg can not be joined/],
        ['pcm_mulaw', 'wav', /pcm_mulaw in wav can not be joined/],
      ] as const) {
        const { warnings } = await announce(Buffer.alloc(2), 5, {
          ...{ source_chunk_ref: randomUUID(), codec, container, sequence: 100 + Math.floor(Math.random() * 2 ** 40) },
        });
        if (warning === null) t.equal(warnings, undefined, `${codec} in ${container}`);
        else t.match(warnings, [warning]);
      }
    },
  );

  await t.test('K-021 a chunk whose bytes never came does not keep the others from being one file', async (t) => {
    const stream = await newStream();
    const wav = (byte: number) => writeWav({ fmt }, Buffer.alloc(20, byte));
    await upload(stream, wav(1), 0, { start: 0, end: 10 });
    await ann.ask('POST', `${stream}/chunks/intents`, intentOf(wav(2), 1, { start: 10, end: 20 }));
    await upload(stream, wav(3), 2, { start: 20, end: 30 });
    await spool.operator.ask('POST', '/ops/clock', { advance_ms: LIMITS.intent_life_ms });
    const { app } = await spool.signIn('ann@x.test');
    const statuses = await app.ask<{ items: { status: string }[] }>('GET', `${stream}/chunks`);
    t.same(
      statuses.items.map(({ status }) => status),
      ['stored', 'expired', 'stored'],
    );
    const answer = await app.send('GET', `${stream}/content`);
    t.same(answer.body, writeWav({ fmt }, Buffer.concat([Buffer.alloc(20, 1), Buffer.alloc(20, 3)])));
    t.equal(answer.headers['x-joined-missing-ms'], '10');
  });
});
