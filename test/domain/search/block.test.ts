import fc from 'fast-check';
import t from 'tap';
import { Block, type BlockText, encodeBlock } from '../../../src/domain/search/block.js';
import { stemmerOf } from '../../../src/domain/search/stemmers.js';
import { kindTerm, termsIn, wordTerm } from '../../../src/domain/search/words.js';
import { postingsOf } from '../../fixtures/postings.js';

const SOURCE = '0190a1b2-c3d4-7e5f-8091-a2b3c4d5e6f7';
const term = fc.integer({ min: 1, max: 400 });
const some: fc.Arbitrary<BlockText> = fc.record({
  serial: fc.integer({ min: 0, max: 131_071 }),
  start_ms: fc.integer({ min: 0, max: 599_999 }),
  speaker: fc.integer({ min: 0, max: 4_096 }),
  contact_id: fc.constantFrom(undefined, null, SOURCE, SOURCE.replace('0190', '0191')),
  stemmer: fc.constantFrom(...['en', 'de', 'fr', null].map(stemmerOf)),
  said: fc
    .array(fc.oneof(term, fc.constantFrom(2 ** 16, 2 ** 16 + 1, 2 ** 32 - 1)), { maxLength: 60 })
    .map((terms) => ({
      words: Math.ceil(terms.length / 2),
      terms: Uint32Array.from(terms),
    })),
  marks: fc.constantFrom([], [kindTerm('task')]),
});

t.test('K-105 a block holds what its texts say', async (t) => {
  fc.assert(
    fc.property(fc.array(some, { maxLength: 300 }), fc.integer({ min: 0, max: 2 ** 47 }), (texts, begins_at_ms) => {
      const block = new Block(encodeBlock({ begins_at_ms, source_id: SOURCE }, texts));
      t.equal(block.begins_at_ms, begins_at_ms);
      t.equal(block.source_id, SOURCE);
      t.equal(block.texts, texts.length);
      t.equal(
        block.words,
        texts.reduce((sum, { said }) => sum + said.words, 0),
      );
      for (const [at, text] of texts.entries()) {
        const { serial, start_ms, speaker, contact_id, stemmer, said } = text;
        const found = [
          block.serial(at),
          block.start_ms(at),
          block.speaker(at),
          block.contacts.get(at),
          block.stemmer(at),
        ];
        t.same(found, [serial, start_ms, speaker, contact_id, stemmer]);
        t.equal(block.length(at), said.words);
      }
      const expected = counted(texts);
      for (const wanted of [...expected.keys(), 0, 401, 2 ** 32 - 1]) {
        t.same(postingsOf(block, wanted), expected.get(wanted) ?? [], `term ${wanted}`);
      }
    }),
    { numRuns: 60 },
  );
});

t.test('K-105 a block of many terms keeps them apart', async (t) => {
  const many = Array.from({ length: 5_000 }, (_, at) => Math.imul(at + 1, 0x9e3779b1) >>> 0);
  const [first, ...others] = many as [number, ...number[]];
  const texts = [others.slice(0, 1_000), others.slice(1_000, 2_000), others.slice(2_000, 3_000)].map((terms, at) => ({
    ...{ serial: at, start_ms: at, speaker: 0, stemmer: stemmerOf('en') },
    said: { words: terms.length, terms: Uint32Array.from(terms) },
  }));
  const block = new Block(encodeBlock({ begins_at_ms: 0, source_id: null }, texts));
  for (const [at, term] of others.entries()) {
    const expected = at < 3_000 ? [[Math.floor(at / 1_000), 1]] : [];
    if (JSON.stringify(postingsOf(block, term)) !== JSON.stringify(expected)) t.fail(`term ${term}`);
  }
  t.same(postingsOf(block, first), []);
  for (const term of [1, 2 ** 24 - 1, 2 ** 24, 2 ** 32 - 1]) t.same(postingsOf(block, term), []);
});

t.test('K-105 a block of long postings', async (t) => {
  const words = Array.from({ length: 80 }, (_, at) => at + 1);
  const text = (at: number): BlockText => ({
    ...{ serial: at, start_ms: at, speaker: 0, stemmer: stemmerOf('en') },
    said: { words: words.length, terms: Uint32Array.from(words) },
  });
  const block = new Block(
    encodeBlock(
      { begins_at_ms: 0, source_id: null },
      Array.from({ length: 1_024 }, (_, at) => text(at)),
    ),
  );
  for (const word of words) t.equal(postingsOf(block, word).length, 1_024);
  t.same(postingsOf(block, 81), []);
});

t.test('K-105 what is no block is refused', async (t) => {
  const bytes = encodeBlock({ begins_at_ms: 0, source_id: null }, [
    { serial: 0, start_ms: 0, speaker: 0, stemmer: stemmerOf('en'), said: termsIn('one two three', stemmerOf('en')) },
  ]);
  t.equal(new Block(bytes).source_id, null);
  t.throws(() => new Block(bytes.subarray(0, 20)), RangeError);
  t.throws(() => new Block(bytes.subarray(0, 45)), RangeError);
  t.throws(() => new Block(Uint8Array.from(bytes).fill(9, 0, 1)), RangeError, 'a later version');
  t.same(postingsOf(new Block(bytes), wordTerm('two')), [[0, 1]]);
});

/** By term: text and how often, as the texts say it. */
function counted(texts: BlockText[]): Map<number, [number, number][]> {
  const found = new Map<number, [number, number][]>();
  for (const [at, { said, marks = [] }] of texts.entries()) {
    const of_text = [...said.terms, ...marks];
    for (const one of new Set(of_text)) {
      const count = of_text.filter((other) => other === one).length;
      found.set(one, [...(found.get(one) ?? []), [at, count]]);
    }
  }
  return found;
}
