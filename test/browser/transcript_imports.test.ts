import type { Page } from 'playwright-core';
import t from 'tap';
import { TestAccount } from '../fixtures/account.js';
import { appUrl, enterApp, looksWell, settled } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { importFile } from '../fixtures/importing.js';
import { audioFixture } from '../fixtures/speech.js';
import { until } from '../fixtures/until.js';

/** Transcripts that somebody with a browser imports. */

const browsing = await Browsing.start(t, { CHUNK_WORKER: '1', TRANSCRIBE_BUILT_IN: '0' });
const walk = browsing.walk.bind(browsing, t);
const row = (page: Page, name: string) => page.getByRole('list', { name: 'Imports' }).locator('li', { hasText: name });
const choose = (page: Page, files: { name: string; text: string | Buffer; mimeType?: string }[]) =>
  page
    .getByLabel('Audio files and transcripts')
    .setInputFiles(
      files.map(({ text, mimeType = 'text/plain', ...file }) => ({ ...file, mimeType, buffer: Buffer.from(text) })),
    );

const TALK = `WEBVTT

00:00:01.000 --> 00:00:04.000
<v Mira Holm>I will send the samples to the workshop on Friday.

00:00:05.000 --> 00:00:07.000
<v Tom>Good, the xylophone is in the cellar.

00:11:00.000 --> 00:11:03.000
<v Mira Holm>We decided to paint the hall green.
`;
const CALL = JSON.stringify({
  date: 1_767_225_600_000,
  sentences: [
    { text: 'Hello.', start_time: 0, end_time: 1, speaker_name: 'Ann' },
    { text: 'Good morning.', start_time: 1, end_time: 2, speaker_name: 'Kim' },
  ],
});

await walk('a transcript shows what it holds, and is sent when that is confirmed', async (t, visitor) => {
  const { page } = visitor;
  await enterApp(browsing, visitor, '/recordings');
  await settled(page);
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/audio/imports')) sent.push(request.postData() ?? '');
  });
  await choose(page, [
    { name: 'talk.vtt', text: TALK },
    { name: 'call.json', text: CALL },
    { name: 'letter.txt', text: 'Dear Ann' },
    { name: 'empty.srt', text: '' },
    { name: 'half.json', text: '{"segments": [' },
  ]);
  const talk = row(page, 'talk.vtt');
  for (const text of ['WebVTT', '3 lines', '11 min', 'Mira Holm, Tom', 'Not sent yet'])
    await talk.getByText(text).waitFor();
  const call = row(page, 'call.json');
  for (const text of ['Fireflies', '2 lines', 'Ann, Kim', 'as the file says']) await call.getByText(text).waitFor();
  t.equal(await call.getByLabel('Recorded on').count(), 0);
  await row(page, 'letter.txt').getByText('It has a form that is not known.').waitFor();
  await row(page, 'empty.srt').getByText('The file is empty.').waitFor();
  await row(page, 'half.json').getByText('Its JSON can’t be read.').waitFor();
  t.equal(await page.getByRole('button', { name: /^Try again/ }).count(), 0, 'another try would read the same');
  t.match(await talk.getByLabel('Recorded on').inputValue(), /^\d{4}-\d\d-\d\dT\d\d:\d\d$/);
  await looksWell(t, page, 'transcripts before they are sent');
  t.same(sent, []);

  await talk.getByLabel('Recorded on').fill('2026-02-03T18:30');
  await page.getByRole('button', { name: 'Import 2 transcripts' }).click();
  await talk.getByRole('link', { name: 'talk.vtt' }).waitFor();
  await talk.getByText('as you set it').waitFor();
  await call.getByRole('link', { name: 'call.json' }).waitFor();
  await call.getByText('as the file says').waitFor();
  t.equal(sent.length, 2, 'what cannot be read is not sent');
  await looksWell(t, page, 'imported transcripts');
});

await walk(
  'K-427 K-458 a transcript that is dropped with its audio is its text, also after a reload',
  async (t, visitor) => {
    const { page, context } = visitor;
    const email = browsing.somebody();
    const ann = await TestAccount.open(browsing.spool, email, { sharing: false });
    await enterApp(browsing, visitor, '/recordings', email);
    await settled(page);
    const words = 'WEBVTT\n\n00:00.100 --> 00:01.000\n<v Tom>The xylophone is in the cellar.\n';
    await choose(page, [
      { name: 'said.m4a', text: audioFixture('said.m4a'), mimeType: 'audio/mp4' },
      { name: 'said.vtt', text: words },
      { name: 'other.m4a', text: audioFixture('said.m4a'), mimeType: 'audio/mp4' },
      { name: 'other.txt', text: 'Dear Ann' },
    ]);
    const both = row(page, 'said.m4a');
    for (const text of ['WebVTT', '1 line', 'Tom', 'said.vtt becomes its text.'])
      await both.getByText(text).first().waitFor();
    await looksWell(t, page, 'audio with its transcript, before they are sent');
    await both.getByRole('button', { name: 'Import said.m4a' }).click();
    await both.getByRole('link', { name: 'said.m4a' }).waitFor();
    await row(page, 'other.m4a').getByRole('link').waitFor();
    await row(page, 'other.txt').getByText('It has a form that is not known.').waitFor();
    const { items } = await ann.ask<{ items: { id: string; title: string; chunks: number }[] }>(
      'GET',
      '/audio/streams',
    );
    const said = items.find(({ title }) => title === 'said');
    t.equal(said?.chunks, 1);
    t.match(await ann.ask('GET', `/turns?stream_id=${said?.id}`), {
      items: [{ text: 'The xylophone is in the cellar.' }],
    });

    await context.route(/\/audio\/imports\/.*offset=/, (route) => route.abort());
    const pair = [
      { name: 'late.m4a', text: audioFixture('said.m4a'), mimeType: 'audio/mp4' },
      { name: 'late.vtt', text: words.replace('cellar', 'attic') },
    ];
    await choose(page, pair);
    await page.getByRole('button', { name: 'Import late.m4a' }).click();
    const late = row(page, 'late.m4a');
    await late.getByText('It is tried again').waitFor();
    await page.reload();
    await late.getByText('Choose the file and its transcript again to continue.').waitFor();
    await looksWell(t, page, 'audio and its transcript of an earlier page');
    await context.unroute(/\/audio\/imports\/.*offset=/);
    const again = page.getByLabel('Continue with the file late.m4a');
    const files = pair.map(({ name, text }) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) }));
    await again.setInputFiles(files.slice(0, 1));
    await late.getByText('Choose the file together with its transcript.').waitFor();
    await again.setInputFiles(files);
    await late.getByRole('link', { name: 'late.m4a' }).waitFor();
    t.ok(visitor.complaints.splice(0).every((text) => /ERR_FAILED/.test(text)));
  },
);

