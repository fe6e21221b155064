import type { Page } from 'playwright-core';
import t from 'tap';
import type { Stream } from '../../kits/typescript/src/api.js';
import { TestAccount } from '../fixtures/account.js';
import { appUrl, enterApp, looksWell } from '../fixtures/app_browsing.js';
import { Browsing, type Visitor } from '../fixtures/browsing.js';
import { HEARING, SAID_WORDS, speakingMicrophone } from '../fixtures/first_minutes.js';
import { NO_MODEL } from '../fixtures/speech.js';
import { until } from '../fixtures/until.js';

/** In the page, as long as it is there: whatever a browser intercepts is lost when the page goes, its end as well. */
const REFUSE_CHUNKS = `{
  const { fetch } = window;
  const refused = { success: false, error: { code: 'TOO_MANY_REQUESTS', message: 'Later.' } };
  window.fetch = (path, options) =>
    String(path).includes('/chunks') ? Promise.resolve(Response.json(refused, { status: 429 })) : fetch(path, options);
}`;

/** As in a crash, the page hears nothing of its end. */
const DEAF_TO_ITS_END = `{
  const add = addEventListener;
  addEventListener = (kind, ...rest) => kind === 'pagehide' || add(kind, ...rest);
}`;

/** The browser's recorder with speech in its microphone, and the built-in engine behind it. */

if (NO_MODEL) t.plan(0, NO_MODEL);
else await record();

