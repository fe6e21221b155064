import t from 'tap';
import { Browsing } from '../fixtures/browsing.js';

/** The reference in a browser. Complaints of the browser, as over its policy, fail a walk by themselves. */
t.test('the reference and the guides in a browser', async (t) => {
  const browsing = await Browsing.start(t);
  const { base_url } = browsing.spool.server;
  const walk = browsing.walk.bind(browsing, t);
  const shown = 'document.querySelectorAll("article[data-operation]:not([hidden])").length';

  await walk(
    'typing leaves the operations that have every word, and Escape brings the others back',
    async (t, { page }) => {
      await page.goto(`${base_url}/reference`);
      const all = (await page.evaluate(shown)) as number;
      await page.fill('#filter', '/join conflict');
      t.equal(await page.evaluate(shown), 1);
      t.ok(await page.locator('#postDeviceSessionsByIdJoin').isVisible());
      t.notOk(await page.locator('#oauth').isVisible(), 'areas without any are not shown');
      t.equal(await page.locator('#filter-count').textContent(), '1 operation');
      await page.press('#filter', 'Escape');
      t.equal(await page.evaluate(shown), all);
    },
  );

  await walk(
    'without scripts all of it is there, and no box that does nothing',
    async (t, { page }) => {
      await page.goto(`${base_url}/reference`);
      t.ok(await page.locator('#postDeviceSessionsByIdJoin').isVisible());
      t.notOk(await page.locator('#filter').isVisible());
    },
    { javaScriptEnabled: false },
  );

  await walk(
    'on the smallest phone nothing is wider than the window',
    async (t, { page }) => {
      for (const path of [
        '/reference',
        '/reference/devices',
        '/guides/devices',
        '/guides/webhooks',
        '/guides/transcription',
        '/guides/insights',
        '/guides/search',
        '/guides/assistants',
      ]) {
        await page.goto(base_url + path);
        t.equal(await page.evaluate('document.documentElement.scrollWidth'), 320, path);
      }
    },
    { viewport: { width: 320, height: 640 } },
  );
});
