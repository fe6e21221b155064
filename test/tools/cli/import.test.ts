import { randomBytes } from 'node:crypto';
import { truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Import, Stream } from '../../../kits/typescript/src/api.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { pcm16Format, writeWav } from '../../../src/engine/audio/wav.js';
import { TestAccount } from '../../fixtures/account.js';
import { runCli } from '../../fixtures/cli.js';
import { announceFile, putPiece } from '../../fixtures/importing.js';
import { audioFixture } from '../../fixtures/speech.js';
import { TestSpool } from '../../fixtures/spool.js';
import { tempFolder } from '../../fixtures/temp_folder.js';

t.test('K-150 K-152 spool import makes recordings of files', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const tokenOf = async (permission: string) => {
    const body = { name: 'x', permissions: [permission], expires_at: null };
    return (await ann.ask<{ value: string }>('POST', '/me/tokens', body)).value;
  };
  const folder = tempFolder(t);
  const env = { SPOOL_TOKEN: await tokenOf('audio:write'), PORT: `${spool.server.ports.public}` };
  const run = (...args: string[]) => runCli(['import', ...args], env);
  const file = (name: string, bytes: Uint8Array) => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  };
  const streamOf = async (out: string) => {
    const [, id] = /\/app\/recordings\/([0-9a-f-]+)/.exec(out) ?? [];
    return ann.ask<Stream>('GET', `/audio/streams/${id}`);
  };

  await t.test('it names what a file has become, and the same again the same', async (t) => {
    const path = file('said.m4a', audioFixture('said.m4a'));
    const written = new Date('2026-01-31T08:30:00.000Z');
    utimesSync(path, written, written);
    const first = await run(path);
    t.match(first, { code: 0, errors: /uploading said\.m4a: 100%/ }, first.errors);
    const stream = await streamOf(first.out);
    const captured_at = new Date(written.getTime() - (stream.end_ms as number)).toISOString();
    t.match(stream, { title: 'said', captured_at });
    t.match(first.out, /began 2026-01-31T\d\d:29:49.*by the time of the file, less its length; --captured-at/);
    const again = await run(path);
    t.equal(again.out, first.out);
    t.equal(again.errors, '', 'nothing is sent');
  });

  await t.test('a source and a time may be given', async (t) => {
    const { id: source_id } = await ann.ask<{ id: string }>('POST', '/sources', { name: 'Phone' });
    const path = file('said.mp3', audioFixture('said.mp3'));
    const made = await run(path, '--source', source_id, '--captured-at', '2026-02-01T10:00:00+01:00');
    t.match(await streamOf(made.out), { source_id, captured_at: '2026-02-01T09:00:00.000Z' });
    t.match(made.out, /as it was given/);
    const other = await run(path, '--captured-at', '2026-02-02T10:00:00+01:00');
    t.match(other.out, /it was imported before: delete the recording/);
  });

  await t.test('one that was cut off goes on', async (t) => {
    const samples = Buffer.alloc(LIMITS.import_piece_bytes + 1_000);
    randomBytes(64).copy(samples);
    const bytes = writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: 16_000 }) }, samples);
    const importer = { app: ann.app, base_url: spool.base_url };
    const begun = await announceFile(importer, bytes, { name: 'long.wav' });
    await putPiece(importer, begun.upload_path, 0, bytes.subarray(0, LIMITS.import_piece_bytes));
    const made = await run(file('long.wav', bytes));
    t.equal(made.code, 0, made.errors);
    const stream = await streamOf(made.out);
    t.match(await ann.ask<Import>('GET', `/audio/imports/${begun.id}`), { status: 'done', stream_id: stream.id });
  });

  await t.test('K-427 a transcript beside its audio is its text', async (t) => {
    const both = file('both.m4a', audioFixture('said.m4a'));
    const text = file('both.vtt', Buffer.from('WEBVTT\n\n00:00.100 --> 00:01.000\n<v Tom>The cellar is dry.\n'));
    file('both.txt', Buffer.from('Dear Ann'));
    const made = await run(both, text);
    t.equal(made.code, 0, made.errors);
    t.match(made.out, `its text is that of ${text}`);
    t.equal(made.out.match(/app\/recordings/g)?.length, 1, 'one recording');
    const { id } = await streamOf(made.out);
    t.match(await ann.ask('GET', `/turns?stream_id=${id}`), { items: [{ text: 'The cellar is dry.' }] });
  });

  await t.test('K-447 of a transcript that is too large nothing is sent', async (t) => {
    const large = file('large.vtt', Buffer.from('WEBVTT\n\n'));
    truncateSync(large, 100_000_000);
    const made = await run(large, join(folder, 'said.m4a'));
    t.match(made, { code: 1, out: /large\.vtt: The transcript has more than 20 MiB\. \(TRANSCRIPT_UNREADABLE\)/ });
    t.match(made.out, /said\.m4a: http/, 'others are');
    const { items } = await ann.ask<{ items: Import[] }>('GET', '/audio/imports?limit=100');
    t.notOk(items.some(({ name }) => name === 'large.vtt'));
  });

  await t.test('one that fails stops no other', async (t) => {
    const missing = join(folder, 'missing.mp3');
    const paths = [missing, file('a.mp3', Buffer.from('text')), file('empty', Buffer.of())];
    const made = await run(...paths, file('said.flac', audioFixture('said.flac')), '--json');
    t.equal(made.code, 1);
    t.match(JSON.parse(made.out), [
      { file: missing, stream_id: null, error: { code: 'ENOENT' } },
      { file: paths[1], stream_id: null, error: { code: 'UNSUPPORTED_AUDIO' } },
      { file: paths[2], stream_id: null, error: { code: 'BAD_REQUEST' } },
      { stream_id: /^[0-9a-f-]{36}$/, error: null },
    ]);
  });

  await t.test('what is not understood, and who may not', async (t) => {
    const path = join(folder, 'said.m4a');
    t.match(await run(), { code: 2, errors: /missing required argument/ });
    t.match(await run(path, '--source', 'x'), { code: 2, errors: /id of a source/ });
    t.match(await run(path, '--captured-at', 'yesterday'), { code: 2, errors: /a time with an offset/ });
    const reads = await runCli(['import', path], { ...env, SPOOL_TOKEN: await tokenOf('audio:read') });
    t.match(reads, { code: 1, out: /FORBIDDEN/ });
    t.match(await runCli(['import', path], { ...env, SPOOL_TOKEN: 'wrong' }), { code: 1, errors: /does not accept/ });
    t.match(await runCli(['import', path], { ...env, PORT: '1' }), { code: 1, errors: /could not be reached/ });
  });
});
