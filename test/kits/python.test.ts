import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DeviceClient } from '../../kits/typescript/src/device_client.js';
import { SeededRandom } from '../../src/engine/random/seeded_random.js';
import type { AppClient } from '../fixtures/app_client.js';
import { BadLink, drawFate } from '../fixtures/cut_connections.js';
import { opusFile } from '../fixtures/opus_file.js';
import { asTyped } from '../fixtures/pairing_code.js';
import { noiseFile, PythonDevice, PythonProcess, python, pythonKitLacks, ROOT } from '../fixtures/python_kit.js';
import { TestSpool } from '../fixtures/spool.js';
import { until } from '../fixtures/until.js';

/*
 * The device kit in Python against a real server: through a link that breaks, killed and started again, renewed, and by
 * the commands that its README gives.
 */

const lacks = pythonKitLacks();
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SEED = 20_260_101;
/** Processes of Python start slowly on a machine that is busy with other tests. */
const DEADLINE_MS = 30_000;

/** The shell commands of a text, as somebody would type them. */
const commandsIn = (path: string) =>
  [...readFileSync(join(ROOT, path), 'utf8').matchAll(/^```sh\n(.*?)^```/gms)].map(([, text = '']) => text);

t.test('the device kit in Python', { skip: lacks === null ? false : `${lacks}: not tested here` }, async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const { port } = new URL(spool.device_url);
  const random = new SeededRandom(SEED);
  let is_lossy = false;
  const link = await BadLink.open(t, Number(port), () => (is_lossy ? drawFate(random) : 'holds'));
  const link_url = `https://localhost:${link.port}`;
  const folder = join(spool.folder, 'kit');
  const unit_tests = python(['-m', 'unittest', 'discover', '-s', 'tests', '-t', '.']).ended;
  const newest = async (app: AppClient) => (await app.call('GET /audio/streams')).items;
  const contentOf = async (app: AppClient, id: string) =>
    (await app.send('GET', `/audio/streams/${id}/content`)).body as Buffer;
  let { app } = await spool.signIn('kit@x.test');
  const device = new PythonDevice(folder, 'personal');
  const file = join(folder, 'long.wav');

  await t.test('H-009 H-010 H-019 H-021 H-023 loses nothing and stores nothing twice', async (t) => {
    await device.provision(spool, link_url, 'personal');
    const { code: pairing_code } = await app.call('POST /devices/claims', { body: { kind: 'owner' } });
    await device.run(0, 'claim', asTyped(pairing_code));
    const recorded = noiseFile(file, { seconds: 60 });
    is_lossy = true;
    // A third of the file fits into its queue: recording and sending go on at the same time until the end.
    const record = () => device.start('--queue-bytes-max', '300000', 'record', file, '--chunk-s', '1');
    const arrived = async () => (await newest(app))[0]?.stored_chunks ?? 0;

    let running = record();
    for (const chunks of [5, 15]) {
      await until(`${chunks} chunks are stored`, async () => (await arrived()) >= chunks, DEADLINE_MS);
      t.equal((await running.kill()).code, null, 'killed while it was at work');
      running = record();
    }
    await until('25 chunks are stored', async () => (await arrived()) >= 25, DEADLINE_MS);
    const { access_token } = app;
    link.cutAll();
    await spool.close();
    await spool.open();
    app = spool.client();
    app.access_token = access_token;
    link.port_behind = Number(new URL(spool.device_url).port);
    await until('33 chunks are stored', async () => (await arrived()) >= 33, DEADLINE_MS);
    await running.kill();
    const { code, out, err } = await record().ended;
    t.equal(code, 0, err);
    t.match(out, /: 60000 ms\nall is sent/);

    const [stream, ...more] = await newest(app);
    t.same(more, [], 'it stayed one recording');
    t.match(stream, { end_ms: 60_000, chunks: 60, stored_chunks: 60 });
    t.ok((await contentOf(app, stream?.id ?? '')).equals(recorded), 'byte for byte');
    const chunks = (
      await app.call('GET /audio/streams/{id}/chunks', { path: { id: stream?.id ?? '' }, query: { limit: 100 } })
    ).items;
    t.same(
      chunks.map(({ sequence, source_start_ms, source_end_ms }) => [sequence, source_start_ms, source_end_ms]),
      Array.from({ length: 60 }, (_, sequence) => [sequence, sequence * 1_000, (sequence + 1) * 1_000]),
    );
    // How many requests it takes depends on how much waits when one ends, so on the machine.
    t.ok(link.cuts > 0, `${link.cuts} connections broke`);

    t.same(device.reports(), []);
    is_lossy = false;

    const ogg = opusFile({
      pages: [
        [40, 50],
        [60, 70, 80],
      ],
    });
    writeFileSync(join(folder, 'short.ogg'), ogg);
    t.match(
      (await device.run(0, 'record', join(folder, 'short.ogg'))).out,
      /: 94 ms\nall is sent/,
      '100 less the pre-skip',
    );
    t.match((await newest(app))[0], { end_ms: 94, stored_bytes: ogg.length });
  });

  await t.test('H-007 H-025 H-027 H-029 as a shared recorder', async (t) => {
    const shared = new PythonDevice(folder, 'shared');
    await shared.provision(spool, link_url, 'shared');
    const host = async () => {
      const expires_at = new Date(spool.server.services.clock.now() + HOUR_MS).toISOString();
      return app.call('POST /device-sessions', { body: { expires_at } });
    };
    const first = await host();
    await shared.run(0, 'claim', first.claim, '--ble-address', '0A1B2C3D4E5F');
    const short = join(folder, 'short.wav');
    const recorded = noiseFile(short, { seconds: 3 });
    await shared.run(0, 'record', short, '--raw', '--chunk-s', '1', '--offline');
    t.match((await shared.run(0, 'send', '--end-session')).out, /all is sent/);
    const [stream] = await newest(app);
    t.ok((await contentOf(app, stream?.id ?? '')).equals(recorded), 'raw samples become the same file');
    const ended = await app.call('GET /device-sessions/{id}', { path: { id: first.session.id } });
    t.match(ended, { status: 'ended', end_reason: 'recorder' });
    const second = await host();
    await shared.run(0, 'claim', second.claim, '--ble-address', '0A1B2C3D4E5F');
    await shared.run(0, 'record', short, '--again', '--chunk-s', '1', '--offline');
    await app.call('POST /device-sessions/{id}/end', { path: { id: second.session.id } });
    await spool.operator.advanceClock(16 * 60_000);
    t.match((await shared.run(9, 'send')).err, /3 chunks were set aside/, 'too late');
    t.match(shared.reports(), [{ what: 'set aside', chunks: 3, why: /DEVICE_UNBOUND/ }]);
  });

  await t.test('H-009 H-021 records a microphone as it comes, and again after a loss of power', async (t) => {
    const samples = noiseFile(join(folder, 'room.wav'), { seconds: 4 }).subarray(44);
    writeFileSync(join(folder, 'room.raw'), samples);
    // What it has to say at once, then silence in real time, for as long as somebody listens.
    const arecord = `#!/bin/sh\ncat ${folder}/room.raw\nwhile sleep 0.2; do head -c 320 /dev/zero || exit; done\n`;
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin', 'arecord'), arecord, { mode: 0o755 });
    const PATH = `${join(folder, 'bin')}:${process.env.PATH}`;
    const command = ['record', '--microphone', '--rate', '8000', '--chunk-s', '1', '--clock-uncertainty-ms', '77'];
    const before = (await newest(app)).length;
    const four = (count: number) => async () => {
      const items = await newest(app);
      return items.length === before + count && (items[0]?.stored_chunks ?? 0) >= 4;
    };
    const first = device.startWith({ PATH }, ...command);
    await until('four chunks of the first are stored', four(1), DEADLINE_MS);
    await first.kill();
    const second = device.startWith({ PATH }, ...command);
    await until('four chunks of the second are stored', four(2), DEADLINE_MS);
    const { code, out, err } = await second.stop();
    t.equal(code, 0, err);
    t.match(out, /all is sent/);
    const [newer, older] = await newest(app);
    t.equal(older?.end_ms, 4_000, 'the first ends with the last chunk that was queued');
    t.ok((await contentOf(app, older?.id ?? '')).subarray(44).equals(samples));
    t.ok((newer?.end_ms ?? 0) >= 4_000);
    t.ok((await contentOf(app, newer?.id ?? '')).subarray(44).subarray(0, samples.length).equals(samples));
  });

  await t.test('H-001 renews its certificate, through a lost answer', async (t) => {
    const renewals = async () => {
      const text = (await spool.operator.send('GET', '/metrics')).body.toString();
      return Number(/^spool_device_certificates_total\{what="renewed"\} (\d+)/m.exec(text)?.[1] ?? 0);
    };
    const before = device.identity();
    t.same([...before.keys()].sort(), ['ca-1.pem', 'device-1.key', 'device-1.pem', 'identity.json']);
    await spool.operator.advanceClock(75 * DAY_MS);
    app = (await spool.signIn('kit@x.test')).app;
    const other = join(folder, 'other.wav');
    const recorded = noiseFile(other, { seconds: 5 });
    link.delay_ms = 500;
    const running = device.start('record', other, '--chunk-s', '1');
    await until('the server has renewed it', async () => (await renewals()) === 1, DEADLINE_MS);
    link.cutAll();
    await running.kill();
    link.delay_ms = 0;
    t.same(device.identity().get('identity.json'), before.get('identity.json'), 'it never heard of it');
    const asked = device.identity().get('next.key');
    await device.run(0, 'record', other, '--chunk-s', '1');
    const after = device.identity();
    t.same([...after.keys()].sort(), ['ca-2.pem', 'device-2.key', 'device-2.pem', 'identity.json']);
    t.equal(after.get('device-2.key'), asked, 'the same key got the same certificate');
    t.equal(await renewals(), 1);
    t.equal(statSync(join(device.state, 'identity', 'device-2.key')).mode & 0o777, 0o600);
    const old = new DeviceClient(spool.device_url, {
      certificate_pem: before.get('device-1.pem') ?? '',
      private_key_pem: before.get('device-1.key') ?? '',
      ca_pem: before.get('ca-1.pem') ?? '',
    });
    t.teardown(() => old.close());
    t.equal((await old.send('GET', '/device/binding')).status, 403, 'its first use ended the one before');
    const [stream] = await newest(app);
    t.ok((await contentOf(app, stream?.id ?? '')).equals(recorded));
    t.match((await device.run(0, 'renew')).out, /renewed/);
  });

  await t.test('does what its README and that of the example say', async (t) => {
    const commands = [
      ...commandsIn('kits/python/README.md'),
      ...commandsIn('examples/raspberry-pi-recorder/README.md').slice(0, 1),
    ];
    const { operator, public: own } = spool.server.ports;
    const script = ['set -e', ...commands]
      .join('\n')
      .replaceAll('http://localhost:9090', `http://localhost:${operator}`)
      .replaceAll('http://localhost:8080', `http://localhost:${own}`)
      .replaceAll('https://localhost:8443', spool.device_url)
      .replaceAll('data/', `${spool.folder}/`)
      .replaceAll('examples/', `${ROOT}examples/`)
      .replaceAll('kits/python/src', `${ROOT}kits/python/src`);
    // Its `python3` is the one that was found to have what the kit needs.
    const env = { SPOOL_DEVICE_STATE: join(folder, 'readme'), PATH: `/usr/bin:${process.env.PATH}` };
    const { code, out, err } = await new PythonProcess(['bash', '-c', script], env, folder).ended;
    t.equal(code, 0, `${out}${err}`);
    t.match(out, /: 25000 ms\nall is sent/);
    t.match(err, /recording\.wav was recorded already/, 'the example knows the recording of the kit');
  });

  await t.test('holds its own tests', async (t) => {
    const { code, err } = await unit_tests;
    t.equal(code, 0, err);
    t.match(err, /^Ran \d+ tests/m);
  });
});
