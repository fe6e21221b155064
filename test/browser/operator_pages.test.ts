import type { Page } from 'playwright-core';
import t from 'tap';
import { Storage } from '../driver/storage.js';
import { TestAccount } from '../fixtures/account.js';
import { Browsing, headingOf, type Visitor } from '../fixtures/browsing.js';
import { TestEndpoint } from '../fixtures/endpoints.js';
import { contrast, inspect, luminance } from '../fixtures/page_inspection.js';
import { Receiver } from '../fixtures/receiver.js';
import { record } from '../fixtures/recording.js';
import { until } from '../fixtures/until.js';

const { proxy, env } = await Storage.open(t);
const receiver = await Receiver.start();
t.teardown(() => receiver.end());
const browsing = await Browsing.start(t, { ...env, ...receiver.env });
const { spool } = browsing;
const { ops_token, runtime, store, watch } = spool.server.services;
const url = `http://localhost:${spool.server.ports.operator}`;
const walk = browsing.walk.bind(browsing, t);
const ann = await TestAccount.open(spool, 'ann@x.test');
const address = receiver.on('/ann', 204);
const { host } = new URL(address);
const endpoint = await TestEndpoint.open(ann, address);
const silent = await spool.boundDevice(ann.app);
await record(silent.device, silent);

const signed_in = await fetch(`${url}/sign-in`, {
  ...{ method: 'POST', redirect: 'manual', headers: { Origin: url } },
  body: new URLSearchParams({ token: ops_token }),
});
const [, name = '', value = ''] = /^(\w+)=([^;]+)/.exec(signed_in.headers.get('set-cookie') ?? '') ?? [];
/** Somebody who has signed in before. */
const enter = async ({ page, context }: Visitor, path = '/') => {
  await context.addCookies([{ name, value, url }]);
  await page.goto(url + path);
  await answered(page);
};
const answered = async (page: Page) => {
  await page.locator('#state[data-state=live]').waitFor();
  await page.locator('#content .loading').first().waitFor({ state: 'hidden' });
};
/** What the page does by itself every few seconds. */
const look = (page: Page) => page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
/** Browsers move the focus there some time after the page has loaded. */
const typeToken = async (page: Page, token: string) => {
  await page.locator('#token:focus').waitFor();
  await page.keyboard.type(token);
};
const band = (page: Page, name: string) => page.locator(`#band [data-name=${name}]`);
const shows = (what: string, page: Page, condition: () => Promise<boolean>) =>
  until(what, async () => {
    await look(page);
    return condition();
  });

await walk('signing in by keyboard, with a wrong token first, and signing out', async (t, visitor) => {
  const { page } = visitor;
  await page.goto(`${url}/devices`);
  t.equal(await headingOf(page), 'Sign in to the operator port');
  await typeToken(page, 'wrong');
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
  t.equal(await page.getByRole('alert').textContent(), 'This is not the operator token.');
  t.match(await page.title(), /^Error: /);
  await typeToken(page, ops_token);
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
  t.equal(new URL(page.url()).pathname, '/devices', 'where one wanted to go');
  await answered(page);
  await visitor.context.clearCookies();
  await look(page);
  await page.getByText('You are signed out.').waitFor();
  await visitor.follow('Sign in again');
  await typeToken(page, ops_token);
  await visitor.press('Sign in');
  await answered(page);
  await visitor.press('Sign out');
  await page.goto(`${url}/actors`);
  t.equal(await headingOf(page), 'Sign in to the operator port');
});

