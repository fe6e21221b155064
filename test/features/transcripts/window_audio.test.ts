import fc from 'fast-check';
import t from 'tap';
import { LIMITS } from '../../../src/domain/limits.js';
import { pagesOf } from '../../../src/engine/audio/ogg.js';
import { readOpus } from '../../../src/engine/audio/opus.js';
import { isSilent } from '../../../src/engine/audio/samples.js';
import { plainFormat, readWav } from '../../../src/engine/audio/wav.js';
import { onTimeline, type WindowFile } from '../../../src/features/transcripts/window_audio.js';
import { opusFile } from '../../fixtures/opus_file.js';
import { drawSeed, drawsOf } from '../../fixtures/seed.js';
import { counting, StoredStream, wav16 } from '../../fixtures/window.js';

const RUNS = drawsOf(60);
const PCM = { codec: 'pcm_s16le', container: 'raw', sample_rate_hz: 1_000, channels: 1 };
const OPUS = { codec: 'opus', container: 'ogg' };

/** The samples of a WAV that must be sound. */
async function samplesOf({ bytes }: Pick<WindowFile, 'bytes'>): Promise<Buffer> {
  const read = async (offset: number, length: number) => bytes.subarray(offset, offset + length);
  const found = await readWav({ size_bytes: bytes.length, read });
  if (!found.ok) throw new Error('no whole WAV');
  const { data_offset, frames, format } = found.wav;
  return bytes.subarray(data_offset, data_offset + frames * format.frame_bytes);
}

async function* once(bytes: Buffer) {
  yield bytes;
}

