import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import t from 'tap';
import { LIMITS } from '../../src/domain/limits.js';
import { pcm16Format, writeWav } from '../../src/engine/audio/wav.js';
import { enterApp, looksWell, settled } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { audioFixture, NO_MODEL, SAID } from '../fixtures/speech.js';

/** Files that somebody with a browser imports. */

const browsing = await Browsing.start(t, { CHUNK_WORKER: '1', TRANSCRIBE_BUILT_IN: NO_MODEL === false ? '1' : '0' });
const walk = browsing.walk.bind(browsing, t);
const row = (page: Page, name: string) => page.getByRole('list', { name: 'Imports' }).locator('li', { hasText: name });
const choose = (page: Page, files: { name: string; mimeType: string; buffer: Buffer }[]) =>
  page.getByLabel('Audio files').setInputFiles(files);

/** Drops files on the page, as the browser does when they come from another program. */
async function drop(page: Page, files: { name: string; type: string; bytes: Buffer }[]): Promise<void> {
  const given = files.map(({ bytes, ...file }) => ({ ...file, base64: bytes.toString('base64') }));
  const moved = await page.evaluateHandle(`(() => {
    const moved = new DataTransfer();
    for (const { name, type, base64 } of ${JSON.stringify(given)}) {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      moved.items.add(new File([bytes], name, { type, lastModified: Date.UTC(2026, 0, 31, 8, 30) }));
    }
    return moved;
  })()`);
  await page.dispatchEvent('#content', 'dragenter', { dataTransfer: moved });
  await page.getByText('Drop audio files or transcripts to import them').waitFor();
  await page.dispatchEvent('#content', 'drop', { dataTransfer: moved });
  await page.getByText('Drop audio files or transcripts to import them').waitFor({ state: 'hidden' });
}

await walk('K-150 files that are dropped become recordings, which play and are transcribed', async (t, visitor) => {
  const { page } = visitor;
  await enterApp(browsing, visitor, '/recordings');
  await settled(page);
  await drop(page, [
    { name: 'morning.m4a', type: 'audio/mp4', bytes: audioFixture('said.m4a') },
    { name: 'evening.mp3', type: 'audio/mpeg', bytes: audioFixture('said.mp3') },
    { name: 'notes.txt', type: 'text/plain', bytes: Buffer.from('this is no audio') },
  ]);
  await row(page, 'notes.txt').getByText('It has a form that is not known.').waitFor();
  for (const name of ['morning.m4a', 'evening.mp3']) await row(page, name).getByRole('link', { name }).waitFor();
  t.equal(await page.getByText('Imported', { exact: true }).count(), 2);
  await page.getByRole('heading', { name: /31 January 2026|January 31, 2026|31/ }).waitFor();
  await row(page, 'morning.m4a').getByText('by the time of the file, less its length').waitFor();
  await looksWell(t, page, 'imports');

  await page.getByRole('button', { name: 'Change when evening.mp3 began' }).click();
  await page.getByLabel('Began', { exact: true }).fill('2026-02-03T18:30');
  await looksWell(t, page, 'imports-time');
  await page.getByRole('button', { name: 'Import again' }).click();
  await row(page, 'evening.mp3').getByText('as you set it').waitFor();
  await page
    .getByRole('heading', { name: /3 February 2026|February 3, 2026|3/ })
    .first()
    .waitFor();

  for (const name of ['morning', 'evening']) {
    await row(page, name).getByRole('link').click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await page.getByRole('button', { name: 'Play' }).first().click();
    await page.getByRole('button', { name: 'Pause' }).first().waitFor();
    const slider = page.getByRole('slider').first();
    for (let at = 0; at === 0; ) at = Number(await slider.getAttribute('aria-valuenow'));
    if (NO_MODEL === false) for (const text of SAID) await page.getByText(text).first().waitFor({ timeout: 60_000 });
    await page.getByRole('link', { name: 'Recordings' }).first().click();
    await row(page, name).waitFor();
  }
  await page.getByRole('button', { name: 'Clear finished' }).click();
  await page.getByRole('list', { name: 'Imports' }).waitFor({ state: 'hidden' });
});

await walk('K-152 an upload goes on when the connection is there again, and can be given up', async (t, visitor) => {
  const { page, context } = visitor;
  await enterApp(browsing, visitor, '/recordings');
  await settled(page);
  const samples = Buffer.alloc(LIMITS.import_piece_bytes * 2);
  randomBytes(64).copy(samples);
  const long = writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: 16_000 }) }, samples);
  let is_away = true;
  let sent = 0;
  await context.route(/\/audio\/imports\/.*offset=8388608/, async (route) => {
    sent += 1;
    return is_away ? route.abort() : route.continue();
  });
  await choose(page, [{ name: 'long.wav', mimeType: 'audio/wav', buffer: long }]);
  await row(page, 'long.wav').getByText('It is tried again').waitFor();
  t.ok(sent > 0);
  await looksWell(t, page, 'an upload that waits');

  is_away = false;
  await row(page, 'long.wav').getByRole('link', { name: 'long.wav' }).waitFor();

  is_away = true;
  samples[0] = (samples[0] as number) ^ 1;
  const other = writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: 16_000 }) }, samples);
  await choose(page, [{ name: 'other.wav', mimeType: 'audio/wav', buffer: other }]);
  await row(page, 'other.wav').getByText('It is tried again').waitFor();
  await page.reload();
  const left = row(page, 'other.wav');
  await left.getByText('Choose the file again to continue.').waitFor();
  await looksWell(t, page, 'an upload of an earlier page');
  const again = page.getByLabel('Continue with the file other.wav');
  await again.setInputFiles([{ name: 'other.wav', mimeType: 'audio/wav', buffer: other.subarray(1) }]);
  await left.getByText('This is another file').waitFor();
  sent = 0;
  await again.setInputFiles([{ name: 'other.wav', mimeType: 'audio/wav', buffer: other }]);
  await left.getByText('It is tried again').waitFor();
  t.ok(sent > 0, 'what the server has is not sent again');
  t.equal(await left.count(), 1);
  await page.reload();
  await left.getByRole('button', { name: 'Remove other.wav' }).click();
  await left.waitFor({ state: 'hidden' });
  await page.reload();
  await settled(page);
  t.equal(await left.count(), 0);

  await choose(page, [{ name: 'other.wav', mimeType: 'audio/wav', buffer: other }]);
  await left.getByText('It is tried again').waitFor();
  await page.getByRole('button', { name: 'Cancel other.wav' }).click();
  await left.waitFor({ state: 'hidden' });
  t.ok(visitor.complaints.splice(0).every((text) => /ERR_FAILED/.test(text)));
});
