import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import t from 'tap';
import { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { TestAccount } from '../fixtures/account.js';
import { Browsing } from '../fixtures/browsing.js';
import { TestEndpoint } from '../fixtures/endpoints.js';
import { firstMinutes, HEARING, speakingMicrophone } from '../fixtures/first_minutes.js';
import { Receiver } from '../fixtures/receiver.js';
import { record } from '../fixtures/recording.js';
import { until } from '../fixtures/until.js';

/**
 * Takes the pictures of the documentation: a person's first minutes, a week of recordings in the app, and the operators'
 * pages of a server that has worked for a while.
 */

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const FOLDER = join(ROOT, 'docs', 'screenshots');
const WORK_MS = 45_000;
const STEP_MS = 150;
const BYTES_MAX = 80_000;
const STRIP_BYTES_MAX = 160_000;
const DEVICES = 6;
const VIEWPORT = { width: 1280, height: 860 };

t.setTimeout(0);
mkdirSync(FOLDER, { recursive: true });
const week = startWeek();
await takeFirstMinutes();
await takeOperatorPages();
await takeApp();
t.end();

/** The demo, which fills a server with a week of recordings. */
function startWeek() {
  const child = spawn(process.execPath, ['dist/tools/demo/main.js', '--week', '--stay'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill());
  const week = { out: '' };
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    week.out += piece;
  });
  return week;
}

/** One picture of all steps, the one beside the other, with their numbers. */
async function takeFirstMinutes(): Promise<void> {
  const browsing = await Browsing.start(t, HEARING, { flags: await speakingMicrophone(t) });
  const visitor = await browsing.visitor({ viewport: { width: 900, height: 600 } });
  const pictures: Buffer[] = [];
  const began = performance.now();
  const clicks = await firstMinutes(browsing, visitor, async (_, page) => void pictures.push(await page.screenshot()));
  const s = Math.round((performance.now() - began) / 1000);
  console.log(`first minutes: ${clicks} clicks, ${s} s`);
  await keep('first_minutes', visitor.page, pictures, { columns: 2, bytes_max: STRIP_BYTES_MAX });
  await visitor.context.close();
}

async function takeApp(): Promise<void> {
  const browsing = await Browsing.start(t);
  const { page, context } = await browsing.visitor({ viewport: VIEWPORT });
  const [, app = '', email = ''] = await seen(/See it at (\S+): sign in as (\S+)\. /);
  await page.goto(app);
  await page.getByLabel('Email address').fill(email);
  await page.keyboard.press('Enter');
  const [, code = ''] = await seen(/^code for \S+: (\d{6})$/m);
  await page.getByLabel('Six-digit code').fill(code);
  await page.keyboard.press('Enter');
  const links = page.locator('#content .list a[href*="/recordings/"]');
  await links.nth(3).waitFor();
  await take('recordings', page);
  await links.nth(2).click();
  await page.getByRole('region', { name: 'Summary' }).waitFor();
  await page.locator('.transcript .turn').first().waitFor();
  await take('recording', page);
  await page.goto(`${app}/search?q=${encodeURIComponent('Where is the spare key?')}`);
  await page.getByRole('region', { name: 'Best answers' }).waitFor();
  await take('ask', page);
  await context.close();
}

/** What the demo has printed by now, or will. */
async function seen(words: RegExp): Promise<RegExpExecArray> {
  await until(`the demo prints ${words}`, () => words.test(week.out), 120_000);
  return words.exec(week.out) as RegExpExecArray;
}

async function takeOperatorPages(): Promise<void> {
  const receiver = await Receiver.start();
  t.teardown(() => receiver.end());
  const browsing = await Browsing.start(t, { TEST_CLOCK: '0', ...receiver.env });
  const failing = await work(browsing, receiver);
  const { page, context } = await browsing.visitor({ viewport: VIEWPORT });
  const url = `http://127.0.0.1:${browsing.spool.server.ports.operator}`;
  await page.goto(url);
  await page.getByLabel('Operator token').fill(browsing.spool.server.services.ops_token);
  await page.keyboard.press('Enter');
  const takeView = async (name: string, path: string, from?: string) => {
    await page.goto(url + path);
    await page.locator('#state[data-state=live]').waitFor();
    if (path === '/devices') await page.getByLabel('Silent for at least').fill('0');
    await page.waitForTimeout(1_000);
    if (from !== undefined) await page.locator(from).evaluate((element) => element.scrollIntoView());
    await take(name, page);
  };
  await page.locator('.health').waitFor();
  await takeView('health', '/');
  await takeView('overview', '/overview');
  await takeView('actors', '/actors', '#kinds');
  await takeView('endpoint', `/entity?kind=endpoint&id=${failing.id}`);
  await takeView('devices', '/devices');
  await context.close();
}

/** People, devices and endpoints that are busy for a while; one endpoint fails. */
async function work({ spool }: Browsing, receiver: Receiver): Promise<TestEndpoint> {
  const random = new SeededRandom(1);
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
  return failing;
}

async function take(name: string, page: Page): Promise<void> {
  await keep(name, page, [await page.screenshot()], { columns: 1, bytes_max: BYTES_MAX });
}

/** Writes pictures of one size as one, as small as it must be: the browser converts them, in a page of its own. */
async function keep(
  name: string,
  shown: Page,
  pictures: readonly Buffer[],
  { columns, bytes_max }: { columns: number; bytes_max: number },
): Promise<void> {
  const blank = await shown.context().newPage();
  try {
    for (let quality = 0.9; ; quality -= 0.1) {
      const converted = (await blank.evaluate(`(async () => {
        const pictures = await Promise.all(${JSON.stringify(pictures.map((png) => png.toString('base64')))}.map((png) => {
          const bytes = Uint8Array.from(atob(png), (character) => character.charCodeAt(0));
          return createImageBitmap(new Blob([bytes], { type: 'image/png' }));
        }));
        const [{ width, height }] = pictures;
        const gap = pictures.length === 1 ? 0 : 16;
        const rows = Math.ceil(pictures.length / ${columns});
        const canvas = new OffscreenCanvas(${columns} * (width + gap) - gap, rows * (height + gap) - gap);
        const drawing = canvas.getContext('2d');
        drawing.fillStyle = '#8a938e';
        drawing.fillRect(0, 0, canvas.width, canvas.height);
        drawing.font = 'bold 28px sans-serif';
        drawing.textAlign = 'center';
        for (const [at, picture] of pictures.entries()) {
          const [x, y] = [(at % ${columns}) * (width + gap), Math.floor(at / ${columns}) * (height + gap)];
          drawing.drawImage(picture, x, y);
          if (pictures.length === 1) continue;
          drawing.fillStyle = '#0e6b63';
          drawing.beginPath();
          drawing.arc(x + width - 34, y + height - 34, 24, 0, 2 * Math.PI);
          drawing.fill();
          drawing.fillStyle = '#ffffff';
          drawing.fillText(String(at + 1), x + width - 34, y + height - 24);
        }
        const blob = await canvas.convertToBlob({ type: 'image/webp', quality: ${quality} });
        return btoa(Array.from(new Uint8Array(await blob.arrayBuffer()), (byte) => String.fromCharCode(byte)).join(''));
      })()`)) as string;
      const webp = Buffer.from(converted, 'base64');
      if (webp.length >= bytes_max && quality < 0.3) throw new Error(`a picture takes ${webp.length} bytes`);
      if (webp.length >= bytes_max) continue;
      writeFileSync(join(FOLDER, `${name}.webp`), webp);
      console.log(`${name}.webp, ${webp.length} bytes`);
      return;
    }
  } finally {
    await blank.close();
  }
}
