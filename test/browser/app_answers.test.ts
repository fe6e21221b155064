import t from 'tap';
import { completion, ScriptedChat } from '../../tools/speech/scripted_chat.js';
import { ScriptedEngine } from '../../tools/speech/scripted_engine.js';
import { TestAccount } from '../fixtures/account.js';
import { enterApp, looksWell } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { TestRecording } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/** What recordings answer, as a person at a browser asks. */

const engine = await ScriptedEngine.start(t);
const model = await ScriptedChat.start(t);
model.isAnswered = ({ user }) => user.question !== undefined;
const browsing = await Browsing.start(t, {
  ...{ CHUNK_WORKER: '1', TRANSCRIBE_URL: engine.url, TRANSCRIBE_DIARIZE: '1', TRANSCRIBE_WINDOW_S: '600' },
  ...{ INSIGHTS_URL: model.url, INSIGHTS_MODEL: 'small' },
});
const walk = browsing.walk.bind(browsing, t);
const SAID = [
  { text: 'When is the picnic?', start_ms: 0, end_ms: 2_500, speaker: 'A' },
  { text: 'Then we go on June twelfth.', start_ms: 5_000, end_ms: 7_500, speaker: 'B' },
  { text: 'Bring the chairs to the meadow.', start_ms: 10_000, end_ms: 12_500, speaker: 'A' },
];

await walk('words are found while they are typed, and a question is answered with its sources', async (t, visitor) => {
  const { page, context } = visitor;
  const email = browsing.somebody();
  const account = await TestAccount.open(browsing.spool, email, { sharing: false });
  const picnic = await TestRecording.begin(account, { captured_at: '2026-10-05T10:00:00.000Z' });
  await picnic.add(14_000, { says: SAID });
  await picnic.end();
  await account.ask('PATCH', `/audio/streams/${picnic.id}`, { title: 'Plans' });
  await until('it is transcribed', async () => (await picnic.turns()).length === SAID.length);
  const rosa = await account.ask<{ id: string }>('POST', '/contacts', { name: 'Rosa' });
  await account.ask('PATCH', `/audio/streams/${picnic.id}/speakers/S2`, { contact_id: rosa.id });
  await enterApp(browsing, visitor, '/search', email);
  const field = page.getByLabel('Question or words');
  const results = page.getByRole('list', { name: 'Results' });
  const asked: string[] = [];
  let given_up = 0;
  // The first search takes until the next letters are typed.
  await context.route('**/search?q=*', async (route) => {
    asked.push(new URL(route.request().url()).searchParams.get('q') ?? '');
    if (asked.length === 1) return; // it is never answered
    await route.continue();
  });
  page.on('requestfailed', (request) => {
    if (request.url().includes('/search?q=')) given_up += 1;
  });
  await field.pressSequentially('mead');
  await until('it is searched for', async () => asked.length === 1);
  await field.pressSequentially('o');
  await results.getByText('Bring the chairs to the meadow.').waitFor();
  for (const text of ['Plans', 'Oct 5, 2026']) await results.getByText(text).first().waitFor();
  t.same(asked, ['mead', 'meado'], 'not for each letter');
  t.equal(given_up, 1, 'what was typed before is not waited for');
  await page.getByText('1 result for “meado”').waitFor();
  t.notMatch(page.url(), /\?q=/);
  await looksWell(t, page, 'hits while typing');
  await field.fill('chairs me');
  await page.getByText('1 result for “chairs”').waitFor();
  await field.fill('zebra crossing');
  await page.getByText('No results for “zebra crossing”').waitFor();

  model.answers = [
    completion({
      sentences: [{ text: 'It is on June 12.', evidence: [{ turn: 2, quote: 'Then we go on June twelfth.' }] }],
    }),
  ];
  await field.fill('When is the picnic?');
  await page.keyboard.press('Enter');
  const answer = page.getByRole('region', { name: 'Answer', exact: true });
  await answer.getByText('It is on June 12.').waitFor();
  const passages = page.getByRole('region', { name: 'Where it was said' });
  for (const text of ['Plans', 'Oct 5, 2026', 'Rosa:', 'Then we go on June twelfth.'])
    await passages.getByText(text).first().waitFor();
  await looksWell(t, page, 'an answer with its sources');
  await answer.getByRole('link', { name: 'Said in passage 1 at 0:05' }).click();
  await page.locator('.turn[aria-current]', { hasText: 'Then we go on June twelfth.' }).waitFor();
  t.ok(visitor.complaints.splice(0).every((text) => /ERR_ABORTED/.test(text)));
});
