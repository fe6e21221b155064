import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import t from 'tap';
import { ScriptedEngine } from '../../tools/speech/scripted_engine.js';
import { TestAccount } from '../fixtures/account.js';
import { appUrl, enterApp, looksWell } from '../fixtures/app_browsing.js';
import { Browsing, type Visitor } from '../fixtures/browsing.js';
import { TestRecording } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/** The list of recordings and the page of one, as a person at a browser uses them. */

const engine = await ScriptedEngine.start(t);
const browsing = await Browsing.start(t, {
  ...{ CHUNK_WORKER: '1', TRANSCRIBE_URL: engine.url, TRANSCRIBE_DIARIZE: '1', TRANSCRIBE_WINDOW_S: '600' },
});
const walk = browsing.walk.bind(browsing, t);

type Line = { text: string; start_ms: number; end_ms: number; speaker?: string };
const line = (text: string, start_ms: number, speaker = 'A'): Line => {
  return { text, start_ms, end_ms: start_ms + 2_000, speaker };
};
const recorded = async (
  account: TestAccount,
  { says, title, ...begun }: { says: Line[]; title?: string; captured_at: string; source_id?: string },
) => {
  const recording = await TestRecording.begin(account, begun);
  await recording.add(9_000, { says });
  await recording.end();
  if (title !== undefined) await account.ask('PATCH', `/audio/streams/${recording.id}`, { title });
  await until('it is transcribed', async () => (await recording.turns()).length === says.length);
  return recording;
};
const turn = (page: Page, text: string) => page.locator('.turn', { hasText: text });
const row = (page: Page, title: string) => page.locator('.day li', { hasText: title });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
/** The list comes to show these. */
const lists = (page: Page, titles: string[]) =>
  until(`the list shows ${titles.join()}`, async () => {
    const shown = await page.locator('.day .row-title').allTextContents();
    return shown.join() === titles.join();
  });

await walk('K-240 recordings are filtered by person, source and day, and a reload keeps that', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const account = await TestAccount.open(browsing.spool, email, { sharing: false });
  const says = [line('The boat is ready', 500), line('So is the crew', 3_000, 'B')];
  const boat = await recorded(account, { says, title: 'Boat', captured_at: '2026-10-05T10:00:00.000Z' });
  await recorded(account, {
    ...{ says: [line('Bread and milk', 500)], title: 'Shopping' },
    ...{ captured_at: '2026-10-09T10:00:00.000Z', source_id: boat.source_id },
  });
  await recorded(account, { says: [line('Nothing new', 500)], captured_at: '2026-10-20T10:00:00.000Z' });
  const { id } = await account.ask<{ id: string }>('POST', '/contacts', { name: 'Ingrid' });
  await account.ask('PATCH', `/audio/streams/${boat.id}/speakers/S2`, { contact_id: id });
  await account.ask('PATCH', `/sources/${boat.source_id}`, { name: 'Pocket' });

  await enterApp(browsing, visitor, '/recordings', email);
  await row(page, 'Boat').getByText('Ingrid and 1 more').waitFor();
  for (const text of ['9 s', 'Pocket', 'The boat is ready']) await row(page, 'Boat').getByText(text).waitFor();
  await row(page, 'Recording of October 20').getByText('1 speaker').waitFor();
  await page.getByText('Filters', { exact: true }).click();
  await page.getByLabel('Person').selectOption('Ingrid');
  await row(page, 'Shopping').waitFor({ state: 'hidden' });
  await lists(page, ['Boat']);
  await page.reload();
  await row(page, 'Boat').waitFor();
  await lists(page, ['Boat']);
  t.ok(await page.getByLabel('Person').isVisible(), 'what narrows the list is in sight');
  await looksWell(t, page, 'filtered recordings');
  await page.getByLabel('From').fill('2026-10-06');
  await page.getByText('No recording matches').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await row(page, 'Shopping').waitFor();
  t.notMatch(page.url(), /\?/);
  await page.getByLabel('Source').selectOption('Pocket');
  await row(page, 'Recording of October 20').waitFor({ state: 'hidden' });
  await page.getByLabel('To').fill('2026-10-05');
  await row(page, 'Shopping').waitFor({ state: 'hidden' });
  await lists(page, ['Boat']);
});

