import t from 'tap';
import { TestAccount } from '../fixtures/account.js';
import { enterApp, looksWell } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { TestRecording, TestTranscriber } from '../fixtures/transcribing.js';

/** Text that an engine is not sure of, as a page shows it. The engine is a program of one's own, which says how sure it is. */

const browsing = await Browsing.start(t, { CHUNK_WORKER: '1', CONTENT_WORKER: '0' });

await browsing.walk(
  t,
  'K-474 unsure text is grey and said to be unsure, until somebody corrects it',
  async (t, visitor) => {
    const { page } = visitor;
    const email = browsing.somebody();
    const account = await TestAccount.open(browsing.spool, email, { sharing: false });
    const recording = await TestRecording.begin(account);
    await recording.add(9_000);
    await recording.end();
    const transcriber = new TestTranscriber(browsing.spool);
    await transcriber.publish(await transcriber.claim(recording.id), [
      { start_ms: 0, end_ms: 3_000, text: 'The key is in the safe.', confidence: 0.6 },
      { start_ms: 3_000, end_ms: 6_000, text: 'Agent Longdean.', confidence: 0.59 },
      { start_ms: 6_000, end_ms: 9_000, text: 'Nobody knows how sure this is.' },
    ]);
    await enterApp(browsing, visitor, `/recordings/${recording.id}`, email);
    const unsure = page.locator('.turn', { hasText: 'Agent Longdean.' });
    const hint = page.getByText('The engine was not sure of what is grey.');
    await hint.waitFor();
    t.equal(await page.locator('.turn-text.unsure').count(), 1);
    t.equal(await unsure.getByText('The engine was not sure of this text.').count(), 1);
    await looksWell(t, page, 'text that is unsure');
    await page.getByRole('button', { name: 'Edit the text at 0:03' }).click();
    await page.getByRole('textbox', { name: 'What was said at 0:03' }).fill('Agent logged in.');
    await page.keyboard.press('Enter');
    await page.getByText('Edited').waitFor();
    t.equal(await page.locator('.turn-text.unsure').count(), 0);
    t.equal(await hint.count(), 0);
  },
);
