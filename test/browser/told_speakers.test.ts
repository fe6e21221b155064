import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { SpeakerSpan } from '../../src/engine/speech/speaker_teller.js';
import { SpeechProcess } from '../../src/engine/speech/speech_process.js';
import { TestAccount } from '../fixtures/account.js';
import { enterApp, looksWell, settled } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { importFile } from '../fixtures/importing.js';
import { audioFixture } from '../fixtures/speech.js';
import { tempFolder } from '../fixtures/temp_folder.js';
import { until } from '../fixtures/until.js';

/**
 * Speakers that somebody with a browser has told apart. The models for it are not there: the test says what they hear. All
 * else is real.
 */

const TRANSCRIBE_MODEL_DIR = join(tempFolder(t), 'moonshine-base');
mkdirSync(TRANSCRIBE_MODEL_DIR);
for (const name of [
  ...['encoder_model.onnx', 'decoder_model_merged.onnx', 'tokens.txt'],
  ...['segmentation.onnx', 'speaker.onnx'],
])
  writeFileSync(join(TRANSCRIBE_MODEL_DIR, name), '');
const browsing = await Browsing.start(t, { CHUNK_WORKER: '1', TRANSCRIBE_BUILT_IN: '1', TRANSCRIBE_MODEL_DIR });

type Hear = (spans: SpeakerSpan[] | null) => void;
const listening: Hear[] = [];
const { tell } = SpeechProcess.prototype;
SpeechProcess.prototype.tell = async (audio) => {
  for await (const _ of audio);
  return new Promise((resolve) => listening.push(resolve));
};
t.teardown(() => {
  SpeechProcess.prototype.tell = tell;
});
/** Answers the one that listens. */
const hears = async (spans: SpeakerSpan[] | null) => {
  await until('the recording is listened to', () => listening.length > 0);
  listening.shift()?.(spans);
};

const WORDS = `WEBVTT

00:00.100 --> 00:02.500
Where is the xylophone?

00:02.600 --> 00:05.000
It is in the cellar, behind the boxes.

00:05.100 --> 00:07.500
Can you bring it up on Friday?

00:07.600 --> 00:10.000
I will carry it up with Kim.
`;

await browsing.walk(t, 'K-465 two speakers are told apart, heard, and taken away again', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const { app } = await TestAccount.open(browsing.spool, email, { sharing: false });
  const file = Buffer.concat([audioFixture('said.m4a'), Buffer.from(WORDS)]);
  const importer = { app, base_url: browsing.spool.server.base_url };
  const about = { name: 'Cellar.m4a', transcript_bytes: Buffer.byteLength(WORDS) };
  const { stream_id } = await importFile(importer, file, about);
  await enterApp(browsing, visitor, `/recordings/${stream_id}`, email);
  await settled(page);
  const panel = page.locator('.panel', { has: page.getByRole('heading', { name: 'Who speaks' }) });
  const asked = panel.getByRole('group', { name: 'How many people speak?' });
  const button = (name: string) => panel.getByRole('button', { name, exact: true });
  const under_way = panel.getByText('Spool listens to the recording');
  await asked.waitFor();
  await looksWell(t, page, 'speakers that can be told apart');

  await asked.getByRole('button', { name: '3', exact: true }).click();
  await under_way.waitFor();
  await looksWell(t, page, 'speakers that are being told apart');
  await button('Cancel').click();
  await asked.waitFor();
  await hears([]);
  t.equal(await panel.getByRole('button', { name: /^Sample/ }).count(), 0);

  await asked.getByRole('button', { name: '3', exact: true }).click();
  await under_way.waitFor();
  await hears(null);
  await panel.getByText('So many voices were not found').waitFor();
  await looksWell(t, page, 'fewer voices than were said');

  await asked.getByRole('button', { name: '2', exact: true }).click();
  await under_way.waitFor();
  await hears([
    { start_s: 0, end_s: 2.5, speaker: 0 },
    { start_s: 2.6, end_s: 5, speaker: 1 },
    { start_s: 5.1, end_s: 7.5, speaker: 0 },
    { start_s: 7.6, end_s: 10, speaker: 1 },
  ]);
  await panel.getByText('A suggestion by the voices').waitFor();
  t.equal(await panel.getByRole('button', { name: /^Sample/ }).count(), 4);
  await looksWell(t, page, 'speakers that were told apart');
  await panel
    .getByRole('button', { name: /^Sample 2/ })
    .last()
    .click();
  await page.locator('.turn[aria-current]', { hasText: 'I will carry it up' }).waitFor();

  await button('Undo').click();
  await asked.waitFor();
  await until('no turn has a speaker', async () => {
    const { items } = await app.ask<{ items: { speaker: string | null }[] }>('GET', `/turns?stream_id=${stream_id}`);
    return items.every(({ speaker }) => speaker === null);
  });
});
