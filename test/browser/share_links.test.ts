import t from 'tap';
import { pcm16Format, writeWav } from '../../src/engine/audio/wav.js';
import { ScriptedEngine } from '../../tools/speech/scripted_engine.js';
import { TestAccount } from '../fixtures/account.js';
import { appUrl, enterApp, looksWell, settled } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { TestRecording } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/** A recording shared by a link, as its owner and whoever gets the link have it. */

const engine = await ScriptedEngine.start(t);
const browsing = await Browsing.start(t, {
  ...{ CHUNK_WORKER: '1', TRANSCRIBE_URL: engine.url, TRANSCRIBE_DIARIZE: '1', TRANSCRIBE_WINDOW_S: '600' },
});
const walk = browsing.walk.bind(browsing, t);
const says = [
  { text: 'The boat is ready', start_ms: 500, end_ms: 2_500, speaker: 'A' },
  { text: 'So is the crew', start_ms: 3_000, end_ms: 5_000, speaker: 'B' },
];

await walk(
  'K-300 K-302 K-304 a recording is shared by a link, read by a stranger, and the link ended',
  async (t, visitor) => {
    const { page } = visitor;
    const email = browsing.somebody();
    const account = await TestAccount.open(browsing.spool, email, { sharing: false });
    const recording = await TestRecording.begin(account, { captured_at: '2026-10-05T10:00:00.000Z' });
    await recording.add(9_000, { says });
    await recording.end();
    await account.ask('PATCH', `/audio/streams/${recording.id}`, { title: 'Boat' });
    await until('it is transcribed', async () => (await recording.turns()).length === says.length);
    const button = (name: string) => page.getByRole('button', { name, exact: true });

    await enterApp(browsing, visitor, `/recordings/${recording.id}`, email);
    await button('Share').click();
    await page.getByText('Sharing is off for your account').waitFor();
    await page.getByText(`accounts enable ${email} workspace.sharing`).waitFor();
    await looksWell(t, page, 'sharing is off');
    await account.entitle('workspace.sharing', true);
    await page.reload();
    await settled(page);
    await button('Share').click();
    await page.getByLabel('With the audio').check();
    await page.getByLabel('Ends after').selectOption('30 days');
    await button('Make a link').click();
    const links = page.getByRole('list', { name: 'Links to this recording' });
    await links.getByText('Text, summary and audio').waitFor();
    await links.getByText('Never opened').waitFor();
    await looksWell(t, page, 'links to a recording');
    const { items } = await account.ask<{ items: { url: string }[] }>('GET', '/me/links');
    const url = items[0]?.url ?? '';

    const stranger = await browsing.visitor();
    await stranger.page.goto(url);
    await stranger.page.getByRole('heading', { name: 'Boat', level: 1 }).waitFor();
    await stranger.page.getByText('5 October 2026').waitFor();
    await stranger.page.getByText('Speaker 2 So is the crew').waitFor();
    t.equal(await stranger.page.locator('audio').count(), 1);
    await stranger.page.evaluate('document.querySelector("audio").preload = "auto"');
    await until('the audio can be played', () =>
      stranger.page.evaluate('document.querySelector("audio").duration > 8'),
    );
    await looksWell(t, stranger.page, 'a shared recording');

    await page.goto(appUrl(browsing, '/workspaces'));
    await page.getByRole('list', { name: 'Links to recordings' }).getByText('Boat').waitFor();
    await page.getByText(/Opened once/).waitFor();
    await looksWell(t, page, 'all links');
    await button('End').click();
    await page.locator('dialog[open]').getByRole('button', { name: 'End link' }).click();
    await page.getByText('No links').waitFor();
    await stranger.page.reload();
    await stranger.page.getByRole('heading', { name: 'This link has ended' }).waitFor();
    await looksWell(t, stranger.page, 'a link that has ended');
    await stranger.context.close();
  },
);

await walk(
  'K-308 a file is imported into the workspace that was chosen, which is chosen the next time',
  async (t, visitor) => {
    const { page } = visitor;
    const email = browsing.somebody();
    const account = await TestAccount.open(browsing.spool, email);
    const team = await account.workspace('Team');
    await enterApp(browsing, visitor, '/recordings', email);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByLabel('Workspace').selectOption('Team');
    await looksWell(t, page, 'where to import');
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Choose files' }).click();
    const buffer = writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: 8_000 }) }, Buffer.alloc(16_000));
    await (await chooser).setFiles({ name: 'talk.wav', mimeType: 'audio/wav', buffer });
    const inTeam = async () =>
      (await account.ask<{ items: { title: string }[] }>('GET', `/audio/streams?workspace_id=${team.id}`)).items;
    await until('it is in the workspace', async () => (await inTeam()).length === 1);
    t.equal((await inTeam())[0]?.title, 'talk');
    await page.goto(appUrl(browsing, '/record'));
    t.equal(await page.getByLabel('Workspace').inputValue(), team.id);
    await looksWell(t, page, 'where to record');
  },
);
