import type { Page } from 'playwright-core';
import t from 'tap';
import { LIMITS } from '../../src/domain/limits.js';
import { heardIn } from '../../tools/speech/audible_script.js';
import { ScriptedEngine } from '../../tools/speech/scripted_engine.js';
import { TestAccount } from '../fixtures/account.js';
import { looksWell } from '../fixtures/app_browsing.js';
import { Browsing, headingOf, type Visitor } from '../fixtures/browsing.js';
import { makeInsights } from '../fixtures/insights.js';
import { TONE_RATE, toneMicrophone } from '../fixtures/tone_microphone.js';
import { TestRecording } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/** The account's own pages, as a person at a browser uses them. */

const HOUR_MS = 3_600_000;
/** What comes within less joins a window. */
const QUIET_MS = LIMITS.window_quiet_ms + 1_000;
const INTO_THE_MICROPHONE = 'this was said into the microphone';
const SAID = [
  { text: 'I will send you the report on Friday', start_ms: 500, end_ms: 2_500, speaker: 'A' },
  { text: 'The spare key is in the safe', start_ms: 3_000, end_ms: 5_500, speaker: 'B' },
  { text: 'Good, I will look there', start_ms: 6_000, end_ms: 8_000, speaker: 'A' },
];
const LATER = { text: 'And the bicycle is in the cellar', start_ms: 9_200, end_ms: 11_700, speaker: 'B' };

const engine = await ScriptedEngine.start(t);
// What comes out of a loudspeaker holds no script any more.
engine.hears = ({ wav, samples, length_s }) => {
  if (wav?.format.frames_per_second !== TONE_RATE) return wav === null ? [] : heardIn(samples, wav.format);
  return [{ text: INTO_THE_MICROPHONE, start: 0.2, end: Math.max(0.5, length_s - 0.2) }];
};
const browsing = await Browsing.start(
  t,
  // Insights are made by the tests alone: the built-in engine would withdraw theirs where it comes later.
  {
    CHUNK_WORKER: '1',
    TRANSCRIBE_URL: engine.url,
    TRANSCRIBE_DIARIZE: '1',
    TRANSCRIBE_WINDOW_S: '600',
    INSIGHTS: 'off',
  },
  {
    flags: toneMicrophone(t),
  },
);
const { spool } = browsing;
const walk = browsing.walk.bind(browsing, t);
const app_url = `${spool.server.base_url}/app`;

/** As far as the page that was asked for. */
const enter = async (visitor: Visitor, email: string, path = '') => {
  const { page } = visitor;
  await page.goto(app_url + path);
  await visitor.enterAddress(email);
  await visitor.enterCode(await spool.readCode(email));
  await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'attached' });
};
/** Somebody with a recording, which may still be under way. */
const recorded = async (email: string, { live = false } = {}) => {
  const account = await TestAccount.open(spool, email, { sharing: false });
  const recording = await TestRecording.begin(account);
  await recording.add(9_000, { says: SAID });
  if (!live) await recording.end();
  await until('it is transcribed', async () => {
    if (live) await spool.operator.advanceClock(QUIET_MS);
    return (await recording.turns()).length === SAID.length;
  });
  return { account, recording };
};
const turn = (page: Page, text: string) => page.locator('.turn', { hasText: text });
const positionOf = async (page: Page) => Number(await page.getByRole('slider').getAttribute('aria-valuenow'));