await walk('recordings of a shared workspace are listed, whoever recorded them', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const account = await TestAccount.open(browsing.spool, email);
  const colleague = await TestAccount.open(browsing.spool, browsing.somebody());
  const mine = await TestRecording.begin(account);
  await account.ask('PATCH', `/audio/streams/${mine.id}`, { title: 'Mine' });
  const { id: workspace_id } = await account.workspace('Team');
  await account.bring(workspace_id, [colleague]);
  const { source_id } = await TestRecording.begin(colleague);
  const begun = { workspace_id, source_id, captured_at: '2026-10-05T10:00:00.000Z' };
  const theirs = await TestRecording.inWorkspace(colleague, begun);
  await colleague.ask('PATCH', `/audio/streams/${theirs.id}`, { title: 'Theirs' });
  await enterApp(browsing, visitor, '/recordings', email);
  await lists(page, ['Mine']);
  await page.getByText('Filters', { exact: true }).click();
  await page.getByLabel('Workspace').selectOption('Team');
  await lists(page, ['Theirs']);
  t.equal(await page.getByLabel('Source').count(), 0, 'sources of others are not known');
  await page.reload();
  await lists(page, ['Theirs']);
  await button(page, 'Select').click();
  await button(page, 'Select all').click();
  await button(page, 'Delete').click();
  await page.getByText('1 recording can’t be deleted. Only the owner of a recording deletes it.').waitFor();
  t.equal(await page.getByRole('dialog').count(), 0, 'nothing is left to ask about');
});

await walk('several recordings are selected and deleted after one question', async (t, visitor) => {
  const { page, context } = visitor;
  const email = browsing.somebody();
  const account = await TestAccount.open(browsing.spool, email, { sharing: false });
  for (const title of ['One', 'Two', 'Three'])
    await recorded(account, { says: [line(`This is ${title}`, 500)], title, captured_at: '2026-10-05T10:00:00.000Z' });
  await enterApp(browsing, visitor, '/recordings', email);
  await row(page, 'Three').waitFor();
  await page.clock.install();
  await button(page, 'Select').click();
  t.ok(await button(page, 'Delete').isDisabled());
  await page.getByRole('checkbox', { name: 'One' }).check();
  await row(page, 'Two').click();
  await page.getByText('2 selected').waitFor();
  await looksWell(t, page, 'selected recordings');
  await page.keyboard.press('Escape');
  await button(page, 'Select').click();
  await button(page, 'Select all').click();
  await page.getByRole('checkbox', { name: 'Three' }).uncheck();
  await page.getByText('2 selected').waitFor();

  // The second is refused, and comes back.
  let deleted = 0;
  await context.route('**/audio/streams/*', async (route) => {
    if (route.request().method() !== 'DELETE') return route.continue();
    deleted += 1;
    return deleted === 2 ? route.fulfill({ status: 503, json: {} }) : route.continue();
  });
  await button(page, 'Delete').click();
  await page.getByRole('dialog').getByRole('heading', { name: 'Delete 2 recordings?' }).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await button(page, 'Select').waitFor();
  await lists(page, ['Three']);
  await page.clock.fastForward(10_000);
  await page.getByText('1 recording deleted.').waitFor();
  await page.getByText('1 recording could not be deleted. The server answered 503.').waitFor();
  await context.unroute('**/audio/streams/*');
  await button(page, 'Select').click();
  await page.getByRole('checkbox', { name: /One|Two/ }).check();
  await button(page, 'Delete').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await lists(page, ['Three']);
  await page.clock.fastForward(10_000);
  await until('both are gone', async () => {
    const { items } = await account.ask<{ items: unknown[] }>('GET', '/audio/streams');
    return items.length === 1;
  });
  await lists(page, ['Three']);
  const { items } = await account.ask<{ items: { title: string }[] }>('GET', '/audio/streams');
  t.same(
    items.map(({ title }) => title),
    ['Three'],
  );
  t.ok(visitor.complaints.splice(0).every((text) => /503/.test(text)));
  t.match(page.url(), appUrl(browsing, '/recordings'));
});

