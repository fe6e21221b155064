import t from 'tap';
import { OggPage, pagesOf } from '../../../src/engine/audio/ogg.js';
import { readOpus, soundOpus } from '../../../src/engine/audio/opus.js';
import { SeededRandom } from '../../../src/engine/random/seeded_random.js';
import { opusFile } from '../../fixtures/opus_file.js';
import { drawSeed, drawsOf } from '../../fixtures/seed.js';

/** Opus in Ogg as recorders really write it. */

async function* inPieces(bytes: Buffer, size = bytes.length) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** A file of a second, ten pages, changed page by page; `index`: of the pages of audio. */
async function changed(change: (page: OggPage, index: number) => void, trimmed = 0): Promise<Buffer> {
  const bytes = opusFile({ pages: Array.from({ length: 10 }, () => Array(5).fill(100)), trimmed });
  const pages: Buffer[] = [];
  for await (const page of pagesOf(inPieces(bytes))) {
    if (pages.length >= 2) change(page, pages.length - 2);
    page.seal();
    pages.push(page.bytes);
  }
  return Buffer.concat(pages);
}

const SAMPLES = 48_000;
const PAGE_SAMPLES = 4_800;

t.test('what the last page cuts off is no more than its own packets', async (t) => {
  for (const [cut, trimmed] of [
    [0, 0],
    [300, 300],
    [PAGE_SAMPLES, PAGE_SAMPLES],
    [PAGE_SAMPLES + 1, 0],
    [-300, 0],
  ] as const)
    t.match(await readOpus(inPieces(await changed(() => {}, cut))), { samples: SAMPLES, trimmed }, `${cut}`);
});

t.test('where granule positions are wrong, packets are counted', async (t) => {
  const wrong: [string, (page: OggPage, index: number) => void][] = [
    ['a third of what they should be', (page) => Object.assign(page, { granule: page.granule / 3n })],
    ['bytes', (page, index) => Object.assign(page, { granule: BigInt((index + 1) * 505) })],
    ['zero', (page) => Object.assign(page, { granule: 0n })],
    ['milliseconds', (page, index) => Object.assign(page, { granule: BigInt((index + 1) * 100) })],
    [
      'wrong in the middle, and almost right at the end',
      (page, index) => index === 4 && Object.assign(page, { granule: 7n }),
    ],
  ];
  for (const [says, change] of wrong)
    t.match(await readOpus(inPieces(await changed(change, 300))), { samples: SAMPLES, trimmed: 0 }, says);
  const one_page = opusFile({ pages: [[100, 100]], trimmed: 2 * 960 });
  t.match(await readOpus(inPieces(one_page)), { samples: 2 * 960, trimmed: 0 }, 'zero, in a file of one page');
});

t.test('zeros or FF behind the last page are no part of the file', async (t) => {
  const file = await changed(() => {});
  const found = await readOpus(inPieces(file));
  t.equal(found.header_bytes + found.audio_bytes, file.length);
  for (const byte of [0, 0xff])
    for (const size of [1, 7, 186, 40_000, 1_000_000])
      t.same(
        await readOpus(inPieces(Buffer.concat([file, Buffer.alloc(size, byte)]), 4_096)),
        found,
        `${size} of ${byte}`,
      );
});

const FILE = opusFile({ pages: Array.from({ length: 10 }, () => Array(5).fill(100)), trimmed: 300 });

async function pagesIn(bytes: Buffer): Promise<OggPage[]> {
  const pages: OggPage[] = [];
  for await (const page of pagesOf(inPieces(bytes))) pages.push(page);
  return pages;
}

function bytesOf(pages: readonly OggPage[]): Buffer {
  return Buffer.concat(pages.map(({ bytes }) => bytes));
}

