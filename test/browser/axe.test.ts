import t from 'tap';
import { ROUTES } from '../../routes/index.js';
import { TestAccount } from '../fixtures/account.js';
import { looksWell, pathsIn } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';

/**
 * Every page that there is, by the tables that say which there are: axe finds nothing, small and dark, wide and light. Those
 * of sign-in are looked at in pages.test.ts, where each of their states is reached, and those of the app in axe_app.test.ts.
 */

const browsing = await Browsing.start(t, { CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
const { spool } = browsing;
const walk = browsing.walk.bind(browsing, t);

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
