import type { Page } from 'playwright-core';
import t from 'tap';
import type { Contact } from '../../kits/typescript/src/api.js';
import { TestAccount } from '../fixtures/account.js';
import { appUrl, enterApp, looksWell, settled } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { makeInsights } from '../fixtures/insights.js';
import { said, TestRecording, TestTranscriber } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/** The people of an account's recordings: what they said, their names, and who is the same. */

const browsing = await Browsing.start(t, { CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
const { spool } = browsing;
const walk = browsing.walk.bind(browsing, t);
const worker = new TestTranscriber(spool);

async function recorded(account: TestAccount, captured_at: string): Promise<TestRecording> {
  const recording = await TestRecording.begin(account, { captured_at });
  await recording.add(30_000);
  await recording.end();
  const spoken = [
    said('The fence by the road is broken again.', [500, 20_500], 'a'),
    said('I will mend it on Friday.', [21_000, 23_000], 'b'),
    said('Take the long nails.', [24_000, 26_000], 'a'),
  ];
  await worker.publish(await worker.claim(recording.id), spoken);
  return recording;
}

const name = async (account: TestAccount, recording: TestRecording, speaker: string, contact: Contact) =>
  account.ask('PATCH', `/audio/streams/${recording.id}/speakers/${speaker}`, { contact_id: contact.id });

/** Ines in two recordings, Tom in one of them. */
async function furnished(email: string) {
  const account = await TestAccount.open(spool, email);
  const ines = await account.ask<Contact>('POST', '/contacts', { name: 'Ines' });
  const tom = await account.ask<Contact>('POST', '/contacts', { name: 'Tom' });
  const first = await recorded(account, '2026-10-05T10:00:00.000Z');
  const second = await recorded(account, '2026-10-07T10:00:00.000Z');
  await account.ask('PATCH', `/audio/streams/${second.id}`, { title: 'At the fence' });
  for (const recording of [first, second]) await name(account, recording, 'S1', ines);
  await name(account, second, 'S2', tom);
  return { account, ines, tom, second };
}

const row = (page: Page, text: string) =>
  page.getByRole('list', { name: 'People' }).getByRole('listitem').filter({ hasText: text });

await walk('an account without people reads how a name comes to be', async (t, visitor) => {
  const { page } = visitor;
  await enterApp(browsing, visitor, '/people');
  await page.getByRole('heading', { name: 'No people yet' }).waitFor();
  await page.getByText('name its speakers under “Who speaks”').waitFor();
  await looksWell(t, page, 'nobody');
});

await walk('people are listed with how much they said, and found by name', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  await furnished(email);
  await enterApp(browsing, visitor, '/recordings', email);
  await page.getByRole('link', { name: 'People', exact: true }).click();
  await row(page, 'Ines').getByText('44 s in 2 recordings').waitFor();
  await row(page, 'Ines').getByText('Last heard on October 7, 2026').waitFor();
  await row(page, 'Tom').getByText('2 s in 1 recording').waitFor();
  const names = page.getByRole('list', { name: 'People' }).getByRole('link');
  t.same(await names.allTextContents(), ['Ines', 'Tom'], 'by name, though Tom is newer');
  await looksWell(t, page, 'people');
  await page.getByLabel('Find by name').fill('tO');
  await until('only Tom is listed', async () => (await row(page, 'Ines').count()) === 0);
  await row(page, 'Tom').waitFor();
  await page.getByLabel('Find by name').fill('Zoe');
  await page.getByRole('heading', { name: 'Nobody has this name' }).waitFor();
  await looksWell(t, page, 'nobody of that name');
});

await walk('a person’s page has what they said, each the way into the recording', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const { ines } = await furnished(email);
  await enterApp(browsing, visitor, `/people/${ines.id}`, email);
  const turns = page.getByRole('list', { name: 'What they said' }).getByRole('listitem');
  await turns.nth(3).waitFor();
  t.equal(await turns.count(), 4);
  await turns.first().getByRole('link', { name: 'At the fence' }).waitFor();
  t.match(await turns.first().textContent(), /At the fence.*at 0:24.*Take the long nails\./, 'the newest is first');
  await page.getByText('Nothing is open.').waitFor();
  await looksWell(t, page, 'a person');
  await turns.first().getByRole('link', { name: 'Take the long nails.' }).click();
  await page.locator('.turn[aria-current]', { hasText: 'Take the long nails.' }).waitFor();
  await page.getByRole('region', { name: 'Who speaks' }).or(page.locator('.speakers')).first().waitFor();
  await page.locator('.speakers').getByRole('link', { name: 'Ines' }).click();
  await page.getByRole('heading', { level: 1, name: 'Ines' }).waitFor();
});

