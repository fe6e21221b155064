import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type IntentView, sha256Of } from '../../../kits/typescript/src/device_client.js';
import type { AppClient } from '../../fixtures/app_client.js';
import { runCli } from '../../fixtures/cli.js';
import { TestSpool } from '../../fixtures/spool.js';
import { tempFolder } from '../../fixtures/temp_folder.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';

type Made = { files: number; bytes: number; made_at: string };

t.test('a data folder is backed up while its server runs, and restored', async (t) => {
  const spool = await TestSpool.start({ CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
  t.teardown(() => spool.end());
  const folder = tempFolder(t);
  const backup = join(folder, 'backup');
  const cli = (args: string[], env: Record<string, string> = {}) => runCli(args, { DATA_DIR: spool.folder, ...env });

  const { app } = await spool.signIn('ann@x.test');
  const { device, epoch } = await spool.boundDevice(app);
  const recorded = await record(device, epoch);
  const ask = <T>(method: string, path: string, body?: unknown) => app.ask<T>(method, path, body);
  const recording = await TestRecording.begin({ app, spool, ask });
  await recording.add(5_000);
  await recording.end();
  const worker = new TestTranscriber(spool);
  const spoken = [said('Good morning.', [0, 900], 'A'), said('Good night to you.', [1_000, 2_900], 'B')];
  await worker.publish(await worker.claim(recording.id), spoken);
  const eva = await app.ask<{ id: string }>('POST', '/contacts', { name: 'Eva' });
  await app.ask('PATCH', `/audio/streams/${recording.id}/speakers/S1`, { contact_id: eva.id });
  const [, night] = await recording.turns();
  await app.ask('POST', `/turns/${night?.id}/split`, { at_ms: 2_000 });
  /** Everything of the transcript that can be read. */
  const transcript = async (by: AppClient) => {
    const { items } = await by.ask<{ items: { id: string }[] }>('GET', `/turns?stream_id=${recording.id}`);
    const turns = await Promise.all(items.map(({ id }) => by.ask('GET', `/turns/${id}?include=words`)));
    const paths = [`/audio/streams/${recording.id}/transcript`, '/contacts'];
    return [turns, ...(await Promise.all(paths.map((path) => by.ask('GET', path))))];
  };
  const spoken_then = await transcript(app);
  t.equal((spoken_then[0] as unknown[]).length, 3);
  let under_way = true;
  let renames = 0;
  const writing = (async () => {
    while (under_way) await app.ask('PATCH', '/me', { name: `Ann ${++renames}` });
  })();
  const made = await cli(['data', 'backup', backup, '--json']);
  const renames_by_then = renames;
  under_way = false;
  await writing;
  t.equal(made.code, 0, made.errors);
  t.ok(renames_by_then > 0, 'written to meanwhile');
  const { files, bytes, made_at } = JSON.parse(made.out) as Made;
  t.ok(files > 5 && bytes > recorded.bytes.length && Date.parse(made_at) <= Date.now());
  t.equal(statSync(backup).mode & 0o077, 0, 'for its owner alone');
  t.equal(statSync(join(backup, 'ops_token')).mode & 0o077, 0);
  t.notOk(existsSync(`${backup}.partial`));

  await t.test('what it refuses', async (t) => {
    t.match(await cli(['data', 'backup', backup]), { code: 1, errors: /backup is there already/ });
    t.match(await cli(['data', 'backup', join(spool.folder, 'inside')]), { code: 1, errors: /in the data folder/ });
    t.match(await cli(['data', 'backup', join(folder, 'x')], { DATA_DIR: join(folder, 'empty') }), {
      code: 1,
      errors: /holds no data of a server/,
    });
    t.match(await cli(['data', 'backup', join(folder, 'x')], { REDIS_URL: 'redis://127.0.0.1:1' }), {
      code: 2,
      errors: /With REDIS_URL/,
    });
    t.match(await cli(['data', 'restore', backup]), { code: 1, errors: /is in use by process/ });
    t.match(await cli(['data', 'verify', folder]), { code: 1, errors: /is no backup/ });
  });

  await t.test('what was erased or lost after it is there again', async (t) => {
    await app.ask('DELETE', '/me');
    const restored = join(folder, 'restored');
    const told = await cli(['data', 'restore', backup], { DATA_DIR: restored });
    t.match(told, { code: 0, out: /start from the beginning/ }, told.errors);
    t.match(await cli(['data', 'restore', backup], { DATA_DIR: restored }), { code: 1, errors: /is not empty/ });
    const again = await TestSpool.start({ DATA_DIR: restored, CONTENT_WORKER: '0' });
    t.teardown(() => again.end());
    const same = again.client();
    same.access_token = app.access_token;
    const { name } = await same.ask<{ name: string }>('GET', '/me');
    const kept = Number(/^Ann (\d+)$/.exec(name ?? 'Ann 0')?.[1]);
    t.ok(kept >= 0 && kept <= renames, `${name} of ${renames}`);
    const audio = await same.send('GET', `/audio/chunks/${recorded.chunk_id}/content`);
    t.ok(audio.body.equals(recorded.bytes));
    t.strictSame(await transcript(same), spoken_then, 'turns, words and contacts');
    t.equal((await again.operator.ask<{ status: string }>('GET', '/ops/accounts/ann@x.test')).status, 'active');
  });

  await t.test('damage is found before anything is restored', async (t) => {
    t.match(await cli(['data', 'verify', backup]), { code: 0, out: /^Whole: \d+ files/ });
    const token = join(backup, 'ops_token');
    const text = readFileSync(token, 'utf8');
    writeFileSync(
      token,
      text.replace(/^./, (first) => (first === 'x' ? 'y' : 'x')),
    );
    t.match(await cli(['data', 'verify', backup]), { code: 1, out: 'ops_token: other content\n' });
    truncateSync(token, 3);
    t.match(await cli(['data', 'verify', backup]), { code: 1, out: /^ops_token: 3 bytes instead of/ });
    const nowhere = join(folder, 'nowhere');
    t.match(await cli(['data', 'restore', backup], { DATA_DIR: nowhere }), { code: 1, errors: /is damaged/ });
    t.notOk(existsSync(nowhere));
  });
});

async function record(device: Awaited<ReturnType<TestSpool['boundDevice']>>['device'], binding_epoch: number | string) {
  const source_stream_ref = randomUUID();
  const captured_at = '2026-11-01T10:00:00Z';
  const stream = { source_stream_ref, captured_at, clock_uncertainty_ms: 0, binding_epoch };
  await device.ask('POST', '/device/streams', stream);
  const bytes = randomBytes(20_000);
  const { upload_path, chunk_id } = await device.ask<IntentView>('POST', '/device/chunks/intents', {
    ...{ source_chunk_ref: randomUUID(), source_stream_ref, binding_epoch, sequence: 0 },
    ...{ source_start_ms: 0, publication_start_ms: 0, source_end_ms: 1000, codec: 'opus', container: 'ogg' },
    ...{ size_bytes: bytes.length, sha256: sha256Of(bytes) },
  });
  await device.upload(upload_path, bytes);
  return { chunk_id, bytes };
}
