import type { Page } from 'playwright-core';
import t from 'tap';
import { TestAccount } from '../fixtures/account.js';
import { appUrl, enterApp, settled } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { makeInsights } from '../fixtures/insights.js';
import { said, TestRecording, TestTranscriber } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/** What somebody types into a dialog of the app, while the page is loaded again. */

const browsing = await Browsing.start(t, { CHUNK_WORKER: '1', CONTENT_WORKER: '0', RATE_LIMITS: 'off' });
const { spool } = browsing;
const worker = new TestTranscriber(spool);

const dialog = (page: Page) => page.locator('dialog[open]');
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const reload = async (page: Page) => {
  await page.reload();
  await settled(page);
};
const drafts = (page: Page) =>
  page.evaluate('Object.keys(sessionStorage).filter((key) => key.startsWith("spool-draft"))') as Promise<string[]>;

/** The drafts go a moment after the dialog does. */
const forgotten = (page: Page, why: string) => until(why, async () => (await drafts(page)).length === 0);

await browsing.walk(
  t,
  'a reload keeps what was typed into a dialog, until it is sent or closed',
  async (t, visitor) => {
    const { page } = visitor;
    const email = browsing.somebody();
    const account = await TestAccount.open(spool, email, { sharing: false });
    const recording = await TestRecording.begin(account);
    await recording.add(20_000);
    await recording.end();
    await worker.publish(await worker.claim(recording.id), [said('I will bake and sweep.', [0, 4_000], 'A')]);
    await makeInsights(account, recording, {
      suggestions: [
        { text: 'Bake', at: [[0, 4_000]] },
        { text: 'Sweep', at: [[0, 4_000]] },
      ],
    });

    await enterApp(browsing, visitor, `/recordings/${recording.id}`, email);
    const title = dialog(page).getByLabel('Title');
    await press(page, 'Rename');
    await title.fill('A long title');
    await reload(page);
    await title.waitFor();
    t.equal(await title.inputValue(), 'A long title');
    await page.keyboard.press('Escape');
    await press(page, 'Rename');
    await title.waitFor();
    t.equal(await title.inputValue(), '', 'what was closed is not kept');
    await title.fill('Kitchen');
    await press(page, 'Save');
    await page.getByRole('heading', { name: 'Kitchen', level: 1 }).waitFor();
    await forgotten(page, 'what was sent is not kept');

    const field = page.getByRole('textbox', { name: 'What was said at 0:00' });
    await press(page, 'Edit the text at 0:00');
    await field.fill('I will bake.');
    await reload(page);
    await field.waitFor();
    t.equal(await field.inputValue(), 'I will bake.');
    await press(page, 'Cancel');
    await forgotten(page, 'what was cancelled is not kept');

    const who = dialog(page).getByLabel('Name', { exact: true });
    await press(page, 'Change who spoke at 0:00, or delete it');
    await who.fill('Mi');
    await reload(page);
    await who.waitFor();
    t.equal(await who.inputValue(), 'Mi', 'the dialog of this turn');
    await page.keyboard.press('Escape');
    await forgotten(page, 'what was closed is not kept');
    await reload(page);
    t.equal(await dialog(page).count(), 0, 'nothing opens by itself then');

    await page.goto(appUrl(browsing, '/insights'));
    await settled(page);
    const text = dialog(page).getByLabel('Text');
    const edit = async (of: string) => {
      const row = page.locator('li.task', { has: page.locator('.task-text', { hasText: of }) });
      const button = row.getByRole('button', { name: 'Edit' });
      if (!(await button.isVisible())) await row.locator('summary').click();
      await button.click();
      await text.waitFor();
    };
    await edit('Bake');
    await text.fill('Bake bread');
    await reload(page);
    await text.waitFor();
    t.equal(await text.inputValue(), 'Bake bread');
    await page.keyboard.press('Escape');
    await edit('Sweep');
    t.equal(await text.inputValue(), 'Sweep', 'another’s has its own');
    await text.fill('Sweep the floor');

    await reload(page);
    await text.waitFor();
    t.not((await drafts(page)).length, 0);
    const other = await visitor.newPage();
    await other.goto(appUrl(browsing, '/recordings'));
    await settled(other);
    await press(other, 'Sign out');
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await forgotten(page, 'signing out in any tab forgets them');
  },
);
