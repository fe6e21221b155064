import type { Page } from 'playwright-core';
import t from 'tap';
import { ScriptedEngine } from '../../tools/speech/scripted_engine.js';
import { TestAccount } from '../fixtures/account.js';
import { enterApp, looksWell } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { TestRecording } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/** A part of a recording is deleted from its page. */

const engine = await ScriptedEngine.start(t);
const browsing = await Browsing.start(t, {
  ...{ CHUNK_WORKER: '1', TRANSCRIBE_URL: engine.url, TRANSCRIBE_DIARIZE: '1', TRANSCRIBE_WINDOW_S: '600' },
});
const walk = browsing.walk.bind(browsing, t);
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const ask = (page: Page) => button(page.getByRole('dialog') as unknown as Page, 'Delete');

await walk('K-370 a part is chosen, confirmed, undone and deleted', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const account = await TestAccount.open(browsing.spool, email, { sharing: false });
  const recording = await TestRecording.begin(account);
  const says = ['The boat is ready', 'My number is four two', 'So is the crew'].map((text, n) => {
    return { text, start_ms: n * 6_000 + 500, end_ms: n * 6_000 + 2_500, speaker: 'A' };
  });
  await recording.add(18_000, { says });
  await recording.end();
  await until('it is transcribed', async () => (await recording.turns()).length === 3);
  await enterApp(browsing, visitor, `/recordings/${recording.id}`, email);
  await page.getByText('My number is four two').waitFor();
  await page.clock.install();
  await button(page, 'Delete a part…').click();
  t.equal(await field(page, 'From').inputValue(), '0:00');
  await field(page, 'From').fill('5');
  await page.getByText('Enter a time, such as 1:05 or 1:02:30.').waitFor();
  t.ok(await button(page, 'Continue').isDisabled());
  await field(page, 'From').fill('0:12');
  await field(page, 'To').fill('0:06');
  await page.getByText('Must be later than the beginning.').waitFor();
  t.ok(await button(page, 'Continue').isDisabled());
  await field(page, 'From').fill('0:06');
  await field(page, 'To').fill('0:12');
  await looksWell(t, page, 'a part of a recording');
  await button(page, 'Continue').click();
  await page.getByRole('heading', { name: 'Delete 0:06 to 0:12?' }).waitFor();
  await page.getByText('the words of 1 turn').waitFor();
  await looksWell(t, page, 'the question before a part is deleted');
  await ask(page).click();
  await page.getByText('0:06 to 0:12 will be deleted in 10 seconds').waitFor();
  await button(page, 'Undo').click();
  await page.clock.runFor(11_000);
  t.equal((await recording.turns()).length, 3, 'nothing was sent');

  await button(page, 'Select').click();
  await page.locator('.turn', { hasText: 'My number' }).getByRole('checkbox').check();
  await button(page, 'Delete a part…').click();
  t.equal(await field(page, 'From').inputValue(), '0:06');
  t.equal(await field(page, 'To').inputValue(), '0:09');
  await button(page, 'Continue').click();
  await ask(page).click();
  await page.getByText('0:06 to 0:09 will be deleted').waitFor();
  await page.clock.runFor(11_000);
  await page.getByText('0:06 to 0:09 deleted.').waitFor();
  await page.getByText('My number is four two').waitFor({ state: 'hidden' });
  await page.getByText('So is the crew').waitFor();
  t.equal((await recording.turns()).length, 2);
});

await walk('K-373 whoever can only lose more than a part is told before', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const account = await TestAccount.open(browsing.spool, email, { sharing: false });
  const recording = await TestRecording.begin(account);
  await recording.add(60_000, { file: { bytes: Buffer.alloc(4_000, 3), codec: 'mp3', container: 'mp3' } });
  await recording.end();
  await page.setViewportSize({ width: 360, height: 740 });
  await enterApp(browsing, visitor, `/recordings/${recording.id}`, email);
  await button(page, 'Delete a part…').click();
  await field(page, 'To').fill('0:10');
  await button(page, 'Continue').click();
  await page.getByText('the whole recording would lose its audio').waitFor();
  await looksWell(t, page, 'a part that is the whole recording');
  await button(page, 'Cancel').click();
  t.match(await account.ask('GET', `/audio/streams/${recording.id}`), { stored_chunks: 1 });
});
