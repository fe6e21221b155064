import t from 'tap';
import type { Suggestion } from '../../kits/typescript/src/api.js';
import { deriveToken } from '../../src/engine/secrets/tokens.js';
import { TestAccount } from '../fixtures/account.js';
import { enterApp, looksWell } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { until } from '../fixtures/until.js';

/** Tasks that a person adds by hand, and what tells of those due, at a browser. */

const browsing = await Browsing.start(t, { CHUNK_WORKER: '0', CONTENT_WORKER: '0', RATE_LIMITS: 'off' });
const walk = browsing.walk.bind(browsing, t);
const { spool } = browsing;

await walk(
  'K-320 a task is added in one line or with day, person and kind, edited, and taken back',
  async (t, visitor) => {
    const { page } = visitor;
    const email = browsing.somebody();
    const account = await TestAccount.open(spool, email, { sharing: false });
    await account.ask('POST', '/contacts', { name: 'Tom' });
    const added = async () => (await account.ask<{ items: Suggestion[] }>('GET', '/suggestions')).items;
    const group = (name: string) => page.getByRole('list', { name, exact: true });

    await enterApp(browsing, visitor, '/insights', email);
    await page.getByText('You can also add a task above.').waitFor();
    const line = page.getByLabel('Add a task');
    await line.press('Enter');
    t.same(await added(), [], 'nothing without a text');
    await line.fill('Buy nails');
    await line.press('Enter');
    await group('No date').getByText('Buy nails').waitFor();
    t.equal(await line.inputValue(), '');
    await page.locator('.add-line input:focus').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await group('No date').waitFor({ state: 'hidden' });
    t.same(await added(), []);

    await page.getByRole('button', { name: 'More' }).click();
    await line.fill('Fetch the ladder');
    await page.getByLabel('Due on').fill('2099-10-09');
    await page.getByLabel('Who does it').selectOption('Tom');
    await page.locator('.add-task').getByLabel('Kind').selectOption('Reminder');
    await looksWell(t, page, 'a task that is added');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const row = group('Later').locator('.task');
    await row.getByText('Oct 9, 2099').waitFor();
    await row.locator('.chip').getByText('Tom').waitFor();
    t.match(await added(), [{ text: 'Fetch the ladder', kind: 'reminder', due_date: '2099-10-09', made_by: 'person' }]);
    await line.fill('Who has the key?');
    await page.locator('.add-task').getByLabel('Kind').selectOption('Question');
    await line.press('Enter');
    await page.getByText('Added to the questions.').waitFor();

    await row.locator('summary').click();
    await row.getByText('Added by hand').waitFor();
    await row.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Kind').selectOption('Follow-up');
    await dialog.getByRole('button', { name: 'Save' }).click();
    const kindOf = async () => (await added()).find(({ text }) => text === 'Fetch the ladder')?.kind;
    await until('the kind is another', async () => (await kindOf()) === 'follow_up');
    await page.getByRole('button', { name: 'Undo' }).last().click();
    await until('the kind is what it was', async () => (await kindOf()) === 'reminder');
  },
);

await walk('K-324 a person makes a calendar address, copies it and ends it', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const account = await TestAccount.open(spool, email, { sharing: false });
  await account.ask('POST', '/suggestions', { text: 'Water the fern', due_date: '2099-10-09' });
  await enterApp(browsing, visitor, '/insights', email);
  await page.getByRole('button', { name: 'Subscribe in a calendar' }).click();
  const dialog = page.getByRole('dialog', { name: 'Subscribe in a calendar' });
  await dialog.getByRole('button', { name: 'Make an address' }).click();
  const url = (await dialog.getByLabel('The address', { exact: true }).textContent()) ?? '';
  t.match(await (await fetch(url)).text(), 'SUMMARY:Water the fern');
  const webcal = await dialog.getByRole('link', { name: 'Open in calendar' }).getAttribute('href');
  t.equal(webcal, url.replace(/^https?:/, 'webcal:'));
  await looksWell(t, page, 'a calendar address');
  await dialog.getByRole('button', { name: 'Make a new address' }).click();
  await page.getByRole('button', { name: 'Make address', exact: true }).click();
  await until('the address is another', async () => (await fetch(url)).status === 404);
  await dialog.getByRole('button', { name: 'End address' }).click();
  await page.getByRole('dialog', { name: 'End this address?' }).getByRole('button', { name: 'End address' }).click();
  await dialog.getByRole('button', { name: 'Make an address' }).waitFor();
});

await walk(
  'K-326 K-328 a person has what is due mailed, and stops that by the page of its link',
  async (t, visitor) => {
    const { page } = visitor;
    const email = browsing.somebody();
    const account = await TestAccount.open(spool, email, { sharing: false });
    const today = new Date(spool.server.services.clock.now()).toISOString().slice(0, 10);
    await account.ask('POST', '/suggestions', { text: 'Pay the rent', due_date: today });
    await enterApp(browsing, visitor, '/account', email);
    const settings = () => account.ask<{ is_on: boolean; hour: number }>('GET', '/me/due-mail');
    await page.getByLabel('Send me a mail').check();
    await until('it is on', async () => (await settings()).is_on);
    await page.getByLabel('From', { exact: true }).selectOption('03:00');
    await until('the hour is another', async () => (await settings()).hour === 3);
    await looksWell(t, page, 'the mail of what is due');

    const { keys, actors } = spool.server.services;
    const { due_mail } = await actors.account(account.id).view();
    if (due_mail === undefined) throw new Error('there is no setting');
    const token = deriveToken(keys, 'unsubscribe', { ...due_mail, id: account.id, counter: 0 });
    await page.goto(`${spool.base_url}/unsubscribe/${token}`);
    await page.getByRole('button', { name: 'Stop these mails' }).click();
    await page.getByRole('heading', { name: 'You get no more mails of what is due' }).waitFor();
    t.equal((await settings()).is_on, false);
  },
);
