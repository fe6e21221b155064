import { randomBytes, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import type { Chunk, Import, Source, Stream } from '../../../kits/typescript/src/api.js';
import { sha256Of } from '../../../kits/typescript/src/device_client.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { pcm16Format, plainFormat, writeWav } from '../../../src/engine/audio/wav.js';
import { accountFolder, importPieceKey } from '../../../src/engine/blobs/blob_keys.js';
import type { BlobStore } from '../../../src/engine/blobs/blob_store.js';
import { streamOf } from '../../engine/blobs/blob_store_contract.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer, tell } from '../../fixtures/answers.js';
import {
  aboutFile,
  announceFile,
  endedImport,
  type Importer,
  importFile,
  putPiece,
  sendFile,
} from '../../fixtures/importing.js';
import { audioFixture, SAID_MS } from '../../fixtures/speech.js';
import { TestSpool } from '../../fixtures/spool.js';
import { bytesLying } from '../../fixtures/stored_audio.js';
import { until } from '../../fixtures/until.js';
import { unzip } from '../../fixtures/zip.js';

const DAY_MS = 24 * 3_600_000;
const PIECE = LIMITS.import_piece_bytes;
const ENV = { RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' };

const spool = await TestSpool.start(ENV);
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const bob = await TestAccount.open(spool, 'bob@x.test');
const importerOf = ({ app }: Pick<TestAccount, 'app'>): Importer => ({ app, base_url: spool.base_url });
const annImports = importerOf(ann);
const path = (item: Import) => `/audio/imports/${item.id}`;

/** Silence of so many seconds, which differs by its first sample. */
function wav(seconds: number, rate = 8_000): Buffer {
  const samples = Buffer.alloc(seconds * rate * 2);
  randomBytes(64).copy(samples);
  return writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: rate }) }, samples);
}

const three_pieces = wav(1_100);

async function keysOf(blobs: BlobStore, folder: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of blobs.list(folder)) keys.push(key);
  return keys;
}

/** Pieces that lie in the blob store of an account. */
const piecesOf = (account: Pick<TestAccount, 'id'>) =>
  keysOf(spool.server.services.blobs, accountFolder('imports', account.id));

async function noPieces(account: Pick<TestAccount, 'id'>): Promise<void> {
  await until('no pieces are left', async () => (await piecesOf(account)).length === 0);
}

t.test('K-150 an imported file is a recording like any other, with the file as its only chunk', async (t) => {
  const bytes = audioFixture('said.m4a');
  await ann.newEvents();
  const announced = await announceFile(annImports, bytes, { captured_at: '2026-01-31T08:30:00.000+01:00' });
  t.match(announced, {
    status: 'uploading',
    name: 'said.m4a',
    received_bytes: 0,
    piece_bytes: PIECE,
    captured_at: '2026-01-31T07:30:00.000Z',
    upload_path: `${path(announced)}/content`,
    stream_id: null,
    error: null,
  });
  await sendFile(annImports, announced, bytes);
  const done = await endedImport(annImports, announced.id);
  t.match(done, { status: 'done', received_bytes: bytes.length, error: null });
  const stream = await ann.ask<Stream>('GET', `/audio/streams/${done.stream_id}`);
  t.match(stream, {
    title: 'said',
    captured_at: '2026-01-31T07:30:00.000Z',
    source_id: done.source_id,
    source_device_id: null,
    ...{ chunks: 1, stored_chunks: 1, stored_bytes: bytes.length },
  });
  t.ok(Math.abs((stream.end_ms as number) - SAID_MS) < 100, `${stream.end_ms} ms`);
  t.match(await ann.ask('GET', `/sources/${done.source_id}`), { name: 'Imported files', device_id: null });
  const { items } = await ann.ask<{ items: Chunk[] }>('GET', `/audio/streams/${stream.id}/chunks`);
  t.match(items, [{ codec: 'aac', container: 'm4a', source_start_ms: 0, source_end_ms: stream.end_ms }]);
  t.same(await ann.newEvents(), [
    `source.created ${done.source_id}`,
    `stream.created ${stream.id} ${done.source_id}`,
    `stream.updated ${stream.id} end_ms ${done.source_id}`,
  ]);
  await noPieces(ann);

  const get = (headers: Record<string, string> = {}) =>
    ann.app.send('GET', `/audio/streams/${stream.id}/content`, { headers });
  const whole = await get();
  t.match(whole.headers, {
    'content-type': 'audio/mp4',
    'content-disposition': `attachment; filename="${stream.id}.m4a"`,
  });
  t.ok(whole.body.equals(bytes), 'played as it is');
  const part = await get({ Range: 'bytes=100-199' });
  t.equal(part.status, 206);
  t.ok(part.body.equals(bytes.subarray(100, 200)));
});

