import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import t from 'tap';
import type { CallRefused } from '../../kits/typescript/src/call.js';
import { DeviceClient } from '../../kits/typescript/src/device_client.js';
import { call } from '../../kits/typescript/src/http_call.js';
import { pcm16Format, writeWav } from '../../src/audio/wav.js';
import { SeededRandom } from '../../src/seeded_random.js';
import { AppClient } from '../fixtures/app_client.js';
import { BadLink } from '../fixtures/bad_link.js';
import { freePort } from '../fixtures/free_port.js';
import { Browser } from '../fixtures/oauth.js';
import { ConsumerFolder } from '../fixtures/packed_kit.js';
import { drawSeed } from '../fixtures/seed.js';
import { SpoolProcess } from '../fixtures/spool_process.js';
import { tempFolder } from '../fixtures/temp_folder.js';

const ROOT = new URL('../../..', import.meta.url).pathname;
const RATE = 16_000;
const SECONDS = 6;
const CHUNK_MS = 250;
const WAV_HEADER_BYTES = 44;
const DAY_MS = 86_400_000;
const ANN = 'ann@kits.test';

/** Records as a microphone would, a piece every few milliseconds, from where the last run came to. */
const RECORDS = `
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Recorder } from 'spool-client/device';

const { url, folder, credentials, claim, samples, source_stream_ref, format, chunk_ms } = JSON.parse(process.argv[2]);
const say = (words) => console.log(JSON.stringify(words, (key, value) => (value instanceof Error ? value.message : value)));
const recorder = await Recorder.open({ url, folder, credentials, onNotice: say });
if (recorder.binding === null) await recorder.claim(claim);
const pcm = readFileSync(samples);
const recording = await recorder.record(format, { source_stream_ref, chunk_ms });
say({ what: 'began', frames: recording.frames });
for (let at = recording.frames * 2; at < pcm.length && !recording.is_ended; at += 3_333) {
  await recording.write(pcm.subarray(at, at + 3_333));
  await delay(5);
}
await recording.end();
await recorder.settled();
say({ what: 'settled' });
await recorder.close();
`;

/** Sends one WAV file, as the README has it. */
const SENDS_A_FILE = `
import { Recorder, referenceOf } from 'spool-client/device';

const { url, folder, file, chunk_ms } = JSON.parse(process.argv[2]);
const say = (words) => console.log(JSON.stringify(words, (key, value) => (value instanceof Error ? value.message : value)));
const recorder = await Recorder.open({ url, folder, onNotice: say });
await recorder.recordWav(file, { source_stream_ref: referenceOf(file), chunk_ms });
await recorder.settled();
await recorder.close();
`;

/** Signs in and reads. */
const SIGNS_IN = `
import { createHash } from 'node:crypto';
import { AppClient, fetchTransport, NoAnswer, OauthClient, SignedOut } from 'spool-client';
import { fileStore, loopbackRedirect } from 'spool-client/node';

const { base_url, tokens } = JSON.parse(process.argv[2]);
const say = (words) => console.log(JSON.stringify(words));
const heard = () => new Promise((resolve) => process.stdin.once('data', resolve));

const { redirect_uri, callback, close } = await loopbackRedirect();
const scope = 'audio:read turns:read account:manage';
const { client_id } = await OauthClient.register(base_url, {
  client_name: 'Kit App', redirect_uris: ['http://127.0.0.1/callback'], scope,
});
let refreshes = 0;
let loses = false;
const transport = {
  async send(request) {
    const is_refresh = new TextDecoder().decode(request.body).includes('grant_type=refresh_token');
    if (is_refresh) refreshes += 1;
    const answer = await fetchTransport.send(request);
    if (is_refresh && loses) { loses = false; throw new NoAnswer(new Error('lost')); }
    return answer;
  },
};
const oauth = await OauthClient.of(base_url, { client_id, redirect_uri, scope }, transport);
const begun = await oauth.begin({ installation_label: 'Test' });
say({ what: 'open', url: begun.url });
const credential = oauth.credential(fileStore(tokens));
await credential.begin(await oauth.finish(await callback, begun));
close();
const app = new AppClient(base_url, { credential });

const streams = [];
for await (const stream of app.all('GET /audio/streams', { query: { limit: 1 } })) streams.push(stream);
const audio = {};
for (const { id } of streams) {
  const hash = createHash('sha256');
  let bytes = 0;
  let pieces = 0;
  for await (const piece of app.audio(id, { piece_bytes: 50_000 })) {
    hash.update(bytes === 0 ? piece.subarray(44) : piece);
    bytes += piece.length;
    pieces += 1;
  }
  audio[id] = { sha256: hash.digest('hex'), bytes, pieces };
}
let events = 0;
const ending = new AbortController();
for await (const page of app.events({ after: '0', signal: ending.signal })) {
  events += page.items.length;
  ending.abort();
}
const refused = await app.call('GET /audio/streams/{id}', { path: { id: '00000000-0000-4000-8000-000000000000' } }).catch((error) => error);
say({ what: 'read', streams: streams.map(({ id, end_ms }) => ({ id, end_ms })), audio, events,
  refused: { status: refused.status, code: refused.code, request_id: refused.request_id } });

await heard(); // the tokens have run out
await Promise.all(Array.from({ length: 12 }, () => app.call('GET /me')));
say({ what: 'refreshed', refreshes });

await heard();
refreshes = 0;
loses = true;
const others = [1, 2].map(() => new AppClient(base_url, { credential: oauth.credential(fileStore(tokens)) }));
await Promise.all([app, ...others].map((one) => one.call('GET /me')));
say({ what: 'shared', refreshes });

await heard();
await app.call('GET /me');
await oauth.revoke(await credential.token());
const ended = await app.call('GET /me').catch((error) => error);
say({ what: 'ended', is_signed_out: ended instanceof SignedOut, kept: await fileStore(tokens).load() });
process.exit(0);
`;

