import { createHash } from 'node:crypto';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { type JoinedFile, joinChunks, readJoined } from '../../../src/engine/audio/joined_file.js';
import { OggPage, pagesOf } from '../../../src/engine/audio/ogg.js';
import { readOpus } from '../../../src/engine/audio/opus.js';
import { pcm16Format, readWav, writeWav } from '../../../src/engine/audio/wav.js';
import type { BlobStore } from '../../../src/engine/blobs/blob_store.js';
import { openFolderBlobStore } from '../../../src/engine/blobs/folder_blob_store.js';
import { type OpusShape, opusFile } from '../../fixtures/opus_file.js';
import { drawSeed, drawsOf } from '../../fixtures/seed.js';
import { tempFolder } from '../../fixtures/temp_folder.js';

const RUNS = drawsOf(60);
const fmt = pcm16Format({ channels: 1, frames_per_second: 8_000 });
const READER = { owner: 'a', signal: new AbortController().signal };
let stored = 0;

async function* once(bytes: Buffer) {
  yield bytes;
}

async function join(blobs: BlobStore, container: string, files: Buffer[]) {
  const folder = `00/s${stored++}`;
  const chunks = files.map((bytes, sequence) => ({
    ...{ key: `${folder}/c${sequence}`, sequence, codec: 'any', container, size_bytes: bytes.length },
    sha256: createHash('sha256').update(bytes).digest('hex'),
  }));
  for (const [index, { key, size_bytes, sha256: sha256_hex }] of chunks.entries())
    await blobs.put(key, once(files[index] as Buffer), { size_bytes, sha256_hex });
  return joinChunks(blobs, chunks, READER.signal);
}

async function joined(blobs: BlobStore, container: string, files: Buffer[]): Promise<JoinedFile> {
  const file = await join(blobs, container, files);
  if ('why' in file) throw new Error(file.why);
  return file;
}

async function read(file: JoinedFile, range?: { start: number; end: number }): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of readJoined(file, range ?? {}, READER)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Any range of the file is that slice of the whole. */
async function checkRanges(file: JoinedFile, whole: Buffer, cuts: [number, number][]): Promise<void> {
  if (whole.length !== file.size_bytes) throw new Error(`${whole.length} bytes of ${file.size_bytes}`);
  for (const [a, b] of cuts) {
    const [start, end] = [Math.min(a, b), Math.max(a, b)].map((cut) => Math.floor(cut * (whole.length - 1)));
    const range = { start: start as number, end: end as number };
    const found = await read(file, range);
    if (!found.equals(whole.subarray(range.start, range.end + 1))) throw new Error(`bytes ${start} to ${end} differ`);
  }
}

async function property<T>(t: Test, drawn: fc.Arbitrary<T>, holds: (drawn: T) => Promise<void>): Promise<void> {
  const seed = drawSeed(t);
  await fc.assert(fc.asyncProperty(drawn, holds), { seed, numRuns: RUNS });
  t.pass(`${RUNS} runs`);
}

const fraction = fc.double({ min: 0, max: 1, noNaN: true });
const cuts = fc.array(fc.tuple(fraction, fraction), { minLength: 1, maxLength: 6 });

