import { readFileSync } from 'node:fs';
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
const row = (page: Page, text: string) => page.locator('section .task').filter({ hasText: text });
const group = (page: Page, name: string) => page.getByRole('list', { name, exact: true });
const settled = group;
const textsOf = (page: Page, name: string) => group(page, name).locator('.task-text').allTextContents();
const lists = (page: Page, texts: string[]) =>
  until(`the list shows ${texts.join()}`, async () => {
    const shown = await page.locator('section .task-text').allTextContents();
    return shown.join() === texts.join();
  });

await walk(
  'what is to do comes in groups by its time, is narrowed, done, edited, saved, and each change undone',
  async (t, visitor) => {
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
    await group(page, 'Overdue')
      .getByText(/weeks late|months late/)
      .waitFor();
    t.same(await textsOf(page, 'Overdue'), ['Call Ines']);
    t.same(await textsOf(page, 'Later'), ['Order the paint']);
    const paint = row(page, 'Order the paint');
    await paint.getByText('Oct 9, 2099').waitFor();
    await paint.locator('summary').click();
    for (const text of ['Fence', 'October 5, 2026', 'Tom', 'Oh well. I will order the paint before Friday.'])
      await paint.getByText(text).first().waitFor();
    await looksWell(t, page, 'what is to do');

    await page.getByText('Filters', { exact: true }).click();
    await page.getByLabel('For whom').selectOption('Tom');
    await lists(page, ['Order the paint']);
    await page.getByLabel('For whom').selectOption('Anybody');
    await page.getByLabel('Recording').selectOption({ label: 'Telephone, October 6, 2026' });
    await lists(page, ['Call Ines']);
    await page.reload();
    await lists(page, ['Call Ines']);
    await page.getByLabel('Kind').selectOption('Reminder');
    await page.getByText('Nothing matches').waitFor();
    await page.getByLabel('Kind').selectOption('All');
    await page.getByLabel('Recording').selectOption('All');
    await row(page, 'Order the paint').waitFor();

    await paint.getByRole('checkbox', { name: 'Done: Order the paint' }).click();
    await paint.waitFor({ state: 'hidden' });
    t.equal(await statusOf('Order the paint'), 'completed');
    await page.getByText('Done', { exact: true }).click();
    await settled(page, 'Done').getByText('Order the paint', { exact: true }).waitFor();
    await undo.click();
    await group(page, 'Later').getByText('Order the paint', { exact: true }).waitFor();
    t.equal(await statusOf('Order the paint'), 'open');
    await undo.waitFor({ state: 'hidden' });
    await page.getByText('Nothing is done.').waitFor();

    await paint.locator('summary').click();
    await paint.getByRole('button', { name: 'Dismiss' }).click();
    await paint.waitFor({ state: 'hidden' });
    t.equal(await statusOf('Order the paint'), 'dismissed');
    await page.getByText('Dismissed', { exact: true }).click();
    const dismissed = settled(page, 'Dismissed').locator('.task');
    await dismissed.locator('summary').click();
    await dismissed.getByRole('button', { name: 'Reopen' }).click();
    await group(page, 'Later').getByText('Order the paint', { exact: true }).waitFor();

    await paint.locator('summary').click();
    await paint.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Text').fill('Order blue paint');
    await dialog.getByLabel('Due').fill('2026-10-01T09:00');
    await dialog.getByLabel('Who does it').selectOption('Nobody');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await group(page, 'Overdue').getByText('Order blue paint', { exact: true }).waitFor();
    t.equal(await row(page, 'Order blue paint').locator('.chip').count(), 0);
    await page.getByRole('button', { name: 'Undo' }).last().click();
    await group(page, 'Later').getByText('Oct 9, 2099').waitFor();
    await row(page, 'Order the paint').locator('.chip').getByText('Tom').waitFor();

    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Calendar file (.ics)' }).click();
    const calendar = readFileSync(await (await saved).path(), 'utf8');
    t.match(
      calendar,
      /^BEGIN:VCALENDAR\r\n[\s\S]*SUMMARY:Order the paint\r\nDUE;VALUE=DATE:20991009\r\nCOMMENT:Tom\r\n/,
    );

    await page.getByRole('link', { name: 'Questions' }).click();
    await page.getByRole('list', { name: 'Questions' }).getByText('Who has the ladder?').first().waitFor();
    await looksWell(t, page, 'open questions');
    await page.getByRole('link', { name: 'Decisions' }).click();
    await page.getByRole('list', { name: 'Decisions' }).getByText('Paint it blue').first().waitFor();
  },
);
