import { randomBytes } from 'node:crypto';
import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sha256Of } from '../../../kits/typescript/src/device_client.js';
import { pcm16Format, writeWav } from '../../../src/engine/audio/wav.js';
import { fileKey } from '../../../src/engine/blobs/blob_keys.js';
import { ScriptedEngine } from '../../../tools/speech/scripted_engine.js';
import { TestAccount } from '../../fixtures/account.js';
import { opusFile } from '../../fixtures/opus_file.js';
import { TestSpool } from '../../fixtures/spool.js';
import { keyOfChunk } from '../../fixtures/stored_audio.js';
import { type AudioFile, TestRecording } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

/** Stored chunks of which the blob store has lost the bytes. */

const wav = (byte: number): AudioFile => {
  const bytes = writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: 8_000 }) }, Buffer.alloc(16_000, byte));
  return { bytes, codec: 'pcm_s16le', container: 'wav' };
};
const ogg = (byte: number): AudioFile => {
  const pages = Array.from({ length: 10 }, () => [9, 9, 9, 9, byte]);
  return { bytes: opusFile({ pages }), codec: 'opus', container: 'ogg' };
};

t.test('audio that the server has lost', async (t) => {
  const engine = await ScriptedEngine.start(t);
  engine.hears = () => [{ text: 'Still there.', start: 0, end: 0.9 }];
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', TRANSCRIBE_URL: engine.url });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const get = (path: string) =>
    fetch(new URL(path, spool.base_url), { headers: { Authorization: `Bearer ${ann.app.access_token}` } });
  const recorded = async (...files: AudioFile[]) => {
    const recording = await TestRecording.begin(ann);
    for (const file of files) await recording.add(1_000, { file });
    const { items } = await ann.ask<{ items: { id: string }[] }>('GET', `/audio/streams/${recording.id}/chunks`);
    return { recording, chunks: items.map(({ id }) => id), path: `/audio/streams/${recording.id}/content` };
  };
  const { actors, blobs } = spool.server.services;
  const lose = async (...chunks: (string | undefined)[]) =>
    blobs.remove(await Promise.all(chunks.map((chunk) => keyOfChunk(actors, chunk as string))));
  const codeOf = async (answer: Response) =>
    `${answer.status} ${((await answer.json()) as { error: { code: string } }).error.code}`;

  await t.test('K-023 a chunk is 410 with a code of its own, and a health problem says so', async (t) => {
    const { chunks } = await recorded(wav(1), wav(2));
    await lose(chunks[0]);
    t.equal(await codeOf(await get(`/audio/chunks/${chunks[0]}/content`)), '410 CONTENT_MISSING');
    t.equal((await get(`/audio/chunks/${chunks[1]}/content`)).status, 200);
    const answer = await spool.operator.send('GET', `/ops/chunks/${chunks[0]}/content`);
    t.match([answer.status, JSON.parse(answer.body.toString())], [410, { error: { code: 'CONTENT_MISSING' } }]);
    const { health_problems } = await spool.operator.call('GET /ops/overview');
    t.match(health_problems, [{ name: 'audio_lost', severity: 'grave' }]);
  });

  await t.test('K-023 a chunk of which a part is there is lost as well', async (t) => {
    const { chunks } = await recorded({ ...wav(1), bytes: Buffer.concat([wav(1).bytes, randomBytes(2_000_000)]) });
    const file = join(spool.folder, 'blobs', await keyOfChunk(actors, chunks[0] as string));
    truncateSync(file, 10);
    t.equal(await codeOf(await get(`/audio/chunks/${chunks[0]}/content`)), '410 CONTENT_MISSING');
  });

  for (const [kind, file] of [
    ['WAV', wav],
    ['Ogg', ogg],
  ] as const)
    await t.test(`K-021 K-023 ${kind} joined without what is lost, and a header says so`, async (t) => {
      const { chunks, path } = await recorded(file(1), file(2), file(3));
      await lose(chunks[0]);
      const answer = await get(path);
      t.match(
        [answer.status, answer.headers.get('x-joined-chunks'), answer.headers.get('x-joined-lost-chunks')],
        [200, '2', '1'],
      );
      t.equal(answer.headers.get('x-joined-missing-ms'), '1000');
      const intact = await recorded(file(2), file(3));
      const wanted = await get(intact.path);
      t.equal(wanted.headers.get('x-joined-lost-chunks'), '0');
      t.ok(Buffer.from(await answer.arrayBuffer()).equals(Buffer.from(await wanted.arrayBuffer())));
    });

  await t.test('K-023 raw PCM is joined without what is lost', async (t) => {
    const raw = (byte: number) => ({ bytes: Buffer.alloc(16_000, byte), codec: 'pcm_s16le', container: 'raw' });
    const more = { sample_rate_hz: 8_000, channels: 1 };
    const recording = await TestRecording.begin(ann);
    for (const byte of [1, 2]) await recording.add(1_000, { file: { ...raw(byte), ...more } });
    const { items } = await ann.ask<{ items: { id: string }[] }>('GET', `/audio/streams/${recording.id}/chunks`);
    await lose(items[1]?.id);
    const answer = await get(`/audio/streams/${recording.id}/content`);
    t.same([answer.status, answer.headers.get('x-joined-lost-chunks')], [200, '1']);
    t.ok(
      Buffer.from(await answer.arrayBuffer())
        .subarray(44)
        .equals(Buffer.alloc(16_000, 1)),
    );
  });

  await t.test('K-023 of a recording that is lost as a whole there is no joined file', async (t) => {
    const { chunks, path } = await recorded(wav(1), wav(2));
    await lose(...chunks);
    t.equal(await codeOf(await get(path)), '410 CONTENT_MISSING');
  });

  await t.test('K-023 a joined file that was whole before is made anew once it breaks', async (t) => {
    const { chunks, path } = await recorded(wav(1), wav(2));
    t.equal((await (await get(path)).arrayBuffer()).byteLength, 44 + 32_000);
    await lose(chunks[1]);
    await get(path)
      .then((answer) => answer.arrayBuffer())
      .catch(() => {});
    const answer = await get(path);
    t.same([answer.status, answer.headers.get('x-joined-lost-chunks')], [200, '1']);
  });

  await t.test('K-023 a joined file that was whole before is made anew once a loss of it is known', async (t) => {
    const { chunks, path } = await recorded(wav(1), wav(2), wav(3));
    t.equal((await (await get(path)).arrayBuffer()).byteLength, 44 + 48_000);
    for (const [at, left] of [
      [1, 2],
      [2, 1],
    ] as const) {
      await lose(chunks[at]);
      t.equal(await codeOf(await get(`/audio/chunks/${chunks[at]}/content`)), '410 CONTENT_MISSING');
      const answer = await get(path);
      const joined = ['x-joined-chunks', 'x-joined-lost-chunks'].map((name) => answer.headers.get(name));
      t.same([answer.status, ...joined], [200, `${left}`, `${3 - left}`]);
      t.equal((await answer.arrayBuffer()).byteLength, 44 + left * 16_000, 'as much as it said');
    }
  });

  await t.test('K-023 K-043 what is lost of a window stands in failed, and the rest is transcribed', async (t) => {
    const { recording, chunks } = await recorded(wav(1), wav(2), wav(3));
    await lose(chunks[1]);
    await recording.end();
    const transcript = () =>
      ann.ask<{ waiting: []; covered: []; failed: [] }>('GET', `/audio/streams/${recording.id}/transcript`);
    await until('it is transcribed', async () => (await transcript()).covered.length > 0);
    t.match(await transcript(), {
      covered: [
        [0, 1_000],
        [2_000, 3_000],
      ],
      failed: [{ from_ms: 1_000, to_ms: 2_000, code: 'AUDIO_GONE' }],
    });
    t.match(await recording.turns(), [{ text: 'Still there.' }]);
  });

  await t.test('K-023 a file is 410 as well', async (t) => {
    const bytes = randomBytes(20);
    const made = await ann.ask<{ file: { id: string }; upload_path: string }>('POST', '/files', {
      ...{ name: 'notes.txt', media_type: 'text/plain', size_bytes: bytes.length, sha256: sha256Of(bytes) },
    });
    const headers = { Authorization: `Bearer ${ann.app.access_token}` };
    const put = await fetch(new URL(made.upload_path, spool.base_url), {
      method: 'PUT',
      headers,
      body: new Uint8Array(bytes),
    });
    t.equal(put.status, 200);
    await spool.server.services.blobs.remove([fileKey(ann.id, made.file.id)]);
    t.equal(await codeOf(await get(`/files/${made.file.id}/content`)), '410 CONTENT_MISSING');
  });
});