await walk('a transcript without a time, and one that is left out', async (_, visitor) => {
  const { page } = visitor;
  await enterApp(browsing, visitor, '/recordings');
  await settled(page);
  await choose(page, [
    { name: 'later.vtt', text: TALK },
    { name: 'other.vtt', text: TALK.replace('green', 'blue') },
    { name: 'said.mp3', text: audioFixture('said.mp3'), mimeType: 'audio/mpeg' },
  ]);
  await row(page, 'said.mp3').getByRole('link', { name: 'said.mp3' }).waitFor();
  const later = row(page, 'later.vtt');
  await page.getByRole('button', { name: 'Cancel other.vtt' }).click();
  await row(page, 'other.vtt').waitFor({ state: 'hidden' });
  await later.getByLabel('Recorded on').fill('');
  await page.getByRole('button', { name: 'Import later.vtt' }).click();
  await later.getByText('just before it was imported').waitFor();
  await page.getByRole('button', { name: 'Clear finished' }).click();
  await page.getByRole('list', { name: 'Imports' }).waitFor({ state: 'hidden' });
  await until('both are listed', async () => (await page.locator('.day li').count()) === 2);
});

await walk('a recording without audio shows its text, and nothing that would play it', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const account = await TestAccount.open(browsing.spool, email, { sharing: true });
  const importer = { app: account.app, base_url: browsing.spool.server.base_url };
  const about = { name: 'Talk.vtt', captured_at: '2026-11-01T10:00:00.000Z' };
  const { stream_id } = await importFile(importer, Buffer.from(TALK), about);
  await until('there is a task', async () => {
    const { items } = await account.ask<{ items: { text: string }[] }>('GET', '/suggestions');
    return items.some(({ text }) => /samples/.test(text));
  });
  const refused: string[] = [];
  page.on('response', (answer) => {
    if (answer.status() >= 400 && answer.url().includes('/audio/')) refused.push(`${answer.status()} ${answer.url()}`);
  });

  await enterApp(browsing, visitor, '/recordings', email);
  await page.locator('.day li', { hasText: 'Talk' }).getByText('Text only').waitFor();
  await looksWell(t, page, 'a recording of text in the list');
  await page.getByRole('link', { name: 'Talk', exact: true }).click();
  await page.getByText('This recording has no audio').waitFor();
  const turn = (text: string) => page.locator('.turn', { hasText: text });
  await turn('xylophone').waitFor();
  await page.getByRole('list', { name: 'To do' }).getByText('samples').first().waitFor();
  for (const name of [/^Play/, /^Pause/, /Delete a part/, /^Audio/])
    t.equal(await page.getByRole('button', { name }).count(), 0, `no button ${name}`);
  t.equal(await page.getByRole('region', { name: 'Player' }).count(), 0);
  t.equal(await page.locator('.turn[aria-current]').count(), 0);
  await turn('xylophone').locator('.turn-text').click();
  for (const key of ['k', 'l', 'ArrowRight', ' ']) await page.keyboard.press(key);
  t.equal(await page.locator('.turn[aria-current]').count(), 0, 'nothing plays');
  await looksWell(t, page, 'a recording of text');

  await page
    .getByRole('button', { name: /^Go to 0:01/ })
    .first()
    .click();
  await page.locator('.turn[aria-current]', { hasText: 'samples' }).waitFor();
  await page.keyboard.press('?');
  await page.getByText('Find in the transcript').waitFor();
  t.equal(await page.getByText('Play or pause').count(), 0);
  await page.keyboard.press('Escape');
  const load = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Markdown' }).click();
  t.equal((await load).suggestedFilename(), 'Talk.md');
  await page.getByRole('button', { name: 'Share' }).click();
  await page.getByLabel('With the summary', { exact: true }).waitFor();
  t.equal(await page.getByLabel('With the audio').count(), 0);
  await page.keyboard.press('Escape');

  await page.goto(appUrl(browsing, `/recordings/${stream_id}?t=661000`));
  await page.locator('.turn[aria-current]', { hasText: 'green' }).waitFor();
  t.same(refused, [], 'the page asks for nothing that is not there');

  const body = { shows: ['summary', 'audio'], days: 7 };
  const link = await account.ask<{ url: string }>('POST', `/audio/streams/${stream_id}/links`, body);
  await page.goto(link.url);
  await page.getByText('Good, the xylophone').waitFor();
  t.equal(await page.locator('audio').count(), 0);
  for (const path of ['content', 'waveform']) {
    const { status } = await account.app.send('GET', `/audio/streams/${stream_id}/${path}`);
    t.equal(status, 409, path);
  }
});
