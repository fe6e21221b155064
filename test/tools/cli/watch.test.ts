import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Import, Stream } from '../../../kits/typescript/src/api.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { pcm16Format, writeWav } from '../../../src/engine/audio/wav.js';
import { TestAccount } from '../../fixtures/account.js';
import { RunningCli, runCli } from '../../fixtures/cli.js';
import { announceFile } from '../../fixtures/importing.js';
import { audioFixture } from '../../fixtures/speech.js';
import { TestSpool } from '../../fixtures/spool.js';
import { tempFolder } from '../../fixtures/temp_folder.js';

const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
t.teardown(() => spool.end());

const VTT = 'WEBVTT\n\n00:00.000 --> 00:02.000\nAnna: Good morning.\n';
let numbers = 0;

/** Another file each time. */
function wav(seconds = 1): Buffer {
  const samples = Buffer.alloc(seconds * 32_000);
  samples.writeUInt32LE(++numbers);
  return writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: 16_000 }) }, samples);
}

async function watched(t: Parameters<typeof tempFolder>[0], email: string) {
  const person = await TestAccount.open(spool, email);
  const body = { name: 'x', permissions: ['audio:write'], expires_at: null };
  const { value } = await person.ask<{ value: string }>('POST', '/me/tokens', body);
  const folder = tempFolder(t);
  const env = { SPOOL_TOKEN: value, PORT: `${spool.server.ports.public}` };
  const put = (path: string, bytes: Uint8Array | string, time?: string) => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), bytes);
    if (time !== undefined) utimesSync(join(folder, path), new Date(time), new Date(time));
  };
  const streams = async () => (await person.ask<{ items: Stream[] }>('GET', '/audio/streams')).items;
  const titles = async () => (await streams()).map(({ title }) => title).sort();
  const once = (...args: string[]) => runCli(['watch', folder, '--once', '--settle', '0', ...args], env);
  const start = (...args: string[]) => {
    const running = new RunningCli(['watch', folder, '--settle', '0.2', '--every', '1', ...args], env);
    t.teardown(() => running.end());
    return running;
  };
  return { person, folder, env, put, streams, titles, once, start };
}

t.test('K-421 K-422 a run makes recordings of what is there, of each content once', async (t) => {
  const { person, folder, put, streams, titles, once } = await watched(t, 'ann@watch.test');
  const first = wav();
  put('talk.wav', first);
  put('deep/er/said.m4a', audioFixture('said.m4a'), '2026-01-31T08:30:00.000Z');
  put('2026-03-02 10-15-00.wav', wav(), '2026-03-05T11:00:00.000Z');
  put('meeting.vtt', VTT);
  put('text.txt', 'Anna  0:01\nGood morning.\n\nBen  0:03\nGood evening.\n');
  for (const name of ['.hidden.wav', '.syncthing.a.wav.tmp', 'b.wav.part', '~c.wav', 'notes.md', 'd.wav~'])
    put(name, wav());
  put('shopping.txt', 'Bread');
  put('package.json', '{"name": "x"}');
  put('empty.wav', '');
  const ran = await once();
  t.equal(ran.code, 0, ran.errors + ran.out);
  t.same(await titles(), ['meeting', null, 'said', 'talk', 'text'], 'a time is no title');
  t.match(ran.out, /^deep\/er\/said\.m4a: http\S+\/app\/recordings\/[0-9a-f-]{36}, began 2026-.*by the time of/m);
  const named = (await streams()).find(({ title }) => title === null);
  t.equal(named?.captured_at, new Date('2026-03-02T10:15:00').toISOString(), 'as its name says');

  const again = await once();
  t.same([again.code, again.out, again.errors], [0, '', ''], 'nothing is left to do');

  renameSync(join(folder, 'talk.wav'), join(folder, 'renamed.wav'));
  const talk = (await streams()).find(({ title }) => title === 'talk');
  await person.ask('DELETE', `/audio/streams/${talk?.id}`);
  const renamed = await once('--delete-after');
  t.match(renamed, { code: 0, out: /renamed\.wav: was imported before, and stays/ });
  t.ok(existsSync(join(folder, 'renamed.wav')), 'a copy of what was deleted on the server is kept');
  t.notOk((await titles()).includes('talk'), 'what was deleted does not come back');
  t.notOk(existsSync(join(folder, 'meeting.vtt')), 'what was sent goes');

  put('renamed.wav', wav());
  t.match(await once(), { code: 0, out: /renamed\.wav: http/ }, 'other content is another recording');
  t.ok((await titles()).includes('renamed'));
});

t.test('K-422 a file that fails is said, counts, and is not sent again', async (t) => {
  const { put, once, folder } = await watched(t, 'bob@watch.test');
  put('noise.mp3', 'no audio at all');
  put('good.wav', wav());
  const ran = await once('--delete-after');
  t.match(ran, { code: 1, out: /noise\.mp3: .*\(UNSUPPORTED_AUDIO\)/ });
  t.match(ran.out, /good\.wav: http/);
  t.notOk(existsSync(join(folder, 'good.wav')), 'a recording now');
  t.ok(existsSync(join(folder, 'noise.mp3')), 'what failed is never deleted');
  t.match(await once(), { code: 1, out: '' }, 'nothing is sent again');
  rmSync(join(folder, 'noise.mp3'));
  t.match(await once(), { code: 0, out: '' });
});