const positionOf = async (page: Page) => Number(await page.getByRole('slider').getAttribute('aria-valuenow'));
/** Clicks in the middle of a word of the transcript. */
const clickWord = async (page: Page, word: string) => {
  const { x, y } = (await page.evaluate(`(() => {
    for (const { firstChild: node } of document.querySelectorAll('.turn-text bdi')) {
      const from = node.data.indexOf(${JSON.stringify(word)});
      if (from < 0) continue;
      const range = document.createRange();
      range.setStart(node, from);
      range.setEnd(node, from + ${word.length});
      const { left, width, top, height } = range.getBoundingClientRect();
      return { x: left + width / 2, y: top + height / 2 };
    }
  })()`)) as { x: number; y: number };
  await page.mouse.click(x, y);
};
const opened = async (visitor: Visitor, says: Line[]) => {
  const email = browsing.somebody();
  const account = await TestAccount.open(browsing.spool, email, { sharing: false });
  const recording = await recorded(account, { says, title: 'Talk', captured_at: '2026-10-05T10:00:00.000Z' });
  await enterApp(browsing, visitor, `/recordings/${recording.id}`, email);
  await turn(visitor.page, says.at(-1)?.text ?? '').waitFor();
  await visitor.page.getByRole('slider').waitFor();
  return { account, recording };
};

await walk('a click on a word plays from it, and the word that is heard is marked', async (t, visitor) => {
  const { page } = visitor;
  await opened(visitor, [{ text: 'Alpha bravo charlie delta', start_ms: 500, end_ms: 8_500, speaker: 'A' }]);
  await clickWord(page, 'delta');
  await until('it plays from there', async () => (await positionOf(page)) >= 6);
  await page.getByRole('slider').focus();
  await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  t.equal(await positionOf(page), 5);
  await page.locator('.heard', { hasText: /^charlie$/ }).waitFor();
  await looksWell(t, page, 'a word that is heard');
  await page.keyboard.press('Home');
  await page.locator('.heard').waitFor({ state: 'hidden' });
  t.pass('nothing is marked before it was played');
});

await walk('where nobody speaks, it is skipped', async (t, visitor) => {
  const { page } = visitor;
  await opened(visitor, [line('Before it', 500), line('Behind it', 6_000)]);
  await button(page, 'Skip silence').click();
  const heard = page.evaluate<string[]>(`new Promise((resolve) => {
    const slider = document.querySelector('[role="slider"]');
    const seen = new Set();
    new MutationObserver(() => {
      seen.add(slider.getAttribute('aria-valuenow'));
      if (seen.has('7')) resolve([...seen]);
    }).observe(slider, { attributes: true });
  })`);
  await button(page, 'Play').click();
  const seen = await heard;
  t.ok(seen.includes('6'));
  t.notOk(seen.includes('4') || seen.includes('5'), 'three seconds of silence');
});