t.test('WAVs as one', async (t) => {
  const blobs = await openFolderBlobStore(tempFolder(t));
  await t.test('any range is that slice of one file with all samples, whatever stood around them', async (t) => {
    const part = fc.record({
      samples: fc.uint8Array({ minLength: 1, maxLength: 400 }),
      tail: fc.nat(9),
      cut: fc.boolean(),
    });
    await property(t, fc.tuple(fc.array(part, { minLength: 1, maxLength: 5 }), cuts), async ([parts, of]) => {
      const frames = parts.map(({ samples }) =>
        Buffer.from(samples.subarray(0, samples.length - (samples.length % 2))),
      );
      if (frames.some(({ length }) => length === 0)) return;
      const files = parts.map(({ tail, cut }, index) => {
        const wav = writeWav({ fmt }, frames[index] as Buffer);
        if (cut) wav.writeUInt32LE(0xffff_ffff, 20 + 16 + 4); // as recorders leave it that wrote into a pipe
        return cut ? wav : Buffer.concat([wav, Buffer.from(`LIST${'\0'.repeat(4 + tail)}`)]);
      });
      const file = await joined(blobs, 'wav', files);
      const whole = await read(file);
      if (!whole.equals(writeWav({ fmt }, Buffer.concat(frames)))) throw new Error('not the WAV of all samples');
      await checkRanges(file, whole, of);
    });
  });

  await t.test('an odd number of bytes is filled up', async (t) => {
    const bytes = Buffer.from(pcm16Format({ channels: 1, frames_per_second: 8_000 }));
    bytes.writeUInt16LE(8, 14);
    bytes.writeUInt16LE(1, 12);
    const one = writeWav({ fmt: bytes }, Buffer.from([1, 2, 3]));
    const whole = await read(await joined(blobs, 'audio/wav', [one, writeWav({ fmt: bytes }, Buffer.from([4, 5]))]));
    t.same(whole, writeWav({ fmt: bytes }, Buffer.from([1, 2, 3, 4, 5])));
    const found = await readWav({
      size_bytes: whole.length,
      read: async (offset, length) => whole.subarray(offset, offset + length),
    });
    t.match(found, { ok: true, wav: { frames: 5 } });
  });

  await t.test('a header that lies far behind is found', async (t) => {
    const wav = writeWav({ fmt }, Buffer.from([1, 2, 3, 4]));
    const filler = Buffer.concat([Buffer.from('JUNK'), Buffer.from([0, 0x20, 0, 0]), Buffer.alloc(0x2000)]);
    const late = Buffer.concat([wav.subarray(0, 12), filler, wav.subarray(12)]);
    t.same(
      await read(await joined(blobs, 'wav', [late, wav])),
      writeWav({ fmt }, Buffer.from([1, 2, 3, 4, 1, 2, 3, 4])),
    );
  });

  await t.test('what can not be one file', async (t) => {
    const wav = writeWav({ fmt }, Buffer.from([1, 2]));
    const other = writeWav({ fmt: pcm16Format({ channels: 2, frames_per_second: 8_000 }) }, Buffer.alloc(4));
    const why = async (container: string, ...files: Buffer[]) =>
      ((await join(blobs, container, files)) as { why: string }).why;
    t.match(await why('wav'), /No audio/);
    t.match(await why('wav', wav, other), /^The chunk of sequence 1 has another format/);
    t.match(await why('wav', wav, Buffer.from('nonsense')), /^The chunk of sequence 1 does not begin as a WAV/);
    t.match(await why('webm', wav), /^Chunks in webm can not be joined/);
    t.match(await why('ogg', wav), /sequence 0 is not a sequence of Ogg pages/);
    const chunk = { key: '00/s/c', sequence: 0, codec: 'any', size_bytes: 1, sha256: '' };
    const mixed = await joinChunks(
      blobs,
      [
        { ...chunk, container: 'wav' },
        { ...chunk, container: 'ogg' },
      ],
      READER.signal,
    );
    t.match(mixed, { why: /wav and ogg/ });
  });
});

