import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { AppClient } from '../fixtures/app_client.js';
import { allOf } from '../fixtures/colleagues.js';
import { BadLink, type Fate } from '../fixtures/cut_connections.js';
import { asTyped } from '../fixtures/pairing_code.js';
import { TestSpool } from '../fixtures/spool.js';
import { tempFolder } from '../fixtures/temp_folder.js';
import { until } from '../fixtures/until.js';

/* The device kit in C, built here and run against a real server over a bad link. */

const KIT = new URL('../../../kits/c', import.meta.url).pathname;
const PACKAGES = join(KIT, 'tests', 'packages');
const EMAIL = 'recorder@x.test';
const RATE_HZ = 16_000;
const DAY_MS = 86_400_000;
/** Under sanitizers, beside other load. */
const TESTS_MAX_MS = 180_000;
const RUN_MAX_MS = 60_000;

t.test('the device kit in C', async (t) => {
  const missing = whatIsMissing();
  if (missing !== null) {
    console.log(`not run: the device kit in C, since ${missing}`);
    return;
  }
  const folder = tempFolder(t);
  const out = join(folder, 'out');
  build(out);
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  /** Of the next connections, one each; further ones come through whole. */
  const fates: Fate[] = [];
  const link = await BadLink.open(t, spool.server.ports.device, () => fates.shift() ?? 'holds');
  let { app } = await spool.signIn(EMAIL);
  const files = { folder, program: join(out, 'spool-recorder') };

  await t.test('queue, parsers, policy and torn writes, under sanitizers', async (t) => {
    // The server is in this process: it must not stand still meanwhile.
    const tests = spawn(join(out, 'kit-tests'), { timeout: TESTS_MAX_MS });
    let said = '';
    for (const stream of [tests.stdout, tests.stderr])
      stream.on('data', (piece: Buffer) => {
        said += piece;
      });
    const [code] = await once(tests, 'close');
    t.equal(code, 0, said);
  });

  const recorder = new CRecorder(files, 'personal', link);
  await t.test('H-027, H-028 a device with a key of its own is bound, though the answer was lost', async (t) => {
    await recorder.provision(spool);
    const { claim } = await app.call('POST /devices/claims', { body: { kind: 'owner' } });
    const elsewhere = ['--server', `127.0.0.1:${link.port}`, '--patience', '0'];
    t.match(
      await recorder.run('send', ...elsewhere),
      { code: 1, says: /mbedTLS -0x2700/ },
      'not the name of the server',
    );
    t.match(await recorder.run('claim', 'svc_claim_unknown'), { code: 1, says: /404 NOT_FOUND/ });
    fates.push(answerLost(3));
    t.match(await recorder.run('claim', claim), { code: 1, says: /no answer/ });
    t.equal(link.cuts, 1);
    t.match(await recorder.run('claim', claim), { code: 0, says: /bound/ });
  });

  await t.test('H-019, H-021, H-023 a recording survives a bad link, kills and a restart, byte for byte', async (t) => {
    const pcm = randomBytes(20 * RATE_HZ * 2);
    const wav = recorder.writeWav('long.wav', pcm);
    for (const turn of [1, 2, 3, 4, 5, 6, 7]) {
      fates.push(answerLost(turn), { cut: 'up', from_turn: turn, after_bytes: turn * 300 });
      fates.push({ cut: 'up', from_turn: 6, after_bytes: turn * 4_000 });
    }
    const bad = fates.length;
    const record = () => recorder.start('record', wav, '--resume', '--pace', '8', '--chunk-ms', '700');
    const send = () => recorder.start('send', '--follow', '--retry-ms', '10:60');
    let recording = record();
    let sending = send();
    for (const sent of [90_000, 180_000, 270_000]) {
      const before = link.bytes;
      await until('bytes come', () => link.bytes > before + sent / 3);
      recording.kill('SIGKILL');
      sending.kill('SIGKILL');
      const [{ code }] = await Promise.all([recording.ended, sending.ended]);
      if (sent === 180_000) {
        await spool.close();
        await spool.open();
        ({ app } = await spool.signIn(EMAIL));
        link.port_behind = spool.server.ports.device;
      }
      // One that had come to its end would be recorded a second time.
      if (code !== 0) recording = record();
      sending = send();
    }
    t.match(await recording.ended, { code: 0, says: /recorded/ });
    await until('all is sent', () => recorder.queued() === 0, RUN_MAX_MS);
    sending.kill('SIGTERM');
    t.match(await sending.ended, { code: 0 });
    t.ok(link.cuts > bad / 2, `${link.cuts} of ${bad} connections were cut`);
    fates.length = 0;
    t.equal((await allOf(app, '/audio/streams')).length, 1, 'kills make no second stream');
    const { audio, chunks } = await recordingOf(app, 20_000);
    t.ok(audio.equals(pcm), 'what the server holds is what was recorded');
    t.ok(chunks >= Math.ceil(20_000 / 700));
  });

  await t.test('H-021 without a link it records on, and sends WAV files later', async (t) => {
    link.is_down = true;
    const pcm = randomBytes(5 * RATE_HZ * 2);
    const recorded = recorder.start('record', '-', '--wav', '--chunk-ms', '2000');
    recorded.child.stdin?.end(pcm);
    t.match(await recorded.ended, { code: 0 });
    t.match(await recorder.run('send', '--patience', '0'), { code: 1, says: /no answer/ });
    t.match(await recorder.run('status'), { says: /stream 1: 0 chunks sent, 3 queued, ended/ });
    link.is_down = false;
    t.match(await recorder.run('send'), { code: 0, says: /all is sent/ });
    const { audio, chunks } = await recordingOf(app, 5_000);
    t.equal(chunks, 3);
    t.ok(audio.equals(pcm));
    const text = await spool.server.services.metrics.registry.metrics();
    t.match(
      text,
      /http_request_seconds_count\{[^}]*route="POST \/device\/chunks",status="200"\} [1-9]/,
      'in one request',
    );
  });

  await t.test('H-025, H-029 a shared recorder sends what it has and ends its session', async (t) => {
    const shared = new CRecorder(files, 'shared', link);
    await shared.provision(spool);
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const { session, claim } = await app.call('POST /device-sessions', { body: { expires_at } });
    t.match(await shared.run('claim', claim, '00:11'), { code: 1, says: /400 BAD_REQUEST/ });
    t.match(await shared.run('claim', claim, '001122334455'), { code: 0 });
    const pcm = randomBytes(3 * RATE_HZ * 2);
    t.match(await shared.run('record', shared.writeWav('session.wav', pcm)), { code: 0 });
    fates.push(answerLost(3), answerLost(5));
    t.match(await shared.run('end-session', '--retry-ms', '10:60'), { code: 0, says: /session ended/ });
    const ended = await app.call('GET /device-sessions/{id}', { path: { id: session.id } });
    t.equal(ended.end_reason, 'recorder');
    t.ok((await recordingOf(app, 3_000)).audio.equals(pcm));
    t.match(await shared.run('record', '-'), { code: 1, says: /bound to nobody/ });
  });

  await t.test('H-001 a certificate is renewed when it is due, and a lost answer costs nothing', async (t) => {
    const identity = () => readFileSync(join(recorder.storage, 'identity'));
    const before = identity();
    fates.push(answerLost(3));
    t.match(await recorder.run('renew'), { code: 1 });
    t.same(identity(), before, 'the old one is in use');
    const next_key = readFileSync(join(recorder.storage, 'next-key'));
    await spool.operator.advanceClock(300 * DAY_MS);
    const pcm = randomBytes(RATE_HZ * 2);
    t.match(await recorder.run('record', recorder.writeWav('short.wav', pcm)), { code: 0 });
    const { code, says } = await recorder.run('send');
    t.equal(code, 0, says);
    t.match(says, /renewed[\s\S]*stored[\s\S]*sent/, 'the server says what time it is');
    t.ok(identity().includes(next_key), 'the key that was asked for first');
    t.notOk(existsSync(join(recorder.storage, 'next-key')));
    const { app: later } = await spool.signIn(EMAIL);
    t.ok((await recordingOf(later, 1_000)).audio.equals(pcm));
    writeFileSync(join(recorder.storage, 'identity'), before);
    t.match(await recorder.run('send', '--retry-ms', '10:60'), { code: 1, says: /403 FORBIDDEN superseded/ });
  });

  await t.test('H-007, H-013 what belongs to an epoch that is over is set aside', async (t) => {
    const { app: later } = await spool.signIn(EMAIL);
    const unbound = new CRecorder(files, 'personal', link);
    await unbound.provision(spool);
    const { code } = await later.call('POST /devices/claims', { body: { kind: 'owner' } });
    t.match(await unbound.run('claim', asTyped(code)), { code: 0 });
    t.match(await unbound.run('record', unbound.writeWav('late.wav', randomBytes(RATE_HZ))), { code: 0 });
    await later.call('DELETE /devices/{id}', { path: { id: unbound.device_id } });
    t.match(await unbound.run('send'), { code: 0, says: /unbound[\s\S]*set aside stream 1[\s\S]*DEVICE_UNBOUND/ });
    t.match(await unbound.run('status'), { says: /nobody\nstream 1: .* set aside \(403 DEVICE_UNBOUND\)/ });
    t.match(await unbound.run('discard', '1'), { code: 0 });
    t.equal(unbound.queued(), 0);
  });
});

