import type { Page } from 'playwright-core';
import t from 'tap';
import type { Stream } from '../../kits/typescript/src/api.js';
import { TestAccount } from '../fixtures/account.js';
import { enterApp, looksWell } from '../fixtures/app_browsing.js';
import { Browsing, type Visitor } from '../fixtures/browsing.js';
import { TestRecording } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/** Recordings are deleted after ten seconds in which that can be undone. */

const browsing = await Browsing.start(t, { CHUNK_WORKER: '1' });
const walk = browsing.walk.bind(browsing, t);

const TITLES = ['One', 'Two', 'Three'] as const;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const lists = (page: Page, titles: readonly string[]) =>
  until(`the list shows ${titles.join()}`, async () => {
    const shown = await page.locator('.row-title').allTextContents();
    return shown.join() === titles.join();
  });

/** Runs in the browser: what is to happen in ten seconds happens when a test says so. */
const HOLD_TIMERS = `(() => {
  const { setTimeout, clearTimeout } = window;
  const held = new Map();
  let last = 0;
  window.setTimeout = (run, ms, ...rest) => {
    if (ms !== 10_000) return setTimeout(run, ms, ...rest);
    const id = --last;
    held.set(id, run);
    return id;
  };
  window.clearTimeout = (id) => {
    if (!held.delete(id)) clearTimeout(id);
  };
  window.passTenSeconds = () => {
    for (const [id, run] of [...held]) if (held.delete(id)) run();
  };
})()`;
const passTenSeconds = (page: Page) => page.evaluate('passTenSeconds()');

/** The list of an account with three recordings. */
const opened = async (visitor: Visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const account = await TestAccount.open(browsing.spool, email, { sharing: false });
  const ids: string[] = [];
  for (const title of TITLES) {
    const { id } = await TestRecording.begin(account);
    await account.ask('PATCH', `/audio/streams/${id}`, { title });
    ids.push(id);
  }
  await enterApp(browsing, visitor, '/recordings', email);
  await lists(page, TITLES.toReversed());
  await page.evaluate(HOLD_TIMERS);
  const kept = async () => {
    const { items } = await account.ask<{ items: Stream[] }>('GET', '/audio/streams');
    return items.map(({ title }) => title);
  };
  const comesTo = (titles: readonly string[]) =>
    until(`the server has ${titles.join()}`, async () => (await kept()).join() === titles.join());
  return { account, ids, kept, comesTo };
};
const deleteSelected = async (page: Page, titles: readonly string[]) => {
  await button(page, 'Select').click();
  for (const title of titles) await page.getByRole('checkbox', { name: title }).check();
  await button(page, 'Delete').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
};
const deleteOpened = async (page: Page, title: string) => {
  await page.getByRole('link', { name: title }).click();
  await button(page, 'Delete').click();
  await page.getByRole('heading', { name: 'Delete this recording?' }).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
};

await walk('a recording is deleted from its page after ten seconds, unless that is undone', async (t, visitor) => {
  const { page } = visitor;
  const { kept, comesTo } = await opened(visitor);
  await deleteOpened(page, 'Two');
  await lists(page, ['Three', 'One']);
  await page.getByText('“Two” will be deleted in 10 seconds, or at once when you leave this page.').waitFor();
  t.same(await kept(), TITLES.toReversed(), 'nothing was sent');
  await looksWell(t, page, 'a recording that is about to be deleted');
  await button(page, 'Undo').click();
  await lists(page, TITLES.toReversed());
  await passTenSeconds(page);
  t.same(await kept(), TITLES.toReversed(), 'nothing is sent later');
  await deleteOpened(page, 'Two');
  await lists(page, ['Three', 'One']);
  await passTenSeconds(page);
  await comesTo(['Three', 'One']);
  await page.getByText('1 recording deleted.').waitFor();
});

await walk('several recordings are deleted together, and undone together', async (t, visitor) => {
  const { page } = visitor;
  const { kept, comesTo } = await opened(visitor);
  await deleteSelected(page, ['One']);
  await lists(page, ['Three', 'Two']);
  await deleteSelected(page, ['Two']);
  await lists(page, ['Three']);
  await page.getByText(/^2 recordings will be deleted in 10 seconds/).waitFor();
  t.equal(await page.locator('.toast').count(), 1);
  await button(page, 'Undo').click();
  await lists(page, TITLES.toReversed());
  t.same(await kept(), TITLES.toReversed());
  await deleteSelected(page, TITLES);
  await page.getByText('No recordings yet').waitFor();
  await passTenSeconds(page);
  await comesTo([]);
  await page.getByText('3 recordings deleted.').waitFor();
});

await walk('whoever leaves the page or signs out deletes at once', async (_t, visitor) => {
  const { page } = visitor;
  const { comesTo } = await opened(visitor);
  await deleteSelected(page, ['One']);
  await lists(page, ['Three', 'Two']);
  await page.goto('about:blank');
  await comesTo(['Three', 'Two']);
  await page.goBack();
  await lists(page, ['Three', 'Two']);
  await deleteSelected(page, ['Two']);
  await lists(page, ['Three']);
  await button(page, 'Sign out').click();
  await comesTo(['Three']);
});

await walk('the next page deletes what the page before it could not', async (t, visitor) => {
  const { page, context } = visitor;
  const { kept, comesTo } = await opened(visitor);
  await deleteSelected(page, ['One']);
  await lists(page, ['Three', 'Two']);
  await page.evaluate('window.fetch = () => new Promise(() => {})');
  await page.reload();
  await comesTo(['Three', 'Two']);
  await lists(page, ['Three', 'Two']);

  await page.evaluate(HOLD_TIMERS);
  let asked = 0;
  await context.route('**/audio/streams/*', () => void asked++); // never answered
  await deleteSelected(page, ['Two']);
  await lists(page, ['Three']);
  await passTenSeconds(page);
  await until('the deletion is under way', async () => asked > 0);
  t.same(await kept(), ['Three', 'Two']);
  await context.unroute('**/audio/streams/*');
  await page.reload();
  await comesTo(['Three']);
  await lists(page, ['Three']);
});

await walk('without a connection nothing is deleted, and the rows come back', async (t, visitor) => {
  const { page, context } = visitor;
  const { kept } = await opened(visitor);
  await deleteSelected(page, ['One', 'Two']);
  await lists(page, ['Three']);
  await context.route('**/audio/streams/*', (route) => route.abort());
  await passTenSeconds(page);
  await page.getByText(/^2 recordings could not be deleted\. Spool can’t be reached/).waitFor();
  await lists(page, TITLES.toReversed());
  await looksWell(t, page, 'recordings that could not be deleted');
  t.same(await kept(), TITLES.toReversed());
  t.ok(visitor.complaints.splice(0).every((text) => /ERR_FAILED/.test(text)));
});
