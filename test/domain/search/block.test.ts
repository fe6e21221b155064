import fc from 'fast-check';
import t from 'tap';
import { Block, type BlockText, encodeBlock } from '../../../src/domain/search/block.js';
import { stemmerOf } from '../../../src/domain/search/stemmers.js';
import { kindTerm, type Terms, termsIn, wordTerm } from '../../../src/domain/search/words.js';

const SOURCE = '0190a1b2-c3d4-7e5f-8091-a2b3c4d5e6f7';
const term = fc.integer({ min: 1, max: 400 });
const some: fc.Arbitrary<BlockText> = fc.record({
  serial: fc.integer({ min: 0, max: 131_071 }),
  start_ms: fc.integer({ min: 0, max: 599_999 }),
  speaker: fc.integer({ min: 0, max: 4_096 }),
  contact_id: fc.constantFrom(undefined, null, SOURCE, SOURCE.replace('0190', '0191')),
  stemmer: fc.constantFrom(...['en', 'de', 'fr', null].map(stemmerOf)),
  terms: fc.array(fc.record({ word: term, stem: fc.constantFrom(0, 500, 501), sound: fc.constantFrom(0, 600) }), {
    maxLength: 40,
  }),
  marks: fc.constantFrom([], [kindTerm('task')]),
});

t.test('K-015: a block holds what its texts say', async (t) => {
  fc.assert(
    fc.property(fc.array(some, { maxLength: 300 }), fc.integer({ min: 0, max: 2 ** 47 }), (texts, begins_at_ms) => {
      const block = new Block(encodeBlock({ begins_at_ms, source_id: SOURCE }, texts));
      t.equal(block.begins_at_ms, begins_at_ms);
      t.equal(block.source_id, SOURCE);
      t.equal(block.texts, texts.length);
      t.equal(
        block.words,
        texts.reduce((sum, { terms }) => sum + terms.length, 0),
      );
      for (const [at, text] of texts.entries()) {
        const { serial, start_ms, speaker, contact_id, stemmer, terms } = text;
        const found = [
          block.serial(at),
          block.start_ms(at),
          block.speaker(at),
          block.contacts.get(at),
          block.stemmer(at),
        ];
        t.same(found, [serial, start_ms, speaker, contact_id, stemmer]);
        t.equal(block.length(at), terms.length);
      }
      const expected = counted(texts);
      for (const wanted of [...expected.keys(), 0, 401, 2 ** 32 - 1]) {
        t.same(postingsOf(block, wanted), expected.get(wanted) ?? [], `term ${wanted}`);
      }
    }),
    { numRuns: 60 },
  );
});

t.test('K-015: what is no block is refused', async (t) => {
  const bytes = encodeBlock({ begins_at_ms: 0, source_id: null }, [
    { serial: 0, start_ms: 0, speaker: 0, stemmer: stemmerOf('en'), terms: termsIn('one two three', 'en') },
  ]);
  t.equal(new Block(bytes).source_id, null);
  t.throws(() => new Block(bytes.subarray(0, 20)), RangeError);
  t.throws(() => new Block(bytes.subarray(0, 45)), RangeError);
  t.throws(() => new Block(Uint8Array.from(bytes).fill(9, 0, 1)), RangeError, 'a later version');
  t.same(postingsOf(new Block(bytes), wordTerm('two')), [[0, 1]]);
});

function postingsOf(block: Block, term: number): [number, number][] {
  const [texts, counts] = [new Uint16Array(block.texts), new Uint16Array(block.texts)];
  const found = block.readPostings(term, texts, counts);
  return [...texts.subarray(0, found)].map((text, at) => [text, counts[at] as number]);
}

/** By term: text and how often, as the texts say it. */
function counted(texts: BlockText[]): Map<number, [number, number][]> {
  const found = new Map<number, [number, number][]>();
  for (const [at, { terms, marks = [] }] of texts.entries()) {
    const of_text = [...terms.flatMap(({ word, stem, sound }: Terms) => [word, stem, sound]), ...marks];
    for (const one of new Set(of_text)) {
      if (one === 0) continue;
      const count = of_text.filter((other) => other === one).length;
      found.set(one, [...(found.get(one) ?? []), [at, count]]);
    }
  }
  return found;
}