await walk('a person’s open tasks are ticked off there', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const { account, tom, second } = await furnished(email);
  const suggestions = [{ text: 'Mend the fence', kind: 'task', at: [[21_000, 23_000]] as [number, number][] }];
  await makeInsights(account, second, { span: [0, 26_000], suggestions });
  const { items } = await account.ask<{ items: { id: string; state_version: number }[] }>('GET', '/suggestions');
  await account.ask('PATCH', `/suggestions/${items[0]?.id}`, {
    state_version: items[0]?.state_version,
    roles: { owner_contact_id: tom.id },
  });
  await enterApp(browsing, visitor, `/people/${tom.id}`, email);
  const task = page.getByRole('checkbox', { name: 'Done: Mend the fence' });
  await task.waitFor();
  await looksWell(t, page, 'a person with a task');
  await task.click();
  await page.getByText('Marked as done.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await until('it is open again', async () => !(await task.isChecked()));
});

await walk('a person is renamed, and the name comes back', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const { ines } = await furnished(email);
  await enterApp(browsing, visitor, `/people/${ines.id}`, email);
  await page.getByRole('button', { name: 'Rename' }).click();
  const dialog = page.getByRole('dialog', { name: 'Rename' });
  await dialog.getByLabel('Name').fill(' ');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.locator('.field-error').waitFor();
  await dialog.getByLabel('Name').fill('Ines Berg');
  await looksWell(t, page, 'renaming a person');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: 'Ines Berg' }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('heading', { level: 1, name: 'Ines', exact: true }).waitFor();
});

await walk('a person is said to be oneself, and undone it is whoever it was before', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const { account, ines, tom } = await furnished(email);
  await account.ask('PATCH', `/contacts/${tom.id}`, { is_self: true });
  const isSelf = async () =>
    Promise.all([ines, tom].map(async ({ id }) => (await account.ask<Contact>('GET', `/contacts/${id}`)).is_self));
  await enterApp(browsing, visitor, `/people/${ines.id}`, email);
  await page.getByRole('button', { name: 'This is me' }).click();
  await page.getByRole('button', { name: 'This is not me' }).waitFor();
  t.same(await isSelf(), [true, false]);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('button', { name: 'This is me' }).waitFor();
  t.same(await isSelf(), [false, true]);
});

await walk('two people who are one are merged, after a warning', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const { ines, tom } = await furnished(email);
  await enterApp(browsing, visitor, `/people/${tom.id}`, email);
  await page.getByRole('button', { name: 'Merge' }).click();
  const dialog = page.getByRole('dialog', { name: 'Merge with another person' });
  await dialog.getByLabel('Who is the same person').selectOption({ label: 'Ines' });
  await dialog.getByText('All that Tom said will show the name Ines, and Tom will no longer be listed.').waitFor();
  await dialog.getByText('This can’t be undone.').waitFor();
  await looksWell(t, page, 'merging a person');
  await dialog.getByRole('button', { name: 'Merge' }).click();
  await page.getByRole('heading', { level: 1, name: 'Ines' }).waitFor();
  await page.getByRole('list', { name: 'What they said' }).getByText('I will mend it on Friday.').waitFor();
  await page.goto(appUrl(browsing, `/people/${tom.id}`));
  await page.getByRole('heading', { level: 1, name: 'Ines' }).waitFor();
  t.equal(new URL(page.url()).pathname, `/app/people/${ines.id}`, 'the address of the merged one leads there');
});

await walk('a person is deleted, and what they said stays', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const { account, tom, second } = await furnished(email);
  await enterApp(browsing, visitor, `/people/${tom.id}`, email);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog', { name: 'Delete Tom?' }).getByRole('button', { name: 'Delete' }).click();
  await row(page, 'Ines').waitFor();
  t.equal(await row(page, 'Tom').count(), 0);
  t.equal((await second.turns()).length, 3);
  t.equal(await account.says('GET', `/contacts/${tom.id}`), '404 NOT_FOUND');
  await page.goto(appUrl(browsing, `/people/${tom.id}`));
  await settled(page);
  await page.getByRole('heading', { name: 'This person is not here' }).waitFor();
  await looksWell(t, page, 'a person who is gone');
});