t.test('WAV and raw samples', async (t) => {
  await t.test('a window has exactly its samples, over holes and overlaps', async (t) => {
    const stream = await StoredStream.open(t);
    await stream.add([0, 1_000], wav16(counting(1_000, 0)));
    await stream.add([1_000, 2_000], counting(1_000, 1_000), PCM);
    await stream.add([1_500, 2_500], wav16(counting(1_000, 1_500)));
    await stream.add([4_000, 5_000], wav16(counting(1_000, 4_000)));
    const [file, ...more] = await stream.files(250, 4_500);
    t.same(more, []);
    t.match(file, { kind: 'wav', content_type: 'audio/wav', extension: 'wav', silent: false });
    const samples = Buffer.concat([counting(2_250, 250), counting(500, 4_000)]);
    t.ok((await samplesOf(file as WindowFile)).equals(samples), 'each sample once, in order');
    t.same(file?.parts, [
      { file_ms: 0, start_ms: 250, end_ms: 1_000, length_ms: 750 },
      { file_ms: 750, start_ms: 1_000, end_ms: 2_000, length_ms: 1_000 },
      { file_ms: 1_750, start_ms: 2_000, end_ms: 2_500, length_ms: 500 },
      { file_ms: 2_250, start_ms: 4_000, end_ms: 4_500, length_ms: 500 },
    ]);
    t.same(file?.counts, { start_ms: 250, end_ms: 4_500 });
  });

  await t.test('windows that meet share all samples between them, each once, wherever they are cut', async (t) => {
    const drawn = fc.record({
      // Longer or shorter than they say, by what is let through.
      lengths: fc.array(fc.integer({ min: 990, max: 1_010 }), { minLength: 1, maxLength: 4 }),
      cuts: fc.array(fc.integer({ min: 1, max: 3_999 }), { maxLength: 5 }),
    });
    const holds = async ({ lengths, cuts }: { lengths: number[]; cuts: number[] }) => {
      const stream = await StoredStream.open(t);
      let first = 0;
      for (const [index, length] of lengths.entries()) {
        await stream.add([index * 1_000, (index + 1) * 1_000], wav16(counting(length, first)));
        first += length;
      }
      const edges = [0, ...new Set(cuts.sort((a, b) => a - b)), 4_000];
      const found: Buffer[] = [];
      for (const [index, from] of edges.slice(0, -1).entries())
        for (const file of await stream.files(from, edges[index + 1] as number)) found.push(await samplesOf(file));
      return Buffer.concat(found).equals(counting(first, 0));
    };
    await fc.assert(fc.asyncProperty(drawn, holds), { seed: drawSeed(t), numRuns: RUNS });
    t.pass(`${RUNS} runs`);
  });

  await t.test('other formats, and more than fits, are further files', async (t) => {
    const stream = await StoredStream.open(t);
    await stream.add([0, 1_000], wav16(counting(1_000)));
    await stream.add([1_000, 2_000], wav16(counting(2_000), 2_000));
    await stream.add([2_000, 3_000], wav16(counting(2_000, 2_001), 2_000));
    const files = await stream.files(0, 3_000);
    t.same(
      files.map(({ parts, wav }) => [parts.length, wav?.frames, wav?.format.frames_per_second]),
      [
        [1, 1_000, 1_000],
        [2, 4_000, 2_000],
      ],
    );
    const large = await StoredStream.open(t);
    const half = wav16(Buffer.alloc(LIMITS.window_file_bytes_max / 2 + 2, 1));
    for (const start of [0, 1_000]) await large.add([start, start + 1_000], half);
    const bytes = (await large.files(0, 2_000)).map((file) => file.bytes.length);
    t.same(bytes, [half.length, half.length]);
  });

  await t.test('bytes that are gone are a hole; what only says it is a WAV goes as it is', async (t) => {
    const stream = await StoredStream.open(t);
    await stream.add([0, 1_000], wav16(counting(1_000)));
    const gone = await stream.add([1_000, 2_000], wav16(counting(1_000, 1_001)));
    await stream.add([2_000, 3_000], wav16(counting(1_000, 2_001)));
    await stream.remove(gone);
    const [file, ...more] = await stream.files(0, 3_000);
    t.same(more, []);
    t.same(await samplesOf(file as WindowFile), Buffer.concat([counting(1_000), counting(1_000, 2_001)]));
    t.equal(onTimeline(file?.parts ?? [], 1_500, 'start'), 2_500);
    const odd = await StoredStream.open(t);
    await odd.add([0, 1_000], Buffer.from('no WAV at all'));
    t.match(await odd.files(0, 500), [{ kind: 'other', bytes: Buffer.from('no WAV at all'), wav: null }]);
  });

  await t.test(
    'silence is known in every form of samples, and a tenth of a second above -70 dBFS is none',
    async (t) => {
      const write: [codec: string, write: (samples: Buffer, at: number, value: number) => unknown][] = [
        ['pcm_s16le', (samples, at, value) => samples.writeInt16LE(Math.round(value * 0x8000), at)],
        ['pcm_s24le', (samples, at, value) => samples.writeIntLE(Math.round(value * 0x80_0000), at, 3)],
        ['pcm_s32le', (samples, at, value) => samples.writeInt32LE(Math.round(value * 0x8000_0000), at)],
        ['pcm_f32le', (samples, at, value) => samples.writeFloatLE(value, at)],
        ['pcm_f64le', (samples, at, value) => samples.writeDoubleLE(value, at)],
      ];
      for (const [codec, writeAt] of write) {
        const format = plainFormat(codec, { channels: 2, frames_per_second: 8_000 });
        const sample_bytes = format.frame_bytes / 2;
        const samples = Buffer.alloc(format.frame_bytes * 8_000);
        t.equal(await isSilent(format, samples), true, `${codec}: nothing`);
        for (const [dbfs, is_silent] of [
          [-71, true],
          [-69, false],
        ] as const) {
          for (let at = samples.length - 800 * format.frame_bytes; at < samples.length; at += sample_bytes)
            writeAt(samples, at, 10 ** (dbfs / 20));
          t.equal(await isSilent(format, samples), is_silent, `${codec}: ${dbfs} dBFS`);
        }
      }
    },
  );

  await t.test('samples of eight bits are silent at their middle alone', async (t) => {
    const format = plainFormat('pcm_u8', { channels: 1, frames_per_second: 8_000 });
    t.equal(await isSilent(format, Buffer.alloc(8_000, 128)), true);
    t.equal(await isSilent(format, Buffer.alloc(8_000, 129)), false);
  });

  await t.test('what is no number is not silent', async (t) => {
    const format = plainFormat('pcm_f32le', { channels: 1, frames_per_second: 8_000 });
    const samples = Buffer.alloc(4_000);
    samples.writeFloatLE(Number.NaN, 400);
    t.equal(await isSilent(format, samples), false);
  });

  await t.test('a file of dither is silent', async (t) => {
    const stream = await StoredStream.open(t);
    const dither = Buffer.from(counting(3, -1));
    await stream.add([0, 3], wav16(dither));
    t.match(await stream.files(0, 3), [{ silent: true }]);
  });
});

