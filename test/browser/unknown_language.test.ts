import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { TestAccount } from '../fixtures/account.js';
import { enterApp, looksWell } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { tempFolder } from '../fixtures/temp_folder.js';
import { TestRecording } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/** A recording in a language that the built-in engine does not know. Its model is never loaded, so its files are empty. */

const TRANSCRIBE_MODEL_DIR = join(tempFolder(t), 'moonshine-base');
mkdirSync(TRANSCRIBE_MODEL_DIR);
for (const name of ['encoder_model.onnx', 'decoder_model_merged.onnx', 'tokens.txt'])
  writeFileSync(join(TRANSCRIBE_MODEL_DIR, name), '');
const browsing = await Browsing.start(t, { CHUNK_WORKER: '1', TRANSCRIBE_BUILT_IN: '1', TRANSCRIBE_MODEL_DIR });

await browsing.walk(
  t,
  'K-438 the page says which languages are known, and that others can be added',
  async (t, visitor) => {
    const { page } = visitor;
    const email = browsing.somebody();
    const account = await TestAccount.open(browsing.spool, email, { sharing: false });
    await account.ask('PUT', '/profile', { revision: 0, languages: ['de'] });
    const recording = await TestRecording.begin(account);
    await recording.add(5_000);
    await recording.end();
    await until('it failed', async () => {
      const transcript = await account.ask<{ failed: unknown[] }>('GET', `/audio/streams/${recording.id}/transcript`);
      return transcript.failed.length > 0;
    });
    await enterApp(browsing, visitor, `/recordings/${recording.id}`, email);
    await page.getByRole('heading', { name: 'No text of this recording' }).waitFor();
    await page.getByText("Spool's built-in engine knows English. Your operator can add other languages").waitFor();
    t.equal(
      await page.getByRole('link', { name: 'Other languages' }).getAttribute('href'),
      '/guides/transcription#another-model',
    );
    await looksWell(t, page, 'a recording in an unknown language');
  },
);