await walk('every view, small and dark, wide and light', async (t, visitor) => {
  const { page } = visitor;
  const views = [
    '/sign-in',
    '/',
    '/overview',
    '/overview?range=24h',
    '/actors',
    '/accounts',
    '/devices',
    '/endpoints?account=ann@x.test',
    '/content',
    '/mails',
  ];
  const entities = [
    { kind: 'account', id: ann.id },
    { kind: 'endpoint', id: endpoint.id },
  ].map((entity) => `/entity?${new URLSearchParams(entity)}`);
  for (const view of [...views, ...entities]) {
    if (view === '/') await enter(visitor);
    else await page.goto(url + view);
    if (view !== '/sign-in') await answered(page);
    for (const [width, colorScheme] of [
      [320, 'dark'],
      [1280, 'light'],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      await page.evaluate('document.getAnimations().forEach((animation) => animation.finish())');
      // Charts are drawn anew once they know of their new width.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      const name = `${view.slice(0, 20)}, ${colorScheme}`;
      const seen = await inspect(page);
      const wanted = {
        lang: 'en',
        headings: 1,
        mains: 1,
        outside: 0,
        unlabelled: 0,
        nameless: 0,
        pictures: 0,
        scrolls: false,
      };
      t.match(seen, wanted, name);
      t.same([...seen.twice, ...seen.nowhere, ...seen.skips, ...seen.small, ...seen.wide], [], name);
      t.equal(luminance(seen.scheme) < 0.1, colorScheme === 'dark', name);
      for (const { text, colour, ground } of seen.texts) {
        const found = contrast(colour, ground);
        if (found < 4.5) t.fail(`${name}: contrast ${found.toFixed(2)} of "${text}"`);
      }
    }
  }
});

await walk('charts show what was done, at once when the page is opened, and the next sample', async (t, visitor) => {
  const { page } = visitor;
  const label = async (title: string) =>
    (await page.getByRole('img', { name: title }).getAttribute('aria-label')) ?? '';
  // Again where a sample that nobody asked for came between.
  await until('what was done is drawn', async () => {
    await watch.sample();
    for (let n = 0; n < 20; n++) await ann.ask('PATCH', '/me', { name: `Ann ${n}` });
    await watch.sample();
    await enter(visitor, '/overview');
    return /^Commits: commits [1-9][\d.,]*\/s, conflicts 0\/s$/.test(await label('Commits:'));
  });
  t.match(await label('Redis answers in:'), /time [\d.]+ ms$/);
  const drawn = `[...document.querySelectorAll('.plot canvas')].filter((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return data.some((value) => value !== 0);
    }).length`;
  t.equal(await page.evaluate(drawn), await page.locator('.plot').count());
  await page.evaluate(`new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) globalThis.shifted = (globalThis.shifted ?? 0) + value;

    }).observe({ type: 'layout-shift', buffered: false })`);
  await watch.sample();
  await shows('the next sample', page, async () => (await label('Commits:')) === 'Commits: commits 0/s, conflicts 0/s');
  const shifted = (await page.evaluate('globalThis.shifted ?? 0')) as number;
  t.ok(shifted < 0.001, `nothing jumps: ${shifted}`);
});

await walk('an endpoint that gets nothing, from the account’s email to the reason', async (t, visitor) => {
  const { page } = visitor;
  await ann.ask('PATCH', '/me', { name: 'Ann' });
  await endpoint.set('paused');
  await enter(visitor, '/endpoints');
  await page.getByLabel('Account (id or email) or endpoint id').fill('ann@x.test');
  await page.keyboard.press('Enter');
  await page.locator('#own').getByRole('link', { name: host }).click();
  await page.getByText('It gets nothing at the moment').waitFor();
  t.match(await page.locator('.reasons').textContent(), 'Its owner paused it');
  await until('its host is the heading', async () => (await headingOf(page)) === `Endpoint ${host}`);
  await page.getByRole('button', { name: `Copy the id ${endpoint.id}` }).click();
  await page.getByText(new RegExp(`${endpoint.id}( is copied)?\\.$`)).waitFor();
  await page.getByText('A webhook destination.').waitFor();
  t.match(
    await page.locator('#entity-state').textContent(),
    /taken[\d,]+Events up to this number have become deliveries/,
  );
  await page.goBack();
  await page.getByLabel('Account (id or email) or endpoint id').fill(endpoint.id);
  await page.keyboard.press('Enter');
  await page.getByText('Its owner paused it').waitFor();
  await page.getByLabel('Account (id or email) or endpoint id').fill('nobody');
  await page.keyboard.press('Enter');
  await page.getByText('There is no such account, and no such endpoint.').waitFor();
});

await walk('an account is found by a part of its email, and leads to what belongs to it', async (t, visitor) => {
  const { page } = visitor;
  await enter(visitor, '/accounts');
  const row = page.getByRole('row').filter({ hasText: 'ann@x.test' });
  await row.waitFor();
  await page.getByLabel('Email or id, or a part of it').fill('nn@x.te');
  await page.keyboard.press('Enter');
  await until('one is left', async () => (await page.locator('#accounts tbody tr').count()) === 1);
  t.match(page.url(), /\?find=nn%40x\.te$/, 'an address that can be sent on');
  await page.reload();
  await row.getByRole('link').click();
  await page.getByRole('heading', { name: 'Account ann@x.test' }).waitFor();
  await page
    .locator('#account-devices')
    .getByRole('button', { name: `Copy the id ${silent.device_id}` })
    .waitFor();
  await page
    .locator('#account-endpoints')
    .getByRole('button', { name: `Copy the id ${endpoint.id}` })
    .waitFor();
  await page
    .locator('#account-streams')
    .getByText(/^1 chunk, /)
    .waitFor();
  await page.locator('#account-grants').getByText('No app is connected to it.').waitFor();
  const state = page.locator('#entity-state dl').first();
  t.notOk(await state.isVisible(), 'what is stored is folded');
  await page.locator('#entity-state summary').focus();
  await page.keyboard.press('Enter');
  t.ok(await state.isVisible());
  await look(page);
  await answered(page);
  t.ok(await state.isVisible(), 'it stays unfolded');
  await page.getByRole('link', { name: 'All devices on their own page' }).click();
  await page.locator('#provisioned').getByRole('link', { name: 'personal device of ann@x.test' }).waitFor();
  await page.getByLabel('Status').selectOption('revoked');
  await page.locator('#provisioned').getByRole('button', { name: 'Show' }).click();
  await page.getByText('There is no such device.').waitFor();
});

await walk('a longer time: percentiles and rates of all of it, and since when it is known', async (t, visitor) => {
  const { page } = visitor;
  await enter(visitor, '/overview');
  await page.getByRole('navigation', { name: 'Time range' }).getByRole('link', { name: '6 h' }).focus();
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
  await answered(page);
  t.match(page.url(), /\?range=6h$/);
  t.ok(await page.getByRole('heading', { name: 'The last 6 h' }).isVisible());
  const public_row = page.locator('#summary').getByRole('row', { name: /^Public / });
  t.match(await public_row.textContent(), /^Public[\d.]+\/s\d+[\d.]+ %[\d.]+ ms[\d.]+ ms[\d.]+ m?s$/);
  t.match(await page.locator('#summary').textContent(), /Measured since 2.*the server was not running before/);
  for (const word of ['Throughput', 'Error rate', 'p50', 'p95', 'p99', 'Saturation', 'Lag', 'Backlog', 'Dead letters'])
    t.match(await page.locator('#summary').textContent(), word);
});

await walk('a device that stopped uploading', async (t, visitor) => {
  const { page } = visitor;
  await spool.operator.advanceClock(11 * 60_000);
  await enter(visitor);
  await page.getByText(/^Mostly: /).waitFor();
  const devices = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Devices', exact: true }) });
  await devices.getByText('What to do: ').waitFor();
  await page.goto(`${url}/actors`);
  await band(page, 'devices_silent').getByRole('link', { name: 'See why' }).click();
  const row = page.locator('#silent-devices').getByRole('row').filter({ hasText: 'personal device of ann@x.test' });
  await row.waitFor();
  t.match(await row.textContent(), /1[1-3] min1[1-3] min ago1[1-3] min ago, 1 in total1 open stream/);
  await page.getByLabel('Silent for at least').fill('600');
  await page.getByText('No device has been silent for that long.').waitFor();
});

await walk('a quarantined entity, found from the band, retried by keyboard', async (t, visitor) => {
  const { page } = visitor;
  const bob = await TestAccount.open(spool, 'bob@x.test');
  const place = runtime.locate({ kind: 'account', id: bob.id });
  const [good] = await store.load([place]);
  if (good === undefined || good === null) throw new Error('nothing is stored');
  const write = async (snapshot: Uint8Array, commit_id: string) => {
    const [now] = await store.load([place]);
    const commit = { place, commit_id, expected: now ?? good, mode: 'put' as const, snapshot };
    await store.commit({ ...commit, now_ms: Date.now(), fences: [], effects: [] });
  };
  await write(Buffer.from('0000', 'hex'), 'ab'.repeat(12));
  runtime.invalidateCache();
  t.equal((await bob.app.send('GET', '/me')).status, 500);
  await enter(visitor, '/actors');
  await shows('the band says so', page, () => band(page, 'quarantined').isVisible());
  const retry = page.getByRole('button', { name: `Retry account ${bob.id}` });
  t.match(await page.locator('#quarantined').textContent(), /Data read, but end of buffer not reached/);
  await write(good.snapshot, 'cd'.repeat(12));
  await retry.focus();
  await page.keyboard.press('Enter');
  await page.getByText('None is quarantined.').waitFor();
  t.equal((await bob.app.send('GET', '/me')).status, 200);
});

await walk('Redis goes and comes back: the band says so, the chart has a gap, the page goes on', async (t, visitor) => {
  const { page } = visitor;
  await enter(visitor, '/overview');
  proxy.cut();
  await until('it is noticed', async () => !(await spool.server.services.storage_health.isReady()));
  await watch.sample();
  await watch.sample();
  await shows('the band says so', page, () => band(page, 'storage_away').isVisible());
  const plot = page.locator('#storage [role=img]').first();
  t.equal(await plot.getAttribute('aria-label'), 'Redis answers in: time –', 'nothing was measured');
  const other = await visitor.newPage();
  await other.goto(`${url}/actors`);
  await other.getByText('Trying again.').waitFor();
  t.match(await other.locator('#state').textContent(), /not available/);
  await other.goto(url);
  await other.getByText(/^No: .*people are affected/).waitFor();
  await other.getByText('Not known while Redis does not answer.').first().waitFor();
  await other.close();
  proxy.restore();
  await until('it is back', () => spool.server.services.storage_health.isReady());
  await watch.sample();
  await shows('the band is content again', page, async () => !(await band(page, 'storage_away').isVisible()));
  const { history } = await spool.operator.ask<{ history: { series: { storage_ms: (number | null)[] } } }>(
    'GET',
    '/ops/overview',
  );
  const { storage_ms } = history.series;
  t.ok(storage_ms.lastIndexOf(null) > 0 && storage_ms.at(-1) !== null, 'a gap with something on both sides');
  visitor.complaints.splice(0); // of answers of 503
});

await walk('what becomes of recordings: who makes text and suggestions, and what was dropped', async (t, visitor) => {
  const { page } = visitor;
  const { activity } = spool.server.services.insights.jobs;
  activity.published({
    suggestions: 2,
    memories: 1,
    withdrawn: 0,
    dropped: { unsupported: 3, duplicate: 0, protected: 1 },
  });
  await enter(visitor, '/content');
  const insights = page.locator('#insights');
  t.match(await insights.textContent(), 'Made bythe server');
  t.match(await insights.textContent(), 'Text goes tonowhere else');
  t.match(await insights.textContent(), 'Suggestions made2');
  const dropped = insights.getByRole('row', { name: /^unsupported 3 / });
  t.match(await dropped.textContent(), 'No turn says so');
  t.match(await insights.textContent(), 'No attempt failed.');
  activity.failed('ENGINE_BUSY');
  await shows('a failure', page, async () =>
    /It is failing here: 1 attempt in a row/.test((await insights.textContent()) ?? ''),
  );
  t.ok(await insights.getByRole('row', { name: /^ENGINE_BUSY 1 / }).isVisible());
});

await walk('D-053 staff switch an entitlement on the page of an account', async (t, visitor) => {
  const { page } = visitor;
  const dora = await TestAccount.open(spool, 'dora@x.test', { sharing: false });
  await enter(visitor, `/entity?kind=account&id=${dora.id}`);
  const sharing = page.getByLabel('Sharing', { exact: true });
  await sharing.waitFor();
  t.equal(await sharing.isChecked(), false);
  await sharing.click();
  await shows('sharing is on', page, () => sharing.isChecked());
  t.match(await dora.ask('GET', '/me'), { sharing_enabled: true });
});

await walk('the server itself is gone: what was shown stays, and the page says since when', async (t, visitor) => {
  const { page } = visitor;
  await enter(visitor, '/actors');
  await page.route('**/ops/**', (route) => route.abort());
  await shows('it says so', page, async () =>
    /^No answer since \d\d:\d\d:\d\d, trying again/.test((await page.locator('#state').textContent()) ?? ''),
  );
  t.ok(await page.getByRole('heading', { name: 'Kinds' }).isVisible());
  await page.unroute('**/ops/**');
  await shows('it goes on', page, () => page.locator('#state[data-state=live]').isVisible());
  visitor.complaints.splice(0);
});
