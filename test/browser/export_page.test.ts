import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import type { Export } from '../../kits/typescript/src/api.js';
import { TestAccount } from '../fixtures/account.js';
import { looksWell } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { tempFolder } from '../fixtures/temp_folder.js';
import { said, TestRecording, TestTranscriber } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';
import { unzip } from '../fixtures/zip.js';

/** The page of an export, as a person opens it from a folder. */

const browsing = await Browsing.start(t, { CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
const { spool } = browsing;

await browsing.walk(t, 'D-072 D-073 an unpacked export is read in a browser', async (t, visitor) => {
  const { page } = visitor;
  const account = await TestAccount.open(spool, browsing.somebody());
  const worker = new TestTranscriber(spool);
  for (const title of ['The garden, <b>all</b> of it', 'Tea & cake']) {
    const recording = await TestRecording.begin(account);
    await recording.add(5_000);
    await recording.end();
    await account.ask('PATCH', `/audio/streams/${recording.id}`, { title });
    await worker.publish(await worker.claim(recording.id), [said('The roses need water', [1_000, 2_000], 'a')]);
  }
  const { id } = await account.ask<Export>('POST', '/me/exports', { audio: true });
  const path = `/me/exports/${id}`;
  await until('it is ready', async () => (await account.ask<Export>('GET', path)).status === 'ready');
  const folder = tempFolder(t);
  for (const [name, bytes] of await unzip((await account.app.send('GET', `${path}/content`)).body)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
  await page.goto(pathToFileURL(join(folder, 'index.html')).href);
  await page.getByRole('heading', { name: 'Your recordings' }).waitFor();
  await looksWell(t, page, 'the page of an export');
  await page.getByText('Audio', { exact: true }).first().click();
  await page.getByRole('link', { name: 'Piece 1' }).first().waitFor();
  await page.getByRole('link', { name: 'The garden, <b>all</b> of it' }).waitFor();
  const address = await page.getByRole('link', { name: 'Tea & cake' }).getAttribute('href');
  t.match(decodeURIComponent(String(address)), /^transcripts\/[\d-]+ Tea & cake\.md$/);
});