await walk('keys play, skip, change the speed and find; what is typed in a field is no key', async (t, visitor) => {
  const { page } = visitor;
  await opened(visitor, [line('The key is the spare key', 500), line('A key?', 3_000, 'B'), line('Look', 6_000)]);
  const heading = page.getByRole('heading', { level: 1 });
  const play = page.getByRole('button', { name: 'Play', exact: true });
  const shows = (text: string) => page.getByText(text, { exact: true }).waitFor();
  await heading.click();
  await page.keyboard.press('ArrowRight');
  t.equal(await positionOf(page), 5);
  await page.keyboard.press('j');
  t.equal(await positionOf(page), 0);
  await page.keyboard.press('l');
  t.equal(await positionOf(page), 9, 'to the end at most');
  await page.keyboard.press('ArrowLeft');
  t.equal(await positionOf(page), 4);
  await page.keyboard.press('>');
  await shows('Speed: 1.25×');
  await page.keyboard.press('<');
  await page.keyboard.press('<');
  await shows('Speed: 0.75×');
  for (const key of ['k', ' ']) {
    await page.keyboard.press('j');
    await page.keyboard.press(key);
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.keyboard.press(key);
    await play.waitFor();
  }

  await page.keyboard.press('/');
  const field = page.getByRole('searchbox', { name: 'Find in the transcript' });
  await field.waitFor();
  const before = await positionOf(page);
  await page.keyboard.type('jkl ?/<');
  t.equal(await field.inputValue(), 'jkl ?/<');
  t.equal(await positionOf(page), before);
  await shows('No results');
  await field.fill('KEY');
  await shows('1 of 3');
  await page.keyboard.press('Enter');
  await shows('2 of 3');
  t.same(await page.locator('mark').allTextContents(), ['key', 'key', 'key']);
  await looksWell(t, page, 'what was found in a transcript');
  await field.focus();
  await page.keyboard.press('Shift+Enter');
  await page.getByRole('button', { name: 'Previous' }).click();
  await shows('3 of 3');
  t.equal(await turn(page, 'A key?').locator('mark.current').count(), 1);
  await field.focus();
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'hidden' });
  t.equal(await page.locator('mark').count(), 0);

  await heading.click();
  await page.keyboard.press('?');
  await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
  await looksWell(t, page, 'the shortcuts');
  await page.keyboard.press('k');
  t.equal(await play.count(), 1, 'nothing plays behind a dialog');
  await page.getByLabel('Use these shortcuts').uncheck();
  await page.keyboard.press('Escape');
  await heading.click();
  await page.keyboard.press('/');
  await page.keyboard.press('?');
  t.equal((await field.count()) + (await page.getByRole('dialog').count()), 0, 'they are off');
  await page.reload();
  await page.getByRole('slider').waitFor();
  await page.keyboard.press('?');
  t.equal(await page.getByRole('dialog').count(), 0, 'and stay off');
});

await walk('a speaker is the reader, two are merged, and the transcript is copied and saved', async (t, visitor) => {
  const { page, context } = visitor;
  const { account, recording } = await opened(visitor, [
    ...[line('I am here', 500), line('So am I', 3_000, 'B')],
    line('And I still am', 6_000, 'C'),
  ]);
  await page.getByRole('button', { name: 'Name Speaker 1' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Ida');
  await looksWell(t, page, 'the dialog of a speaker');
  await page.getByRole('button', { name: 'This is me' }).click();
  await turn(page, 'I am here').getByText('Ida').waitFor();
  const { items } = await account.ask<{ items: { name: string; is_self: boolean }[] }>('GET', '/contacts');
  t.match(items, [{ name: 'Ida', is_self: true }]);
  await page.getByRole('button', { name: 'Name Speaker 3' }).click();
  await page.getByLabel('Merge with').selectOption('Ida');
  await page.getByRole('button', { name: 'Merge speakers' }).click();
  await turn(page, 'And I still am').getByText('Ida').waitFor();
  t.same(
    (await recording.turns()).map(({ speaker }) => speaker),
    ['S1', 'S2', 'S1'],
  );

  const saved = async (name: string | RegExp) => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name, exact: true }).click(),
    ]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
  };
  for (const [button_name, file, start] of [
    ['Text', 'Talk.txt', '[00:00:00] Ida: I am here\n'],
    ['Markdown', 'Talk.md', '# Talk\n'],
    ['Subtitles (SRT)', 'Talk.srt', '1\n00:00:00,500 --> 00:00:02,500\nIda: I am here\n'],
    ['Subtitles (VTT)', 'Talk.vtt', 'WEBVTT\n'],
  ] as const) {
    const { name, bytes } = await saved(button_name);
    t.equal(name, file);
    t.ok(bytes.toString().startsWith(start), file);
  }
  const audio = await saved(/^Audio/);
  t.equal(audio.name, 'Talk.wav');
  t.equal(audio.bytes.subarray(0, 4).toString(), 'RIFF');
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy' }).click();
  await page.getByText('The transcript is copied.').waitFor();
  t.equal(
    await page.evaluate('navigator.clipboard.readText()'),
    '[0:00] Ida: I am here\n[0:03] Speaker 2: So am I\n[0:06] Ida: And I still am',
  );

  await page.setViewportSize({ width: 360, height: 740 });
  const topOf = async (part: string) => (await turn(page, 'So am I').locator(part).boundingBox())?.y ?? 0;
  const [who, at, said] = [await topOf('.turn-who'), await topOf('.turn-at'), await topOf('.turn-said')];
  t.ok(Math.abs(who - at) < 10 && said > at + 15, 'a turn is two lines');
});

