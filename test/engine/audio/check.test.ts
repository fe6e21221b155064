import { Readable } from 'node:stream';
import t from 'tap';
import { checkAudio } from '../../../src/engine/audio/check.js';
import { pcm16Format, writeWav } from '../../../src/engine/audio/wav.js';
import type { BlobStore } from '../../../src/engine/blobs/blob_store.js';
import { opusFile } from '../../fixtures/opus_file.js';

const format = pcm16Format({ channels: 1, frames_per_second: 8_000 });
const wav = writeWav({ fmt: format }, Buffer.alloc(16_000));
const chunk = { ...{ codec: 'pcm_s16le', container: 'wav' }, key: 'p/s/c', size_bytes: wav.length };

/** A store that counts how often a blob is opened. */
function storeOf(bytes: Buffer) {
  let opened = 0;
  const open: BlobStore['open'] = async (_key, { start = 0, end = bytes.length - 1 } = {}) => {
    opened += 1;
    return { size_bytes: bytes.length, stream: Readable.from([bytes.subarray(start, end + 1)]) };
  };
  return { store: { open } as BlobStore, opened: () => opened };
}

/** As bodies come, only smaller. */
function pieces(bytes: Buffer): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / 7) }, (_, nth) => bytes.subarray(nth * 7, nth * 7 + 7));
}

t.test('a WAV chunk is opened once, and not at all while its bytes are in memory', async (t) => {
  const processed = { status: 'processed', checked: true };
  const times = { source_start_ms: 0, source_end_ms: 1_000 };
  const disk = storeOf(wav);
  t.same(await checkAudio(disk.store, { ...chunk, ...times }), processed);
  t.equal(disk.opened(), 1);
  t.same(await checkAudio(disk.store, { ...chunk, ...times, parts: [wav] }), processed);
  t.equal(disk.opened(), 1, 'not again');
  t.match(await checkAudio(disk.store, { ...chunk, source_start_ms: 0, source_end_ms: 2_000, parts: [wav] }), {
    failure: { code: 'WRONG_DURATION' },
  });
  const cut = { ...chunk, ...times, parts: [wav.subarray(0, 40)], size_bytes: 40 };
  t.match(await checkAudio(disk.store, cut), { failure: { code: 'BAD_AUDIO' } });
});

t.test('a header that is longer than what is read at once is read to its end', async (t) => {
  const list = Buffer.alloc(8 + 10_000);
  list.write('LIST');
  list.writeUInt32LE(10_000, 4);
  const long = Buffer.concat([wav.subarray(0, 12), list, wav.subarray(12)]);
  const disk = storeOf(long);
  const asked = { ...chunk, size_bytes: long.length, source_start_ms: 0, source_end_ms: 1_000 };
  t.same(await checkAudio(disk.store, asked), { status: 'processed', checked: true });
  const opened = disk.opened();
  t.ok(opened > 1);
  t.same(await checkAudio(disk.store, { ...asked, parts: pieces(long) }), { status: 'processed', checked: true });
  t.equal(disk.opened(), opened, 'in pieces in memory');
});

t.test('of Opus, what is skipped at the start may count or not', async (t) => {
  const bytes = opusFile({ pre_skip: 312, pages: [[100, 100, 100, 100, 100]] });
  const asked = { codec: 'opus', container: 'ogg', key: 'p/s/c', size_bytes: bytes.length, source_start_ms: 0 };
  const { store } = storeOf(bytes);
  const statusOf = async (source_end_ms: number, parts?: Buffer[]) =>
    (await checkAudio(store, { ...asked, source_end_ms, parts })).status;
  // Five packets of 20 ms; 312 samples of 48,000 a second are 6.5 ms.
  const rows = { 92: 'failed', 93: 'processed', 94: 'processed', 100: 'processed', 101: 'processed', 102: 'failed' };
  for (const [duration_ms, status] of Object.entries(rows)) {
    t.equal(await statusOf(Number(duration_ms)), status, duration_ms);
    t.equal(await statusOf(Number(duration_ms), pieces(bytes)), status, `${duration_ms}, in memory`);
  }
});