t.test('K-447 a transcript that is too large is said once, and others go on', async (t) => {
  const { person, put, once, folder, titles } = await watched(t, 'kim@watch.test');
  for (const name of ['large.vtt', 'both.vtt']) {
    put(name, 'WEBVTT\n\n');
    truncateSync(join(folder, name), 100_000_000);
  }
  put('both.wav', wav());
  put('good.vtt', VTT);
  const ran = await once('--delete-after');
  t.match(ran, { code: 1, out: /^large\.vtt: The transcript has more than 20 MiB\. \(TRANSCRIPT_UNREADABLE\)$/m });
  t.same(await titles(), ['both', 'good'], 'the audio beside one is transcribed');
  t.ok(existsSync(join(folder, 'large.vtt')));
  t.match(await once(), { code: 1, out: /^both\.vtt: The transcript has more than 20 MiB/ }, 'then by itself');
  t.match(await once(), { code: 1, out: '' });
  const { items } = await person.ask<{ items: Import[] }>('GET', '/audio/imports');
  t.same(items.map(({ name }) => name).sort(), ['both.wav', 'good.vtt'], 'nothing else was sent');
});

t.test('K-421 K-423 it imports what appears, waits for room, and ends by a signal', async (t) => {
  const { person, put, titles, start, folder } = await watched(t, 'eve@watch.test');
  const importer = { app: person.app, base_url: spool.base_url };
  const open: Import[] = [];
  for (let count = 0; count < LIMITS.imports_open_max; count++) open.push(await announceFile(importer, wav()));
  const state = join(tempFolder(t), 'state.json');
  const running = start('--state', state);
  await running.says(/watching /);
  put('new.wav', wav());
  await running.says(/waiting: the server says .*at most 20 imports/);
  await person.ask('DELETE', `/audio/imports/${open[0]?.id}`);
  await running.says(/new\.wav: http/);
  mkdirSync(join(folder, 'later'));
  put('later/later.wav', wav());
  await running.says(/later\/later\.wav: http/);
  t.same(await titles(), ['later', 'new']);
  running.signal('SIGTERM');
  t.equal(await running.exited, 0, running.out);
  t.equal(Object.keys(JSON.parse(readFileSync(state, 'utf8')).files).length, 2);
  t.notOk(existsSync(join(folder, '.spool-watch.json')));
});

t.test('K-423 what the server refuses for good, and what is not understood, ends it', async (t) => {
  const { person, put, once, folder, env } = await watched(t, 'kim@watch.test');
  put('a.wav', wav());
  const read = { name: 'x', permissions: ['audio:read'], expires_at: null };
  const { value } = await person.ask<{ value: string }>('POST', '/me/tokens', read);
  const run = (more: Record<string, string>, ...args: string[]) =>
    runCli(['watch', folder, '--once', '--settle', '0', ...args], { ...env, ...more });
  t.match(await run({ SPOOL_TOKEN: value }), { code: 1, errors: /refused: 403/ });
  t.match(await run({ SPOOL_TOKEN: 'wrong' }), { code: 1, errors: /does not accept/ });
  const nowhere = '01a22792-ca63-7696-bba6-6d000000008c';
  t.match(await once('--workspace', nowhere), { code: 1, errors: /refused: 404/ });
  t.match(await once('--workspace', 'x'), { code: 2, errors: /id of a workspace/ });
  t.match(await once('--every', '0'), { code: 2, errors: /from 1 to/ });
  t.match(await runCli(['watch', join(folder, 'no')], env), { code: 2, errors: /is not a folder/ });
  t.match(await once(), { code: 0 });
  t.match(await once('--server', 'http://localhost:1'), { code: 1, errors: /what was imported at/ });
  writeFileSync(join(folder, '.spool-watch.json'), '{}');
  t.match(await once(), { code: 1, errors: /is not a state of spool watch/ });
});

t.test('K-427 a transcript beside its audio is its text, and goes with it', async (t) => {
  const { person, folder, put, streams, titles, once } = await watched(t, 'both@watch.test');
  put('talk.wav', wav());
  put('talk.wav.srt', '1\n00:00:00,100 --> 00:00:00,900\nThe cellar is dry.\n');
  put('long.wav', wav());
  put('long.vtt', 'WEBVTT\n\n00:00.000 --> 10:00.000\nOf another talk.\n');
  put('notes.wav', wav());
  put('notes.txt', 'Bread');
  const ran = await once('--delete-after');
  t.equal(ran.code, 0, ran.errors + ran.out);
  t.match(ran.out, /talk\.wav: its text is that of talk\.wav\.srt/);
  t.match(ran.out, /long\.vtt: The transcript goes on after the audio.* long\.wav is transcribed instead/);
  t.same(await titles(), ['long', 'notes', 'talk'].sort());
  const talk = (await streams()).find(({ title }) => title === 'talk');
  t.match(await person.ask('GET', `/turns?stream_id=${talk?.id}`), { items: [{ text: 'The cellar is dry.' }] });
  t.notOk(existsSync(join(folder, 'talk.wav.srt')), 'what was sent goes');
  t.ok(existsSync(join(folder, 'notes.txt')), 'what was not sent stays');
  t.ok(existsSync(join(folder, 'long.vtt')));
});
