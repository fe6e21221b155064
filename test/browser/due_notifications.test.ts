import t from 'tap';
import { TestAccount } from '../fixtures/account.js';
import { enterApp, looksWell } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { until } from '../fixtures/until.js';

/** A browser tells of tasks as they fall due. */

/** In the page: notifications are kept in `told`; asking for permission gives this. */
const notifications = (permission: string) => `{
  globalThis.told = [];
  globalThis.Notification = class {
    static permission = sessionStorage.getItem('permission') ?? 'default';
    static async requestPermission() {
      Notification.permission = '${permission}';
      sessionStorage.setItem('permission', '${permission}');
      return '${permission}';
    }
    constructor(title, { body, tag }) {
      told.push([title, body, tag].join(' | '));
    }
  };
}`;

const browsing = await Browsing.start(t);

await browsing.walk(t, 'a task that falls due is told of where the person allowed it', async (t, visitor) => {
  const { page } = visitor;
  const account = await TestAccount.open(browsing.spool, browsing.somebody());
  await page.addInitScript(notifications('granted'));
  await enterApp(browsing, visitor, '/account', account.email);
  const box = page.getByLabel('Notify me in this browser');
  await box.click();
  await until('it is on', () => box.isChecked());
  await looksWell(t, page, 'settings with notifications');
  await page.reload();
  t.equal(await box.isChecked(), true, 'it stays on');
  const due_at = new Date(Date.now() + 3_000).toISOString();
  const { id } = await account.ask<{ id: string }>('POST', '/suggestions', { text: 'Buy oak boards', due_at });
  const told = () => page.evaluate<string[]>('told');
  await until('it is told of', async () => (await told()).length > 0);
  t.same(await told(), [`A task is due | Buy oak boards | ${id}`]);
  await box.click();
  await until('it is off', async () => !(await box.isChecked()));
});

await browsing.walk(t, 'where the browser blocks notifications, the page says so', async (t, visitor) => {
  const { page } = visitor;
  await page.addInitScript(notifications('denied'));
  await enterApp(browsing, visitor, '/account');
  await page.getByLabel('Notify me in this browser').click();
  await page.getByText('The browser blocks notifications of this page.').waitFor();
  t.equal(await page.getByLabel('Notify me in this browser').isChecked(), false);
});
