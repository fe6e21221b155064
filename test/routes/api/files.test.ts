import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import type { File } from '../../../kits/typescript/src/api.js';
import { sha256Of } from '../../../kits/typescript/src/device_client.js';
import { call } from '../../../kits/typescript/src/http_call.js';
import { fileKey } from '../../../src/engine/blobs/blob_keys.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer, tell } from '../../fixtures/answers.js';
import type { AppClient } from '../../fixtures/app_client.js';
import { TestSpool } from '../../fixtures/spool.js';

const DAY_MS = 24 * 3_600_000;
type Announced = { file: File; upload_path: string };

t.test('files', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const bob = await TestAccount.open(spool, 'bob@x.test');
  const { blobs } = spool.server.services;
  const about = (bytes: Uint8Array, more: object = {}) => ({
    ...{
      name: 'notes.txt',
      media_type: 'text/plain; charset=utf-8',
      size_bytes: bytes.length,
      sha256: sha256Of(bytes),
    },
    ...more,
  });
  const announce = (bytes: Uint8Array, more: object = {}) => ann.ask<Announced>('POST', '/files', about(bytes, more));
  const put = async (
    path: string,
    bytes: Uint8Array,
    { app = ann.app, headers = {} }: { app?: AppClient; headers?: object } = {},
  ) => {
    const url = new URL(path, spool.base_url);
    const sent = { Authorization: `Bearer ${app.access_token}`, 'Content-Length': bytes.length, ...headers };
    const answer = await call({ method: 'PUT', url, headers: sent, body: bytes });
    const said = JSON.parse(answer.body.toString());
    return answer.status === 200 ? (said.data as File) : `${answer.status} ${said.error.code}`;
  };
  const add = async (bytes: Uint8Array, more: object = {}) => {
    const { upload_path } = await announce(bytes, more);
    return (await put(upload_path, bytes)) as File;
  };
  const get = (path: string, headers: Record<string, string> = {}) => ann.app.send('GET', path, { headers });

  await t.test(
    'K-123 a file is announced, uploaded, listed, renamed, given out and deleted; no event tells of it',
    async (t) => {
      const bytes = randomBytes(300_000);
      const { file, upload_path } = await announce(bytes);
      t.match(file, { ...about(bytes), status: 'awaiting_upload' });
      t.equal(upload_path, `/files/${file.id}/content`);
      t.equal(await ann.says('GET', upload_path), '409 CONFLICT', 'its bytes have not come');
      t.equal(await put(upload_path, bytes.subarray(1)), '400 BAD_REQUEST', 'another size');
      t.equal(await put(upload_path, randomBytes(bytes.length)), '422 CHECKSUM_MISMATCH', 'other bytes');
      t.equal(await put(upload_path, bytes, { headers: { 'Content-Encoding': 'gzip' } }), '415 UNSUPPORTED_MEDIA_TYPE');
      t.same(await ann.ask('GET', `/files/${file.id}`), file, 'nothing of that has changed it');
      const stored = { ...file, status: 'stored' };
      t.same(await put(upload_path, bytes), stored);
      t.same(await put(upload_path, bytes), stored, 'the same again');
      t.equal(await put(upload_path, randomBytes(bytes.length)), '422 CHECKSUM_MISMATCH');
      t.ok((await get(upload_path)).body.equals(bytes));
      const empty = await add(Buffer.of(), { name: 'empty' });
      t.equal((await get(`/files/${empty.id}/content`)).body.length, 0);
      const page = await ann.ask<{ items: File[]; cursor: string }>('GET', '/files?limit=1');
      t.same(page.items, [empty]);
      t.same(await ann.ask('GET', `/files?limit=1&cursor=${page.cursor}`), { items: [stored], cursor: null });
      const renamed = await ann.ask('PATCH', `/files/${file.id}`, { name: ' Zoë’s 👩‍🚀.txt ' });
      t.same(renamed, { ...stored, name: 'Zoë’s 👩‍🚀.txt' });
      for (const { id } of [file, empty]) {
        t.equal(await ann.says('DELETE', `/files/${id}`), '204');
        t.equal(await ann.says('DELETE', `/files/${id}`), '404 NOT_FOUND');
        t.equal(await ann.says('GET', `/files/${id}/content`), '404 NOT_FOUND');
        t.notOk(await blobs.has(fileKey(ann.id, id)));
      }
      t.equal(await put(upload_path, bytes), '404 NOT_FOUND');
      t.same(await ann.newEvents(), []);
    },
  );

  await t.test(
    'K-124 a file is only ever saved: no browser makes a page of it; a range of it may be asked for',
    async (t) => {
      const bytes = Buffer.from('<script>alert(1)</script>');
      const { id } = await add(bytes, { name: 'Zoë "x" %41.html', media_type: 'text/html' });
      const all = await get(`/files/${id}/content`);
      t.match(all.headers, {
        'content-type': 'text/html',
        'content-disposition': `attachment; filename="Zo_ _x_ _41.html"; filename*=UTF-8''Zo%C3%AB%20%22x%22%20%2541.html`,
        'content-security-policy': /sandbox/,
        'x-content-type-options': 'nosniff',
        etag: `"${sha256Of(bytes)}"`,
      });
      const part = await get(`/files/${id}/content`, { Range: 'bytes=1-6' });
      t.equal(part.status, 206);
      t.equal(part.headers['content-range'], `bytes 1-6/${bytes.length}`);
      t.equal(part.body.toString(), 'script');
      t.match(part.headers, { 'content-disposition': /^attachment/ });
      t.equal((await get(`/files/${id}/content`, { Range: 'bytes=99-' })).status, 416);
    },
  );

  await t.test('K-125 what is no file', async (t) => {
    const fine = about(Buffer.from('x'));
    for (const [wrong, path] of [
      ...['', ' ', 'x'.repeat(201), 'a/b', 'a\\b', '.', '..', 'a\u0000', 'a\nb', 'a\u202egpj.exe', 'a\u200bb', 7].map(
        (name) => [{ name }, 'name'] as const,
      ),
      ...[
        '',
        'text',
        'text/',
        '/plain',
        'text/plain\r\nX: y',
        'text/plain; charset',
        `text/${'x'.repeat(130)}`,
        'a b/c',
      ].map((media_type) => [{ media_type }, 'media_type'] as const),
      ...[-1, 1.5, 50 * 1024 * 1024 + 1, '1'].map((size_bytes) => [{ size_bytes }, 'size_bytes'] as const),
      ...['', 'x'.repeat(64), 'ab'].map((sha256) => [{ sha256 }, 'sha256'] as const),
    ] as const) {
      const { status, error } = await tell(ann.app, 'POST', '/files', { ...fine, ...wrong });
      t.same([status, error?.details?.[0]?.path], [400, path], JSON.stringify(wrong));
    }
    const largest = {
      name: '🦊'.repeat(200),
      media_type: `text/x; a="${'b'.repeat(200)}"`,
      size_bytes: 50 * 1024 * 1024,
    };
    const { file } = await ann.ask<Announced>('POST', '/files', { ...fine, ...largest });
    t.match(file, largest);
    t.equal(await ann.says('PATCH', `/files/${file.id}`, { name: '../x' }), '400 BAD_REQUEST');
    await ann.ask('DELETE', `/files/${file.id}`);
  });

  await t.test("K-014 other accounts' files do not exist; reading takes files:read, writing files:write", async (t) => {
    const bytes = Buffer.from('of ann alone');
    const { file, upload_path } = await announce(bytes);
    t.equal(await put(upload_path, bytes, { app: bob.app }), '404 NOT_FOUND');
    await put(upload_path, bytes);
    const tokenOf = async (permissions: string[]) => {
      const made = await ann.ask<{ value: string }>('POST', '/me/tokens', { name: 'x', permissions, expires_at: null });
      return bearer(spool, made.value);
    };
    const [reader, writer] = [await tokenOf(['files:read']), await tokenOf(['files:write'])];
    for (const [method, path, needs, body] of [
      ['GET', '/files', 'read'],
      ['GET', `/files/${file.id}`, 'read'],
      ['GET', upload_path, 'read'],
      ['PATCH', `/files/${file.id}`, 'write', { name: 'y' }],
      ['POST', '/files', 'write', about(bytes)],
      ['DELETE', `/files/${file.id}`, 'write'],
      ['DELETE', `/files/${randomUUID()}`, 'write'],
    ] as const) {
      if (path !== '/files') t.equal(await bob.says(method, path, body), '404 NOT_FOUND');
      const [read, wrote] = await Promise.all(
        [reader, writer].map((app) =>
          (needs === 'read' ? app === reader : app === writer) ? null : app.send(method, path, { body }),
        ),
      );
      t.equal((read ?? wrote)?.status, 403, `${method} ${path}`);
      const allowed = needs === 'read' ? reader : writer;
      t.not((await allowed.send(method, path, { body })).status, 403, `${method} ${path}`);
    }
    t.same(await bob.ask('GET', '/files'), { items: [], cursor: null });
  });

  await t.test(
    'K-126 H-023 bytes that do not come within a day are awaited no more; bytes of no file go',
    async (t) => {
      const [kept, left] = [await add(randomBytes(10)), await announce(randomBytes(10))];
      const lost = randomBytes(10);
      const strays = [fileKey(ann.id, randomUUID()), fileKey(randomUUID(), randomUUID())];
      const expected = { size_bytes: lost.length, sha256_hex: sha256Of(lost) };
      for (const key of strays)
        await blobs.put(
          key,
          (async function* () {
            yield lost;
          })(),
          expected,
        );
      const removing: string[] = [];
      const removeOlder = blobs.removeOlder.bind(blobs);
      blobs.removeOlder = (key) => {
        removing.push(key);
        return removeOlder(key, -1);
      };
      // Whose turn it is when is settled with the first look.
      for (let day = 0; day < 2; day++) await spool.operator.advanceClock(DAY_MS + 60_000);
      blobs.removeOlder = removeOlder;
      t.ok(strays.every((key) => removing.includes(key)));
      for (const key of strays) t.notOk(await blobs.has(key), key);
      t.ok(await blobs.has(fileKey(ann.id, kept.id)));
      const again = await spool.signIn('ann@x.test');
      t.equal((await again.app.send('GET', `/files/${kept.id}/content`)).status, 200);
      t.equal((await again.app.send('GET', `/files/${left.file.id}`)).status, 404);
    },
  );
});
