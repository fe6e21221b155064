import type { Page } from 'playwright-core';
import t from 'tap';
import type { Suggestion } from '../../kits/typescript/src/api.js';
import { TestAccount } from '../fixtures/account.js';
import { enterApp, looksWell } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { makeInsights } from '../fixtures/insights.js';
import { said, TestRecording, TestTranscriber } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/** What recordings give to do, as a person at a browser uses it. */

const browsing = await Browsing.start(t, { CHUNK_WORKER: '1', CONTENT_WORKER: '0', RATE_LIMITS: 'off' });
const walk = browsing.walk.bind(browsing, t);
const { spool } = browsing;
const worker = new TestTranscriber(spool);

type Turns = readonly (readonly [text: string, speaker?: string])[];
/** A recording in which these things are said, five seconds each. */
const spoken = async (
  account: TestAccount,
  turns: Turns,
  { title, captured_at }: { title: string; captured_at: string },
) => {
  const recording = await TestRecording.begin(account, { captured_at });
  await recording.add(60_000);
  await recording.end();
  await account.ask('PATCH', `/audio/streams/${recording.id}`, { title });
  const heard = turns.map(([text, speaker], at) => said(text, [at * 5_000, at * 5_000 + 4_000], speaker));
  await worker.publish(await worker.claim(recording.id), heard);
  return recording;
};
const rows = (page: Page) => page.getByRole('list', { name: 'Suggestions' }).locator('li.suggestion');
const row = (page: Page, text: string) => rows(page).filter({ hasText: text });
const lists = (page: Page, texts: string[]) =>
  until(`the list shows ${texts.join()}`, async () => {
    const shown = await rows(page).locator('.row-title').allTextContents();
    return shown.join() === texts.join();
  });

await walk('what is to do comes by its time, is narrowed, done, edited, and each change undone', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const account = await TestAccount.open(spool, email, { sharing: false });
  const talk = await spoken(
    account,
    [
      ['Oh well. I will order the paint before Friday.', 'A'],
      ['And who has the ladder?', 'B'],
      ['We paint it blue.', 'A'],
    ],
    { title: 'Fence', captured_at: '2026-10-05T10:00:00.000Z' },
  );
  const other = await spoken(account, [['I will call Ines.', 'A']], {
    ...{ title: 'Telephone', captured_at: '2026-10-06T10:00:00.000Z' },
  });
  const tom = await account.ask<{ id: string }>('POST', '/contacts', { name: 'Tom' });
  await account.ask('PATCH', `/audio/streams/${talk.id}/speakers/S1`, { contact_id: tom.id });
  await makeInsights(account, talk, {
    suggestions: [
      { text: 'Who has the ladder?', kind: 'question', at: [[5_000, 9_000]] },
      {
        ...{ text: 'Order the paint', kind: 'task', at: [[0, 4_000]], roles: { owner_contact_id: tom.id } },
        ...{ due_date: '2099-10-09', due_at_ms: Date.parse('2099-10-09T12:00:00Z') },
      },
      { text: 'Paint it blue', kind: 'decision', at: [[10_000, 14_000]] },
    ],
  });
  await spool.operator.advanceClock(60_000);
  await makeInsights(account, other, {
    suggestions: [
      { text: 'Call Ines', kind: 'task', at: [[0, 4_000]], due_at_ms: Date.parse('2026-10-07T08:00:00.000Z') },
    ],
  });
  const statusOf = async (text: string) => {
    const { items } = await account.ask<{ items: Suggestion[] }>('GET', '/suggestions');
    return items.find((one) => one.text === text)?.status;
  };
  const undo = page.getByRole('button', { name: 'Undo' });

  await enterApp(browsing, visitor, '/insights', email);
  await row(page, 'Call Ines').getByText('Overdue').waitFor();
  const texts = await rows(page).locator('.row-title').allTextContents();
  t.same(texts.slice(0, 2), ['Call Ines', 'Order the paint'], 'what is due first comes first');
  const paint = row(page, 'Order the paint');
  for (const text of ['Fence', 'October 5, 2026', 'Tom', 'Oh well. I will order the paint before Friday.'])
    await paint.getByText(text).first().waitFor();
  t.equal(await paint.getByText('Overdue').count(), 0);
  await looksWell(t, page, 'what is to do');

  await page.getByLabel('For whom').selectOption('Tom');
  await lists(page, ['Order the paint']);
  await page.getByLabel('For whom').selectOption('Anybody');
  await page.getByLabel('Kind').selectOption('Question');
  await lists(page, ['Who has the ladder?']);
  await page.reload();
  await lists(page, ['Who has the ladder?']);
  await page.getByLabel('Kind').selectOption('All');
  await page.getByLabel('Recording').selectOption({ label: 'Telephone, October 6, 2026' });
  await lists(page, ['Call Ines']);
  await page.getByLabel('Kind').selectOption('Decision');
  await page.getByText('Nothing matches').waitFor();
  await page.getByLabel('Kind').selectOption('All');
  await page.getByLabel('Recording').selectOption('All');
  await row(page, 'Order the paint').waitFor();

  for (const [button, status] of [
    ['Done', 'completed'],
    ['Dismiss', 'dismissed'],
    ['Accept', 'accepted'],
  ] as const) {
    await paint.getByRole('button', { name: button, exact: true }).click();
    await paint.waitFor({ state: 'hidden' });
    t.equal(await statusOf('Order the paint'), status);
    await undo.click();
    await paint.waitFor();
    t.equal(await statusOf('Order the paint'), 'open');
    await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'hidden' });
  }
  await paint.getByRole('button', { name: 'Edit the suggestion' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Text').fill('Order blue paint');
  await dialog.getByLabel('Due').fill('2026-10-01T09:00');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await row(page, 'Order blue paint').getByText('Overdue').waitFor();
  await undo.click();
  await paint.getByText('due October 9, 2099').waitFor();
  t.equal(await paint.getByText('Overdue').count(), 0, 'the day is one again');

  await paint.getByRole('button', { name: 'Accept' }).click();
  await paint.waitFor({ state: 'hidden' });
  await page.getByRole('link', { name: 'Accepted' }).click();
  await paint.getByRole('button', { name: 'Done' }).waitFor();
  await paint.getByRole('button', { name: 'Reopen' }).click();
  await page.getByText('Nothing is accepted').waitFor();
});
