import t from 'tap';
import type { Stream } from '../../kits/typescript/src/api.js';
import { TestAccount } from '../fixtures/account.js';
import { enterApp, looksWell } from '../fixtures/app_browsing.js';
import { Browsing, type Visitor } from '../fixtures/browsing.js';
import { TestRecording } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/** Recordings are moved to another workspace, and back, as a person at a browser does it. */

const browsing = await Browsing.start(t, { CHUNK_WORKER: '1' });
const walk = browsing.walk.bind(browsing, t);

const opened = async (visitor: Visitor, { with_team = true } = {}) => {
  const account = await TestAccount.open(browsing.spool, browsing.somebody());
  const ids: string[] = [];
  for (const [at, title] of ['Boat', 'Shopping'].entries()) {
    const recording = await TestRecording.begin(account, { captured_at: `2026-10-0${at + 5}T10:00:00.000Z` });
    await recording.add(5_000);
    await recording.end();
    await account.ask('PATCH', `/audio/streams/${recording.id}`, { title });
    ids.push(recording.id);
  }
  const team = with_team ? await account.workspace('Team') : null;
  await enterApp(browsing, visitor, '/recordings', account.email);
  const placeOf = async (id: string) => (await account.ask<Stream>('GET', `/audio/streams/${id}`)).workspace_id;
  const lies = (id: string, workspace_id: string) =>
    until('it lies there', async () => (await placeOf(id)) === workspace_id);
  return { account, ids: ids as [string, string], team_id: team?.id ?? '', placeOf, lies };
};

await walk('K-380 a recording is moved on its page, and back', async (t, visitor) => {
  const { page } = visitor;
  const { ids, team_id, placeOf, lies } = await opened(visitor);
  const own = await placeOf(ids[0]);
  await page.getByRole('link', { name: 'Boat' }).click();
  await page.getByRole('button', { name: 'Move to…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Move the recording' });
  t.same(await dialog.getByLabel('Workspace').locator('option').allTextContents(), ['Team']);
  await looksWell(t, page, 'moving a recording');
  await dialog.getByRole('button', { name: 'Move', exact: true }).click();
  await page.getByText('“Boat” moved to “Team”.').waitFor();
  await lies(ids[0], team_id);
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
  await lies(ids[0], own);
});

await walk('K-380 selected recordings are moved and starred, and back', async (t, visitor) => {
  const { page } = visitor;
  const { ids, team_id, account, placeOf, lies } = await opened(visitor);
  const own = await placeOf(ids[0]);
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  await page.getByRole('button', { name: 'Select all' }).click();
  const bar = page.getByRole('region', { name: 'Selected recordings' });
  await looksWell(t, page, 'selected recordings');
  const isStarred = async (id: string) =>
    (await account.ask<Stream>('GET', `/audio/streams/${id}?include=tags`)).starred;
  await bar.getByRole('button', { name: 'Star', exact: true }).click();
  await page.getByText('2 recordings starred.').waitFor();
  t.same([await isStarred(ids[0]), await isStarred(ids[1])], [true, true]);
  await bar.getByRole('button', { name: 'Remove star' }).waitFor();
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
  await until('they are as before', async () => !(await isStarred(ids[0])) && !(await isStarred(ids[1])));
  await bar.getByRole('button', { name: 'Move to…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Move', exact: true }).click();
  await page.getByText('2 recordings moved to “Team”.').waitFor();
  for (const id of ids) await lies(id, team_id);
  await page.locator('.toast', { hasText: 'moved' }).getByRole('button', { name: 'Undo' }).click();
  for (const id of ids) await lies(id, own);
});

await walk('K-380 where there is one workspace nothing is moved', async (t, visitor) => {
  await opened(visitor, { with_team: false });
  await visitor.page.getByRole('link', { name: 'Boat' }).click();
  await visitor.page.getByRole('button', { name: 'Rename' }).waitFor();
  t.equal(await visitor.page.getByRole('button', { name: 'Move to…' }).count(), 0);
});

await walk('a shared workspace without recordings says what to do next', async (t, visitor) => {
  const { page } = visitor;
  const { team_id } = await opened(visitor);
  await page.goto(`${page.url()}?workspace=${team_id}`);
  await page.getByText('No recordings in this workspace yet').waitFor();
  await looksWell(t, page, 'an empty workspace');
  await page.getByRole('button', { name: 'Record into it' }).click();
  await page.getByRole('heading', { name: 'Record', exact: true }).waitFor();
  t.equal(await page.getByLabel('Workspace').inputValue(), team_id, 'that workspace is chosen');
});