t.test('K-150 a recording of a file of each usual kind', async (t) => {
  for (const [name, content_type] of [
    ['said.mp3', 'audio/mpeg'],
    ['said.flac', 'audio/flac'],
    ['said.webm', 'audio/webm'],
    ['said.ogg', 'audio/ogg'],
    ['said.opus', 'audio/ogg'],
    ['said.aac', 'audio/aac'],
    ['said.caf', 'audio/wav'],
    ['begins_opus.caf', 'audio/wav'],
    ['begins_alac.caf', 'audio/wav'],
  ] as const) {
    const bytes = audioFixture(name);
    const done = await importFile(annImports, bytes, { name });
    t.match(done, { status: 'done' }, name);
    const stream = await ann.ask<Stream>('GET', `/audio/streams/${done.stream_id}`);
    const length_ms = name.startsWith('begins') ? 3_000 : SAID_MS;
    t.ok(Math.abs((stream.end_ms as number) - length_ms) < 200, `${name}: ${stream.end_ms} ms`);
    const { headers, body } = await ann.app.send('GET', `/audio/streams/${stream.id}/content`);
    t.equal(headers['content-type'], content_type, name);
    if (!name.endsWith('.caf')) t.ok(body.equals(bytes), `${name}, as it is`);
    await until('it is processed', async () => {
      const { items } = await ann.ask<{ items: Chunk[] }>('GET', `/audio/streams/${stream.id}/chunks`);
      t.notOk(items[0]?.failure, name);
      return items[0]?.status === 'processed';
    });
  }
});

t.test('K-021 an imported WAV is played as it is, unless players need another header', async (t) => {
  const content = async (bytes: Buffer) => {
    const { stream_id } = await importFile(annImports, bytes, { name: 'tone.wav' });
    return (await ann.app.send('GET', `/audio/streams/${stream_id}/content`)).body;
  };
  const plain = wav(2);
  const tags = Buffer.from('LIST\x10\0\0\0INFOINAM\x04\0\0\0Desk', 'latin1');
  const tagged = Buffer.concat([plain, tags]);
  tagged.writeUInt32LE(tagged.length - 8, 4);
  t.ok((await content(tagged)).equals(tagged), 'with what else is in it');
  const of_a_pipe = wav(2);
  of_a_pipe.writeUInt32LE(0xffff_ffff, 40);
  const mended = Buffer.from(of_a_pipe);
  mended.writeUInt32LE(plain.length - 44, 40);
  t.ok((await content(of_a_pipe)).equals(mended), 'with the size of its samples');
});

t.test('K-150 a voice note that ends early is a recording of what is there', async (t) => {
  const said = audioFixture('said.opus');
  for (const [name, bytes, length_ms] of [
    ['four bytes short', said.subarray(0, -4), SAID_MS - 1_000],
    ['twice', Buffer.concat([said, said]), 2 * SAID_MS - 100],
  ] as const) {
    const done = await importFile(annImports, bytes, { name: `${name}.opus` });
    t.match(done, { status: 'done' }, name);
    const { id, end_ms } = await ann.ask<Stream>('GET', `/audio/streams/${done.stream_id}`);
    t.ok((end_ms as number) >= length_ms, `${name}: ${end_ms} ms`);
    const { items } = await ann.ask<{ items: Chunk[] }>('GET', `/audio/streams/${id}/chunks`);
    t.match(items, [{ status: 'processed', failure: null }], `${name}: what was decoded is not refused`);
  }
});

