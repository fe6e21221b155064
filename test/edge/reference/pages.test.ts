import { readFileSync } from 'node:fs';
import t from 'tap';
import { ROUTES } from '../../../routes/index.js';
import { areaId, areasOf } from '../../../src/edge/http/openapi/areas.js';
import { documentsOf } from '../../../src/edge/http/openapi/documents.js';
import { clientTypes } from '../../../src/edge/http/openapi/typescript.js';
import { GUIDES as ALL_GUIDES } from '../../../src/edge/reference/guide_names.js';
import { TestSpool } from '../../fixtures/spool.js';

const spool = await TestSpool.start();
t.teardown(() => spool.end());
const GUIDES: string[] = ALL_GUIDES.map(({ name }) => `/guides/${name}`);
/** The pages of the reference, each with the listener whose routes it shows. */
const AREAS = (['public', 'device'] as const).flatMap((listener) =>
  areasOf(ROUTES[listener]).map(({ name }) => ({
    ...{ listener, name, path: `${listener === 'public' ? '/reference' : '/reference/devices'}/${areaId(name)}` },
  })),
);
const INDEXES = [
  { path: '/reference', listener: 'public' },
  { path: '/reference/devices', listener: 'device' },
] as const;
const SHAPES = INDEXES.map(({ path }) => `${path}/shapes`);
const PAGES = [...INDEXES, ...AREAS].map(({ path }) => path).concat(SHAPES, GUIDES, '/guides');
const documents = documentsOf(ROUTES, () => '');
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
  const followed = new Set<string>();
  for (const path of PAGES) {
    const answer = await get(path);
    t.equal(answer.status, 200, path);
    t.match(
      answer.headers.get('content-security-policy'),
      /^default-src 'none'; style-src 'self'; .*script-src 'self'/,
    );
    const page = await answer.text();
    t.notMatch(
      page,
      /<script(?! type="module" src="\/assets\/(?:reference|copy_buttons|samples|try_it)-[0-9a-f]{16}\.js">)|\son\w+=|style="/,
    );
    for (const [, address = ''] of page.matchAll(/ (?:src|href)="([^"#]+)/g)) {
      if (/^https:\/\/(www\.standardwebhooks\.com|caddyserver\.com)$/.test(address)) continue;
      if (followed.has(address)) continue;
      followed.add(address);
      t.equal((await get(address, { Accept: 'text/html, */*' })).status, 200, `${path} leads to ${address}`);
    }
  }
});

const idsOn = (page: string) => new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
const textOf = async (path: string) => (await get(path)).text();

t.test('each area shows its operations, and every link within the reference leads to something', async (t) => {
  const pages = new Map(await Promise.all(PAGES.map(async (path) => [path, await textOf(path)] as const)));
  const ids = new Map([...pages].map(([path, page]) => [path, idsOn(page)]));
  let [shown, links] = [0, 0];
  for (const { path, listener, name } of AREAS) {
    for (const item of Object.values(documents[listener].paths)) {
      for (const { operationId, tags } of Object.values(item).filter((one) => one.tags[0] === name)) {
        shown += 1;
        t.ok(ids.get(path)?.has(operationId), `${operationId} on ${path} of ${tags}`);
      }
    }
  }
  const all = [documents.public, documents.device].flatMap(({ paths }) => Object.values(paths).flatMap(Object.values));
  t.equal(shown, all.length);
  for (const [path, page] of pages) {
    for (const [, to = '', anchor = ''] of page.matchAll(/ (?:href|data-leads-to)="([^"#]*)#([^"]+)"/g)) {
      if (to.startsWith('http')) continue;
      links += 1;
      if (!ids.get(to === '' ? path : to)?.has(anchor)) t.fail(`${path} leads to ${to}#${anchor}`);
    }
    t.equal(ids.get(path)?.size, [...page.matchAll(/ id="([^"]+)"/g)].length, `${path}: each id once`);
    // An area of many operations folds what is long, and the pages stay pages.
    t.ok(page.length < 600_000, `${path} has ${page.length} characters`);
  }
  t.ok(links > 500, `${links} links`);
});

t.test('each operation shows a request and every answer, each as an example', async (t) => {
  for (const { path, listener, name } of AREAS) {
    const page = await textOf(path);
    for (const item of Object.values(documents[listener].paths)) {
      for (const { operationId, responses } of Object.values(item).filter((one) => one.tags[0] === name)) {
        const from = page.indexOf(`<article class="operation" id="${operationId}"`);
        const article = page.slice(from, page.indexOf('</article>', from));
        const wanted = Object.entries(responses).flatMap(([status, { description, content }]) => {
          const is_refused = status >= '400' && content?.['application/json'] !== undefined;
          return (is_refused ? description.split(', ') : ['Example']).map((code) => `${status} ${code}`);
        });
        const told = [...article.matchAll(/<summary class="example-head">([\s\S]*?)<\/summary>/g)].map(
          ([, head = '']) =>
            head
              .replace(/<[^>]+>/g, '')
              .replace(/\s+/g, ' ')
              .trim(),
        );
        t.same(told, wanted, operationId);
        for (const [language, begins] of [
          ['curl', 'curl'],
          ['TypeScript', 'const answer = await '],
          ['Python', 'answer = requests.'],
        ])
          t.match(article, `<code data-copy="the request in ${language}">${begins}`);
      }
    }
  }
});

t.test('the search has every operation of both references, with what it is found by', async (t) => {
  const answer = await get('/reference/search.json');
  const rows = (await answer.json()) as string[][];
  const all = [documents.public, documents.device].flatMap(({ paths }) => Object.values(paths).flatMap(Object.values));
  t.equal(rows.length, all.length);
  t.ok(rows.every((row) => row.length === 6));
  const join = rows.find(([address]) => address?.endsWith('#postDeviceSessionsByIdJoin'));
  t.match(join, [
    '/reference/devices-and-recorder-sessions#postDeviceSessionsByIdJoin',
    'POST',
    '/device-sessions/{id}/join',
    /./,
    'Devices and recorder sessions',
    /join_code.*|conflict/,
  ]);
  const again = await get('/reference/search.json', { 'If-None-Match': answer.headers.get('etag') ?? '' });
  t.equal(again.status, 304);
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

t.test('each block of code of a guide is copied by a button', async (t) => {
  const page = await (await get('/guides/assistants')).text();
  t.equal(page.split('<pre').length, page.split(/<pre tabindex="0"><code data-copy="th[a-zA-Z ]+">/).length);
  t.match(page, '<code data-copy="these commands">');
});

t.test('the types of our clients are made of the present tables', async (t) => {
  const kept = readFileSync(new URL('../../../../kits/typescript/src/api.ts', import.meta.url), 'utf8');
  t.equal(kept, clientTypes(documentsOf(ROUTES, () => '')), 'npm run spool -- client writes them anew');
});
