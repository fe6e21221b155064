import t from 'tap';
import type { Contact } from '../../kits/typescript/src/api.js';
import { TestAccount } from '../fixtures/account.js';
import { appUrl, enterApp, looksWell, settled } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { said, TestRecording, TestTranscriber } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/** Questions on a server without a language model: passages answer. */

const browsing = await Browsing.start(t, { CHUNK_WORKER: '1', CONTENT_WORKER: '0', EMBED_BUILT_IN: '0' });
const { spool } = browsing;
const walk = browsing.walk.bind(browsing, t);
const worker = new TestTranscriber(spool);

async function recorded(account: TestAccount, title: string, captured_at: string, ...texts: string[]) {
  const recording = await TestRecording.begin(account, { captured_at });
  await recording.add(20_000);
  await recording.end();
  const spoken = texts.map((text, at) => said(text, [at * 5_000, at * 5_000 + 4_000], at % 2 === 0 ? 'a' : 'b'));
  await worker.publish(await worker.claim(recording.id), spoken);
  await account.ask('PATCH', `/audio/streams/${recording.id}`, { title });
  return recording;
}

async function furnished(email: string) {
  const account = await TestAccount.open(spool, email, { sharing: false });
  const fence = await recorded(
    account,
    'the fence',
    '2026-10-05T10:00:00.000Z',
    'The fence by the road is broken.',
    'I will mend it on Friday.',
  );
  const roof = await recorded(
    account,
    'the roof',
    '2026-10-07T10:00:00.000Z',
    'The roof leaks near the chimney.',
    'We mend the roof after the fence.',
  );
  const ines = await account.ask<Contact>('POST', '/contacts', { name: 'Ines' });
  await account.ask('PATCH', `/audio/streams/${fence.id}/speakers/S1`, { contact_id: ines.id });
  return { account, fence, roof };
}

await walk('a question is marked in the passages that answer, each turn with its time', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  await furnished(email);
  await enterApp(browsing, visitor, '/search', email);
  await page.getByLabel('Question or words').fill('Which roof leaks at the chimney in winter?');
  await page.keyboard.press('Enter');
  const passages = page.getByRole('region', { name: 'Best answers' });
  const first = passages.getByRole('listitem').first();
  await first.getByText('chimney').waitFor();
  t.same((await first.locator('mark').allTextContents()).slice(0, 3), ['roof', 'leaks', 'chimney']);
  await until('both lists are there', async () => (await page.locator('.loading').count()) === 0);
  t.equal(await page.getByText('No sentence has all of these words.').count(), 0);
  t.equal(await page.getByRole('region', { name: 'Where these words were said' }).count(), 0);
  await passages.getByRole('link', { name: 'How the operator sets one' }).waitFor();
  await looksWell(t, page, 'passages that answer');
  await first.getByRole('link', { name: 'Said at 0:05' }).click();
  await page.locator('.turn[aria-current]', { hasText: 'We mend the roof' }).waitFor();
  await page.goto(appUrl(browsing, '/search?q=elephants'));
  await page.getByText('No sentence has all of these words.').waitFor();
  await looksWell(t, page, 'nothing found');
});

await walk('the guide says how the operator sets a model', async (t, visitor) => {
  const { page } = visitor;
  await page.goto(`${spool.server.base_url}/guides/running#answers-in-words`);
  t.equal(await page.locator('#answers-in-words').textContent(), 'Answers in words');
});

await walk('questions are made of what was recorded', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  await furnished(email);
  await enterApp(browsing, visitor, '/search', email);
  const examples = page.getByRole('region', { name: 'Questions you can ask' });
  await examples.getByRole('link', { name: 'What was said about the roof?' }).waitFor();
  t.equal(await examples.getByRole('link').count(), 2);
  await looksWell(t, page, 'example questions');
  await examples.getByRole('link', { name: 'What did Ines say about the fence?' }).click();
  await page.getByRole('region', { name: 'Best answers' }).getByText('by the road is broken').first().waitFor();
});

await walk('an account without recordings reads how to ask', async (t, visitor) => {
  const { page } = visitor;
  await enterApp(browsing, visitor, '/search');
  await settled(page);
  await page.getByText('Ask as you would ask somebody who was there').waitFor();
  t.equal(await page.getByRole('region', { name: 'Questions you can ask' }).count(), 0);
});

await walk('one recording alone is asked, until the filter is taken away', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const { fence } = await furnished(email);
  await enterApp(browsing, visitor, `/recordings/${fence.id}`, email);
  await page.getByRole('link', { name: 'Ask about this recording' }).click();
  await page.locator('.recording-filter').getByRole('link', { name: 'the fence' }).waitFor();
  t.equal(await page.getByRole('region', { name: 'Questions you can ask' }).count(), 0, 'none of other recordings');
  await page.getByLabel('Question or words').fill('Who will mend the fence?');
  await page.keyboard.press('Enter');
  const passages = page.getByRole('region', { name: 'Best answers' });
  await passages.getByText('by the road is broken').first().waitFor();
  await until('all lists are there', async () => (await page.locator('.loading').count()) === 0);
  t.equal(await page.getByText('We mend the roof').count(), 0, 'nothing of another recording');
  await page.locator('.recording-filter').getByRole('link', { name: 'the fence' }).waitFor();
  await looksWell(t, page, 'one recording is asked');
  await page.getByLabel('Question or words').fill('chimney');
  await page.getByText('No results for “chimney”').waitFor();
  await page.getByRole('button', { name: 'Search all recordings' }).click();
  t.equal(await page.locator('.recording-filter').count(), 0);
  t.notMatch(page.url(), /recording=/);
  await page.getByRole('list', { name: 'Results' }).getByText('The roof leaks').waitFor();
  const field = page.getByLabel('Question or words');
  t.equal(await field.evaluate((element) => element.matches(':focus')), true, 'the focus is not lost');
});