type Ended = { code: number | null; says: string };

/** All of the turn goes through; what is answered is lost, and the connection with it. */
function answerLost(from_turn: number): Fate {
  return { cut: 'down', after_bytes: 0, from_turn };
}

/** The program of the kit's example, with a folder of its own, behind the link. */
class CRecorder {
  readonly #program: string;
  readonly storage: string;
  readonly #kind: 'personal' | 'shared';
  readonly #link: BadLink;
  device_id = '';

  constructor(files: { folder: string; program: string }, kind: 'personal' | 'shared', link: BadLink) {
    this.#program = files.program;
    this.storage = join(files.folder, `recorder-${randomBytes(4).toString('hex')}`);
    this.#kind = kind;
    this.#link = link;
  }

  start(...words: string[]): { child: ChildProcess; ended: Promise<Ended>; kill(signal: NodeJS.Signals): void } {
    const child = spawn(this.#program, [this.storage, '--server', `localhost:${this.#link.port}`, ...words]);
    let says = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        says += text;
      });
    }
    child.stdin.on('error', () => {}); // it may end before it has read all
    const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, says })));
    return { child, ended, kill: (signal) => child.kill(signal) };
  }

  run(...words: string[]): Promise<Ended> {
    const { child, ended } = this.start(...words);
    child.stdin?.end();
    return ended;
  }

  /** With a key that the device makes and keeps. */
  async provision(spool: TestSpool): Promise<void> {
    const { says: csr_pem } = await this.run('request');
    const made = await spool.operator.call('POST /ops/devices', { body: { kind: this.#kind, csr_pem } });
    if (made.private_key_pem !== undefined) throw new Error('the key was not kept by the device');
    this.device_id = made.device_id;
    const files = { certificate: made.certificate_pem, ca: made.ca_pem };
    const paths = Object.entries(files).map(([name, pem]) => this.#write(`${this.device_id}-${name}.pem`, pem));
    const { code, says } = await this.run('install', ...paths);
    if (code !== 0) throw new Error(says);
  }

  #write(name: string, content: string | Buffer): string {
    const path = join(this.storage, '..', name);
    writeFileSync(path, content);
    return path;
  }

  writeWav(name: string, pcm: Buffer): string {
    const head = Buffer.alloc(44);
    head.write('RIFF', 0, 'latin1');
    head.writeUInt32LE(36 + pcm.length, 4);
    head.write('WAVEfmt ', 8, 'latin1');
    for (const [at, value] of [
      [16, 16],
      [24, RATE_HZ],
      [28, RATE_HZ * 2],
    ] as const)
      head.writeUInt32LE(value, at);
    for (const [at, value] of [
      [20, 1],
      [22, 1],
      [32, 2],
      [34, 16],
    ] as const)
      head.writeUInt16LE(value, at);
    head.write('data', 36, 'latin1');
    head.writeUInt32LE(pcm.length, 40);
    return this.#write(name, Buffer.concat([head, pcm]));
  }

  /** Streams and chunks that are not sent. */
  queued(): number {
    return readdirSync(this.storage).filter((name) => /^[sac][0-9a-f]{8}(-|$)/.test(name)).length;
  }
}

/** What the server holds of the stream that ends there: the samples of its chunks, which follow each other without a gap. */
async function recordingOf(app: AppClient, end_ms: number): Promise<{ chunks: number; audio: Buffer }> {
  type Chunk = { id: string; sequence: number; source_start_ms: number; source_end_ms: number };
  const streams = await allOf<{ id: string; end_ms?: number }>(app, '/audio/streams');
  const stream = streams.find((one) => one.end_ms === end_ms);
  if (stream === undefined) throw new Error(`no stream ends at ${end_ms}`);
  const chunks = await allOf<Chunk>(app, `/audio/streams/${stream.id}/chunks`);
  chunks.sort((a, b) => a.sequence - b.sequence);
  const samples: Buffer[] = [];
  let reached_ms = 0;
  for (const [index, chunk] of chunks.entries()) {
    if (chunk.sequence !== index || chunk.source_start_ms !== reached_ms) throw new Error(`a gap before ${chunk.id}`);
    reached_ms = chunk.source_end_ms;
    const { status, body } = await app.send('GET', `/audio/chunks/${chunk.id}/content`);
    if (status !== 200) throw new Error(`${chunk.id}: ${status}`);
    samples.push(body.subarray(0, 4).toString('latin1') === 'RIFF' ? body.subarray(44) : body);
  }
  return { chunks: chunks.length, audio: Buffer.concat(samples) };
}

/** Why the kit can't be built here; null where it can. */
function whatIsMissing(): string | null {
  for (const program of ['cc', 'make']) {
    if (spawnSync(program, ['--version']).error !== undefined) return `there is no ${program}`;
  }
  const look = spawnSync('cc', ['-fsyntax-only', '-xc', '-'], { input: '#include <mbedtls/ssl.h>\n' });
  if (look.status !== 0) return 'there are no headers of mbedTLS (libmbedtls-dev)';
  const stamp = join(PACKAGES, 'node_modules', '.installed_lock');
  const lock = readFileSync(join(PACKAGES, 'package-lock.json'), 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return null;
  const options = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status, stderr } = spawnSync('npm', options, { cwd: PACKAGES, encoding: 'utf8' });
  if (status !== 0) return `the sources of TinyCBOR could not be installed: ${stderr.trim()}`;
  writeFileSync(stamp, lock);
  return null;
}

function build(out: string): void {
  const tinycbor = join(PACKAGES, 'node_modules', 'tinycbor', 'src', 'tinycbor', 'src');
  const options = [`OUT=${out}`, `TINYCBOR_DIR=${tinycbor}`, 'SANITIZE=1', 'CFLAGS=-O0'];
  const goals = ['all', join(out, 'kit-tests')];
  const { status, stdout, stderr } = spawnSync('make', ['-C', KIT, '-j2', ...options, ...goals], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
}