t.test('K-480 a name that a recorder gave is no title', async (t) => {
  for (const [name, title] of [
    ['New Recording 7.wav', null],
    ['WhatsApp Audio 2026-11-30 at 09.00.00.wav', null],
    ['REC001.wav', null],
    ['Recording of the choir.wav', 'Recording of the choir'],
  ] as const) {
    const done = await importFile(annImports, wav(1), { name });
    t.equal((await ann.ask<Stream>('GET', `/audio/streams/${done.stream_id}`)).title ?? null, title, name);
  }
});

t.test(
  'K-150 a recording without a time ended when it was announced, and goes to the source that is named',
  async (t) => {
    const { id: source_id } = await ann.ask<Source>('POST', '/sources', { name: 'Phone' });
    const done = await importFile(annImports, wav(10), { name: 'Talk. Part 1.wav', source_id });
    const stream = await ann.ask<Stream>('GET', `/audio/streams/${done.stream_id}`);
    t.match(stream, { source_id, title: 'Talk. Part 1', end_ms: 10_000 });
    t.equal(Date.parse(done.created_at) - Date.parse(stream.captured_at), 10_000);

    const first = await importFile(annImports, wav(1));
    const second = await importFile(annImports, wav(1));
    t.equal(second.source_id, first.source_id, 'one source of all files');
    await ann.ask('DELETE', `/sources/${first.source_id}`);
    const third = await importFile(annImports, wav(1));
    t.not(third.source_id, first.source_id, 'another one after it was deleted');
    t.equal(await ann.says('POST', '/audio/imports', aboutFile(wav(1), { source_id: randomUUID() })), '404 NOT_FOUND');
  },
);

t.test('K-270 an import tells when its recording began, and what says so', async (t) => {
  const file_modified_at = '2026-03-02T12:00:20.000+01:00';
  const told = wav(20);
  const bext = Buffer.concat([Buffer.from('bext\0\0\0\0'), Buffer.alloc(602)]);
  bext.writeUInt32LE(602, 4);
  bext.write('2026-03-01', 8 + 320);
  bext.write('09:45:00', 8 + 330);
  const with_bext = () => Buffer.concat([told.subarray(0, 36), bext, wav(20).subarray(36)]);
  const captured_at = '2026-02-01T08:00:00.000-05:00';
  for (const [says, bytes, more, began, by] of [
    ['what is announced', with_bext(), { captured_at, file_modified_at }, '2026-02-01T13:00:00.000Z', 'caller'],
    ['the clock of the file', with_bext(), { file_modified_at }, '2026-03-01T08:45:00.000Z', 'metadata'],
    ['the clock of the file, of no zone', with_bext(), {}, '2026-03-01T09:45:00.000Z', 'metadata'],
    ['when it was written', wav(20), { file_modified_at }, '2026-03-02T11:00:00.000Z', 'file_time'],
  ] as const) {
    const announced = await announceFile(annImports, bytes, { name: 'x.wav', ...more });
    const is_said = by === 'caller';
    t.match(announced, { captured_at: is_said ? began : null, captured_at_by: is_said ? by : null }, says);
    await sendFile(annImports, announced, bytes);
    const done = await endedImport(annImports, announced.id);
    t.match(done, { status: 'done', captured_at: began, captured_at_by: by }, says);
    t.match(await ann.ask<Stream>('GET', `/audio/streams/${done.stream_id}`), { captured_at: began }, says);
    const { utc_offset_min } = await spool.server.services.actors.stream(done.stream_id as string).view();
    t.equal(utc_offset_min, is_said ? -300 : 'file_modified_at' in more ? 60 : null, `${says}: its offset`);
  }
  const bytes = wav(20);
  const done = await importFile(annImports, bytes);
  t.match(done, { captured_at_by: 'announcement' });
  t.equal(Date.parse(done.created_at) - Date.parse(done.captured_at as string), 20_000);
  await t.rejects(announceFile(annImports, wav(1), { file_modified_at: 'yesterday' }), /file_modified_at/);
});