t.test('Opus in Ogg', async (t) => {
  /** Ten pages of 100 ms. */
  const second = (seed: number) => opusFile({ pages: Array.from({ length: 10 }, () => [9, 9, 9, 9, seed]) });

  await t.test('pages that begin in the window are one sound file, numbered anew', async (t) => {
    const stream = await StoredStream.open(t);
    await stream.add([0, 1_000], second(10), OPUS);
    await stream.add([1_000, 2_000], second(11), OPUS);
    const [file, ...more] = await stream.files(250, 1_600);
    t.same(more, []);
    t.match(file, { kind: 'ogg', content_type: 'audio/ogg', extension: 'ogg', silent: false });
    const read = await readOpus(once(file?.bytes ?? Buffer.alloc(0)));
    t.match(read, { header_pages: 2, audio_pages: 7 + 6, samples: 13 * 4_800, trimmed: 0 });
    t.same(file?.parts, [
      { file_ms: 0, start_ms: 300, end_ms: 1_000, length_ms: 700 },
      { file_ms: 700, start_ms: 1_000, end_ms: 1_600, length_ms: 600 },
    ]);
    const granules: bigint[] = [];
    for await (const page of pagesOf(once(file?.bytes ?? Buffer.alloc(0)))) granules.push(page.granule);
    t.same(
      granules.slice(2),
      Array.from({ length: 13 }, (_, page) => BigInt((page + 1) * 4_800)),
    );
    t.equal(file?.bytes.readUInt16LE(28 + 10), 0, 'nothing is skipped at the start');
  });

  await t.test('what is damaged is silence, and told of where it lies in the window', async (t) => {
    const stream = await StoredStream.open(t);
    const damaged = second(10);
    const page_bytes = 27 + 5 + 4 * 9 + 10;
    const at = damaged.length - 4 * page_bytes - 1;
    damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at);
    await stream.add([0, 1_000], damaged, OPUS);
    const [file] = await stream.files(0, 1_000);
    t.match(file?.parts, [{ start_ms: 0, end_ms: 1_000, length_ms: 1_000 }]);
    t.match(stream.lost, [{ start_ms: 500, end_ms: 600, code: 'AUDIO_DAMAGED' }]);
    await stream.files(0, 550);
    t.match(stream.lost.slice(1), [{ start_ms: 500, end_ms: 550, code: 'AUDIO_DAMAGED' }]);
  });

  await t.test('windows that meet share all pages between them, each once', async (t) => {
    const drawn = fc.tuple(
      fc.array(fc.array(fc.integer({ min: 1, max: 600 }), { minLength: 1, maxLength: 6 }), {
        minLength: 1,
        maxLength: 8,
      }),
      fc.array(fc.integer({ min: 1, max: 999 }), { maxLength: 4 }),
      fc.nat(900),
    );
    const holds = async ([pages, cuts, trimmed]: [number[][], number[], number]) => {
      const stream = await StoredStream.open(t);
      const whole = opusFile({ pages, trimmed });
      await stream.add([0, 1_000], whole, OPUS);
      const bodies = async (bytes: Buffer) => {
        const found: Buffer[] = [];
        for await (const page of pagesOf(once(bytes))) found.push(page.body);
        return Buffer.concat(found.slice(2));
      };
      const edges = [0, ...new Set(cuts.sort((a, b) => a - b)), 1_000];
      const found: Buffer[] = [];
      for (const [index, from] of edges.slice(0, -1).entries()) {
        for (const { bytes } of await stream.files(from, edges[index + 1] as number)) {
          await readOpus(once(bytes));
          found.push(await bodies(bytes));
        }
      }
      return Buffer.concat(found).equals(await bodies(whole));
    };
    await fc.assert(fc.asyncProperty(drawn, holds), { seed: drawSeed(t), numRuns: RUNS });
    t.pass(`${RUNS} runs`);
  });
});

t.test('what nobody here can cut goes whole, and is named after its container', async (t) => {
  const stream = await StoredStream.open(t);
  await stream.add([0, 1_000], Buffer.from('webm'), { codec: 'opus', container: 'audio/webm; codecs=opus' });
  await stream.add([1_000, 2_000], Buffer.from('mp3'), { codec: 'mp3', container: 'MP3' });
  await stream.add([1_500, 2_500], Buffer.from('amr'), { codec: 'amr', container: 'audio/amr' });
  await stream.add([2_500, 3_000], Buffer.from('odd'), { codec: 'x', container: '../../etc/passwd' });
  t.match(await stream.files(500, 3_000), [
    { kind: 'other', content_type: 'audio/webm', extension: 'webm', counts: { start_ms: 500, end_ms: 1_000 } },
    { kind: 'other', content_type: 'audio/mpeg', extension: 'mp3', parts: [{ start_ms: 1_000, end_ms: 2_000 }] },
    { content_type: 'application/octet-stream', extension: 'amr', counts: { start_ms: 2_000, end_ms: 2_500 } },
    { content_type: 'application/octet-stream', extension: 'bin' },
  ]);
});

t.test('a moment of the file has its place on the timeline', async (t) => {
  const parts = [
    { file_ms: 0, length_ms: 1_000, start_ms: 5_000, end_ms: 6_000 },
    { file_ms: 1_000, length_ms: 1_000, start_ms: 60_000, end_ms: 61_010 },
  ];
  const rows: [number, 'start' | 'end', number][] = [
    [0, 'start', 5_000],
    [0, 'end', 5_000],
    [500, 'start', 5_500],
    [1_000, 'end', 6_000],
    [1_000, 'start', 60_000],
    [1_500, 'start', 60_505],
    [2_000, 'end', 61_010],
    [9_000, 'end', 61_010],
    [-1, 'start', 5_000],
  ];
  for (const [ms, side, wanted] of rows) t.equal(onTimeline(parts, ms, side), wanted, `${ms} ${side}`);
});
