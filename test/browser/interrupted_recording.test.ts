import type { Page } from 'playwright-core';
import t from 'tap';
import type { Stream } from '../../kits/typescript/src/api.js';
import { TestAccount } from '../fixtures/account.js';
import { appUrl, enterApp, looksWell } from '../fixtures/app_browsing.js';
import { Browsing, type Visitor } from '../fixtures/browsing.js';
import { toneMicrophone } from '../fixtures/tone_microphone.js';
import { until } from '../fixtures/until.js';

/** A recording of a browser whose microphone is interrupted, as by a phone call, or muted. */

/** In the page: `microphone` does what a system does to it. */
const INTERRUPTIBLE = `{
  const Real = AudioContext;
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  let [context, track, is_busy] = [null, null, false];
  AudioContext = class extends Real {
    constructor(options) {
      super(options);
      context = this;
    }
    resume() {
      return is_busy ? Promise.reject(new DOMException('in a call', 'InvalidStateError')) : super.resume();
    }
  };
  navigator.mediaDevices.getUserMedia = async (asked) => {
    const media = await open(asked);
    [track] = media.getAudioTracks();
    return media;
  };
  const mute = (muted) => {
    Object.defineProperty(track, 'muted', { value: muted, configurable: true });
    track.dispatchEvent(new Event(muted ? 'mute' : 'unmute'));
  };
  globalThis.microphone = {
    interrupt: () => ((is_busy = true), context.suspend()),
    over: () => void (is_busy = false),
    mute,
    silence: (silent) => void (track.enabled = !silent),
  };
}`;

const browsing = await Browsing.start(t, {}, { flags: toneMicrophone(t) });
const { spool } = browsing;
const begin = async (visitor: Visitor): Promise<TestAccount> => {
  const { page, context } = visitor;
  const account = await TestAccount.open(spool, browsing.somebody(), { sharing: false });
  await context.grantPermissions(['microphone'], { origin: new URL(appUrl(browsing, '')).origin });
  page.on('dialog', (dialog) => void dialog.accept());
  await page.addInitScript(INTERRUPTIBLE);
  await enterApp(browsing, visitor, '/record', account.email);
  await page.getByRole('button', { name: 'Start recording' }).click();
  return account;
};
const does = (page: Page, what: string) => page.evaluate(`microphone.${what}`);
const says = (page: Page, text: RegExp) => page.getByRole('alert').filter({ hasText: text }).waitFor();
const isHeard = (page: Page) => page.getByText('Nothing is heard').waitFor({ state: 'hidden' });

await browsing.walk(t, 'D-077 what is said after an interruption keeps its time', async (t, visitor) => {
  const { page } = visitor;
  const account = await begin(visitor);
  const spans = async () => {
    const [stream] = (await account.ask<{ items: Stream[] }>('GET', '/audio/streams')).items;
    if (stream === undefined) return [];
    const path = `/audio/streams/${stream.id}/chunks?limit=100`;
    const { items } = await account.ask<{ items: { source_start_ms: number; source_end_ms: number }[] }>('GET', path);
    return items.sort((a, b) => a.source_start_ms - b.source_start_ms);
  };
  await until('something is recorded', async () => (await spans()).length > 0);
  await does(page, 'interrupt()');
  const profiler = await page.context().newCDPSession(page);
  await profiler.send('HeapProfiler.collectGarbage');
  await says(page, /Nothing is heard: the microphone is interrupted/);
  await looksWell(t, page, 'a recording that is interrupted');
  const before = (await spans()).length;
  await does(page, 'over()');
  await isHeard(page);
  t.pass('it goes on by itself');
  await until('what came later is on the server', async () => (await spans()).length > before + 1);
  const all = await spans();
  const gaps = all.slice(1).map((span, n) => span.source_start_ms - (all[n]?.source_end_ms ?? 0));
  t.equal(gaps.filter((gap) => gap > 2_000).length, 1, `one gap: ${gaps}`);
  t.ok(gaps.every((gap) => gap >= 0));
});

await browsing.walk(t, 'D-077 a page that hears nothing says so', async (t, visitor) => {
  const { page } = visitor;
  await begin(visitor);
  await page
    .getByRole('timer')
    .getByText(/0:0[1-9]/)
    .waitFor();
  t.equal(await page.getByText('Nothing is heard').count(), 0);
  await does(page, 'mute(true)');
  await says(page, /Nothing is heard: the microphone is muted/);
  await page.getByRole('link', { name: 'Recordings' }).first().click();
  await page.locator('.recording-bar').getByText('Nothing is heard').waitFor();
  await page.locator('.recording-bar').click();
  await does(page, 'mute(false)');
  await isHeard(page);
  await does(page, 'silence(true)');
  await says(page, /Nothing is heard: only silence/);
  await does(page, 'silence(false)');
  await isHeard(page);
  await page.getByRole('button', { name: 'Pause' }).click();
  await does(page, 'mute(true)');
  await page.getByText('Paused').waitFor();
  t.equal(await page.getByText('Nothing is heard').count(), 0, 'nothing is to be heard in a pause');
});