t.test('K-420 the name of a file says when it began where the file does not', async (t) => {
  const file_modified_at = '2026-03-05T12:00:20.000+01:00';
  for (const [name, more, began, by] of [
    ['2026-03-02 10-15-00.wav', { file_modified_at }, '2026-03-02T09:15:00.000Z', 'file_name'],
    ['New Recording 2026-03-02.wav', { file_modified_at }, '2026-03-02T11:00:00.000Z', 'file_name'],
    ['New Recording 2026-03-05.wav', { file_modified_at }, '2026-03-05T11:00:00.000Z', 'file_time'],
    ['2099-03-02 10-15-00.wav', { file_modified_at }, '2026-03-05T11:00:00.000Z', 'file_time'],
  ] as const) {
    const done = await importFile(annImports, wav(20), { name, ...more });
    t.match(done, { status: 'done', captured_at: began, captured_at_by: by }, name);
  }
  const done = await importFile(annImports, wav(20), { name: '2026-03-02 10-15-00.wav' });
  t.match(done, { captured_at_by: 'announcement' }, 'without a zone the name says too little');
});

t.test('K-151 the same reference again gets the same import; other content is refused', async (t) => {
  const bytes = wav(2);
  const first = await announceFile(annImports, bytes);
  t.same(await announceFile(annImports, bytes, { name: 'other.wav' }), first, 'the first name holds');
  const other = aboutFile(wav(2), { import_ref: first.import_ref });
  t.equal(await ann.says('POST', '/audio/imports', other), '409 CONFLICT');
  const done = await importFile(annImports, bytes);
  t.match(done, { id: first.id, status: 'done' });
  t.same(await announceFile(annImports, bytes), done);
  t.equal(await ann.says('POST', '/audio/imports', other), '409 CONFLICT');
  t.not((await announceFile(importerOf(bob), bytes)).id, first.id, "another account's is another one");

  await ann.ask('DELETE', `/audio/streams/${done.stream_id}`);
  const anew = await announceFile(annImports, bytes);
  t.match(anew, { status: 'uploading', received_bytes: 0 });
  t.not(anew.id, done.id, 'its recording was deleted: it begins anew');
  t.equal(await ann.says('GET', path(done)), '404 NOT_FOUND');
  t.equal(await ann.says('DELETE', path(anew)), '204');
});

