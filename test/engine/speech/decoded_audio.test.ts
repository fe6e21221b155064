import { createHash } from 'node:crypto';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openFolderBlobStore } from '../../../src/engine/blobs/folder_blob_store.js';
import type { AudioDecoders } from '../../../src/engine/speech/audio_decoders.js';
import { DecodedAudio } from '../../../src/engine/speech/decoded_audio.js';
import { openDecoders } from '../../../src/features/transcripts/engines/choose_engine.js';
import { silentFlac } from '../../fixtures/flac_file.js';
import { audioFixture, SAID_MS } from '../../fixtures/speech.js';
import { tempFolder } from '../../fixtures/temp_folder.js';
import { until } from '../../fixtures/until.js';

const NEVER = new AbortController().signal;
const RATE = 16_000;
const SAID = audioFixture('said.mp3');
const LONG = { length_s: 7_200, length_s_max: 7_200 };
const SHORT = { length_s: 10, length_s_max: 60 };

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** Audio that never comes to its end. */
async function* endless(): AsyncGenerator<Buffer> {
  yield SAID;
  await new Promise(() => {});
}

function openAll(t: Test): AudioDecoders {
  const decoders = openDecoders({ transcribe_nice: 0 });
  t.teardown(() => decoders.close());
  return decoders;
}

async function store(t: Test, files: Record<string, Buffer>) {
  const folder = tempFolder(t);
  const blobs = await openFolderBlobStore(join(folder, 'blobs'));
  const decoders = openDecoders({ transcribe_nice: 0 });
  const decoded = new DecodedAudio({ decoders, blobs, folder });
  t.teardown(async () => {
    decoded.close();
    await decoders.close();
    await blobs.close();
  });
  for (const [key, bytes] of Object.entries(files)) {
    const sha256_hex = createHash('sha256').update(bytes).digest('hex');
    await blobs.put(`07/said/${key}`, once(bytes), { size_bytes: bytes.length, sha256_hex });
  }
  const blob = (key: string) => ({ key: `07/said/${key}`, size_bytes: (files[key] as Buffer).length });
  return { decoded, decoders, blob };
}

t.test('K-256 long audio of an account keeps neither others waiting nor what is short of its own', async (t) => {
  const decoders = openAll(t);
  const gone = new AbortController();
  const long = Array.from({ length: 4 }, () => decoders.measure(endless, LONG, { owner: 'a', signal: gone.signal }));
  await until('one is under way', () => decoders.pids.length === 1);
  t.match([decoders.long.counts, decoders.short.counts], [{ taken: 1, waiting: 3 }, { taken: 0 }]);
  for (const owner of ['a', 'b'])
    t.ok((await decoders.measure(() => once(SAID), SHORT, { owner, signal: NEVER })) > 10, owner);
  t.ok((await decoders.measure(() => once(SAID), LONG, { owner: 'b', signal: NEVER })) > 10, 'what is long of others');
  gone.abort();
  await Promise.all(long.map((one) => t.rejects(one)));
  t.match(decoders.long.counts, { taken: 0, waiting: 0 }, 'it ends with its client');
});

t.test('audio of which nobody said how long it is counts as short for a moment', async (t) => {
  const decoders = openAll(t);
  const gone = new AbortController();
  const unknown = { length_s: null, length_s_max: 7_200 };
  const asked = decoders.measure(endless, unknown, { owner: 'a', signal: gone.signal });
  t.match(decoders.short.counts, { taken: 1 });
  await until('it goes on among what is long', () => decoders.long.counts.taken === 1);
  t.match(decoders.short.counts, { taken: 0 });
  gone.abort();
  await t.rejects(asked);
});

t.test('a close ends what is under way and what waits', async (t) => {
  const decoders = openAll(t);
  const asked = Array.from({ length: 3 }, () => decoders.measure(endless, SHORT, { owner: 'a', signal: NEVER }));
  const ends = Promise.all(asked.map((one) => t.rejects(one)));
  await until('one is under way', () => decoders.pids.length === 1);
  await decoders.close();
  await ends;
  await until('the process has ended', () => decoders.pids.length === 0);
});

t.test('decoding stops soon after the length that was announced', async (t) => {
  const hours = silentFlac({ seconds: 6 * 3_600 - 1, rate: 48_000, block: 16_384 });
  const { decoded, blob } = await store(t, { hours, said: SAID });
  const use = (key: string, length_ms: number) =>
    decoded.use(
      blob(key),
      { rate: RATE, length_ms, goes_on: false },
      async ({ samples, is_cut }) => ({ seconds: samples / RATE, is_cut }),
      { owner: 'a', signal: NEVER },
    );
  t.same(await use('hours', 1_000), { seconds: 6, is_cut: true });
  t.match(await use('said', SAID_MS), { is_cut: false });
});

t.test('a part of a long file is there before all of it is decoded', async (t) => {
  const hours = silentFlac({ seconds: 5 * 3_600 });
  const { decoded, blob } = await store(t, { hours });
  const decoding = { rate: RATE, length_ms: 5 * 3_600_000, goes_on: true };
  const call = { owner: 'a', signal: NEVER };
  const first = await decoded.use(blob('hours'), { ...decoding, until: RATE }, async ({ samples }) => samples, call);
  t.ok((first as number) >= RATE && (first as number) < 5 * 3_600 * RATE, `${first} samples`);
  const all = await decoded.use(blob('hours'), decoding, async ({ samples }) => samples, call);
  t.equal(all, 5 * 3_600 * RATE);
  let bytes = 0;
  for await (const piece of decoded.read(blob('hours'), decoding, { from: 1_000, to: 900_000 }, call))
    bytes += piece.length;
  t.equal(bytes, 899_000);
});

t.test('a decoding ends when nobody wants it any more', async (t) => {
  const hours = silentFlac({ seconds: 6 * 3_600 - 1, rate: 48_000, block: 4_608 });
  const { decoded, decoders, blob } = await store(t, { hours });
  const gone = new AbortController();
  const decoding = { rate: RATE, length_ms: 6 * 3_600_000, goes_on: false };
  const asked = decoded.use(blob('hours'), decoding, async () => true, { owner: 'a', signal: gone.signal });
  await until('it is under way', () => decoders.long.counts.taken === 1);
  gone.abort();
  await t.rejects(asked, { code: 'STOPPED' });
  await until('its place is free', () => decoders.long.counts.taken === 0);
});
