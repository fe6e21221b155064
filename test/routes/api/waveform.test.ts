import { readFileSync } from 'node:fs';
import t from 'tap';
import { pcm16Format, writeWav } from '../../../src/engine/audio/wav.js';
import { waveformKey } from '../../../src/engine/blobs/blob_keys.js';
import { TestAccount } from '../../fixtures/account.js';
import { TestSpool } from '../../fixtures/spool.js';
import { TestRecording } from '../../fixtures/transcribing.js';

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const bob = await TestAccount.open(spool, 'bob@x.test');
const AUDIO = new URL('../../../../test/fixtures/audio/', import.meta.url);

/** A WAV of so many seconds, each of another loudness, of 255. */
function steps(loudness: number[]): { bytes: Buffer; codec: string; container: string } {
  const rate = 1_600;
  const samples = Buffer.alloc(loudness.length * rate * 2);
  for (let at = 0; at < samples.length / 2; at++) {
    const value = Math.round(((loudness[Math.floor(at / rate)] as number) / 255) * 0x7fff);
    samples.writeInt16LE(at % 2 === 0 ? value : -value, at * 2);
  }
  const fmt = pcm16Format({ channels: 1, frames_per_second: rate });
  return { bytes: writeWav({ fmt }, samples), codec: 'pcm_s16le', container: 'wav' };
}

const get = (account: TestAccount, id: string, headers: Record<string, string> = {}) =>
  fetch(`${spool.base_url}/audio/streams/${id}/waveform`, {
    headers: { authorization: `Bearer ${account.app.access_token}`, ...headers },
  });
const peaksOf = async (id: string) => Buffer.from(await (await get(ann, id)).arrayBuffer());
const isKept = (id: string) => spool.server.services.blobs.has(waveformKey(id));

await t.test(
  'K-376 a waveform has a byte for each sixteenth of a second of the timeline, kept with an ETag',
  async (t) => {
    const recording = await TestRecording.begin(ann);
    await recording.add(2_000, { file: steps([255, 51]) });
    await recording.add(1_000, { from_ms: 4_000, file: steps([102]) });
    await recording.end();
    t.notOk(await isKept(recording.id));
    const answer = await get(ann, recording.id);
    t.equal(answer.status, 200);
    const expected = [255, 51, 0, 0, 102].map((value) => Buffer.alloc(16, value));
    t.same(Buffer.from(await answer.arrayBuffer()), Buffer.concat(expected));
    t.ok(await isKept(recording.id));
    const etag = answer.headers.get('etag') as string;
    t.equal((await get(ann, recording.id, { 'if-none-match': etag })).status, 304);
    t.same(await peaksOf(recording.id), Buffer.concat(expected), 'as it is kept');
    const ranged = await get(ann, recording.id, { range: 'bytes=16-17' });
    t.same([ranged.status, [...Buffer.from(await ranged.arrayBuffer())]], [206, [51, 51]]);
  },
);

await t.test('K-376 compressed audio is decoded for it, and what is not decoded has none', async (t) => {
  const recording = await TestRecording.begin(ann);
  const bytes = readFileSync(new URL('said.mp3', AUDIO));
  await recording.add(3_000, { file: { bytes, codec: 'mp3', container: 'mp3' } });
  await recording.end();
  const peaks = await peaksOf(recording.id);
  t.equal(peaks.length, 48);
  t.ok(Math.max(...peaks) > 20, 'somebody speaks');
  const other = await TestRecording.begin(ann);
  await other.add(3_000, { file: { bytes: Buffer.alloc(4_000, 3), codec: 'mp3', container: 'mp3' } });
  await other.end();
  t.equal(await ann.says('GET', `/audio/streams/${other.id}/waveform`), '409 CONFLICT');
});

await t.test('K-377 a waveform is read with the audio, changes with it, and goes with it', async (t) => {
  const recording = await TestRecording.begin(ann);
  t.equal(await ann.says('GET', `/audio/streams/${recording.id}/waveform`), '409 CONFLICT', 'nothing is stored');
  await recording.add(3_000, { file: steps([255, 51, 102]) });
  await recording.end();
  t.equal((await get(bob, recording.id)).status, 404);
  t.equal((await peaksOf(recording.id)).length, 48);
  const path = `/audio/streams/${recording.id}`;
  await ann.ask('POST', `${path}/deletions`, { from_ms: 1_000, to_ms: 2_000 });
  t.notOk(await isKept(recording.id), 'what was drawn of a deleted part is gone');
  const left = await peaksOf(recording.id);
  t.same([left[0], left[20], left[40]], [255, 0, 102]);
  t.ok(await isKept(recording.id));
  await ann.app.send('DELETE', path);
  t.equal((await get(ann, recording.id)).status, 404);
});