t.test('Opus in Ogg as one', async (t) => {
  const blobs = await openFolderBlobStore(tempFolder(t));
  const shape: fc.Arbitrary<OpusShape> = fc.record({
    serial: fc.nat(3),
    pre_skip: fc.nat(500),
    pages: fc.array(fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 5 }), {
      minLength: 1,
      maxLength: 4,
    }),
    trimmed: fc.nat(959),
    begins_at: fc.constantFrom(0, 0, 48_000),
    tags_bytes: fc.constantFrom(0, 300),
  });

  await t.test('what a memory card holds behind a file is not joined', async (t) => {
    const one = opusFile({ pages: [[100, 100]] });
    const files = [Buffer.concat([one, Buffer.alloc(5_000)]), Buffer.concat([one, Buffer.alloc(7, 0xff)])];
    const whole = await read(await joined(blobs, 'ogg', files));
    t.ok(whole.equals(await read(await joined(blobs, 'ogg', [one, one]))));
  });

  await t.test('one stream whose numbers go on, and any range of it is that slice', async (t) => {
    await property(t, fc.tuple(fc.array(shape, { minLength: 1, maxLength: 5 }), cuts), async ([shapes, of]) => {
      const file = await joined(blobs, 'ogg', shapes.map(opusFile));
      const whole = await read(file);
      await checkRanges(file, whole, of);
      const must = (holds: boolean, what: string) => {
        if (!holds) throw new Error(what);
      };
      const packets = shapes.map(({ pages }) => pages.flat().length);
      const samples = packets.reduce((sum, count) => sum + count * 960, 0);
      const found = await readOpus(once(whole));
      must(found.samples === samples, `${found.samples} samples of ${samples}`);
      const { trimmed = 0, pages, begins_at = 0 } = shapes.at(-1) as OpusShape;
      // Of a single page that begins later, nobody can tell how much of it is not to be heard.
      const unheard = pages.length === 1 && begins_at > 0 ? 0 : trimmed;
      must(found.trimmed === unheard, `${found.trimmed} samples are trimmed, not ${unheard}`);
      let sequence = 0;
      let granule = 0n;
      const all: OggPage[] = [];
      for await (const page of pagesOf(once(whole))) {
        must(page.bytes.readUInt32LE(18) === sequence++, 'a page is out of sequence');
        must(page.granule >= granule, 'time goes back');
        granule = page.granule;
        all.push(page);
      }
      must(granule === BigInt(samples - unheard), `it ends at ${granule}`);
      must(all.filter(({ flags }) => (flags & 2) !== 0).length === 1 && all[0]?.flags === 2, 'it begins once');
      must(all.filter(({ flags }) => (flags & 4) !== 0).length === 1 && all.at(-1)?.flags === 4, 'it ends once');
      const audio = async (bytes: Buffer) => {
        const bodies: Buffer[] = [];
        for await (const page of pagesOf(once(bytes)))
          if (!page.body.toString('latin1').startsWith('Opus')) bodies.push(page.body);
        return Buffer.concat(bodies);
      };
      const sent = Buffer.concat(await Promise.all(shapes.map((one) => audio(opusFile(one)))));
      must(sent.equals(await audio(whole)), 'the packets are those that were sent');
    });
  });

  await t.test('of a damaged file what is sound is joined', async (t) => {
    const whole = opusFile({ pages: [[10], [20], [30]] });
    const pages: OggPage[] = [];
    for await (const page of pagesOf(once(whole))) pages.push(page);
    const without = (at: number) => Buffer.concat(pages.filter((_, index) => index !== at).map(({ bytes }) => bytes));
    const read_back = async (...files: Buffer[]) => readOpus(once(await read(await joined(blobs, 'ogg', files))));
    t.match(await read_back(whole, whole.subarray(0, -1)), { samples: 5 * 960, lost: [] });
    t.match(await read_back(Buffer.concat([whole, whole]), whole), { samples: 9 * 960, header_pages: 2, lost: [] });
    t.match(
      await read_back(without(3), whole),
      { samples: 6 * 960, audio_pages: 6, lost: [] },
      'silence is part of it',
    );
  });

  await t.test('its tag is another one when a chunk is', async (t) => {
    const [a, b] = [opusFile({ pages: [[10]] }), opusFile({ pages: [[11]] })];
    const tags = await Promise.all(
      [[a], [b], [a, b], [b, a], [a, b]].map(async (files) => (await joined(blobs, 'ogg', files)).etag),
    );
    t.equal(new Set(tags).size, 4);
    t.equal(tags[2], tags[4]);
  });

  await t.test('what can not be one stream', async (t) => {
    const whole = opusFile({ pages: [[10], [20]] });
    const why = async (...files: Buffer[]) => ((await join(blobs, 'opus', files)) as { why: string }).why;
    t.match(await why(whole, opusFile({ channels: 2, pages: [[10]] })), /sequence 1 has other channels/);
    const other = Buffer.concat([whole, opusFile({ channels: 2, pages: [[10]] })]);
    t.match(await why(whole, other), /sequence 1 holds streams of several formats/);
    t.match(await why(opusFile({ pages: [] })), /holds no audio/);
    t.match(await why(Buffer.from('OggX')), /not a sequence of Ogg pages/);
    const vorbis = new OggPage(Buffer.from(whole));
    vorbis.bytes.write('\x01vorbis', 28, 'latin1');
    const length = 27 + 1 + (vorbis.bytes[27] as number);
    new OggPage(vorbis.bytes.subarray(0, length)).seal();
    t.match(await why(vorbis.bytes), /is not Opus/);
  });
});
