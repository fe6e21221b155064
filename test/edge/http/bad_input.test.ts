import { randomBytes, randomUUID } from 'node:crypto';
import net from 'node:net';
import { join } from 'node:path';
import tls from 'node:tls';
import t from 'tap';
import { type IntentView, sha256Of } from '../../../kits/typescript/src/device_client.js';
import { ROUTES } from '../../../routes/index.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { TestSpool } from '../../fixtures/spool.js';
import { bytesLying } from '../../fixtures/stored_audio.js';

const IDLE_CONNECTIONS = 200;
const bytesOf = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');

/** Not well-formed, or more than a device may say. From RFC 8949, appendix F, and from what decoders fell for. */
const BAD_CBOR: Record<string, Buffer> = {
  'end in a head': bytesOf('18'),
  'end in an argument': bytesOf('19 01'),
  'end in a text': bytesOf('61'),
  'end in an array': bytesOf('81'),
  'end in a map': bytesOf('a1 01'),
  'a lone break': bytesOf('ff'),
  'a break in a definite array': bytesOf('81 ff'),
  'a reserved head': bytesOf('1c'),
  'a reserved simple value': bytesOf('f8 18'),
  'an indefinite map that does not end': bytesOf('bf'),
  'an indefinite text in chunks of bytes': bytesOf('7f 41 61 ff'),
  'a length beyond the body': bytesOf('5b ff ff ff ff ff ff ff ff'),
  'an array of 2^32 items': bytesOf('9a ff ff ff ff'),
  'deep nesting': Buffer.alloc(10_000, 0x81),
  'a bignum of 10 KB': Buffer.concat([bytesOf('c2 59 27 10'), Buffer.alloc(10_000, 0xff)]),
  'a regular expression': bytesOf('d8 1b 82 66 52 65 67 45 78 70 61 61'),
  'a shared reference': bytesOf('d8 1c a1 61 61 d8 1d 00'),
  'duplicate keys': bytesOf('a2 61 61 01 61 61 02'),
  'keys that are no text': bytesOf('a1 01 02'),
  'an integer above 2^53': bytesOf('a1 61 61 1b 00 20 00 00 00 00 00 01'),
  'not a number': bytesOf('a1 61 61 f9 7e 00'),
  infinity: bytesOf('a1 61 61 f9 7c 00'),
  undefined: bytesOf('a1 61 61 f7'),
  'broken UTF-8': bytesOf('a1 61 61 62 c3 28'),
  'bytes behind the end': bytesOf('a0 00'),
  nothing: Buffer.alloc(0),
};

const BAD_JSON = [
  ...[
    '{',
    '{"a":1',
    '{"a":1}}',
    '[1,]',
    '{"a":01}',
    '{"a":+1}',
    "{'a':1}",
    '{"a":NaN}',
    'undefined',
    '{"a":"\u0001"}',
    '\ufeff\ufeff{}',
    '{"a":1}{"b":2}',
  ],
  ...[
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '{"__proto__":{"x":1}}',
    '{"a":9007199254740993}',
    '{"a":"\\ud800"}',
    '[]',
    '5',
    'null',
    '"text"',
  ],
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
];