async function allOf(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

function damage(page: OggPage | undefined): void {
  const at = (page?.bytes.length ?? 0) - 1;
  page?.bytes.writeUInt8((page.bytes[at] as number) ^ 1, at);
}

t.test('what a file holds beside what is damaged, cut off or missing is read', async (t) => {
  const audio = (index: number) => index + 2;
  const lost = [[4 * PAGE_SAMPLES, 5 * PAGE_SAMPLES]];
  const whole = { samples: SAMPLES, trimmed: 300, lost: [] };
  const rows: [string, (pages: OggPage[]) => Buffer, object][] = [
    ['four bytes short', () => FILE.subarray(0, -4), { samples: SAMPLES - PAGE_SAMPLES, trimmed: 0, lost: [] }],
    ['cut within the head of a page', (pages) => bytesOf(pages).subarray(0, 20 - FILE.length / 2), { lost: [] }],
    [
      'a damaged page',
      (pages) => {
        damage(pages[audio(4)]);
        return bytesOf(pages);
      },
      { ...whole, lost },
    ],
    ['a page is missing', (pages) => bytesOf(pages.filter((_, at) => at !== audio(4))), { ...whole, lost }],
    [
      'something else between two pages',
      (pages) => Buffer.concat([bytesOf(pages.slice(0, 6)), Buffer.alloc(999, 'OggX'), bytesOf(pages.slice(6))]),
      whole,
    ],
    [
      'two pages that say they are the last',
      (pages) => {
        const page = pages.at(-2) as OggPage;
        page.flags = 4;
        page.seal();
        return bytesOf(pages);
      },
      whole,
    ],
    ['two streams, one after the other', () => Buffer.concat([FILE, FILE]), { samples: 2 * SAMPLES, lost: [] }],
    [
      'a second stream without its headers',
      (pages) => Buffer.concat([FILE, bytesOf(pages.slice(0, 1)), bytesOf(pages.slice(2))]),
      { samples: 2 * SAMPLES, lost: [] },
    ],
    [
      'a stream of another codec beside it',
      ([first, ...pages]) => {
        const [other, more] = [first, pages[3]].map((page) => new OggPage(Buffer.from((page as OggPage).bytes)));
        for (const page of [other, more]) {
          if (page === undefined) continue;
          page.serial = 99;
          page.body.write('fishead', 'latin1');
          page.seal();
        }
        return bytesOf([other, first, ...pages.slice(0, 5), more, ...pages.slice(5)] as OggPage[]);
      },
      whole,
    ],
    [
      'audio on the page of its tags',
      ([first, tags, audio, ...more]) => {
        const pages = [tags, audio] as OggPage[];
        const parts = (of: 'lacing' | 'body') => Buffer.concat(pages.map((page) => page[of]));
        const both = OggPage.of({ lacing: parts('lacing'), body: parts('body') }, audio as OggPage);
        return bytesOf([first as OggPage, both, ...more]);
      },
      whole,
    ],
    [
      '512 zeros, then FF, then text',
      () => Buffer.concat([FILE, Buffer.alloc(512), Buffer.alloc(9, 255), Buffer.from('Ogg')]),
      whole,
    ],
  ];
  for (const [says, change, expected] of rows) {
    const bytes = change(await pagesIn(FILE));
    for (const size of [bytes.length, 100]) t.match(await readOpus(inPieces(bytes, size)), expected, says);
    const mended = await readOpus(inPieces(await allOf(soundOpus(inPieces(bytes)))));
    const { samples, trimmed } = await readOpus(inPieces(bytes));
    t.match(mended, { samples, trimmed, lost: [] }, `${says}, for a decoder`);
  }
});

t.test('of a packet that is not whole nothing is read', async (t) => {
  const [head, tags] = await pagesIn(FILE);
  const packet = (length: number) => Buffer.alloc(length, 7).fill(31 << 3, 0, 1);
  const place = { serial: 7, flags: 0 };
  const audio = [
    OggPage.of(
      { lacing: Buffer.from([9, 255]), body: Buffer.concat([packet(9), packet(255)]) },
      { ...place, sequence: 2, granule: 960n },
    ),
    OggPage.of(
      { lacing: Buffer.from([5, 9]), body: Buffer.concat([Buffer.alloc(5, 7), packet(9)]) },
      { ...place, flags: 1, sequence: 3, granule: 2_880n },
    ),
    OggPage.of({ lacing: Buffer.from([9]), body: packet(9) }, { ...place, sequence: 4, granule: 3_840n }),
  ];
  const read = async (...damaged: number[]) => {
    const pages = audio.map(({ bytes }) => new OggPage(Buffer.from(bytes)));
    for (const at of damaged) damage(pages[at]);
    return readOpus(inPieces(bytesOf([head, tags, ...pages] as OggPage[])));
  };
  t.match(await read(), { samples: 4 * 960, lost: [] });
  t.match(await read(0), { samples: 2 * 960, lost: [] }, 'nothing tells where the audio began');
  t.match(await read(1), { samples: 4 * 960, lost: [[960, 2_880]] });
  t.match(await read(2), { samples: 3 * 960, lost: [] });
  t.match(await read(1, 2), { samples: 960, lost: [] });
});

t.test('silence stands for at most ten minutes', async (t) => {
  const pages = await pagesIn(FILE);
  const with_gap = (samples: bigint) => {
    for (const page of pages.slice(7)) {
      page.granule += samples;
      page.sequence += 1;
      page.seal();
    }
    return readOpus(inPieces(bytesOf(pages)));
  };
  t.match(await with_gap(600n * 48_000n), { samples: SAMPLES + 600 * 48_000 });
  t.match(await with_gap(960n), { samples: SAMPLES, lost: [] });
});

t.test('what a decoder gets is sound, whatever is damaged', async (t) => {
  const random = new SeededRandom(drawSeed(t));
  let read = 0;
  for (let file = 0; file < drawsOf(200); file++) {
    const bytes = Buffer.concat([FILE, FILE]);
    for (let change = random.below(8); change >= 0; change--) bytes[random.below(bytes.length)] = random.below(256);
    const cut = bytes.subarray(0, random.below(bytes.length));
    const found = await readOpus(inPieces(cut)).catch((error: Error) => error.name);
    if (typeof found === 'string') {
      t.match(found, /^NotO/);
      continue;
    }
    read += 1;
    const mended = await readOpus(inPieces(await allOf(soundOpus(inPieces(cut, 500)))));
    if (mended.samples !== found.samples || mended.lost.length > 0) t.same(mended, found);
  }
  t.ok(read > 0, `${read} files`);
});

t.test('what is no Opus in Ogg is refused', async (t) => {
  await t.rejects(readOpus(inPieces(Buffer.alloc(4_000))), { name: 'NotOgg' }, 'nothing but zeros');
  await t.rejects(readOpus(inPieces(FILE.subarray(0, 60))), { name: 'NotOgg', message: 'holds no audio' });
  const stereo = opusFile({ channels: 2, pages: [[10]] });
  await t.rejects(readOpus(inPieces(Buffer.concat([FILE, stereo]))), { message: 'holds streams of several formats' });
  const pages = await pagesIn(FILE);
  for (const page of pages) damage(page);
  const damaged = bytesOf(Array.from({ length: 8_000 }, () => pages).flat());
  await t.rejects(readOpus(inPieces(Buffer.concat([FILE, damaged]))), { message: 'has too many damaged pages' });
});