t.test('packed and installed elsewhere', { timeout: 110_000 }, async (t) => {
  const folder = tempFolder(t);
  const random = new SeededRandom(drawSeed(t));
  const ports = { PORT: `${await freePort()}`, DEVICE_PORT: `${await freePort()}`, OPS_PORT: `${await freePort()}` };
  const data = tempFolder(t);
  const [consumer, first_server] = await Promise.all([
    ConsumerFolder.of('typescript', folder),
    new SpoolProcess(data, ports).ready(),
  ]);
  let server = first_server;
  const link = await BadLink.open(Number(ports.DEVICE_PORT), random);
  const operator = server.operator();
  t.teardown(async () => {
    await consumer.end();
    link.close();
    operator.close();
    await server.stop();
  });
  const app = new AppClient(server.base_url);
  t.teardown(() => app.close());
  const seen = new Set<string>();
  const readCode = async () => {
    const code = await operator.readCode(ANN, seen);
    seen.add(code);
    return code;
  };
  await app.signIn(ANN, readCode);
  const { device_id: _, ...credentials } = await operator.provision('personal');
  const pcm = randomBytes(SECONDS * RATE * 2);
  const fmt = pcm16Format({ channels: 1, frames_per_second: RATE });
  writeFileSync(join(folder, 'samples.pcm'), pcm);
  writeFileSync(join(folder, 'take.wav'), writeWav({ fmt }, pcm));
  consumer.write('records.mjs', RECORDS);
  consumer.write('sends_a_file.mjs', SENDS_A_FILE);
  consumer.write('signs_in.mjs', SIGNS_IN);
  const url = `https://localhost:${link.port}`;
  const device_folder = join(folder, 'device');

  await t.test(
    'H-010 H-019 H-021 H-023 a recording comes over a link that breaks, whatever is killed meanwhile',
    async (t) => {
      const { claim } = await app.call('POST /devices/claims', { body: { kind: 'owner' } });
      const given = {
        ...{ url, folder: device_folder, credentials, claim, samples: 'samples.pcm', chunk_ms: CHUNK_MS },
        ...{ source_stream_ref: randomUUID(), format: { codec: 'pcm_s16le', sample_rate_hz: RATE, channels: 1 } },
      };
      const first = consumer.start('records.mjs', given);
      await first.says('sent', 3);
      await first.kill();
      const second = consumer.start('records.mjs', given);
      t.not((await second.says('began')).frames, 0, 'it goes on where it was');
      await second.says('sent', 3);
      await server.kill();
      server = await new SpoolProcess(data, ports).ready();
      await second.says('settled');
      t.equal(await second.exited, 0, second.output);
      t.ok(link.cuts > 0, 'the link broke');
      const { items } = await app.call('GET /audio/streams');
      t.match(items, [{ chunks: (SECONDS * 1_000) / CHUNK_MS, end_ms: SECONDS * 1_000 }]);
      t.equal(items.length, 1);
      const { body } = await app.send('GET', `/audio/streams/${items[0]?.id}/content`);
      t.ok(body.subarray(WAV_HEADER_BYTES).equals(pcm), 'byte for byte');
    },
  );

  await t.test('C-020 C-045 C-064 C-065 an app signs in, reads, and refreshes safely', async (t) => {
    const program = consumer.start('signs_in.mjs', { base_url: server.base_url, tokens: join(folder, 'tokens.json') });
    const { url } = await program.says('open');
    const browser = new Browser(new URL(url as string).origin);
    const at = await browser.open(url as string);
    const asked = await browser.press(at, 'email', { email: ANN });
    const entered = await browser.press(asked, 'code', { code: await readCode() });
    const back = entered.location === null ? await browser.press(entered, 'approve') : entered;
    await call({ method: 'GET', url: new URL(back.location as string) });
    const read = await program.says('read');
    const [stream] = (await app.call('GET /audio/streams')).items;
    const sha256 = createHash('sha256').update(pcm).digest('hex');
    t.same(read.streams, [{ id: stream?.id, end_ms: SECONDS * 1_000 }]);
    t.match(read.audio, { [stream?.id as string]: { sha256, bytes: pcm.length + WAV_HEADER_BYTES, pieces: 4 } });
    t.ok((read.events as number) > 0);
    t.match(read.refused, { status: 404, code: 'NOT_FOUND', request_id: /\w/ });

    await operator.advanceClock(2 * 3_600_000);
    program.tell();
    t.match(await program.says('refreshed'), { refreshes: 1 }, 'one refresh for twelve calls at once');
    await operator.advanceClock(2 * 3_600_000);
    program.tell();
    const { refreshes } = await program.says('shared');
    t.ok((refreshes as number) >= 2, 'one more after the answer that was lost');
    program.tell();
    t.match(await program.says('ended'), { is_signed_out: true, kept: null });
    t.equal(await program.exited, 0, program.output);
  });

  await t.test('H-001 a certificate is renewed in time, and one that has expired is as well', async (t) => {
    const given = { url, folder: device_folder, file: 'take.wav', chunk_ms: CHUNK_MS };
    for (const [days, reason] of [
      [65, 'superseded'],
      [100, 'expired'],
    ] as const) {
      const before = JSON.parse(readFileSync(join(device_folder, 'device.json'), 'utf8'));
      await operator.advanceClock(days * DAY_MS);
      const program = consumer.start('sends_a_file.mjs', given);
      await program.says('renewed');
      await program.says('ended');
      t.equal(await program.exited, 0, program.output);
      const old = new DeviceClient(server.device_url, before);
      const refused = await old.call('GET /device/binding').catch((error: CallRefused) => error);
      t.match(refused, { reason });
      old.close();
    }
    await app.signIn(ANN, readCode);
    const { items } = await app.call('GET /audio/streams');
    t.equal(items.length, 2, 'the same file again is the same stream');
    const sent = items.find(({ captured_at }) => captured_at === items[0]?.captured_at);
    const { body } = await app.send('GET', `/audio/streams/${sent?.id}/content`);
    t.ok(body.subarray(WAV_HEADER_BYTES).equals(pcm));
  });

  await t.test('a strict consumer compiles, with Node and in a browser', async (t) => {
    consumer.write('node_app/index.ts', NODE_CONSUMER);
    consumer.write('browser_app/index.ts', BROWSER_CONSUMER);
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--target', 'es2023'];
    const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
    const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules', '@types')];
    await Promise.all([
      consumer.run(tsc, [...strict, '--module', 'nodenext', ...types, 'node_app/index.ts']),
      consumer.run(tsc, [
        ...[...strict, '--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2023,dom,dom.iterable'],
        ...['browser_app/index.ts'],
      ]),
    ]);
    const entries = ['index.js', 'webhooks.js'].map((name) => join(folder, 'node_modules/spool-client/dist', name));
    const { errors } = buildSync({
      entryPoints: entries,
      bundle: true,
      write: false,
      platform: 'browser',
      outdir: 'x',
      format: 'esm',
    });
    t.same(errors, [], 'nothing of Node in what is for browsers');
  });
});

