import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Page } from 'playwright-core';
import { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { TestAccount } from '../fixtures/account.js';
import { findChromium, NO_CHROMIUM } from '../fixtures/chromium_program.js';
import { TestEndpoint } from '../fixtures/endpoints.js';
import { Receiver } from '../fixtures/receiver.js';
import { record } from '../fixtures/recording.js';
import { TestSpool } from '../fixtures/spool.js';

/** Takes the pictures of docs/operators.md: a server of its own works for a while, and its pages are looked at. */

const FOLDER = fileURLToPath(new URL('../../../docs/screenshots/', import.meta.url));
const WORK_MS = 170_000;
const STEP_MS = 150;
const BYTES_MAX = 80_000;
const DEVICES = 6;

const executablePath = findChromium();
if (executablePath === null) throw new Error(NO_CHROMIUM);
const random = new SeededRandom(1);
const receiver = await Receiver.start();
const spool = await TestSpool.start({ RATE_LIMITS: 'off', TEST_CLOCK: '0', ...receiver.env });
const url = `http://127.0.0.1:${spool.server.ports.operator}`;
const ann = await TestAccount.open(spool, 'ann@example.com');
const people = await Promise.all(['bob', 'eve', 'joe'].map((name) => TestAccount.open(spool, `${name}@example.com`)));
const recorders = await Promise.all(Array.from({ length: DEVICES }, () => spool.boundDevice(ann.app)));
receiver.on('/works', 204);
receiver.on('/fails', 503);
for (const one of people) await TestEndpoint.open(one, receiver.url('/works'));
const failing = await TestEndpoint.open(ann, receiver.url('/fails'));
const paused = await TestEndpoint.open(ann, receiver.url('/works'), ['account.updated']);
await paused.set('paused');

const silent = recorders[0];
if (silent !== undefined) await record(silent.device, silent);
for (const end = performance.now() + WORK_MS; performance.now() < end; ) {
  const busy = random.below(100) < 30 ? 6 : 1;
  for (let n = 0; n < busy; n++) {
    const one = recorders[1 + random.below(DEVICES - 1)];
    const person = people[random.below(people.length)];
    await Promise.all([
      one === undefined ? null : record(one.device, one),
      person?.ask('PATCH', '/me', { name: `Name ${random.below(1_000)}` }),
    ]);
  }
  await new Promise((resolve) => setTimeout(resolve, STEP_MS * (1 + random.below(4))));
}

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, colorScheme: 'light' });
const page = await context.newPage();
await page.goto(url);
await page.getByLabel('Operator token').fill(spool.server.services.ops_token);
await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
mkdirSync(FOLDER, { recursive: true });
await take('overview', '/');
await take('actors', '/actors', '#kinds');
await take('endpoint', `/entity?kind=endpoint&id=${failing.id}`);
await page.goto(`${url}/devices`);
await page.getByLabel('Silent for at least').fill('2');
await take('devices', null);
await context.close();
await browser.close();
await spool.end();
await receiver.end();

/** The upper part of a page, from an element on. */
async function take(name: string, path: string | null, from?: string): Promise<void> {
  if (path !== null) await page.goto(url + path);
  await page.locator('#state[data-state=live]').waitFor();
  await page.waitForTimeout(1_000);
  if (from !== undefined) await page.locator(from).evaluate((element) => element.scrollIntoView());
  const bytes = await asWebp(page, await page.screenshot());
  writeFileSync(join(FOLDER, `${name}.webp`), bytes);
  console.log(`${name}.webp, ${bytes.length} bytes`);
}

/** As small as it must be: the browser converts it, in a page of its own. */
async function asWebp(shown: Page, png: Buffer): Promise<Buffer> {
  const blank = await shown.context().newPage();
  try {
    for (let quality = 0.9; ; quality -= 0.1) {
      const converted = (await blank.evaluate(`(async () => {
        const bytes = Uint8Array.from(atob('${png.toString('base64')}'), (character) => character.charCodeAt(0));
        const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
        const canvas = new OffscreenCanvas(picture.width, picture.height);
        canvas.getContext('2d').drawImage(picture, 0, 0);
        const blob = await canvas.convertToBlob({ type: 'image/webp', quality: ${quality} });
        return btoa(Array.from(new Uint8Array(await blob.arrayBuffer()), (byte) => String.fromCharCode(byte)).join(''));
      })()`)) as string;
      const webp = Buffer.from(converted, 'base64');
      if (webp.length < BYTES_MAX) return webp;
      if (quality < 0.3) throw new Error(`a picture takes ${webp.length} bytes`);
    }
  } finally {
    await blank.close();
  }
}