t.test('K-152 an upload goes on where it broke off, over a restart as well', async (t) => {
  t.equal(Math.ceil(three_pieces.length / PIECE), 3);
  const announced = await announceFile(annImports, three_pieces, { name: 'long.wav' });
  const { upload_path } = announced;
  const first = three_pieces.subarray(0, PIECE);
  const put = (offset: number | string, bytes: Uint8Array, more = {}) =>
    putPiece({ app: ann.app, base_url: spool.base_url }, upload_path, offset, bytes, more);
  t.equal(await put(PIECE, three_pieces.subarray(PIECE, 2 * PIECE)), '409 CONFLICT', 'not the next one');
  const wrong = await ann.app.send('PUT', `${upload_path}?offset=5&sha256=${announced.sha256}`);
  t.match(JSON.parse(wrong.body.toString()), { error: { details: [{ path: 'offset', message: 'must be 0' }] } });
  t.equal(await put(0, first.subarray(1)), '400 BAD_REQUEST', 'of another size');
  t.equal(await put(0, first, { sha256: announced.sha256 }), '422 CHECKSUM_MISMATCH');
  t.equal(await put('-1', first), '400 BAD_REQUEST');
  t.equal(await put(0, first, { sha256: 'x' }), '400 BAD_REQUEST');
  t.equal(await put(0, first, { headers: { 'Content-Encoding': 'gzip' } }), '415 UNSUPPORTED_MEDIA_TYPE');
  t.match(await put(0, first), { status: 'uploading', received_bytes: PIECE });
  t.match(await put(0, first), { received_bytes: PIECE }, 'the same again');

  const url = new URL(`${upload_path}?offset=${PIECE}&sha256=${'0'.repeat(64)}`, spool.base_url);
  const headers = { Authorization: `Bearer ${ann.app.access_token}`, 'Content-Length': PIECE };
  await new Promise<void>((resolve) => {
    const broken = request(url, { method: 'PUT', headers }).on('error', () => resolve());
    broken.write(three_pieces.subarray(PIECE, PIECE + 100_000), () => broken.destroy());
  });
  t.match(await ann.ask('GET', path(announced)), { received_bytes: PIECE }, 'a broken piece is none');

  await spool.close();
  await spool.open();
  const again = { app: bearer(spool, ann.app.access_token as string), base_url: spool.base_url };
  const found = await announceFile(again, three_pieces, { name: 'long.wav' });
  t.match(found, { id: announced.id, received_bytes: PIECE });
  await sendFile(again, found, three_pieces);
  t.match(await putPiece(again, upload_path, 0, first), { received_bytes: three_pieces.length }, 'a late repeat');
  const done = await endedImport(again, found.id);
  t.match(done, { status: 'done' });
  const audio = await again.app.send('GET', `/audio/streams/${done.stream_id}/content`);
  t.ok(audio.body.equals(three_pieces));
  await noPieces(ann);
});

t.test('K-153 what is no such file fails, says why and leaves nothing', async (t) => {
  const importer = { app: (await spool.signIn('ann@x.test')).app, base_url: spool.base_url };
  const { app } = importer;
  const streams = async () => (await app.ask<{ items: Stream[] }>('GET', '/audio/streams?limit=100')).items.length;
  const before = await streams();
  const text = Buffer.from('this is no audio at all');
  const damaged = Buffer.concat([Buffer.from('fLaC'), randomBytes(2_000)]);
  for (const bytes of [text, damaged])
    t.match(await importFile(importer, bytes), {
      status: 'failed',
      stream_id: null,
      error: { code: 'UNSUPPORTED_AUDIO' },
    });

  const gsm = wav(1);
  gsm.writeUInt16LE(49, 20);
  const message = 'The file is no audio that can be decoded: its codec is GSM 6.10.';
  t.match(await importFile(importer, gsm), { error: { code: 'UNSUPPORTED_AUDIO', message } });

  const announced = aboutFile(audioFixture('said.mp3'), { sha256: 'a'.repeat(64), import_ref: randomUUID() });
  const item = await app.ask<Import>('POST', '/audio/imports', announced);
  await sendFile(importer, item, audioFixture('said.mp3'));
  const failed = await endedImport(importer, item.id);
  t.match(failed, { status: 'failed', error: { code: 'CHECKSUM_MISMATCH' } });
  t.equal(await putPiece(importer, item.upload_path, 0, audioFixture('said.mp3')), '409 CONFLICT');
  t.match(await app.ask('POST', '/audio/imports', announced), { id: item.id, status: 'failed' }, 'the same again');
  await app.ask('DELETE', path(item));
  t.match(await app.ask('POST', '/audio/imports', announced), { status: 'uploading' }, 'it may begin anew');

  const format = plainFormat('pcm_u8', { channels: 1, frames_per_second: 4_000 });
  const six_hours = writeWav(format, Buffer.alloc(4_000 * 3_600 * 6 + 8_000, 0x80));
  t.match(await importFile(importer, six_hours), { status: 'failed', error: { code: 'TOO_LONG' } });
  t.equal(await streams(), before, 'no recording has come of it');
  await noPieces(ann);
});

