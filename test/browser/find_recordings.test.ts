import type { Page } from 'playwright-core';
import t from 'tap';
import type { Stream } from '../../kits/typescript/src/api.js';
import { TestAccount } from '../fixtures/account.js';
import { enterApp, looksWell } from '../fixtures/app_browsing.js';
import { Browsing, type Visitor } from '../fixtures/browsing.js';
import { TestRecording } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/** Recordings are found again by star, tag, words and order, as a person at a browser does it. */

const browsing = await Browsing.start(t, { CHUNK_WORKER: '1' });
const walk = browsing.walk.bind(browsing, t);

const TITLES = ['Boat', 'Shopping', 'Apple cake'] as const;
const row = (page: Page, title: string) => page.locator('.list > li', { hasText: title });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const lists = (page: Page, titles: readonly string[]) =>
  until(`the list shows ${titles.join()}`, async () => {
    const shown = await page.locator('.row-title').allTextContents();
    return shown.join() === titles.join();
  });

/** The list of an account with three recordings, of 5 s, 15 s and 10 s, a day after each other. */
const opened = async (visitor: Visitor) => {
  const email = browsing.somebody();
  const account = await TestAccount.open(browsing.spool, email, { sharing: false });
  const ids: string[] = [];
  for (const [at, title] of TITLES.entries()) {
    const recording = await TestRecording.begin(account, { captured_at: `2026-10-0${at + 5}T10:00:00.000Z` });
    await recording.add(5_000 + ((at * 10_000) % 15_000));
    await recording.end();
    await account.ask('PATCH', `/audio/streams/${recording.id}`, { title });
    ids.push(recording.id);
  }
  await enterApp(browsing, visitor, '/recordings', email);
  await lists(visitor.page, TITLES.toReversed());
  const marksOf = (id: string | undefined) => account.ask<Stream>('GET', `/audio/streams/${id}?include=tags`);
  return { account, ids, marksOf };
};

await walk('K-312 a star is set with one click, taken away with another, and filters the list', async (t, visitor) => {
  const { page } = visitor;
  const { ids, marksOf } = await opened(visitor);
  const star = (title: string) => page.getByRole('button', { name: `Star ${title}`, exact: true });
  await star('Boat').click();
  await star('Shopping').click();
  await until('both are starred', async () => (await marksOf(ids[1])).starred === true);
  await star('Shopping').click();
  await until('one is not', async () => (await marksOf(ids[1])).starred === false);
  t.equal(await star('Boat').getAttribute('aria-pressed'), 'true');
  t.equal(await star('Shopping').getAttribute('aria-pressed'), 'false');
  await button(page, 'Starred').click();
  await lists(page, ['Boat']);
  t.match(page.url(), /starred=true/);
  await looksWell(t, page, 'starred recordings');
  await page.reload();
  await lists(page, ['Boat']);
  await button(page, 'Clear filters').click();
  await lists(page, TITLES.toReversed());
  await visitor.context.route('**/audio/streams/*', (route) => route.abort());
  await star('Shopping').click();
  await page.getByText(/The star could not be changed\. Spool can’t be reached/).waitFor();
  t.equal(await star('Shopping').getAttribute('aria-pressed'), 'false', 'it is as before');
  t.ok(visitor.complaints.splice(0).every((text) => /ERR_FAILED/.test(text)));
});

await walk(
  'K-311 tags are added and removed on the page of a recording, and lead to their list',
  async (t, visitor) => {
    const { page } = visitor;
    const { ids, marksOf } = await opened(visitor);
    await page.getByRole('link', { name: 'Boat' }).click();
    const field = page.getByLabel('Add a tag');
    for (const tag of ['Family', 'Sea', 'FAMILY']) {
      await field.fill(tag);
      await field.press('Enter');
      await until('it was added', async () => (await field.inputValue()) === '');
    }
    t.same((await marksOf(ids[0])).tags, ['Family', 'Sea']);
    await field.fill('a\u202Eb');
    await field.press('Enter');
    await page.getByText(/^Must be one line without .* marks of direction/).waitFor();
    await field.fill('');
    await button(page, 'Remove the tag Sea').click();
    await page.getByText('The tag “Sea” is removed.').waitFor();
    t.same((await marksOf(ids[0])).tags, ['Family']);
    await page.locator('.toast', { hasText: 'is removed' }).getByRole('button', { name: 'Undo' }).click();
    await button(page, 'Remove the tag Sea').waitFor();
    await button(page, 'Star').click();
    await until('it is starred', async () => (await marksOf(ids[0])).starred === true);
    await looksWell(t, page, 'a recording with tags');
    await page.getByRole('link', { name: 'Family' }).click();
    await lists(page, ['Boat']);
    await row(page, 'Boat').getByRole('link', { name: 'Sea' }).waitFor();
    await looksWell(t, page, 'recordings of a tag');
    await button(page, 'Clear filters').click();
    await lists(page, TITLES.toReversed());
  },
);

