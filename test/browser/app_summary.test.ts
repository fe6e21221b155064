import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import t from 'tap';
import type { StreamSummary } from '../../kits/typescript/src/api.js';
import { TestAccount } from '../fixtures/account.js';
import { enterApp, looksWell } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { makeInsights } from '../fixtures/insights.js';
import { said, TestRecording, TestTranscriber } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/** The summary of a recording on its page: read, done, written, made again, printed and saved. */

const browsing = await Browsing.start(t, { CHUNK_WORKER: '1', CONTENT_WORKER: '0', RATE_LIMITS: 'off' });
const worker = new TestTranscriber(browsing.spool);
const walk = browsing.walk.bind(browsing, t);
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

await walk('K-350 K-351 K-352 what came of a recording is read, done and written', async (t, visitor) => {
  const { page, context } = visitor;
  const email = browsing.somebody();
  const account = await TestAccount.open(browsing.spool, email, { sharing: false });
  const recording = await TestRecording.begin(account);
  await recording.add(30_000);
  await recording.end();
  await account.ask('PATCH', `/audio/streams/${recording.id}`, { title: 'Garden' });
  const texts = ['About the fence.', 'Ben paints the fence on Friday.', 'We go with *blue*.', 'Who has the ladder?'];
  const turns = texts.map((text, at) => said(text, [at * 5_000, at * 5_000 + 4_000], 'A'));
  await worker.publish(await worker.claim(recording.id), turns);
  const ben = await account.ask<{ id: string }>('POST', '/contacts', { name: 'Ben' });
  const span = (start_ms: number) => {
    return { stream_id: recording.id, source_id: recording.source_id, start_ms, end_ms: start_ms + 4_000 };
  };
  await makeInsights(account, recording, {
    conversation: {
      ...{ title: 'Fence', summary: 'The fence becomes blue.' },
      sentences: [{ text: 'The fence becomes blue.', evidence: [span(10_000)] }],
    },
    suggestions: [
      {
        ...{
          text: 'Paint the fence on Friday',
          at: [[0, 4_000] as const, [5_000, 9_000] as const].map((one) => [...one]),
        },
        ...{ due_date: '2099-10-09', due_at_ms: Date.parse('2099-10-09T12:00:00Z') },
        roles: { owner_contact_id: ben.id, requester_contact_id: null },
      },
      { text: 'It becomes *blue*', kind: 'decision', at: [[10_000, 14_000]] },
      { text: 'Who has the ladder?', kind: 'question', at: [[15_000, 19_000]] },
    ] as never,
  });
  const summary = () => account.ask<StreamSummary>('GET', `/audio/streams/${recording.id}/summary`);

  await enterApp(browsing, visitor, `/recordings/${recording.id}`, email);
  const panel = page.getByRole('region', { name: 'Summary' });
  const task = panel.locator('.task');
  for (const text of ['Paint the fence on Friday', 'Ben', 'Oct 9, 2099'])
    await task.getByText(text, { exact: true }).waitFor();
  for (const name of ['To do', 'Decisions', 'Open questions']) await panel.getByRole('heading', { name }).waitFor();
  await task.getByRole('button', { name: 'Play from 0:05' }).waitFor();
  await looksWell(t, page, 'what came of a recording');
  await task.getByRole('checkbox').click();
  await until('it is done', async () => (await summary()).tasks[0]?.status === 'completed');
  await page.getByRole('button', { name: 'Undo' }).click();
  await until('it is undone', async () => (await summary()).tasks[0]?.status === 'open');

  await button(page, 'Edit the summary').click();
  const field = page.getByRole('dialog').getByLabel('Sentences');
  t.equal(await field.inputValue(), 'The fence becomes blue.');
  await field.fill('The fence becomes dark blue.\n\nBen paints it.');
  await looksWell(t, page, 'the dialog of a summary');
  await button(page, 'Save').click();
  await panel.getByText('Edited').waitFor();
  await panel.locator('li', { hasText: 'dark blue' }).getByRole('button', { name: 'Play from 0:10' }).waitFor();
  await page.reload();
  await panel.getByText('Ben paints it.').waitFor();

  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await button(page, 'Copy').click();
  const copied = String(await page.evaluate('navigator.clipboard.readText()'));
  t.match(
    copied,
    /^Summary\n- The fence becomes dark blue\.\n- Ben paints it\.\n\nTo do\n- Paint the fence on Friday \(Ben, 2099-10-09\)\n/,
  );
  t.match(copied, /\n\[0:00\] .*About the fence\.\n/);
  const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Markdown').click()]);
  const markdown = readFileSync(await download.path(), 'utf8');
  t.match(markdown, /^# Garden\n\n- Day: [\s\S]*## To do\n\n- \[ \] Paint the fence[\s\S]*- It becomes \\\*blue\\\*\n/);
  t.match(markdown, /\n## Transcript\n\n\*\*0:00/);
  await page.getByLabel('Copy and Markdown with the summary').uncheck();
  await button(page, 'Copy').or(button(page, 'Copied')).click();
  t.notMatch(await page.evaluate('navigator.clipboard.readText()'), /Summary/);

  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  t.equal(await page.evaluate('getComputedStyle(document.documentElement).colorScheme'), 'light', 'paper is light');
  for (const seen of [panel.getByText('Ben paints it.'), page.getByText('Who has the ladder?').first()])
    t.ok(await seen.isVisible());
  for (const hidden of [
    button(page, 'Copy').or(button(page, 'Copied')),
    page.getByRole('navigation').first(),
    page.getByLabel('Add a tag'),
  ])
    t.notOk(await hidden.isVisible());
  await page.emulateMedia({ media: 'screen', colorScheme: 'light' });

  await button(page, 'Edit the summary').click();
  await button(page, 'Discard my changes').click();
  await panel.getByText('The summary is being made again.').waitFor();
  await until('it is nobody’s own, and waits', async () => {
    const { edited, state } = await summary();
    return !edited && state === 'pending';
  });
});
