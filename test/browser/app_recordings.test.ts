import type { Page } from 'playwright-core';
import t from 'tap';
import { ScriptedEngine } from '../../tools/speech/scripted_engine.js';
import { TestAccount } from '../fixtures/account.js';
import { appUrl, enterApp, looksWell } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { TestRecording } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/** The list of recordings and the page of one, as a person at a browser uses them. */

const engine = await ScriptedEngine.start(t);
const browsing = await Browsing.start(t, {
  ...{ CHUNK_WORKER: '1', TRANSCRIBE_URL: engine.url, TRANSCRIBE_DIARIZE: '1', TRANSCRIBE_WINDOW_S: '600' },
});
const walk = browsing.walk.bind(browsing, t);

type Line = { text: string; start_ms: number; end_ms: number; speaker: string };
const line = (text: string, start_ms: number, speaker = 'A'): Line => {
  return { text, start_ms, end_ms: start_ms + 2_000, speaker };
};
const recorded = async (
  account: TestAccount,
  { says, title, ...begun }: { says: Line[]; title?: string; captured_at: string; source_id?: string },
) => {
  const recording = await TestRecording.begin(account, begun);
  await recording.add(9_000, { says });
  await recording.end();
  if (title !== undefined) await account.ask('PATCH', `/audio/streams/${recording.id}`, { title });
  await until('it is transcribed', async () => (await recording.turns()).length === says.length);
  return recording;
};
const row = (page: Page, title: string) => page.locator('.day li', { hasText: title });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
/** The list comes to show these. */
const lists = (page: Page, titles: string[]) =>
  until(`the list shows ${titles.join()}`, async () => {
    const shown = await page.locator('.day .row-title').allTextContents();
    return shown.join() === titles.join();
  });

await walk('K-240 recordings are filtered by person, source and day, and a reload keeps that', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const account = await TestAccount.open(browsing.spool, email, { sharing: false });
  const says = [line('The boat is ready', 500), line('So is the crew', 3_000, 'B')];
  const boat = await recorded(account, { says, title: 'Boat', captured_at: '2026-10-05T10:00:00.000Z' });
  await recorded(account, {
    ...{ says: [line('Bread and milk', 500)], title: 'Shopping' },
    ...{ captured_at: '2026-10-09T10:00:00.000Z', source_id: boat.source_id },
  });
  await recorded(account, { says: [line('Nothing new', 500)], captured_at: '2026-10-20T10:00:00.000Z' });
  const { id } = await account.ask<{ id: string }>('POST', '/contacts', { name: 'Ingrid' });
  await account.ask('PATCH', `/audio/streams/${boat.id}/speakers/S2`, { contact_id: id });
  await account.ask('PATCH', `/sources/${boat.source_id}`, { name: 'Pocket' });

  await enterApp(browsing, visitor, '/recordings', email);
  await row(page, 'Boat').getByText('Ingrid and 1 more').waitFor();
  for (const text of ['9 s', 'Pocket', 'The boat is ready']) await row(page, 'Boat').getByText(text).waitFor();
  await row(page, 'Recording of October 20').getByText('1 speaker').waitFor();
  await page.getByText('Filters', { exact: true }).click();
  await page.getByLabel('Person').selectOption('Ingrid');
  await row(page, 'Shopping').waitFor({ state: 'hidden' });
  await lists(page, ['Boat']);
  await page.reload();
  await row(page, 'Boat').waitFor();
  await lists(page, ['Boat']);
  t.ok(await page.getByLabel('Person').isVisible(), 'what narrows the list is in sight');
  await looksWell(t, page, 'filtered recordings');
  await page.getByLabel('From').fill('2026-10-06');
  await page.getByText('No recording matches').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await row(page, 'Shopping').waitFor();
  t.notMatch(page.url(), /\?/);
  await page.getByLabel('Source').selectOption('Pocket');
  await row(page, 'Recording of October 20').waitFor({ state: 'hidden' });
  await page.getByLabel('To').fill('2026-10-05');
  await row(page, 'Shopping').waitFor({ state: 'hidden' });
  await lists(page, ['Boat']);
});

await walk('several recordings are selected and deleted after one question', async (t, visitor) => {
  const { page, context } = visitor;
  const email = browsing.somebody();
  const account = await TestAccount.open(browsing.spool, email, { sharing: false });
  for (const title of ['One', 'Two', 'Three'])
    await recorded(account, { says: [line(`This is ${title}`, 500)], title, captured_at: '2026-10-05T10:00:00.000Z' });
  await enterApp(browsing, visitor, '/recordings', email);
  await row(page, 'Three').waitFor();
  await button(page, 'Select').click();
  t.ok(await button(page, 'Delete').isDisabled());
  await page.getByRole('checkbox', { name: 'One' }).check();
  await row(page, 'Two').click();
  await page.getByText('2 selected').waitFor();
  await looksWell(t, page, 'selected recordings');
  await page.keyboard.press('Escape');
  await button(page, 'Select').click();
  await button(page, 'Select all').click();
  await page.getByRole('checkbox', { name: 'Three' }).uncheck();
  await page.getByText('2 selected').waitFor();

  // The second is refused, and stays selected.
  let deleted = 0;
  await context.route('**/audio/streams/*', async (route) => {
    if (route.request().method() !== 'DELETE') return route.continue();
    deleted += 1;
    return deleted === 2 ? route.abort() : route.continue();
  });
  await button(page, 'Delete').click();
  await page.getByRole('dialog').getByRole('heading', { name: 'Delete 2 recordings?' }).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('1 recording deleted.').waitFor();
  await page.getByText(/1 recording could not be deleted\. Spool can’t be reached/).waitFor();
  await page.getByText('1 selected').waitFor();
  await context.unroute('**/audio/streams/*');
  await button(page, 'Delete').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('1 selected').waitFor({ state: 'hidden' });
  await button(page, 'Select').waitFor();
  await lists(page, ['Three']);
  const { items } = await account.ask<{ items: { title: string }[] }>('GET', '/audio/streams');
  t.same(
    items.map(({ title }) => title),
    ['Three'],
  );
  t.ok(visitor.complaints.splice(0).every((text) => /ERR_FAILED/.test(text)));
  t.match(page.url(), appUrl(browsing, '/recordings'));
});