await walk('K-311 tags of several recordings are added and removed, and that is undone', async (t, visitor) => {
  const { page } = visitor;
  const { account, ids, marksOf } = await opened(visitor);
  await account.ask('PATCH', `/audio/streams/${ids[0]}`, { tags: ['Work'] });
  await page.reload();
  await row(page, 'Boat').getByText('Work').waitFor();
  await button(page, 'Select').click();
  for (const title of ['Boat', 'Shopping']) await page.getByRole('checkbox', { name: title }).check();
  await button(page, 'Tags').click();
  await page.getByRole('heading', { name: 'Tags of 2 recordings' }).waitFor();
  await page.getByLabel('Add a tag').fill('Family');
  await button(page, 'Add').click();
  await button(page, 'Remove the tag Family from all').waitFor();
  await until('both have it', async () => {
    const [boat, shopping] = [await marksOf(ids[0]), await marksOf(ids[1])];
    return boat.tags?.join() === 'Work,Family' && shopping.tags?.join() === 'Family';
  });
  await looksWell(t, page, 'the dialog of tags');
  await button(page, 'Remove the tag Work from all').click();
  await button(page, 'Remove the tag Work from all').waitFor({ state: 'hidden' });
  t.same((await marksOf(ids[0])).tags, ['Family']);
  await button(page, 'Done').click();
  await page.locator('.toast', { hasText: 'removed from 1 recording' }).getByRole('button', { name: 'Undo' }).click();
  await row(page, 'Boat').getByText('Work').waitFor();
  t.same((await marksOf(ids[0])).tags, ['Family', 'Work']);
});

await walk('K-378 the list is sorted and searched by titles, people, tags and notes', async (t, visitor) => {
  const { page } = visitor;
  const { account, ids } = await opened(visitor);
  await account.ask('PATCH', `/audio/streams/${ids[1]}`, { tags: ['Family'] });
  const note = { ref: 'mark-1', type: 'note', start_ms: 1_000, payload: { text: 'Ask Mira about the harbour' } };
  await account.ask('POST', `/audio/streams/${ids[0]}/signals`, { signals: [note] });
  await page.getByLabel('Sort').selectOption('Oldest first');
  await lists(page, TITLES);
  await page.getByLabel('Sort').selectOption('Longest first');
  await lists(page, ['Shopping', 'Apple cake', 'Boat']);
  await looksWell(t, page, 'sorted recordings');
  await page.getByLabel('Sort').selectOption('By title');
  await lists(page, ['Apple cake', 'Boat', 'Shopping']);
  await page.reload();
  await lists(page, ['Apple cake', 'Boat', 'Shopping']);
  const field = page.getByRole('searchbox', { name: 'Find recordings' });
  for (const [words, titles] of [
    ['CAKE apple', ['Apple cake']],
    ['family', ['Shopping']],
    ['HARBOUR mira', ['Boat']],
  ] as const) {
    await field.fill(words);
    await field.press('Enter');
    await lists(page, titles);
  }
  await row(page, 'Boat').getByText('Ask Mira about the harbour').waitFor();
  await looksWell(t, page, 'found recordings');
  await field.fill('the boat sails');
  await field.press('Enter');
  await page.getByText('No recording matches').waitFor();
  await page.getByRole('link', { name: 'Search what was said for “the boat sails”' }).click();
  await page.getByRole('heading', { name: 'Ask' }).waitFor();
  t.match(page.url(), /\/app\/search\?q=the%20boat%20sails/);
});

await walk('a list that is sorted says where it is cut', async (t, visitor) => {
  const { page, context } = visitor;
  await opened(visitor);
  // Every page says that there is more.
  await context.route('**/audio/streams?*', async (route) => {
    const url = new URL(route.request().url());
    const is_first = !url.searchParams.has('cursor');
    url.searchParams.delete('cursor');
    const response = await route.fetch({ url: url.href });
    const { data, ...envelope } = await response.json();
    await route.fulfill({
      response,
      json: { ...envelope, data: { items: is_first ? data.items : [], cursor: 'more' } },
    });
  });
  await page.getByLabel('Sort').selectOption('Longest first');
  await page.getByText('These are the newest 3 recordings. “Show more” goes on with older ones.').waitFor();
  await lists(page, ['Shopping', 'Apple cake', 'Boat']);
  t.ok(await button(page, 'Show more').isVisible());
});