t.test('K-153 what may not be announced', async (t) => {
  const { app } = await spool.signIn('ann@x.test');
  const fine = aboutFile(Buffer.from('x'));
  for (const [wrong, field] of [
    ...['', ' ', 'x'.repeat(129), 'a\nb', 7].map((import_ref) => [{ import_ref }, 'import_ref'] as const),
    ...['', 'a/b', '..', 'x'.repeat(201)].map((name) => [{ name }, 'name'] as const),
    ...[0, -1, 1.5, 1024 ** 3 + 1, '1'].map((size_bytes) => [{ size_bytes }, 'size_bytes'] as const),
    ...['', 'x'.repeat(64), undefined].map((sha256) => [{ sha256 }, 'sha256'] as const),
    ...['yesterday', '2026-01-31', 7].map((captured_at) => [{ captured_at }, 'captured_at'] as const),
    [{ source_id: 'x' }, 'source_id'],
  ] as const) {
    const { status, error } = await tell(app, 'POST', '/audio/imports', { ...fine, ...wrong });
    t.same([status, error?.details?.[0]?.path], [400, field], JSON.stringify(wrong));
  }
});

t.test('K-154 an account has 20 imports at once, of 4 GiB together', async (t) => {
  const eva = await TestAccount.open(spool, 'eva@x.test');
  const announce = (size_bytes: number) =>
    eva.says('POST', '/audio/imports', { ...aboutFile(randomBytes(8)), import_ref: randomUUID(), size_bytes });
  for (let count = 0; count < 4; count++) t.equal(await announce(1024 ** 3), '201');
  t.equal(await announce(1), '409 CONFLICT', 'too many bytes');
  const items = async () => (await eva.ask<{ items: Import[] }>('GET', '/audio/imports?limit=100')).items;
  for (const item of await items()) t.equal(await eva.says('DELETE', path(item)), '204');
  for (let count = 0; count < 20; count++) t.equal(await announce(1), '201');
  t.equal(await announce(1), '409 CONFLICT', 'too many');
});

t.test('K-255 operators see imports that are under way, and how imports end', async (t) => {
  const una = await TestAccount.open(spool, 'una@x.test');
  const importer = importerOf(una);
  const ended = async (outcome: string) => {
    const text = await (await fetch(`http://127.0.0.1:${spool.server.ports.operator}/metrics`)).text();
    const counted = new RegExp(`^spool_imports_total\\{.*outcome="${outcome}".*\\} (\\d+)$`, 'm').exec(text);
    t.match(text, /^spool_import_seconds_count/m);
    t.match(text, /^spool_import_bytes_in_hand(\{\})? 0$/m);
    return Number(counted?.[1] ?? 0);
  };
  await importFile(importer, wav(1));
  await importFile(importer, Buffer.from('no audio either'));
  const [done, failed] = [await ended('done'), await ended('failed')];
  t.ok(done > 0 && failed > 0);
  await importFile(importer, wav(1));
  t.equal(await ended('done'), done + 1);
  t.equal(await ended('failed'), failed);

  const held = await TestSpool.start(ENV);
  t.teardown(() => held.end());
  await held.server.services.imports.stop();
  const uri = await TestAccount.open(held, 'uri@x.test');
  const his: Importer = { app: uri.app, base_url: held.base_url };
  const bytes = wav(1);
  const waits = await sendFile(his, await announceFile(his, bytes), bytes);
  await announceFile(his, wav(1));
  const { items } = await held.operator.call('GET /ops/imports');
  t.match(items, [{ account_id: uri.id, import_id: waits.id, status: 'waiting', size_bytes: bytes.length, tries: 0 }]);
  t.equal(items.length, 1, 'none whose bytes are still to come');
});