t.test('H-006 J-012 bad input gets its answer, and nothing is half stored', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const { app } = await spool.signIn('bad@x.test');
  const { device, device_id, epoch } = await spool.boundDevice(app);
  const { key, cert, ca } = spool.credentialsOf(device_id);
  const port = spool.server.ports.device;
  const connect = () => tls.connect({ port, host: 'localhost', key, cert, ca });
  const rss = () => process.memoryUsage().rss;

  await t.test('CBOR that is broken or a bomb is 400', async (t) => {
    for (const [what, body] of Object.entries(BAD_CBOR)) {
      const answer = await device.send('POST', '/device/streams', {
        body,
        headers: { 'Content-Type': 'application/cbor' },
      });
      t.equal(answer.status, 400, what);
    }
  });

  await t.test('JSON that is broken, doubled or too deep is 400', async (t) => {
    for (const text of BAD_JSON) {
      const answer = await device.send('POST', '/device/streams', {
        body: Buffer.from(text),
        headers: { 'Content-Type': 'application/json' },
      });
      t.equal(answer.status, 400, text.slice(0, 30));
    }
  });

  await t.test('unknown members are ignored, wrong types are not', async (t) => {
    const body = {
      source_stream_ref: randomUUID(),
      captured_at: '2026-01-01T00:00:00Z',
      clock_uncertainty_ms: 0,
      binding_epoch: epoch,
    };
    t.match(await device.ask('POST', '/device/streams', { ...body, unknown: { deep: [1] } }), {
      source_stream_ref: body.source_stream_ref,
    });
    for (const name of Object.keys(body)) {
      for (const value of [null, true, [], {}, 1e300])
        await t.rejects(device.ask('POST', '/device/streams', { ...body, [name]: value }), {
          status: 400,
          code: 'BAD_REQUEST',
        });
    }
  });

  await t.test('X-29 no id that nobody has is more than 404, of whatever version it is', async (t) => {
    const ids = ['0'.repeat(32), 'f'.repeat(32), '1'.repeat(32), `${'0'.repeat(24)}00000001`].map((hex) =>
      hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    );
    const rows = [...ROUTES.public, ...ROUTES.device].filter(
      ({ method, path, dialect, query }) =>
        ['GET', 'DELETE'].includes(method) && path.includes(':') && dialect === undefined && query === undefined,
    );
    t.ok(rows.length > 15);
    for (const name of ['workspace.sharing', 'developer.tools'])
      await spool.operator.ask('PUT', `/ops/accounts/bad@x.test/entitlements/${name}`, { enabled: true });
    for (const { method, path, credential } of rows) {
      for (const id of ids) {
        const at = path.replaceAll(/:[a-z_]+/g, id);
        const { status } = await (credential === 'device' ? device : app).send(method, at);
        t.equal(status, 404, `${method} ${at}`);
      }
    }
    for (const cursor of ids) t.equal((await app.send('GET', `/endpoints?cursor=${cursor}`)).status, 200, cursor);
  });

  await t.test('bodies of one byte over their limit are 413', async (t) => {
    const pad = (bytes: number) => Buffer.from(JSON.stringify({ x: 'x'.repeat(bytes - 8) }));
    const send = (body: Buffer) =>
      device.send('POST', '/device/streams', { body, headers: { 'Content-Type': 'application/json' } });
    t.equal((await send(pad(LIMITS.device_body_bytes_max))).status, 400, 'within the limit it is read');
    t.equal((await send(pad(LIMITS.device_body_bytes_max + 1))).status, 413);
    const text = (bytes: number) => ({ name: 'x'.repeat(bytes - 11) });
    t.equal((await app.send('PATCH', '/me', { body: text(LIMITS.json_body_bytes_max) })).status, 400);
    t.equal((await app.send('PATCH', '/me', { body: text(LIMITS.json_body_bytes_max + 1) })).status, 413);
    t.equal((await app.send('GET', `/events?type=${'a'.repeat(20_000)}`)).status, 431);
  });

  await t.test('a refused upload is answered without reading its body', async (t) => {
    const path = `/device/chunks/${randomUUID()}/content`;
    const total = 20 * 1024 * 1024;
    const socket = connect();
    const answer = await new Promise<string>((resolve) => {
      let text = '';
      socket.setEncoding('utf8').on('data', (piece) => {
        text += piece;
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve(text));
      socket.write(`PUT ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${total}\r\n\r\n`);
      const piece = Buffer.alloc(64 * 1024);
      const pump = () => {
        while (socket.writable && socket.bytesWritten < total)
          if (!socket.write(piece)) return socket.once('drain', pump);
        return undefined;
      };
      pump();
    });
    t.match(answer, /^HTTP\/1.1 404 /);
    t.match(answer, /connection: close/i);
    t.ok(socket.bytesWritten - socket.writableLength < total / 2, 'most of it never left');
  });

  await t.test('Expect: 100-continue is answered with the refusal, or with leave to go on', async (t) => {
    const refused = await converse(
      connect(),
      `PUT /device/chunks/${randomUUID()}/content HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\nExpect: 100-continue\r\n\r\n`,
    );
    t.match(refused, /^HTTP\/1.1 404 /);
    const source_stream_ref = randomUUID();
    await device.ask('POST', '/device/streams', {
      source_stream_ref,
      captured_at: '2026-01-01T00:00:00Z',
      clock_uncertainty_ms: 0,
      binding_epoch: epoch,
    });
    const bytes = randomBytes(1000);
    const { upload_path } = await device.ask<IntentView>('POST', '/device/chunks/intents', {
      ...{
        source_chunk_ref: randomUUID(),
        source_stream_ref,
        sequence: 0,
        source_start_ms: 0,
        publication_start_ms: 0,
        source_end_ms: 10,
      },
      ...{ codec: 'opus', container: 'ogg', size_bytes: bytes.length, sha256: sha256Of(bytes), binding_epoch: epoch },
    });
    const stored = await device.send('PUT', upload_path, { body: bytes, headers: { Expect: '100-continue' } });
    t.equal(stored.status, 200);
  });

  await t.test('bodies that drip or stand still end with 408', async (t) => {
    const head = `PATCH /me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.access_token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;
    const toApps = () => net.connect(spool.server.ports.public, '127.0.0.1');
    const drip = toApps();
    const dripping = setInterval(() => drip.writable && drip.write(' '), 500);
    const anywhere = `POST /audio/streams/${randomUUID()}/signals`;
    const large = `${anywhere} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.access_token}\r\nContent-Type: application/json\r\n`;
    const moving = toApps();
    const steps = 11;
    const step = ' '.repeat(100_000);
    let sent = 0;
    const sending = setInterval(() => sent++ < steps && moving.write(sent < steps ? step : '{}'), 1_000);
    const [slow, still, headless, nothing, judged] = await Promise.all([
      converse(drip, head),
      converse(
        connect(),
        `POST /device/streams HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
      ),
      converse(toApps(), 'GET /me HTTP/1.1\r\nHost: x\r\n'),
      converse(toApps(), `${large}Transfer-Encoding: chunked\r\n\r\n`),
      converse(moving, `${large}Connection: close\r\nContent-Length: ${(steps - 1) * step.length + 2}\r\n\r\n`),
    ]);
    clearInterval(dripping);
    clearInterval(sending);
    for (const answer of [slow, still, headless, nothing]) t.match(answer, /^HTTP\/1.1 408 /);
    t.match(judged, /^HTTP\/1.1 400 /, 'what is large and goes on may take longer');
  });

  await t.test('what is no HTTP is told so', async (t) => {
    for (const text of [
      'nonsense\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      'POST /auth/otp HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`,
    ]) {
      t.match(
        await converse(net.connect(spool.server.ports.public, '127.0.0.1'), text),
        /^HTTP\/1.1 4\d\d [\s\S]*"success":false/,
        text.slice(0, 20),
      );
    }
  });

  await t.test('idle connections hold little and disturb nobody', async (t) => {
    const before = rss();
    const sockets: tls.TLSSocket[] = [];
    for (let made = 0; made < IDLE_CONNECTIONS; made += 50) {
      const batch = Array.from({ length: 50 }, connect);
      await Promise.all(
        batch.map(
          (socket) => new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject)),
        ),
      );
      sockets.push(...batch);
    }
    t.equal((await device.send('POST', '/device/heartbeat')).status, 200);
    // Both ends live in this process: twice what a server alone would hold, and a margin for what the collector has not taken back.
    t.ok(
      (rss() - before) / IDLE_CONNECTIONS < 600 * 1024,
      `${Math.round((rss() - before) / IDLE_CONNECTIONS / 1024)} KiB a connection, both ends`,
    );
    for (const socket of sockets) socket.destroy();
  });

  await t.test('after all of it nothing is stored but what was answered', async (t) => {
    const { items } = await app.ask<{ items: { stored_chunks: number; chunks: number }[] }>('GET', '/audio/streams');
    t.same(items.map(({ chunks, stored_chunks }) => [chunks, stored_chunks]).sort(), [
      [0, 0],
      [1, 1],
    ]);
    t.equal((await bytesLying(join(spool.folder, 'blobs'))).length, 1);
    t.equal((await app.send('GET', '/me')).status, 200);
  });
});

/** Sends text and reads until the other side closes or has given one whole head. */
function converse(socket: net.Socket, text: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const done = () => {
      resolve(answer);
      socket.destroy();
    };
    socket.setEncoding('utf8').on('data', (piece: string) => {
      answer += piece;
      if (/^HTTP\/1.1 [2-5]\d\d [\s\S]*\r\n\r\n[\s\S]*\}$/.test(answer)) done();
    });
    socket.on('close', done).on('error', () => {});
    socket.write(text);
  });
}
