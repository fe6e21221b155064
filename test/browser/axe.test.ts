import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { ROUTES } from '../../routes/index.js';
import { TestAccount } from '../fixtures/account.js';
import { appUrl, enterApp, looksWell, settled } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { TestEndpoint } from '../fixtures/endpoints.js';
import { makeInsights } from '../fixtures/insights.js';
import { Receiver } from '../fixtures/receiver.js';
import { said, TestRecording, TestTranscriber } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/**
 * Every page that there is, by the tables that say which there are: axe finds nothing, small and dark, wide and light. Those
 * of sign-in are looked at in pages.test.ts, where each of their states is reached.
 */

const receiver = await Receiver.start();
t.teardown(() => receiver.end());
const browsing = await Browsing.start(t, { CHUNK_WORKER: '1', CONTENT_WORKER: '0', ...receiver.env });
const { spool } = browsing;
const walk = browsing.walk.bind(browsing, t);

/** The values of `path` in a table of the app's, which itself runs in browsers alone. */
function pathsIn(file: string): string[] {
  const text = readFileSync(fileURLToPath(new URL(`../../../app/${file}`, import.meta.url)), 'utf8');
  return [...text.matchAll(/\bpath: '([^']+)'/g)].map(([, path = '']) => path);
}

await walk('pages without a sign-in: the start, the reference, the guides', async (t, { page }) => {
  const { base_url } = spool.server;
  const rows = ROUTES.public.filter((row) => row.method === 'GET' && row.dialect === 'page' && !row.path.includes(':'));
  let looked = 0;
  for (const { path } of rows) {
    const answer = await fetch(base_url + path, { redirect: 'manual' });
    const is_page = answer.status === 200 && /^text\/html/.test(answer.headers.get('content-type') ?? '');
    await answer.body?.cancel();
    if (!is_page || path.startsWith('/app')) continue;
    looked++;
    await page.goto(base_url + path);
    await looksWell(t, page, path);
  }
  t.ok(looked >= 30, `${looked} pages`);
});

await walk('pages of the app', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const account = await TestAccount.open(spool, email);
  const { app } = account;
  const recording = await TestRecording.begin(account, {
    captured_at: new Date(spool.server.services.clock.now()).toISOString(),
  });
  await recording.add(9_000);
  await recording.end();
  const worker = new TestTranscriber(spool);
  await worker.publish(await worker.claim(recording.id), [said('I will water the roses', [500, 2_500], 'a')]);
  await makeInsights(account, recording, {
    suggestions: [{ text: 'Water the roses', kind: 'task', at: [[500, 2_500]] }],
  });
  const { session } = await spool.hostSession(app);
  const endpoint = await TestEndpoint.open(account, receiver.on('/axe', 204));
  await app.call('PATCH /me', { body: { name: 'Ann' } });
  const deliveries = () => app.call('GET /endpoints/{id}/deliveries', { path: { id: endpoint.id } });
  await until('something is delivered', async () => (await deliveries()).items.length > 0);
  const { workspaces } = await app.call('GET /me');
  const ids: Record<string, string | undefined> = {
    '/recordings/:id': recording.id,
    '/workspaces/:id': workspaces[0]?.id,
    '/sessions/:id': session.id,
    '/sessions/:id/summary': session.id,
    '/webhooks/:id': endpoint.id,
    '/webhooks/:id/deliveries/:delivery_id': endpoint.id,
  };
  const delivery_id = (await deliveries()).items[0]?.id ?? '';
  await enterApp(browsing, visitor, '/recordings', email);
  for (const path of pathsIn('routes.ts')) {
    if (path.includes(':')) t.ok(ids[path], `${path} has an example here`);
    const filled = path.replace(':id', ids[path] ?? '').replace(':delivery_id', delivery_id);
    await page.goto(appUrl(browsing, filled));
    await settled(page);
    await looksWell(t, page, path);
  }
});

await walk('pages of operators', async (t, visitor) => {
  const { page } = visitor;
  const url = `http://localhost:${spool.server.ports.operator}`;
  await page.goto(`${url}/sign-in`);
  await looksWell(t, page, '/sign-in');
  await page.locator('#token').fill(spool.server.services.ops_token);
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
  const account = await TestAccount.open(spool, browsing.somebody());
  const paths = pathsIn('operator/views.ts');
  t.ok(paths.length >= 9);
  for (const path of [...paths, `/entity?kind=account&id=${account.id}`]) {
    await page.goto(url + path);
    await page.locator('#state[data-state=live]').waitFor();
    await looksWell(t, page, path);
  }
});