t.test('K-154 imports are listed newest first, whatever has become of them', async (t) => {
  const liz = await TestAccount.open(spool, 'liz@x.test');
  const importer = importerOf(liz);
  const done = await importFile(importer, wav(1));
  const open = await announceFile(importer, wav(2));
  const failed = await importFile(importer, Buffer.from('no audio'));
  const last = await announceFile(importer, wav(3));
  const listed: Import[] = [];
  for (let cursor = ''; listed.length < 10; ) {
    const page = await liz.ask<{ items: Import[]; cursor: string | null }>('GET', `/audio/imports?limit=1${cursor}`);
    listed.push(...page.items);
    if (page.cursor === null) break;
    cursor = `&cursor=${page.cursor}`;
  }
  t.same(listed, [last, failed, open, done]);
  t.same(await liz.ask('GET', '/audio/imports?status=open'), { items: [last, open], cursor: null });
  const [first] = (await liz.ask<{ items: Import[] }>('GET', '/audio/imports?status=open&limit=1')).items;
  t.same(first, last);
  t.equal(await liz.says('GET', '/audio/imports?status=done'), '400 BAD_REQUEST');
  for (const item of listed) t.equal(await liz.says('DELETE', path(item)), '204');
  t.same(await liz.ask('GET', '/audio/imports'), { items: [], cursor: null });
  t.equal((await liz.app.send('GET', `/audio/streams/${done.stream_id}`)).status, 200, 'its recording stays');
  await noPieces(liz);
});

t.test("K-155 other accounts' imports do not exist; all of it takes audio:write", async (t) => {
  const { app } = await spool.signIn('ann@x.test');
  const bob = await TestAccount.open(spool, 'bob@x.test');
  const importer = { app, base_url: spool.base_url };
  const bytes = wav(1);
  const item = await announceFile(importer, bytes);
  t.equal(await putPiece(importerOf(bob), item.upload_path, 0, bytes), '404 NOT_FOUND');
  for (const method of ['GET', 'DELETE']) t.equal(await bob.says(method, path(item)), '404 NOT_FOUND');
  const { id: source_id } = await app.ask<Source>('POST', '/sources', { name: 'Of Ann' });
  t.equal(await bob.says('POST', '/audio/imports', aboutFile(bytes, { source_id })), '404 NOT_FOUND');
  const made = await app.ask<{ value: string }>('POST', '/me/tokens', {
    ...{ name: 'x', permissions: ['audio:read'], expires_at: null },
  });
  const reader = bearer(spool, made.value);
  for (const [method, at] of [
    ['POST', '/audio/imports'],
    ['GET', '/audio/imports'],
    ['GET', path(item)],
    ['DELETE', path(item)],
    ['PUT', `${item.upload_path}?offset=0&sha256=${item.sha256}`],
  ] as const)
    t.equal((await reader.send(method, at, { body: aboutFile(bytes) })).status, 403, `${method} ${at}`);
  t.equal((await app.send('GET', path(item))).status, 200);
});

t.test(
  'K-156 an import that is given up leaves nothing, and one that gets no more pieces ends after a day',
  async (t) => {
    const zoe = await TestAccount.open(spool, 'zoe@x.test');
    const importer = importerOf(zoe);
    const [given_up, left] = [await announceFile(importer, three_pieces), await announceFile(importer, wav(1_101))];
    for (const item of [given_up, left])
      await putPiece(
        importer,
        item.upload_path,
        0,
        item === left ? wav(1_101).subarray(0, PIECE) : three_pieces.subarray(0, PIECE),
      );
    t.same(
      (await piecesOf(zoe)).toSorted(),
      [given_up, left].map(({ id: import_id }) => importPieceKey(zoe.id, { import_id, piece: 0 })).toSorted(),
    );
    t.equal(await zoe.says('DELETE', path(given_up)), '204');
    t.equal(await zoe.says('GET', path(given_up)), '404 NOT_FOUND');
    await until('its pieces are gone', async () => (await piecesOf(zoe)).length === 1);
    await spool.operator.advanceClock(DAY_MS - 60_000);
    const { app } = await spool.signIn('zoe@x.test');
    t.match(await app.ask('GET', path(left)), { status: 'uploading', received_bytes: PIECE });
    await spool.operator.advanceClock(120_000);
    t.match(await app.ask('GET', path(left)), { status: 'failed', error: { code: 'UPLOAD_EXPIRED' } });
    await noPieces(zoe);
    await spool.operator.advanceClock(30 * DAY_MS);
    const later = await spool.signIn('zoe@x.test');
    t.same(await later.app.ask('GET', '/audio/imports'), { items: [], cursor: null }, 'forgotten after 30 days');
  },
);

