import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { buildSync } from 'esbuild';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import type { Binding } from '../../kits/typescript/src/api.js';
import type { CallRefused } from '../../kits/typescript/src/call.js';
import { DeviceClient } from '../../kits/typescript/src/device_client.js';
import { call } from '../../kits/typescript/src/http_call.js';
import { type Notice, Recorder } from '../../kits/typescript/src/recorder.js';
import { WebhookVerifier } from '../../kits/typescript/src/webhooks.js';
import { pcm16Format, writeWav } from '../../src/engine/audio/wav.js';
import { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { SpoolProcess } from '../driver/spool_process.js';
import { AppClient } from '../fixtures/app_client.js';
import { BadLink, drawFate } from '../fixtures/cut_connections.js';
import { freePort } from '../fixtures/free_port.js';
import { Browser } from '../fixtures/oauth.js';
import { ConsumerFolder } from '../fixtures/packed_kit.js';
import { asTyped } from '../fixtures/pairing_code.js';
import { drawSeed } from '../fixtures/seed.js';
import { TestSpool } from '../fixtures/spool.js';
import { tempFolder } from '../fixtures/temp_folder.js';
import { until } from '../fixtures/until.js';

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

const { url, folder, credentials, claim, samples, source_stream_ref, format, chunk_ms, pauses_at } = JSON.parse(process.argv[2]);
const say = (words) => console.log(JSON.stringify(words, (key, value) => (value instanceof Error ? value.message : value)));
const recorder = await Recorder.open({ url, folder, credentials, onNotice: say });
if (recorder.binding === null) await recorder.claim(claim);
const pcm = readFileSync(samples);
const recording = await recorder.record(format, { source_stream_ref, chunk_ms });
say({ what: 'began', frames: recording.frames });
for (let at = recording.frames * 2; at < pcm.length && !recording.is_ended; at += 3_333) {
  await recording.write(pcm.subarray(at, at + 3_333));
  await delay(at < pauses_at ? 5 : 3_600_000);
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

t.test('packed and installed elsewhere', async (t) => {
  const folder = tempFolder(t);
  const random = new SeededRandom(drawSeed(t));
  const ports = { PORT: `${await freePort()}`, DEVICE_PORT: `${await freePort()}`, OPS_PORT: `${await freePort()}` };
  const data = tempFolder(t);
  const consumer = await ConsumerFolder.of('typescript', folder);
  let server = new SpoolProcess(data, ports);
  t.teardown(() => server.stop());
  await server.ready();
  // The first ones do not come far: whatever is drawn, the link breaks.
  const link = await BadLink.open(t, Number(ports.DEVICE_PORT), (connection) =>
    connection > 2 ? drawFate(random) : { cut: 'up', after_bytes: random.between(4_000, 12_000) },
  );
  const operator = server.operator();
  t.teardown(async () => {
    await consumer.end();
    operator.close();
  });
  const app = new AppClient(server.base_url);
  t.teardown(() => app.close());
  const seen = new Set<string>();
  const readCode = async () => {
    const code = await operator.readCode(ANN, seen);
    seen.add(code);
    return code;
  };
  /** As a person in a browser, who is led back to the program. */
  const signInAt = async (url: string) => {
    const browser = new Browser(new URL(url).origin);
    const asked = await browser.press(await browser.open(url), 'email', { email: ANN });
    const entered = await browser.press(asked, 'code', { code: await readCode() });
    const back = entered.location === null ? await browser.press(entered, 'approve') : entered;
    await call({ method: 'GET', url: new URL(back.location as string) });
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
      // The first run is killed before it comes to the end, however fast the link is.
      const first = consumer.start('records.mjs', { ...given, pauses_at: pcm.length / 2 });
      await first.says('sent', 3);
      await first.kill();
      const second = consumer.start('records.mjs', { ...given, pauses_at: pcm.length });
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
    await signInAt(url as string);
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

  await t.test('what the README shows runs as it stands', async (t) => {
    const readme = readFileSync(join(ROOT, 'kits/typescript/README.md'), 'utf8');
    for (const name of ['app', 'device', 'webhook'])
      consumer.write(`${name}.mjs`, new RegExp(`^\`\`\`js ${name}\\n(.*?)^\`\`\``, 'ms').exec(readme)?.[1] ?? '');
    const { certificate_pem, private_key_pem, ca_pem } = await operator.provision('personal');
    for (const [name, pem] of Object.entries({ cert: certificate_pem, key: private_key_pem, ca: ca_pem }))
      consumer.write(`recorder.${name}.pem`, pem);
    const { claim } = await app.call('POST /devices/claims', { body: { kind: 'owner' } });
    const device = consumer.start('device.mjs', {}, { SPOOL_DEVICE_URL: server.device_url, SPOOL_CLAIM: claim });
    await device.prints(/ended/);
    t.equal(await device.exited, 0, device.output);
    const { items } = await app.call('GET /audio/streams');

    const reads = consumer.start('app.mjs', {}, { SPOOL_URL: server.base_url });
    await signInAt((await reads.prints(/Open (\S+)/))[1] as string);
    t.equal(await reads.exited, 0, reads.output);
    for (const { id } of items) t.match(reads.output, id);

    const [secret, port] = [`whsec_${randomBytes(32).toString('base64')}`, await freePort()];
    const receiver = consumer.start('webhook.mjs', {}, { SPOOL_WEBHOOK_SECRET: secret, PORT: `${port}` });
    const body = JSON.stringify({ type: 'account.updated', resource: { id: 'one' } });
    const post = async (signed: string) => {
      const signature = new Webhook(secret).sign('msg_1', new Date(), signed);
      const at = String(Math.floor(Date.now() / 1_000));
      const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': at, 'webhook-signature': signature };
      return (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body })).status;
    };
    await until('the receiver listens', () => post('another').then(Boolean, () => false));
    t.same([await post('another'), await post(body)], [401, 204]);
    await receiver.prints(/account.updated one/);
  });

  await t.test('the package holds what it is made of and nothing else', async (t) => {
    const installed = join(folder, 'node_modules/spool-client');
    const held = readdirSync(installed, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(installed, join(entry.parentPath, entry.name)));
    const sources = readdirSync(join(ROOT, 'kits/typescript/src')).map((name) => name.replace(/\.ts$/, ''));
    const made = sources.flatMap((name) => [`dist/${name}.js`, `dist/${name}.d.ts`]);
    t.same(held.sort(), ['README.md', 'package.json', ...made].sort());
    const { exports, types } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    t.ok(held.includes(types.slice(2)));
    for (const [name, target] of Object.entries(exports as Record<string, Record<string, string> | string>))
      for (const path of typeof target === 'string' ? [target] : [target.types, target.default])
        t.ok(held.includes(String(path).slice(2)), `${name}: ${path}`);
  });

  await t.test('every sample of the README compiles', async (t) => {
    const readme = readFileSync(join(ROOT, 'kits/typescript/README.md'), 'utf8');
    const samples = [...readme.matchAll(/^```(\w*) ?(\w*)\n(.*?)^```/gms)];
    t.same(
      samples.map(([, language, name]) => `${language} ${name}`),
      ['app', 'store', 'lists', 'device', 'microphone', 'webhook'].map((name) => `js ${name}`),
    );
    for (const [, , name = '', text = ''] of samples)
      consumer.write(`samples/${name}.mts`, `${GIVEN_TO_SAMPLES[name] ?? ''}${text}\nexport {};\n`);
    // They are JavaScript: parameters without types are as they should be.
    const options = ['--target', 'esnext', '--module', 'nodenext', '--lib', 'esnext,dom,dom.iterable', '--noEmit'];
    const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules', '@types'), '--skipLibCheck'];
    const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
    const files = samples.map(([, , name]) => `samples/${name}.mts`);
    await consumer.run(tsc, [...options, ...types, '--strict', 'false', ...files]);
    consumer.write('samples/wrong.mts', `${GIVEN_TO_SAMPLES.lists}app.all('GET /me');\nexport {};\n`);
    await t.rejects(consumer.run(tsc, [...options, ...types, '--strict', 'false', 'samples/wrong.mts']), /GET \/me/);
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

/** What samples name that are a part of a program. */
const GIVEN_TO_SAMPLES: Record<string, string> = {
  lists: `declare const app: import('spool-client').AppClient; declare const stream_id: string;\n`,
  microphone: `declare const recorder: import('spool-client/device').Recorder; declare const microphone: AsyncIterable<Uint8Array>;\n`,
};

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

t.test('H-007 H-008 H-021 what is refused for good is put aside, and what may pass waits', async (t) => {
  const spool = await TestSpool.start();
  t.teardown(() => spool.end());
  const recorders: Recorder[] = [];
  t.teardown(() => Promise.all(recorders.map((recorder) => recorder.close())));
  const { app } = await spool.signIn(ANN);
  const opened = async () => {
    const { device_id, ...credentials } = await spool.operator.provision('personal');
    const notices: Notice[] = [];
    const folder = tempFolder(t);
    const onNotice = (notice: Notice) => void notices.push(notice);
    const recorder = await Recorder.open({ url: spool.device_url, folder, credentials, onNotice });
    recorders.push(recorder);
    const { code } = await app.call('POST /devices/claims', { body: { kind: 'owner' } });
    await recorder.claim(asTyped(code));
    const heard = (what: string) => until(what, () => notices.some((notice) => notice.what === what));
    return { device_id, recorder, notices, folder, heard };
  };
  const take = async ({ recorder }: { recorder: Recorder }, pcm: Buffer) => {
    const recording = await recorder.record(
      { codec: 'pcm_s16le', sample_rate_hz: RATE, channels: 1 },
      { chunk_ms: 100 },
    );
    await recording.write(pcm);
    return recording;
  };
  const pcm = randomBytes(RATE / 2);

  const one = await opened();
  const recording = await take(one, pcm);
  await one.heard('sent');
  const streams = await app.call('GET /audio/streams');
  const device = new DeviceClient(spool.device_url, JSON.parse(readFileSync(join(one.folder, 'device.json'), 'utf8')));
  const { source_stream_ref } = recording;
  const { binding_epoch } = one.recorder.binding as Binding;
  const body = { source_stream_ref, binding_epoch, end_ms: 99_000 };
  await device.call('POST /device/streams/end', { body });
  device.close();
  await recording.end();
  await one.recorder.settled();
  t.match(one.notices.at(-1), { what: 'refused', sequence: null, error: { code: 'CONFLICT' } });
  t.match(readdirSync(join(one.folder, 'refused')), [recording.source_stream_ref]);
  t.equal((await app.call('GET /audio/streams/{id}', { path: { id: streams.items[0]?.id as string } })).end_ms, 99_000);

  const removed = await opened();
  await app.call('DELETE /devices/{id}', { path: { id: removed.device_id } });
  await (await take(removed, pcm)).end();
  await removed.recorder.settled();
  t.match(removed.notices, [{ what: 'refused', sequence: null, error: { code: 'DEVICE_UNBOUND' } }]);
  const [name = ''] = readdirSync(join(removed.folder, 'refused'));
  t.same(readdirSync(join(removed.folder, 'refused', name)).filter((file) => file.endsWith('.chunk')).length, 3);

  const revoked = await opened();
  await spool.operator.call('DELETE /ops/devices/{id}/certificate', { path: { id: revoked.device_id } });
  await (await take(revoked, pcm)).end();
  await t.rejects(revoked.recorder.settled(), { message: /403/ });
  t.match(revoked.notices, [{ what: 'stopped', error: { reason: 'revoked' } }]);

  const waiting = await opened();
  await app.call('DELETE /me');
  await (await take(waiting, pcm)).end();
  await waiting.heard('waiting');
  await waiting.recorder.settled();
  t.equal(waiting.recorder.interrupted.length, 0);
  t.equal(readdirSync(join(waiting.folder, 'streams')).length, 1, 'its recordings stay');
});

t.test('F-023 F-024 only what the endpoint was sent, and lately, verifies', async (t) => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const event = JSON.stringify({ id: 'e', type: 'account.updated' });
  const at = new Date();
  const signature = new Webhook(secret).sign('msg_1', at, event);
  const right = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')} ${signature}`,
  };
  const old = `whsec_${randomBytes(32).toString('base64')}`;
  const found = await new WebhookVerifier([old, secret]).verify(event, right);
  t.match(found, { webhook_id: 'msg_1', event: { type: 'account.updated' } });
  t.match(await new WebhookVerifier(secret).verify(Buffer.from(event), new Headers(right)), found);
  const wrong: [string, string, Record<string, string | undefined>, number?][] = [
    ['another body', `${event} `, right],
    ['another id', event, { ...right, 'webhook-id': 'msg_2' }],
    ['no signature', event, { ...right, 'webhook-signature': undefined }],
    ['another version', event, { ...right, 'webhook-signature': signature.replace('v1', 'v2') }],
    ['no Base64', event, { ...right, 'webhook-signature': 'v1,%%' }],
    ['no number', event, { ...right, 'webhook-timestamp': 'now' }],
    ['too late', event, right, at.getTime() + 302_000],
    ['too early', event, right, at.getTime() - 302_000],
  ];
  for (const [what, body, headers, now_ms] of wrong)
    await t.rejects(new WebhookVerifier(secret).verify(body, headers, now_ms), { name: 'NotVerified' }, what);
  await t.rejects(new WebhookVerifier(old).verify(event, right), { name: 'NotVerified' }, 'another secret');
  await t.rejects(new WebhookVerifier('secret').verify(event, right), { name: 'TypeError' });
});
