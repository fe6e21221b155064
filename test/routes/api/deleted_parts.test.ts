import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sha256Of } from '../../../kits/typescript/src/device_client.js';
import { pcm16Format, writeWav } from '../../../src/engine/audio/wav.js';
import { TestAccount } from '../../fixtures/account.js';
import { makeInsights } from '../../fixtures/insights.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

type Chunk = { id: string; status: string; stored_at: string | null; source_start_ms: number };
type Part = { from_ms: number; to_ms: number };

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const bob = await TestAccount.open(spool, 'bob@x.test');
const worker = new TestTranscriber(spool);
const fmt = pcm16Format({ channels: 1, frames_per_second: 1_000 });

/** A WAV of so many ms, each second of which has samples of its own; at 1 kHz they are numbers from 0x4101 on. */
function seconds(ms: number, first = 0): { bytes: Buffer; codec: string; container: string } {
  const samples = Buffer.alloc(ms * 2);
  for (let at = 0; at < ms; at++) samples.writeUInt16LE(sampleOf(first + at), at * 2);
  return { bytes: writeWav({ fmt }, samples), codec: 'pcm_s16le', container: 'wav' };
}

function sampleOf(ms: number): number {
  return 0x4100 + Math.floor(ms / 1_000) + 1;
}

/** Whether half a second of what was recorded there lies on the disk in any file of the store. */
function liesOnDisk(second: number, folder = join(spool.folder, 'blobs')): boolean {
  const sample = Buffer.alloc(2);
  sample.writeUInt16LE(sampleOf(second * 1_000));
  const wanted = Buffer.alloc(1_000, sample);
  return filesIn(folder).some((path) => readFileSync(path).includes(wanted));
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Chunks of so many ms of a WAV each, one after the other. */
async function recorded(account: TestAccount, lengths: number[], { ended = true } = {}): Promise<TestRecording> {
  const recording = await TestRecording.begin(account);
  let from_ms = 0;
  for (const ms of lengths) {
    await recording.add(ms, { file: seconds(ms, from_ms) });
    from_ms += ms;
  }
  if (ended) await recording.end();
  return recording;
}

const deletePart = (account: TestAccount, { id }: TestRecording, part: object) =>
  account.ask<Part>('POST', `/audio/streams/${id}/deletions`, part);
const says = (account: TestAccount, id: string, part: object) =>
  account.says('POST', `/audio/streams/${id}/deletions`, part);

async function contentOf({ id }: TestRecording): Promise<{ samples: Buffer; headers: Headers }> {
  const answer = await fetch(`${spool.base_url}/audio/streams/${id}/content`, {
    headers: { authorization: `Bearer ${ann.app.access_token}` },
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { samples: bytes.subarray(44), headers: answer.headers };
}

async function chunksOf({ id }: TestRecording): Promise<Chunk[]> {
  return (await ann.ask<{ items: Chunk[] }>('GET', `/audio/streams/${id}/chunks?limit=100`)).items;
}

await t.test(
  'K-370 chunks in a deleted part go, one that reaches out of it is silent there, the times stay',
  async (t) => {
    const recording = await recorded(ann, [4_000, 4_000, 4_000]);
    await ann.newEvents();
    t.ok([1, 3, 5, 6, 10].every((second) => liesOnDisk(second)));
    const before = await contentOf(recording);
    t.same(await deletePart(ann, recording, { from_ms: 3_000, to_ms: 8_000 }), { from_ms: 3_000, to_ms: 8_000 });
    t.same(
      (await chunksOf(recording)).map(({ status, source_start_ms }) => [status, source_start_ms]),
      [
        ['processed', 0],
        ['expired', 4_000],
        ['processed', 8_000],
      ],
    );
    const { samples, headers } = await contentOf(recording);
    t.equal(samples.length, 16_000, 'of two chunks');
    t.equal(headers.get('x-joined-missing-ms'), '4000');
    t.not(headers.get('etag'), before.headers.get('etag'));
    t.same(samples.subarray(0, 6_000), before.samples.subarray(0, 6_000));
    t.ok(samples.subarray(6_000, 8_000).equals(Buffer.alloc(2_000)), 'silence');
    t.same(samples.subarray(8_000), before.samples.subarray(16_000));
    t.notOk(
      [3, 4, 5, 6, 7].some((second) => liesOnDisk(second)),
      'the bytes are gone',
    );
    t.ok(liesOnDisk(1) && liesOnDisk(10));
    t.same(await ann.newEvents(), [`stream.updated ${recording.id} audio ${recording.source_id}`]);
    t.match(await ann.ask('GET', `/audio/streams/${recording.id}`), { stored_chunks: 2, end_ms: 12_000 });
  },
);

await t.test('K-370 a chunk that is a file of its own is cut as well', async (t) => {
  const recording = await recorded(ann, [150_000]);
  t.same(await deletePart(ann, recording, { from_ms: 100_000, to_ms: 200_000 }), { from_ms: 100_000, to_ms: 150_000 });
  t.notOk(liesOnDisk(120));
  t.ok(liesOnDisk(99));
  const { samples } = await contentOf(recording);
  t.equal(samples.length, 300_000);
  t.ok(samples.subarray(200_000).equals(Buffer.alloc(100_000)));
});

await t.test('K-371 what was said in a deleted part goes by its words, and stays gone', async (t) => {
  const recording = await recorded(ann, [20_000]);
  const work = await worker.claim(recording.id);
  const spoken = [
    said('one two three four', [0, 4_000], 'A'),
    { start_ms: 1_000, end_ms: 4_200, text: 'its middle is inside', speaker: 'B' },
    said('wholly inside', [5_000, 7_000], 'A'),
    { start_ms: 7_500, end_ms: 9_500, text: 'its middle is outside', speaker: 'A' },
    said('far away', [15_000, 17_000], 'A'),
  ];
  await worker.publish(work, spoken);
  const made = await makeInsights(ann, recording, {
    suggestions: [{ text: 'Do what was wholly inside', at: [[5_000, 7_000]] }],
    memories: [{ text: 'Far away', at: [[15_000, 17_000]] }],
  });
  const before = await recording.turns();
  await ann.newEvents();
  await deletePart(ann, recording, { from_ms: 2_000, to_ms: 8_000 });
  const after = await recording.turns();
  t.same(
    after.map(({ text, start_ms, end_ms }) => [text, start_ms, end_ms]),
    [
      ['one two', 0, 2_000],
      ['its middle is outside', 7_500, 9_500],
      ['far away', 15_000, 17_000],
    ],
  );
  t.same(after[0]?.id, before[0]?.id, 'what is left of a turn is that turn');
  const idOf = (text: string) => before.find((turn) => turn.text === text)?.id;
  t.same(
    (await ann.newEvents()).sort().filter((event) => event.startsWith('turn') || event.startsWith('stream')),
    [
      `stream.updated ${recording.id} audio ${recording.source_id}`,
      ...[idOf('its middle is inside'), idOf('wholly inside')]
        .sort()
        .map((id) => `turn.deleted ${id} ${recording.source_id}`),
      `turn.updated ${idOf('one two three four')} end_ms text ${recording.source_id}`,
    ],
  );
  const found = await ann.ask<{ items: unknown[] }>('GET', '/search?q=wholly');
  t.same(found.items, [], 'it is not found');
  const suggestions = await ann.ask<{ items: { status: string }[] }>('GET', '/suggestions?limit=10');
  t.notOk(JSON.stringify(suggestions).includes('wholly inside'), 'nor what was made of it');
  t.ok(made.conversation);
});

await t.test('K-371 a run that heard the part before publishes nothing of it', async (t) => {
  const recording = await recorded(ann, [20_000]);
  const work = await worker.claim(recording.id);
  await deletePart(ann, recording, { from_ms: 2_000, to_ms: 8_000 });
  await worker.publish(work, [
    said('one two three four', [0, 4_000], 'A'),
    { start_ms: 3_000, end_ms: 6_000, text: 'inside' },
    { start_ms: 7_500, end_ms: 9_500, text: 'outside' },
  ]);
  t.same(
    (await recording.turns()).map(({ text }) => text),
    ['one two', 'outside'],
  );
});

await t.test('K-372 the same part again changes nothing, and audio of it that comes later is not kept', async (t) => {
  const late = seconds(1_000, 205_000);
  const other = await TestRecording.begin(ann);
  await other.add(2_000, { file: seconds(2_000) });
  await other.add(2_000, { from_ms: 8_000, file: seconds(2_000, 8_000) });
  await other.end();
  const part = { from_ms: 4_000, to_ms: 9_000 };
  await deletePart(ann, other, part);
  await ann.newEvents();
  const revision = await ann.ask<object>('GET', `/audio/streams/${other.id}`);
  t.same(await deletePart(ann, other, part), part);
  t.same(await ann.newEvents(), []);
  t.same(await ann.ask('GET', `/audio/streams/${other.id}`), revision);
  const intent = {
    ...{ source_chunk_ref: randomUUID(), sequence: 9, codec: late.codec, container: late.container },
    ...{ source_start_ms: 5_000, publication_start_ms: 5_000, source_end_ms: 6_000 },
    ...{ size_bytes: late.bytes.length, sha256: sha256Of(late.bytes) },
  };
  const path = `/audio/streams/${other.id}/chunks/intents`;
  const { upload_path } = await ann.ask<{ upload_path: string }>('POST', path, intent);
  const put = () =>
    fetch(spool.base_url + upload_path, {
      method: 'PUT',
      headers: { authorization: `Bearer ${ann.app.access_token}` },
      body: new Uint8Array(late.bytes),
    }).then(async (answer) => ((await answer.json()) as { data: { status: string } }).data.status);
  t.equal(await put(), 'expired', 'the uploader may let go of it');
  t.equal(await put(), 'expired');
  t.notOk(liesOnDisk(205));
  t.equal((await contentOf(other)).samples.length, 8_000, 'of the first, and of the last, half of which is silent');
});

await t.test('K-373 a preview deletes nothing, and says where a chunk can only go whole', async (t) => {
  const recording = await TestRecording.begin(ann);
  const file = { bytes: Buffer.alloc(4_000, 3), codec: 'mp3', container: 'mp3' };
  await recording.add(3_000, { file: seconds(3_000) });
  await recording.add(4_000, { file });
  await recording.end();
  const part = { from_ms: 2_000, to_ms: 4_000 };
  t.same(await deletePart(ann, recording, { ...part, preview: true }), { from_ms: 2_000, to_ms: 7_000 });
  t.match(await ann.ask('GET', `/audio/streams/${recording.id}`), { stored_chunks: 2 });
  t.same(await deletePart(ann, recording, part), { from_ms: 2_000, to_ms: 7_000 });
  t.match(await ann.ask('GET', `/audio/streams/${recording.id}`), { stored_chunks: 1 });
});

await t.test('K-374 the owner alone deletes a part, of a recording that has ended', async (t) => {
  const recording = await recorded(ann, [2_000], { ended: false });
  const part = { from_ms: 0, to_ms: 1_000 };
  t.equal(await says(ann, recording.id, part), '409 CONFLICT', 'it is still recorded');
  await recording.end();
  t.equal(await says(bob, recording.id, part), '404 NOT_FOUND');
  t.equal(await says(ann, recording.id, { from_ms: 5_000, to_ms: 6_000 }), '409 CONFLICT', 'behind its end');
  t.equal(await says(ann, recording.id, { from_ms: 5, to_ms: 5 }), '400 BAD_REQUEST');
  t.equal(await says(ann, recording.id, { from_ms: 5 }), '400 BAD_REQUEST');
  t.equal(await says(ann, 'nothing', part), '404 NOT_FOUND');
});

await t.test('K-375 a deletion that was cut off goes on', async (t) => {
  const recording = await recorded(ann, [4_000, 4_000]);
  const { actors } = spool.server.services;
  const part = { asked: [0, 4_000], goes: [0, 4_000] } as { asked: [number, number]; goes: [number, number] };
  await actors.stream(recording.id).delete_part({ part, silent: false });
  t.match(await ann.ask('GET', `/audio/streams/${recording.id}`), { stored_chunks: 2 });
  await until('the worker has gone on with it', async () => {
    await spool.server.services.erasures.worker.look();
    return (await actors.stream(recording.id).view()).parts_going?.length === 0;
  });
  t.match(await ann.ask('GET', `/audio/streams/${recording.id}`), { stored_chunks: 1, stored_bytes: 8_044 });
});
