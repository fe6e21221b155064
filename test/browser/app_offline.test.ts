import type { Page } from 'playwright-core';
import t from 'tap';
import { appUrl, enterApp, looksWell, settled } from '../fixtures/app_browsing.js';
import { Browsing, type Visitor } from '../fixtures/browsing.js';

/** The app without a connection, and as something that is installed. */

const browsing = await Browsing.start(t);
const walk = browsing.walk.bind(browsing, t);

/** The service worker stands before the page, and has kept the document. */
const isKept = async (page: Page) => {
  await page.evaluate('navigator.serviceWorker.ready');
  await page.waitForFunction('navigator.serviceWorker.controller !== null');
  await page.waitForFunction('caches.match("/app").then((found) => found !== undefined)');
};
const keptPaths = (page: Page) =>
  page.evaluate(`caches.keys().then(async (names) => {
    const kept = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
    return kept.flat().map(({ url }) => new URL(url).pathname);
  })`) as Promise<string[]>;
/** What the browser says of each request that found no connection, and of a worker that a test left out. */
const forgiveLostRequests = (visitor: Visitor) => {
  const others = visitor.complaints.filter(
    (text) => !/ERR_(INTERNET_DISCONNECTED|FAILED)|registration blocked/.test(text),
  );
  visitor.complaints.splice(0, visitor.complaints.length, ...others);
};

await walk(
  'D-075 without a connection the app is shown and says so, and goes on when it is back',
  async (t, visitor) => {
    const { page, context } = visitor;
    await enterApp(browsing, visitor, '/recordings');
    await isKept(page);
    await context.setOffline(true);
    await page.getByText('You are offline. What you see may be out of date.').waitFor();
    await looksWell(t, page, 'a page after the connection was lost');
    await page.reload();
    await page.getByRole('heading', { name: 'You are offline' }).waitFor();
    await looksWell(t, page, 'a page that was opened without a connection');
    await page.goto(appUrl(browsing, '/todo'));
    await page.getByRole('heading', { name: 'You are offline' }).waitFor();
    const kept = await keptPaths(page);
    t.ok(kept.includes('/app'));
    t.same(
      kept.filter((path) => path !== '/app' && !path.startsWith('/assets/')),
      [],
      'no answer of the API is kept',
    );
    await context.setOffline(false);
    await settled(page);
    await page.getByText('You are offline').waitFor({ state: 'hidden' });
    await context.setOffline(true);
    await page.evaluate('caches.keys().then((names) => Promise.all(names.map((name) => caches.delete(name))))');
    await t.rejects(page.reload(), 'there was no connection: what was shown came from the caches');
    forgiveLostRequests(visitor);
  },
);

await walk('D-075 a new build takes the place of the one that is kept', async (t, visitor) => {
  const { page } = visitor;
  await page.goto(appUrl(browsing, ''));
  await isKept(page);
  const names = (await page.evaluate('caches.keys()')) as string[];
  await page.evaluate(`caches.open('spool-shell /assets/app/main-EARLIER.js').then((cache) =>
    cache.put('/app', new Response('an earlier build')))`);
  await page.reload();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  await page.waitForFunction('caches.keys().then((names) => names.length === 1)');
  t.same(await page.evaluate('caches.keys()'), names);
});

await walk('D-074 the app can be installed', async (t, visitor) => {
  const { page } = visitor;
  await page.goto(appUrl(browsing, ''));
  const address = await page.locator('link[rel=manifest]').getAttribute('href');
  const manifest = JSON.parse(
    (await page.evaluate(`fetch(${JSON.stringify(address)}).then((answer) => answer.text())`)) as string,
  ) as { icons: { src: string; sizes: string }[] };
  for (const { src, sizes } of manifest.icons.filter((icon) => icon.sizes !== 'any')) {
    const width = await page.evaluate(
      `new Promise((resolve, reject) => Object.assign(new Image(), { onload() { resolve(this.naturalWidth); }, onerror: reject, src: ${JSON.stringify(src)} }))`,
    );
    t.equal(`${width}x${width}`, sizes);
  }
  const session = await visitor.context.newCDPSession(page);
  const { installabilityErrors } = (await session.send('Page.getInstallabilityErrors')) as {
    installabilityErrors: { errorId: string }[];
  };
  // A browser without a window of its own, or in private, installs nothing.
  const faults = installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito');
  t.same(faults, []);
});

await walk(
  'K-360 a page whose script can not be loaded says so, and is loaded again with the document',
  async (t, visitor) => {
    const { page, context } = visitor;
    const scripts = '**/assets/app/setup-*.js';
    await context.route(scripts, (route) => route.abort());
    await enterApp(browsing, visitor, '/recordings');
    await page.getByRole('link', { name: 'Devices' }).click();
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    await looksWell(t, page, 'a page whose script is missing');
    await page.getByRole('link', { name: 'Recordings', exact: true }).click();
    await page.getByRole('heading', { name: 'Recordings', exact: true }).waitFor();
    await page.goBack();
    await context.unroute(scripts);
    await page.getByRole('button', { name: 'Load again' }).click();
    await page.getByRole('heading', { name: 'Devices', exact: true }).waitFor();
    forgiveLostRequests(visitor);
  },
  { serviceWorkers: 'block' },
);
