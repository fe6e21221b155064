import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { call } from '../../../kits/typescript/src/http_call.js';
import { TestSpool } from '../../fixtures/spool.js';

/** What a browser loads over the first visit to /app until it paints, in bytes on the wire. */
const FIRST_PAINT_BYTES_MAX = 70_000;

t.test('the account’s own pages, as they are served', async (t) => {
  const spool = await TestSpool.start();
  t.teardown(() => spool.end());
  const get = (path: string, headers: Record<string, string> = {}) =>
    call({ method: 'GET', url: new URL(path, spool.base_url), headers });
  const shell = await get('/app');
  const html = shell.body.toString();
  const named = [...html.matchAll(/<(?:script|link) ([^>]*)(?:src|href)="(\/assets\/app\/[^"]+)"/g)].map(
    ([, before = '', path = '']) => ({ path, is_later: before.includes('prefetch') }),
  );

  await t.test('every address under /app has the same document, which knows nobody', async (t) => {
    for (const path of ['/app', '/app/', '/app/recordings/1', '/app/callback?code=1&state=2', '/app/no/such/page']) {
      const answer = await get(path, { Authorization: 'Bearer x', Cookie: 'a=b' });
      t.equal(answer.status, 200, path);
      t.equal(answer.body.toString(), html);
      t.equal(answer.headers['cache-control'], 'no-store');
      t.equal(answer.headers['set-cookie'], undefined);
    }
    t.equal((await get('/apple')).status, 404);
    t.match(html, `data-base-url="${spool.server.base_url}"`);
  });

  await t.test('nothing runs but scripts of this server', async (t) => {
    const policy = String(shell.headers['content-security-policy']);
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ]) {
      t.ok(policy.split('; ').includes(rule), rule);
    }
    t.notMatch(policy, /unsafe|https?:/);
    t.notMatch(html, /<script(?![^>]* src=)|<style|style=| on\w+=/);
    t.match(shell.headers, { 'x-frame-options': 'DENY', 'referrer-policy': 'no-referrer' });
  });

  await t.test('what it loads lies at the address of its content, for good, compressed as it is wanted', async (t) => {
    let bytes = 0;
    for (const { path, is_later } of [...named, { path: '/app/worker.js', is_later: true }]) {
      const [plain, br, gzip, refused] = await Promise.all([
        get(path),
        get(path, { 'Accept-Encoding': 'gzip, deflate, br' }),
        get(path, { 'Accept-Encoding': 'gzip' }),
        get(path, { 'Accept-Encoding': 'br;q=0, gzip;q=0' }),
      ]);
      t.equal(plain.headers['content-encoding'], undefined);
      t.equal(br.headers['content-encoding'], 'br');
      t.equal(gzip.headers['content-encoding'], 'gzip');
      t.ok(brotliDecompressSync(br.body).equals(plain.body));
      t.ok(gunzipSync(gzip.body).equals(plain.body));
      t.ok(refused.body.equals(plain.body));
      const is_hashed = path !== '/app/worker.js';
      t.equal(plain.headers['cache-control'], is_hashed ? 'public, max-age=31536000, immutable' : 'no-store');
      t.equal(plain.headers.vary, 'Origin, Accept-Encoding');
      t.match(plain.headers['content-type'], /^text\/(javascript|css); charset=utf-8$/);
      if (!is_later) bytes += br.body.length;
    }
    t.ok(bytes <= FIRST_PAINT_BYTES_MAX, `${bytes} bytes`);
    t.comment(`${bytes} bytes with brotli`);
  });

  await t.test('K-360 pages that are not the first are scripts of their own, which the document names', async (t) => {
    const later = named.filter(({ is_later }) => is_later).map(({ path }) => path);
    t.equal(later.filter((path) => /\/(content|setup)-[A-Z0-9]{8}\.js$/.test(path)).length, 2);
    t.equal(new Set(named.map(({ path }) => path)).size, named.length);
    for (const { path } of named.filter((one) => !one.is_later && one.path.endsWith('.js')))
      for (const [, imported = ''] of (await get(path)).body.toString().matchAll(/(?:from|import)"([^"]+\.js)"/g))
        t.ok(
          named.some((one) => one.path === imported && !one.is_later),
          `${imported} is not found out late`,
        );
  });

  await t.test('D-074 a manifest names the app and its icons', async (t) => {
    const [, path = ''] = /<link rel="manifest" href="([^"]+)">/.exec(html) ?? [];
    const answer = await get(path);
    t.match(answer.headers['content-type'], 'application/manifest+json');
    const manifest = JSON.parse(answer.body.toString());
    t.match(manifest, { name: 'Spool', start_url: '/app', scope: '/app', display: 'standalone' });
    t.same(new Set(manifest.icons.map(({ purpose }: { purpose: string }) => purpose)), new Set(['any', 'maskable']));
    for (const { src, type } of manifest.icons as { src: string; type: string }[]) {
      const icon = await get(src);
      t.equal(icon.status, 200, src);
      t.equal(icon.headers['content-type'], type);
    }
    t.match(String(shell.headers['content-security-policy']), "manifest-src 'self'");
  });

  await t.test('the worker may stand before all of /app', async (t) => {
    t.equal((await get('/app/worker.js')).headers['service-worker-allowed'], '/app');
  });
});
