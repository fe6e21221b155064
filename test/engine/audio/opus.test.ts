import t from 'tap';
import { type OggPage, pagesOf } from '../../../src/engine/audio/ogg.js';
import { readOpus } from '../../../src/engine/audio/opus.js';
import { opusFile } from '../../fixtures/opus_file.js';

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

t.test('anything else behind the last page is refused', async (t) => {
  const file = await changed(() => {});
  const mixed = Buffer.concat([Buffer.alloc(9_000), Buffer.alloc(9_000, 0xff)]);
  for (const more of [mixed, Buffer.concat([Buffer.alloc(9_000), file]), Buffer.from('x'), file.subarray(0, 10)])
    await t.rejects(readOpus(inPieces(Buffer.concat([file, more]), 4_096)), { name: 'NotOgg' });
  await t.rejects(readOpus(inPieces(Buffer.alloc(4_000))), { name: 'NotOgg' }, 'nothing but zeros');
});
