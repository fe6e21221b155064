import { readFileSync } from 'node:fs';
import t from 'tap';
import { ROUTES } from '../../../routes/index.js';
import { documentsOf } from '../../../src/http/openapi/documents.js';
import { clientTypes } from '../../../src/http/openapi/typescript.js';
import { TestSpool } from '../../fixtures/spool.js';

const spool = await TestSpool.start();
t.teardown(() => spool.end());
const GUIDES = ['devices', 'webhooks', 'transcription', 'insights', 'search', 'assistants'].map(
  (name) => `/guides/${name}`,
);
const PAGES = ['/reference', '/reference/devices', ...GUIDES];
const get = (path: string, headers: Record<string, string> = {}) => fetch(`${spool.base_url}${path}`, { headers });

t.test('the documents are served, with a tag that spares sending them again', async (t) => {
  for (const [path, title] of [
    ['/openapi.json', 'Spool'],
    ['/openapi/device.json', 'Spool devices'],
  ] as const) {
    const answer = await get(path);
    t.equal(answer.status, 200);
    t.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
    t.match(await answer.json(), { openapi: '3.1.1', info: { title } });
    const tag = answer.headers.get('etag') ?? '';
    const again = await get(path, { 'If-None-Match': `W/${tag}` });
    t.equal(again.status, 304);
    t.equal(await again.text(), '');
    t.equal((await get(path, { 'If-None-Match': '"another"' })).status, 200);
  }
  const operator = await fetch(`http://127.0.0.1:${spool.server.ports.operator}/openapi/operator.json`);
  t.match(await operator.json(), { info: { title: 'Spool operator port' } });
});

t.test('pages load nothing from elsewhere, and no script that is not a file of ours', async (t) => {
  for (const path of PAGES) {
    const answer = await get(path);
    t.equal(answer.status, 200, path);
    t.match(
      answer.headers.get('content-security-policy'),
      /^default-src 'none'; style-src 'self'; .*script-src 'self'/,
    );
    const page = await answer.text();
    t.notMatch(page, /<script(?! src="\/assets\/(?:reference|copying)-[0-9a-f]{16}\.js" defer>)|\son\w+=|style="/);
    for (const [, address = ''] of page.matchAll(/ (?:src|href)="([^"#]+)/g)) {
      if (address.startsWith('https://www.standardwebhooks.com')) continue;
      t.equal((await get(address, { Accept: 'text/html, */*' })).status, 200, `${path} leads to ${address}`);
    }
  }
});

t.test('the reference shows every operation of its document, and every link on it leads somewhere', async (t) => {
  for (const [path, listener] of [
    ['/reference', 'public'],
    ['/reference/devices', 'device'],
  ] as const) {
    const page = await (await get(path)).text();
    const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    for (const item of Object.values(documentsOf(ROUTES, () => '')[listener].paths)) {
      for (const { operationId } of Object.values(item)) t.ok(ids.has(operationId), operationId);
    }
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) t.ok(ids.has(target), `#${target}`);
  }
});

t.test('the routes that the guides call are there', async (t) => {
  const guides = await Promise.all(GUIDES.map(async (path) => (await get(path)).text()));
  const routes = [...ROUTES.public, ...ROUTES.device, ...ROUTES.operator];
  for (const [, named = ''] of guides.join('').matchAll(/\$(?:API|DEV|OPS)(\/[a-z/-]+)/g)) {
    t.ok(
      routes.some(({ path }) => path.startsWith(named.replace(/\/$/, ''))),
      named,
    );
  }
});

t.test('C-118 the guide of assistants names the address that they connect to', async (t) => {
  const page = await (await get('/guides/assistants')).text();
  t.match(page, `claude mcp add --transport http --scope user spool ${spool.server.base_url}/mcp`);
  t.notMatch(page, 'spool.example');
});

t.test('the types of our clients are made of the present tables', async (t) => {
  const kept = readFileSync(new URL('../../../../src/tools/client/api.ts', import.meta.url), 'utf8');
  t.equal(kept, clientTypes(documentsOf(ROUTES, () => '')), 'npm run client writes them anew');
});