await walk('where nobody is told apart, people are named at once, from a turn on, or by choice', async (t, visitor) => {
  const { page } = visitor;
  const texts = ['I say this to myself', 'And this as well', 'Now somebody else', 'Who goes on', 'And I again'];
  const { account, recording } = await opened(
    visitor,
    texts.map((text, at) => ({ text, start_ms: at * 1_500, end_ms: at * 1_500 + 1_400 })),
  );
  const named = async () => (await recording.turns()).map(({ speaker_name }) => speaker_name);
  const dialog = page.getByRole('dialog');
  await button(page, 'Name the unknown').click();
  await dialog.getByLabel('Name').fill('Una');
  await looksWell(t, page, 'the dialog of the unknown');
  await button(page, 'It was me').click();
  await turn(page, 'I say this').getByText('Una').waitFor();
  await page.getByText('5 turns are by Una.').waitFor();
  t.same(await named(), ['Una', 'Una', 'Una', 'Una', 'Una']);
  const { items } = await account.ask<{ items: { name: string; is_self: boolean }[] }>('GET', '/contacts');
  t.match(items, [{ name: 'Una', is_self: true }]);

  await button(page, 'Change who spoke at 0:03, or delete it').click();
  await dialog.getByLabel('Which turns').selectOption('From here on (3 turns of Una)');
  await dialog.getByLabel('Name').fill('Ben');
  await button(page, 'Save 3 turns').click();
  await page.getByText('3 turns are by Ben.').waitFor();
  t.same(await named(), ['Una', 'Una', 'Ben', 'Ben', 'Ben']);
  const panel = page.getByRole('complementary').locator('.panel', { hasText: 'Who speaks' });
  await panel.getByText('Ben').waitFor();
  t.equal(await panel.getByText('Unknown').count(), 0);

  await button(page, 'Select').click();
  await page.getByRole('checkbox', { name: 'Select the turn at 0:01' }).click();
  await page.getByRole('checkbox', { name: 'Select the turn at 0:04' }).click({ modifiers: ['Shift'] });
  await page.getByText('3 selected').waitFor();
  await page.getByRole('checkbox', { name: 'Select the turn at 0:03' }).click();
  await page.getByText('2 selected').waitFor();
  await looksWell(t, page, 'selected turns');
  await button(page, 'Name').click();
  await dialog.getByLabel('Name').fill('Cid');
  await button(page, 'Save 2 turns').click();
  await page.getByText('2 turns are by Cid.').waitFor();
  t.same(await named(), ['Una', 'Cid', 'Ben', 'Cid', 'Ben']);
  await page.getByRole('button', { name: 'Undo' }).last().click();
  await turn(page, 'And this as well').getByText('Cid').waitFor({ state: 'detached' });
  await turn(page, 'Who goes on').getByText('Cid').waitFor({ state: 'detached' });
  t.same(await named(), ['Una', 'Una', 'Ben', 'Ben', 'Ben']);
});
