import type { Page } from 'playwright-core';
import t from 'tap';
import { GUIDES as ALL_GUIDES } from '../../src/edge/reference/guide_names.js';
import { Browsing } from '../fixtures/browsing.js';
import { contrast, inspect, luminance } from '../fixtures/page_inspection.js';

const GUIDES: string[] = ALL_GUIDES.map(({ name }) => `/guides/${name}`);
const REFERENCE = [
  ...['/reference', '/reference/events-and-webhooks', '/reference/oauth', '/reference/shapes'],
  ...['/reference/devices', '/reference/devices/recording', '/guides'],
];

/** Words in tables that stand on two lines; a word may only break at a hyphen. Runs in the browser. */
const BROKEN_WORDS = `[...document.querySelectorAll('.guide td, .guide th')].flatMap((cell) => {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const broken = [];
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    for (const { 0: word, index } of node.data.matchAll(/[^\\s-]+/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
      if (lines.size > 1) broken.push(word);
    }
  }
  return broken;
})`;

/** The reference in a browser. Complaints of the browser, as over its policy, fail a walk by themselves. */
t.test('the reference and the guides in a browser', async (t) => {
  const browsing = await Browsing.start(t);
  const { base_url } = browsing.spool.server;
  const walk = browsing.walk.bind(browsing, t);
  const results = (page: Page) => page.locator('#found a');
  const focused = (page: Page) => page.evaluate('document.activeElement.id || document.activeElement.textContent');

  await walk(
    'a search finds operations of all areas by every word, and works by keyboard alone',
    async (t, { page }) => {
      await page.goto(`${base_url}/reference/account`);
      await page.keyboard.press('/');
      t.equal(await focused(page), 'search');
      await page.keyboard.type('/join conflict');
      await page.getByText('1 operation', { exact: true }).waitFor();
      t.match(await results(page).textContent(), '/device-sessions/{id}/join');
      t.notOk(await page.locator('#getMe').isVisible(), 'what was found stands alone');
      await page.keyboard.press('ArrowDown');
      t.match(await focused(page), '/device-sessions/{id}/join');
      await page.keyboard.press('ArrowUp');
      t.equal(await focused(page), 'search');
      await page.keyboard.press('Escape');
      t.ok(await page.locator('#getMe').isVisible());
      t.equal(await results(page).count(), 0);
      await page.keyboard.type('device/chunks/intents');
      await page.getByText('1 operation', { exact: true }).waitFor();
      await page.keyboard.press('ArrowDown');
      await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
      t.equal(page.url(), `${base_url}/reference/devices/recording#postDeviceChunksIntents`);
      t.ok(await page.locator('#postDeviceChunksIntents').isVisible());
      await page.fill('#search', 'conflict');
      await page.getByText(/^[2-9]\d operations/).waitFor();
      const areas = new Set(
        (await results(page).evaluateAll((links) => links.map((link) => link.getAttribute('href')))).map(
          (address) => address?.split('#')[0],
        ),
      );
      t.ok(areas.size > 8, `${areas.size} areas`);
      await page.fill('#search', 'nothing-is-called-so');
      await page.getByText('0 operations', { exact: true }).waitFor();
    },
  );

  await walk('what the address names is unfolded', async (t, { page }) => {
    await page.goto(`${base_url}/reference/shapes#shape-Event`);
    t.ok(await page.locator('#shape-Event').isVisible());
  });

  await walk('requests and answers can be copied', async (t, { page, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: base_url });
    await page.goto(`${base_url}/reference/account#patchMe`);
    const operation = page.locator('#patchMe');
    const copied = () => page.evaluate('navigator.clipboard.readText()') as Promise<string>;
    await operation.getByRole('button', { name: 'Copy the request in curl' }).click();
    await operation.getByText('Copied').waitFor();
    t.match(await copied(), /^curl -X PATCH -H "Authorization: Bearer \$ACCESS"/);
    await operation.locator('summary', { hasText: 'ACCOUNT_DELETED' }).click();
    await operation.getByRole('button', { name: 'Copy the refusal' }).click();
    t.match(JSON.parse(await copied()), { success: false, error: { code: 'ACCOUNT_DELETED', erase_at: /^2026/ } });
  });

  await walk('samples come in three languages, and the one that was chosen stays', async (t, { page }) => {
    await page.goto(`${base_url}/reference/account#patchMe`);
    const operation = page.locator('#patchMe');
    const shown = () => operation.locator('.samples pre').filter({ visible: true }).allTextContents();
    t.match(await shown(), [/^curl/]);
    await operation.getByRole('tab', { name: 'curl' }).focus();
    await page.keyboard.press('ArrowRight');
    t.match(await shown(), [/^const answer = await spool\.call\('PATCH \/me', \{ body: \{/]);
    await operation.getByRole('tab', { name: 'Python' }).click();
    t.match(await shown(), [/^answer = requests\.patch\(/]);
    await page.goto(`${base_url}/reference/workspaces`);
    t.equal(await page.getByRole('tab', { name: 'Python', selected: true }).first().isVisible(), true);
  });

  await walk('an operation is tried with a token that is pasted, and kept nowhere', async (t, visitor) => {
    const { page } = visitor;
    const { app } = await browsing.spool.signIn(browsing.somebody());
    await page.goto(`${base_url}/reference/account#patchMe`);
    const operation = page.locator('#patchMe');
    await operation.getByText('Try it').click();
    await operation.getByRole('button', { name: 'Send PATCH' }).click();
    await operation.getByText('Paste an access token first.').waitFor();
    await operation.getByLabel('Access token').fill(app.access_token ?? '');
    await operation.getByRole('textbox', { name: 'Body' }).fill('{"name":');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await operation.getByText(/^The body is no JSON/).waitFor();
    await operation.getByRole('textbox', { name: 'Body' }).fill('{"name":"Ann of the reference"}');
    await operation.getByRole('button', { name: 'Send PATCH' }).click();
    await operation.getByText('"name": "Ann of the reference"').waitFor();
    t.equal(await operation.locator('.result-of-try .status').textContent(), '200');
    const other = page.locator('#getMe');
    await other.getByText('Try it').click();
    await other.getByRole('button', { name: 'Send GET' }).click();
    await other.getByText('Ann of the reference').waitFor();
    t.notMatch(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])'), app.access_token);
    await page.goto(`${base_url}/reference/sources-and-streams#getSourcesById`);
    const source = page.locator('#getSourcesById');
    await source.getByText('Try it').click();
    await source.getByLabel('Access token').fill('spa_wrong');
    await source.getByLabel('id', { exact: true }).fill('a/b?c');
    await source.getByRole('button', { name: 'Send GET' }).click();
    await source.locator('.result-of-try').getByText('"code": "UNAUTHORIZED"').waitFor();
    visitor.complaints.splice(0);
  });

  await walk(
    'without scripts all of it is there, and no box or button that does nothing',
    async (t, { page }) => {
      await page.goto(`${base_url}/reference`);
      t.notOk(await page.locator('#search').isVisible());
      await page.getByRole('link', { name: 'Devices and recorder sessions' }).first().click();
      t.ok(await page.locator('#postDeviceSessionsByIdJoin').isVisible());
      t.equal(await page.getByRole('button').count(), 0);
    },
    { javaScriptEnabled: false },
  );

  for (const [width, colorScheme] of [
    [320, 'dark'],
    [1280, 'light'],
  ] as const) {
    await walk(
      `at ${width} pixels nothing is wider than the window, everything is labelled and stands out`,
      async (t, { page }) => {
        for (const path of [...REFERENCE, ...GUIDES]) {
          await page.goto(base_url + path);
          await page.evaluate(`for (const folded of document.querySelectorAll('details')) folded.open = true`);
          const seen = await inspect(page);
          const wanted = {
            ...{ lang: 'en', headings: 1, mains: 1, unlabelled: 0, nameless: 0, pictures: 0, scrolls: false },
          };
          t.match(seen, wanted, path);
          t.same([...seen.twice, ...seen.nowhere, ...seen.skips, ...seen.small], [], path);
          t.equal(luminance(seen.scheme) < 0.1, colorScheme === 'dark');
          const faint = seen.texts.filter(({ colour, ground }) => contrast(colour, ground) < 4.5);
          t.same(faint, [], `${path}: contrast`);
          t.same(await page.evaluate(BROKEN_WORDS), [], `${path}: words in tables`);
        }
      },
      { viewport: { width, height: 640 }, colorScheme },
    );
  }
});
