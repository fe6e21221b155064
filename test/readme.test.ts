import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { request as sendHttp } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { LIMITS } from '../src/domain/limits.js';
import { backoffMs } from '../src/domain/webhooks.js';
import { describeSettings } from '../src/host/settings.js';
import { TestAccount } from './fixtures/account.js';
import { type Arrived, Receiver } from './fixtures/receiver.js';
import { TestSpool } from './fixtures/spool.js';
import { tempFolder } from './fixtures/temp_folder.js';
import { until } from './fixtures/until.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const guide = read('docs/webhooks.md');
const texts = [
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'BENCHMARKS.md',
  ...readdirSync(join(root, 'docs')).map((file) => `docs/${file}`),
  ...readdirSync(join(root, 'examples'), { recursive: true }).map((file) => `examples/${file}`),
]
  .filter((path) => path.endsWith('.md'))
  .map((path) => ({ path, text: read(path) }));

t.test('docs/settings.md lists every setting as the server knows it, in its order', async (t) => {
  const rows = [...read('docs/settings.md').matchAll(/^\| `([A-Z_]+)` .*$/gm)].map(([row]) =>
    row.replaceAll(/ +/g, ' '),
  );
  t.same(
    rows,
    describeSettings().map(({ name, default_text, meaning }) => `| \`${name}\` | ${default_text} | ${meaning} |`),
  );
});

t.test('README.md has at most 120 lines', async (t) => {
  t.ok(read('README.md').trimEnd().split('\n').length <= 120);
});

t.test('the map names every room', async (t) => {
  const map = /^## The map$(.*)/ms.exec(read('docs/architecture.md'))?.[1] ?? '';
  const foldersIn = (path: string) =>
    readdirSync(join(root, path), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${path}${name}/`);
  const storeys = ['src/host/', 'src/edge/', 'src/features/', 'src/engine/', 'routes/', 'actors/'];
  const rooms = [...foldersIn('src/').filter((path) => !storeys.includes(path)), ...storeys.flatMap(foldersIn)];
  t.ok(rooms.length > 40);
  const isNamed = (room: string) => map.includes(`| \`${room}\``);
  // A feature that is divided is named by its rooms.
  for (const room of rooms) {
    const inside = foldersIn(room);
    t.ok(isNamed(room) || (inside.length > 0 && inside.every(isNamed)), room);
  }
});

t.test('every link between texts leads somewhere, and every file and folder that they name is there', async (t) => {
  const anchorsIn = (text: string) =>
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title.toLowerCase().replace(/[^a-z0-9]+/g, '-'));
  for (const { path, text } of texts) {
    for (const [, target = '', anchor] of text.matchAll(/\]\((?!https?:|\/)([^)#]*)(?:#([^)]+))?\)/g)) {
      const file = target === '' ? path : join(dirname(path), target);
      t.ok(existsSync(join(root, file)), `${path} links to ${file}`);
      if (anchor !== undefined) t.ok(anchorsIn(read(file)).includes(anchor), `${path} links to ${file}#${anchor}`);
    }
    const named = /`((?:actors|bench|bin|certs|docs|examples|kits|monitoring|routes|src|test)\/[\w./-]*)`/g;
    for (const [, file = ''] of text.matchAll(named)) t.ok(existsSync(join(root, file)), `${path} names ${file}`);
  }
});

t.test('F-026 the webhook guide tells when a delivery is tried again', async (t) => {
  const wanted = Array.from({ length: LIMITS.delivery_attempts_max - 1 }, (_, index) => backoffMs(index + 1, 0.5));
  const row = /\| the next in +\|(.*)\|/.exec(guide)?.[1]?.split('|') ?? [];
  const told = row.map((cell) => {
    const parts = { h: 3_600_000, min: 60_000, s: 1_000 };
    return [...cell.matchAll(/(\d+) (h|min|s)\b/g)].reduce(
      (sum, [, count, unit]) => sum + Number(count) * parts[unit as keyof typeof parts],
      0,
    );
  });
  t.same(
    told,
    wanted.map((ms) => (ms > 3_600_000 ? Math.round(ms / 60_000) * 60_000 : ms)),
    'to the minute where it takes hours',
  );
});

/** Passes a request on, as a proxy that ends TLS does; the status of the answer. */
function passOn(port: number, { headers, body }: Pick<Arrived, 'headers' | 'body'>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = sendHttp({ port, host: '127.0.0.1', method: 'POST', path: '/', headers }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('error', reject).end(body);
  });
}

t.test('F-022 F-023 F-024 the receiver in the webhook guide takes what Spool sends, each delivery once', async (t) => {
  const source = /^```js receiver\n(.*?)^```$/ms.exec(guide)?.[1] ?? '';
  t.ok(source.split('\n').length < 32, 'it is short');
  const folder = tempFolder(t);
  const file = join(folder, 'receiver.mjs');
  // Only so that the test learns which port it got.
  writeFileSync(file, source.replace(/\);\n$/, `, function () { console.log('port', this.address().port); });\n`));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));

  const receiver = await Receiver.start();
  const spool = await TestSpool.start(receiver.env);
  const ann = await TestAccount.open(spool, 'ann@example.org');
  type Made = { endpoint: { id: string }; signing_secret: string };
  const { endpoint, signing_secret } = await ann.ask<Made>('POST', '/endpoints', { url: receiver.url('/hook') });
  const child = spawn(process.execPath, [file], {
    env: { PATH: process.env.PATH, PORT: '0', SPOOL_WEBHOOK_SECRET: signing_secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(async () => {
    child.kill();
    await spool.end();
    await receiver.end();
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  await until('it listens', () => /port \d+/.test(out));
  const port = Number(/port (\d+)/.exec(out)?.[1]);
  receiver.on('/hook', async (_nth, { headers }, response, body) => {
    response.writeHead(await passOn(port, { headers, body })).end();
  });

  await ann.ask('PATCH', '/me', { name: 'Ann' });
  const [first] = await receiver.count('/hook', 1);
  type Page = { items: { status: string }[] };
  await until('it is accepted', async () => {
    const { items } = await ann.ask<Page>('GET', `/endpoints/${endpoint.id}/deliveries`);
    return items[0]?.status === 'succeeded';
  });
  t.equal(await passOn(port, first as Arrived), 204, 'once more');
  t.equal(out.match(/^account\.updated /gm)?.length, 1, 'but taken once');
  t.equal(
    await passOn(port, { ...(first as Arrived), body: (first as Arrived).body.replace('updated', 'deleted') }),
    401,
  );
});