await walk('signing in comes back to where one wanted to go, and leaves no token anywhere else', async (t, visitor) => {
  const { page, context } = visitor;
  const email = browsing.somebody();
  await page.goto(`${app_url}/search?q=key`);
  t.equal(await headingOf(page), 'Your recordings');
  const asked: string[] = [];
  context.on('request', (request) => asked.push(request.url()));
  await enter(visitor, email, '/search?q=key');
  t.equal(page.url(), `${app_url}/search?q=key`);
  await page.getByRole('heading', { name: 'Ask' }).waitFor();
  t.match(await page.title(), 'Ask · Spool');
  t.notOk(asked.some((url) => /token=|spo_.*spo_/.test(url)));
  const kept = JSON.parse((await page.evaluate('JSON.stringify({ ...localStorage })')) as string);
  t.same(Object.keys(kept), ['spool.session']);
  t.same(Object.keys(JSON.parse(kept['spool.session'])), ['refresh_token', 'account_id']);
  t.equal(await page.evaluate('sessionStorage.length'), 0);
  await page.goBack();
  t.notMatch(page.url(), /[?&]code=/, 'the code is not in the history either');

  await page.goto(`${app_url}/recordings`);
  await page.getByText('No recordings yet').waitFor();
  await spool.operator.advanceClock(2 * HOUR_MS);
  await page.getByRole('link', { name: 'Ask' }).click();
  await page.getByText('Find what was said').waitFor();
  await page.getByRole('link', { name: 'Recordings' }).click();
  await page.getByText('No recordings yet').waitFor();
  t.pass('an access token that has ended is replaced without a word');

  const other = await visitor.newPage();
  await other.goto(`${app_url}/recordings`);
  await other.getByText('No recordings yet').waitFor();
  const { refresh_token } = JSON.parse((await page.evaluate('localStorage["spool.session"]')) as string);
  await page.bringToFront();
  const ended = page.waitForResponse((response) => response.url().includes('/oauth/end-session'));
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  // It goes on to the end of the browser session meanwhile.
  const kept_now = (): Promise<unknown> =>
    page.evaluate('localStorage.length').catch(() => page.waitForLoadState().then(kept_now));
  t.equal(await kept_now(), 0);
  await other.getByRole('button', { name: 'Sign in' }).waitFor();
  t.pass('in every tab');
  await ended;
  const again = await fetch(`${spool.base_url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'refresh_token', client_id: 'svc-web', refresh_token }),
  });
  t.equal(again.status, 400, 'and on the server');
  await visitor.enterAddress(email);
  t.equal(await headingOf(page), 'Enter your code', 'the browser session has ended as well');
});

await walk('a sign-in that was not begun here, and tabs that refresh at once', async (t, visitor) => {
  const { page } = visitor;
  await page.goto(`${app_url}/callback?code=spo_x&state=y&iss=z`);
  await page.getByText('That sign-in was started in another tab').waitFor();
  t.equal(page.url(), app_url);
  await enter(visitor, browsing.somebody(), '/recordings');
  const tabs = [page, await visitor.newPage(), await visitor.newPage(), await visitor.newPage()];
  for (let round = 0; round < 2; round++) {
    await Promise.all(tabs.map((tab) => tab.goto(`${app_url}/recordings`)));
    await Promise.all(tabs.map((tab) => tab.getByText('No recordings yet').waitFor()));
  }
  t.pass('each has a token of its own, and nobody is signed out');
});

await walk(
  'a recording: played, followed, sought by keyboard; speakers named; new turns by themselves',
  async (t, visitor) => {
    const { page } = visitor;
    const email = browsing.somebody();
    const { recording } = await recorded(email, { live: true });
    await enter(visitor, email, '/recordings');
    await page.getByRole('heading', { name: 'Sunday, November 1' }).waitFor();
    await page.getByRole('link', { name: 'Recording of November 1, 2026' }).click();
    await turn(page, 'The spare key').waitFor();
    t.equal(await page.evaluate('document.activeElement.tagName'), 'H1', 'the focus is where the page begins');
    t.match(await headingOf(page), /^Recording of /);

    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await page.locator('.turn[aria-current]').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    t.ok(await page.evaluate('navigator.serviceWorker.controller !== null'), 'the browser’s own player plays it');
    const slider = page.getByRole('slider', { name: 'Position' });
    await slider.focus();
    await page.keyboard.press('Home');
    t.equal(await positionOf(page), 0);
    await page.keyboard.press('ArrowRight');
    t.equal(await positionOf(page), 5);
    await page.locator('.turn[aria-current]', { hasText: 'The spare key' }).waitFor();
    await page.keyboard.press('End');
    t.equal(await positionOf(page), 9);
    await page.getByRole('button', { name: 'Play from 0:06' }).click();
    await page.locator('.turn[aria-current]', { hasText: 'I will look there' }).waitFor();

    await page.getByRole('button', { name: 'Name Speaker 2' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Mira');
    await page.keyboard.press('Enter');
    await turn(page, 'The spare key').getByText('Mira').waitFor();
    await page.getByRole('button', { name: 'Change who spoke at 0:06, or delete it' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Mira' }).click();
    await until('the turn is another person’s', async () => {
      const [, , third] = await recording.turns();
      return third?.speaker_name === 'Mira';
    });

    await recording.add(3_000, { says: [LATER] });
    await recording.end();
    await turn(page, LATER.text).waitFor();
    await until('the player knows it', async () => (await slider.getAttribute('aria-valuemax')) === '12');

    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('dialog').getByLabel('Title').fill('At the <workshop>');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'At the <workshop>' }).waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No recordings yet').waitFor();
    await page.reload(); // which waits for no ten seconds
    await until('it is deleted', async () => {
      const { items } = await recording.account.ask<{ items: unknown[] }>('GET', '/audio/streams');
      return items.length === 0;
    });
    await page.getByText('No recordings yet').waitFor();
  },
);

await walk('K-142 the text of a turn is corrected in its place, and restored', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const { recording } = await recorded(email);
  await enter(visitor, email, `/recordings/${recording.id}`);
  const key = page.locator('.turn').nth(1);
  const field = page.getByRole('textbox', { name: 'What was said at 0:03' });
  const edit = page.getByRole('button', { name: 'Edit the text at 0:03' });
  const focused = () => page.evaluate('document.activeElement.getAttribute("aria-label")');
  const textNow = async () => (await recording.turns())[1]?.text;

  await edit.click();
  await field.waitFor();
  t.equal(await focused(), 'What was said at 0:03');
  await field.fill('The spare key hangs');
  await page.keyboard.press('Escape');
  await key.getByText('The spare key is in the safe').waitFor();
  t.equal(await focused(), 'Edit the text at 0:03', 'the focus is where editing begins');

  await page.keyboard.press('Enter');
  await field.fill('');
  await page.keyboard.press('Enter');
  await page.getByText('Must be 1 to 4000 characters after trimming.').waitFor();
  await field.pressSequentially('The spare key hangs');
  await page.keyboard.press('Shift+Enter');
  await field.pressSequentially('by the door');
  await looksWell(t, page, 'a turn that is edited');
  await page.route('**/turns/*', async (route) => {
    await key.getByRole('button', { name: 'Saving…' }).waitFor();
    t.notOk(await field.isEditable());
    await route.continue();
  });
  await page.keyboard.press('Enter');
  await key.getByText('Edited').waitFor();
  await page.unroute('**/turns/*');
  t.equal(await textNow(), 'The spare key hangs\nby the door');
  t.equal(await key.locator('.turn-text').textContent(), 'The spare key hangs\nby the door');
  t.equal(await focused(), 'Edit the text at 0:03');
  await looksWell(t, page, 'a turn that was edited');

  await edit.click();
  await page.getByText('Heard: The spare key is in the safe').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Restore what was heard at 0:03' }).click();
  await key.getByText('The spare key is in the safe').waitFor();
  t.equal(await key.getByText('Edited').count(), 0);
  t.equal(await focused(), 'Edit the text at 0:03');
  t.equal(await textNow(), 'The spare key is in the safe');
});

await walk('a sentence is found again, and heard', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  await recorded(email);
  await enter(visitor, email, '/search');
  await page.getByLabel('Question or words').fill('spare key');
  await page.keyboard.press('Enter');
  const found = page.getByRole('link', { name: 'The spare key is in the safe' });
  await found.waitFor();
  const results = page.getByRole('list', { name: 'Results' });
  t.same(await results.locator('mark').allTextContents(), ['spare', 'key']);
  await found.click();
  await page.locator('.turn[aria-current]', { hasText: 'The spare key' }).waitFor();
  t.equal(await positionOf(page), 3);
  await page.goBack();
  await found.waitFor();
  await page.getByLabel('Question or words').fill('elephants');
  await page.keyboard.press('Enter');
  await page.getByText('No sentence has all of these words.').waitFor();
});

await walk('a task is done, and put back', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const { account, recording } = await recorded(email);
  await makeInsights(account, recording, {
    suggestions: [{ text: 'Send the report', kind: 'task', at: [[0, 3_000]] }],
  });
  const statuses = async () => {
    const { items } = await account.ask<{ items: { status: string }[] }>('GET', '/suggestions');
    return items.map(({ status }) => status);
  };
  await enter(visitor, email, '/insights');
  const row = page.getByRole('listitem').filter({ hasText: 'Send the report' });
  await row.getByRole('checkbox').click();
  await page.getByText('Nothing is open').waitFor();
  t.same(await statuses(), ['completed']);
  await page.getByRole('button', { name: 'Undo' }).click();
  await row.getByRole('checkbox', { checked: false }).waitFor();
  t.same(await statuses(), ['open']);
});

await walk('what came of a recording stands beside it, among the days, and behind a question', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const { account, recording } = await recorded(email);
  const evidence = [{ stream_id: recording.id, source_id: recording.source_id, start_ms: 3_000, end_ms: 6_000 }];
  await makeInsights(account, recording, {
    conversation: {
      ...{ title: 'Spare key', summary: 'The key goes to the safe.' },
      sentences: [{ text: 'The key goes to the safe.', evidence }],
    },
    suggestions: [
      {
        ...{ text: 'Send the report', kind: 'task', at: [[0, 3_000]] },
        ...{ due_date: '2026-11-01', due_at_ms: Date.parse('2026-11-01T12:00:00Z') },
      },
      { text: 'We keep the safe', kind: 'decision', at: [[3_000, 6_000]] },
    ],
  });
  await enter(visitor, email, '/recordings');
  await page.getByText('The key goes to the safe.').waitFor();
  await page.getByRole('link', { name: 'Spare key' }).click();
  await page.getByRole('heading', { name: 'Spare key', level: 1 }).waitFor();
  const summary = page.getByRole('region', { name: 'Summary' });
  for (const text of ['The key goes to the safe.', 'Send the report', 'We keep the safe'])
    await summary.getByText(text).waitFor();
  await looksWell(t, page, 'a recording with a summary');
  await summary.getByRole('button', { name: 'Play from 0:03' }).first().click();
  t.equal(await positionOf(page), 3);
  await page.goto(`${app_url}/today?day=2026-11-01`);
  await page.getByRole('region', { name: 'Due' }).getByText('Send the report').waitFor();
  await page.getByRole('region', { name: 'Decided' }).getByText('We keep the safe').waitFor();
  await looksWell(t, page, 'a day');
  await page.getByRole('link', { name: 'Ask' }).click();
  await page.getByLabel('Question or words').fill('Where is the spare key?');
  await page.keyboard.press('Enter');
  const answers = page.getByRole('region', { name: 'Best answers' });
  await answers.getByText('The spare key is in the safe').first().waitFor();
  await looksWell(t, page, 'answers');
  await page.getByRole('link', { name: 'Ask' }).click();
  await page.getByRole('link', { name: 'Where is the spare key?' }).waitFor();
});

await walk('what came of a recorder session, and what developers see of it', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const { account, recording } = await recorded(email);
  const { session } = await spool.hostSession(account.app);
  await makeInsights(account, recording, {
    session_id: session.id,
    span: [0, 9_000],
    conversation: { title: 'The meeting' },
    suggestions: [{ text: 'Send the notes', at: [[0, 3_000]] }],
    memories: [{ text: 'Meets on Mondays', at: [[3_000, 6_000]] }],
  });
  await account.entitle('developer.tools', true);
  await enter(visitor, email, `/sessions/${session.id}`);
  await page.getByRole('link', { name: 'View summary' }).click();
  await page.getByRole('heading', { name: 'Session summary' }).waitFor();
  for (const [section, text] of [
    ['Conversations', 'The meeting'],
    ['To do', 'Send the notes'],
    ['To remember', 'Meets on Mondays'],
  ] as const)
    await page.getByRole('region', { name: section }).getByText(text).first().waitFor();
  await looksWell(t, page, 'the summary of a session');
  await page.getByRole('link', { name: 'To do', exact: true }).click();
  await page.getByRole('link', { name: 'Memories' }).click();
  await page.getByText('Meets on Mondays').waitFor();
  await page.getByRole('link', { name: 'Conversations' }).click();
  const conversation = page.getByRole('link', { name: 'The meeting' }).first();
  await conversation.waitFor();
  await looksWell(t, page, 'conversations');
  await conversation.click();
  await turn(page, 'The spare key').waitFor();
});

await walk('the browser records, and what was said becomes text', async (t, visitor) => {
  const { page, context } = visitor;
  const email = browsing.somebody();
  const account = await TestAccount.open(spool, email, { sharing: false });
  await context.grantPermissions(['microphone'], { origin: new URL(app_url).origin });
  await enter(visitor, email, '/recordings');
  await page.getByRole('link', { name: 'Record with this browser' }).click();
  await page.getByRole('button', { name: 'Start recording' }).click();
  await page
    .getByRole('timer')
    .getByText(/0:0[1-9]/)
    .waitFor();
  t.ok((await page.getByRole('meter').evaluate((meter) => Number(Reflect.get(meter, 'value')))) > 0.5, 'it is loud');
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Paused').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('link', { name: 'Recordings', exact: true }).first().click();
  await page.getByText('Recording now').waitFor();
  await page.getByRole('link', { name: /^Recording 0:0/ }).click();
  await page
    .getByRole('timer')
    .getByText(/0:0[2-9]/)
    .waitFor();
  await page.getByRole('button', { name: 'Finish' }).click();
  await turn(page, INTO_THE_MICROPHONE).first().waitFor();
  const { items } = await account.ask<{ items: { end_ms: number; chunks: number; stored_chunks: number }[] }>(
    'GET',
    '/audio/streams',
  );
  t.ok((items[0]?.chunks ?? 0) >= 2);
  t.equal(items[0]?.stored_chunks, items[0]?.chunks);
  t.ok((items[0]?.end_ms ?? 0) >= 2_000);
  const { items: sources } = await account.ask<{ items: { name: string }[] }>('GET', '/sources');
  t.match(sources, [{ name: 'Chrome on Linux' }]);
});

await walk(
  'every page, small and dark, wide and light: axe finds nothing, and nothing is cut off',
  async (t, visitor) => {
    const { page } = visitor;
    const email = browsing.somebody();
    const { account, recording } = await recorded(email);
    await makeInsights(account, recording, {
      suggestions: [{ text: 'Send the report', kind: 'task', at: [[0, 3_000]] }],
    });
    await page.goto(app_url);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await looksWell(t, page, 'the entrance');
    await enter(visitor, email);
    let recalls = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/recall') && request.method() === 'POST') recalls++;
    });
    for (const [path, ready] of [
      ['', '.list'],
      [`/recordings/${recording.id}?t=3200`, '.turn[aria-current]'],
      ['/record', '.record .primary'],
      ['/search?q=key', '.list'],
      ['/insights', '.tasks'],
      ['/no/such/page', '.empty'],
    ] as const) {
      await page.goto(app_url + path);
      await page.locator(ready).first().waitFor();
      await looksWell(t, page, path);
    }
    t.equal(recalls, 1, 'a question is asked once where no model answers');
    await page.goto(`${app_url}/recordings/${recording.id}`);
    await page.getByRole('button', { name: 'Name Speaker 1' }).click();
    await page.getByRole('dialog').getByLabel('Name').waitFor();
    await looksWell(t, page, 'a dialog');
  },
);