async function record(): Promise<void> {
  const browsing = await Browsing.start(t, HEARING, { flags: await speakingMicrophone(t) });
  const { spool } = browsing;
  const begin = async ({ page, context }: Visitor): Promise<TestAccount> => {
    const account = await TestAccount.open(spool, browsing.somebody(), { sharing: false });
    await context.grantPermissions(['microphone'], { origin: new URL(appUrl(browsing, '')).origin });
    // Whoever leaves while recording is asked.
    page.on('dialog', (dialog) => void dialog.accept());
    return account;
  };
  const start = (page: Page) => page.getByRole('button', { name: 'Start recording' }).click();
  const heard = (page: Page) => page.locator('.live-text .turns .turn', { hasText: SAID_WORDS }).first().waitFor();
  const streamsOf = async (account: TestAccount) =>
    (await account.ask<{ items: Stream[] }>('GET', '/audio/streams')).items;

  await browsing.walk(
    t,
    'K-173 what is said is seen while it is recorded, corrected, and found',
    async (t, visitor) => {
      const { page } = visitor;
      const { email } = await begin(visitor);
      await enterApp(browsing, visitor, '/record', email);
      await start(page);
      await page.locator('.live-lines .turn').first().waitFor();
      t.pass('preliminary lines come first');
      await looksWell(t, page, 'a recording under way');
      await heard(page);
      t.pass('turns take their place');
      await page.getByLabel('Note').fill('Ask the beekeeper');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1 }).click();
      await page.keyboard.press('m');
      await until('both marks are sent', async () => {
        const shown = await page.getByRole('list', { name: 'Marks' }).locator('li').allTextContents();
        return shown.length === 2 && shown.every((text) => !text.includes('waiting'));
      });
      await looksWell(t, page, 'a recording with marks');
      await page.getByRole('button', { name: 'Finish' }).click();
      const turn = page.locator('.transcript .turn', { hasText: SAID_WORDS }).first();
      await turn.waitFor();
      const notes = page.locator('.transcript .note-row');
      await notes.filter({ hasText: 'Ask the beekeeper' }).waitFor();
      t.equal(await notes.count(), 2);
      await turn.getByRole('button', { name: /^Edit the text/ }).click();
      const text = page.getByRole('textbox', { name: /^What was said/ });
      await text.fill(`${await text.inputValue()} The beekeeper comes too.`);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('.transcript .turn', { hasText: 'beekeeper' }).waitFor();
      await page.goto(appUrl(browsing, '/search?q=beekeeper'));
      await page.getByRole('list', { name: 'Results' }).filter({ hasText: 'beekeeper' }).waitFor();
      t.pass('search finds the corrected word');
    },
  );

  await browsing.walk(t, 'a reload in the middle loses nothing that was sent or kept', async (t, visitor) => {
    const { page } = visitor;
    const account = await begin(visitor);
    await enterApp(browsing, visitor, '/record', account.email);
    await start(page);
    await heard(page);
    await page.evaluate(REFUSE_CHUNKS);
    await page.getByText(/[1-9] pieces? of 2 seconds/).waitFor();
    await page.reload();
    const cut_off = page.getByRole('region', { name: 'An unfinished recording' });
    await cut_off.getByText(/have not been sent yet/).waitFor();
    await looksWell(t, page, 'a recording that was cut off');
    await cut_off.getByRole('button', { name: 'Finish' }).click();
    await page.locator('.transcript .turn', { hasText: SAID_WORDS }).first().waitFor();
    const [stream] = await streamsOf(account);
    const { items } = await account.ask<{ items: { source_end_ms: number; status: string }[] }>(
      'GET',
      `/audio/streams/${stream?.id}/chunks?limit=100`,
    );
    t.equal(items.at(-1)?.source_end_ms, stream?.end_ms, 'to the last moment before the reload');
    t.equal(stream?.stored_chunks, stream?.chunks);
    await page.goto(appUrl(browsing, '/record'));
    await page.getByRole('button', { name: 'Start recording' }).waitFor();
    t.equal(await cut_off.count(), 0, 'nothing is left');
  });

  await browsing.walk(
    t,
    'K-254 after a reload the same recording goes on; a page that is left ends it',
    async (t, visitor) => {
      const { page } = visitor;
      const account = await begin(visitor);
      await enterApp(browsing, visitor, '/record', account.email);
      const reached = (text: RegExp) => page.getByRole('timer').getByText(text).waitFor();
      await start(page);
      await reached(/0:(0[3-9]|[1-5])/);
      await page.reload();
      const cut_off = page.getByRole('region', { name: 'An unfinished recording' });
      await cut_off.getByRole('button', { name: 'Continue' }).click();
      await reached(/0:(0[6-9]|[1-5])/);
      const [before] = await streamsOf(account);
      t.equal(before?.end_ms, undefined);
      const hasEnd = async () => {
        // In small steps: the page's last request comes when the browser sends it, with a token of one hour.
        await spool.operator.advanceClock(10_000);
        return ((await streamsOf(account))[0]?.end_ms ?? 0) > 4_000;
      };
      await page.goto('about:blank');
      // A browser loses such a request now and then; the next page makes up for it.
      const is_ended = await until('it has an end', hasEnd, 15_000).then(
        () => true,
        () => false,
      );
      if (!is_ended) {
        await page.goto(appUrl(browsing, '/account'));
        await until('it has an end', hasEnd);
      }
      const [stream, ...others] = await streamsOf(account);
      t.same(others, [], 'one recording');
      t.equal(stream?.id, before?.id);
    },
  );

  await browsing.walk(t, 'after a crash the same recording goes on, or is discarded', async (t, visitor) => {
    const { page } = visitor;
    const account = await begin(visitor);
    await page.addInitScript(DEAF_TO_ITS_END);
    await enterApp(browsing, visitor, '/record', account.email);
    await start(page);
    await page
      .getByRole('timer')
      .getByText(/0:(0[3-9]|[1-5])/)
      .waitFor();
    await page.reload();
    const cut_off = page.getByRole('region', { name: 'An unfinished recording' });
    await cut_off.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Finish' }).click();
    await page.getByRole('heading', { name: /^Recording of/ }).waitFor();
    const [stream, ...others] = await streamsOf(account);
    t.same(others, []);
    t.ok((stream?.end_ms ?? 0) > 3_000);
    t.equal(stream?.stored_chunks, stream?.chunks);
  });

  await browsing.walk(t, 'K-254 after a crash that nobody goes on from, the next page ends it', async (t, visitor) => {
    const { page } = visitor;
    const account = await begin(visitor);
    await page.addInitScript(DEAF_TO_ITS_END);
    await enterApp(browsing, visitor, '/record', account.email);
    await start(page);
    await heard(page);
    await page.goto(appUrl(browsing, '/account'));
    await page.getByRole('heading', { level: 1 }).waitFor();
    await until('it has an end', async () => {
      await spool.operator.advanceClock(10_000);
      return ((await streamsOf(account))[0]?.end_ms ?? 0) > 0;
    });
    t.equal((await streamsOf(account)).length, 1);
  });
}