t.test('K-156 the daily comparison takes pieces that no import claims, and leaves all others', async (t) => {
  const account = await TestAccount.open(spool, 'sam@x.test');
  const importer = importerOf(account);
  const { blobs } = spool.server.services;
  const item = await announceFile(importer, three_pieces);
  await putPiece(importer, item.upload_path, 0, three_pieces.subarray(0, PIECE));
  const kept = importPieceKey(account.id, { import_id: item.id, piece: 0 });
  const strays = [
    importPieceKey(account.id, { import_id: randomUUID(), piece: 0 }),
    importPieceKey(randomUUID(), { import_id: randomUUID(), piece: 3 }),
  ];
  const stray = Buffer.from('stray');
  for (const key of strays)
    await blobs.put(key, streamOf(stray), { size_bytes: stray.length, sha256_hex: sha256Of(stray) });
  const removed: string[] = [];
  const removeOlder = blobs.removeOlder.bind(blobs);
  blobs.removeOlder = (key) => {
    removed.push(key);
    return removeOlder(key, -1);
  };
  // Whose turn it is when is settled with the first look.
  for (let hours = 0; hours < 46; hours += 23) {
    await spool.operator.advanceClock(23 * 3_600_000 + 1_900_000);
    const { app } = await spool.signIn('sam@x.test');
    await putPiece({ app, base_url: spool.base_url }, item.upload_path, 0, three_pieces.subarray(0, PIECE));
  }
  blobs.removeOlder = removeOlder;
  t.ok(strays.every((key) => removed.includes(key)));
  t.notOk(removed.includes(kept));
});

t.test('K-157 an imported recording goes with retention, deletion and erasure, and is exported as it is', async (t) => {
  const max = await TestAccount.open(spool, 'max@x.test');
  const bytes = audioFixture('said.mp3');
  const done = await importFile(importerOf(max), bytes, { name: 'said.mp3' });
  const bytesOf = (stream_id: unknown) => bytesLying(join(spool.folder, 'blobs'), stream_id as string);
  t.equal((await bytesOf(done.stream_id)).length, 1);

  const asked = await max.ask<{ id: string }>('POST', '/me/exports', { audio: true });
  await spool.operator.advanceClock(0);
  const archive = await max.app.send('GET', `/me/exports/${asked.id}/content`);
  const files = await unzip(archive.body);
  t.ok(files.get(`audio/${done.stream_id}/1.mp3`)?.equals(bytes));

  const other = await importFile(importerOf(max), wav(1));
  await max.ask('DELETE', `/audio/streams/${other.stream_id}`);
  await until('the bytes of a deleted one go', async () => {
    await spool.operator.advanceClock(0);
    return (await bytesOf(other.stream_id)).length === 0;
  });

  const [own] = (await max.ask<{ workspaces: { id: string }[] }>('GET', '/me')).workspaces;
  await max.ask('PATCH', `/workspaces/${own?.id}`, { retention: { audio: { days: 1 } } });
  await spool.operator.advanceClock(2 * DAY_MS);
  const { app } = await spool.signIn('max@x.test');
  const content = await tell(app, 'GET', `/audio/streams/${done.stream_id}/content`);
  t.match(content, { status: 410, error: { code: 'CONTENT_EXPIRED' } });
  t.equal((await bytesOf(done.stream_id)).length, 0);

  const importer = { app, base_url: spool.base_url };
  const open = await announceFile(importer, three_pieces);
  await putPiece(importer, open.upload_path, 0, three_pieces.subarray(0, PIECE));
  t.equal((await piecesOf(max)).length, 1);
  await app.ask('DELETE', '/me');
  await spool.operator.advanceClock(8 * DAY_MS);
  t.equal((await piecesOf(max)).length, 0);
});