const NODE_CONSUMER = `
import { AppClient, CallRefused, OauthClient, type Stream } from 'spool-client';
import { Recorder, type Notice } from 'spool-client/device';
import { fileStore, nodeTransport } from 'spool-client/node';
import { OperatorClient } from 'spool-client/operator';
import { WebhookVerifier } from 'spool-client/webhooks';

const oauth = await OauthClient.of('http://x', { client_id: 'c', redirect_uri: 'http://127.0.0.1/callback' });
const app = new AppClient('http://x', { credential: oauth.credential(fileStore('t.json')), transport: nodeTransport() });
for await (const stream of app.all('GET /audio/streams')) { const one: Stream = stream; console.log(one.end_ms?.toFixed()); }
for await (const { items, cursor } of app.events()) console.log(items[0]?.type, cursor.length);
// @ts-expect-error a route that has no list
app.all('GET /me');
// @ts-expect-error a path member is missing
app.call('GET /audio/streams/{id}');
const recorder = await Recorder.open({ url: 'https://x', folder: 'd', onNotice: (notice: Notice) => console.log(notice.what) });
const { event } = await new WebhookVerifier('whsec_').verify('', new Headers());
console.log(event.type, recorder.interrupted[0]?.recorded_ms, new OperatorClient('http://x', 't'));
try { await app.call('GET /me'); } catch (error) { if (error instanceof CallRefused) console.log(error.details[0]?.path); }
`;

const BROWSER_CONSUMER = `
import { AppClient, memoryStore, OauthClient } from 'spool-client';
import { WebhookVerifier } from 'spool-client/webhooks';

const oauth = await OauthClient.of('http://x', { client_id: 'c', redirect_uri: 'https://a.example/callback' });
location.assign((await oauth.begin()).url);
const app = new AppClient('http://x', { credential: oauth.credential(memoryStore()) });
for await (const piece of app.audio('id')) console.log(piece.byteLength);
console.log(new WebhookVerifier('whsec_'));
`;
