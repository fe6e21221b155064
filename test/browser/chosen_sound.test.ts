import t from 'tap';
import type { Stream } from '../../kits/typescript/src/api.js';
import { TestAccount } from '../fixtures/account.js';
import { appUrl, enterApp, looksWell } from '../fixtures/app_browsing.js';
import { Browsing, type Visitor } from '../fixtures/browsing.js';
import { toneMicrophone } from '../fixtures/tone_microphone.js';
import { until } from '../fixtures/until.js';

/** A person chooses what a browser records: a microphone, or what a tab or the computer plays. */

/** In the page: what is shared is a tone; `stopSharing` ends it. */
const sharing = (has_sound: boolean) => `{
  navigator.mediaDevices.getDisplayMedia = async () => {
    const context = new AudioContext();
    const tone = context.createOscillator();
    const into = context.createMediaStreamDestination();
    tone.connect(into);
    tone.start();
    await context.resume();
    const [track] = into.stream.getAudioTracks();
    globalThis.stopSharing = () => {
      track.stop();
      track.dispatchEvent(new Event('ended'));
    };
    return ${has_sound ? 'into.stream' : 'new MediaStream()'};
  };
}`;

const browsing = await Browsing.start(t, {}, { flags: toneMicrophone(t) });
const open = async (visitor: Visitor, script: string): Promise<TestAccount> => {
  const { page, context } = visitor;
  const account = await TestAccount.open(browsing.spool, browsing.somebody(), { sharing: false });
  await context.grantPermissions(['microphone'], { origin: new URL(appUrl(browsing, '')).origin });
  page.on('dialog', (dialog) => void dialog.accept());
  await page.addInitScript(script);
  await enterApp(browsing, visitor, '/record', account.email);
  return account;
};

await browsing.walk(t, 'the sound of a tab is recorded, alone or with the microphone', async (t, visitor) => {
  const { page } = visitor;
  const account = await open(visitor, sharing(true));
  const stored = async () =>
    (await account.ask<{ items: Stream[] }>('GET', '/audio/streams')).items.map(({ stored_chunks }) => stored_chunks);
  for (const [at, choice] of ['shared', 'both'].entries()) {
    await page.getByLabel('Sound').selectOption(choice);
    await looksWell(t, page, `choosing ${choice}`);
    await page.getByRole('button', { name: 'Start recording' }).click();
    await until('it is recorded', async () => (await stored()).length === at + 1 && ((await stored())[0] ?? 0) > 0);
    t.equal(await page.getByText('Nothing is heard').count(), 0);
    await page.evaluate('stopSharing()');
    if (choice === 'shared') await page.getByText('Sharing has ended.').waitFor();
    else await page.getByRole('button', { name: 'Finish' }).click();
    await until('it has ended', async () => {
      const [stream] = (await account.ask<{ items: Stream[] }>('GET', '/audio/streams')).items;
      return stream?.end_ms !== undefined;
    });
    if (choice === 'shared') continue;
    await page.getByRole('heading', { name: 'Record', exact: true }).waitFor({ state: 'hidden' });
  }
});

await browsing.walk(t, 'a tab without sound, and a browser that shares none, are told apart', async (t, visitor) => {
  const { page } = visitor;
  await open(visitor, sharing(false));
  await page.getByLabel('Sound').selectOption('shared');
  await page.getByRole('button', { name: 'Start recording' }).click();
  await page.getByText('No sound was shared.').waitFor();
  await page.addInitScript(
    'delete MediaDevices.prototype.getDisplayMedia; navigator.mediaDevices.getDisplayMedia = undefined;',
  );
  await page.reload();
  await page.getByRole('button', { name: 'Start recording' }).waitFor();
  t.equal(await page.getByLabel('Sound').count(), 0);
});

await browsing.walk(t, 'one of several microphones is chosen, and kept', async (t, visitor) => {
  const { page } = visitor;
  await open(
    visitor,
    `navigator.mediaDevices.enumerateDevices = async () => ['Desk', 'Headset'].map((label) => ({ kind: 'audioinput', label, deviceId: label }));
     const get = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
     navigator.mediaDevices.getUserMedia = ({ audio }) => {
       globalThis.asked = audio.deviceId;
       return get({ audio: { ...audio, deviceId: undefined } });
     };`,
  );
  await page.getByLabel('Microphone').selectOption('Headset');
  await page.reload();
  t.equal(await page.getByLabel('Microphone').inputValue(), 'Headset');
  await page.getByRole('button', { name: 'Start recording' }).click();
  await page.getByRole('button', { name: 'Finish' }).waitFor();
  t.equal(await page.evaluate('asked'), 'Headset');
});
