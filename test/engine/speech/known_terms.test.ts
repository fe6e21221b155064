import t from 'tap';
import { KnownTerms } from '../../../src/engine/speech/known_terms.js';

const TERMS = new KnownTerms([
  ...['Kowalski', 'Rosalind', 'Postgres', 'Castellano', 'Eriksson', "O'Brien", 'Callum', 'Ann', 'Janice', 'Marcus'],
]);

t.test('K-439 words that sound like a term are spelt like it', async (t) => {
  const cases: [says: string, decodings: string[], expected: string][] = [
    [
      'a long word that both have',
      ['Asked Kawalski about it.', 'Asked Kawalski about it.'],
      'Asked Kowalski about it.',
    ],
    ['a short one that both have stays', ['On the marks, please.', 'On the marks, please.'], 'On the marks, please.'],
    ['and goes where they differ', ['Markus said so.', 'My cus said so.'], 'Marcus said so.'],
    ['several words for one', ['The cast a lano files.', 'The castle on files.'], 'The Castellano files.'],
    ['but not where both have them', ['Call him at home.', 'Call him at home.'], 'Call him at home.'],
    ['the decoding that has the name', ['Whereas a lane will call.', 'Rosalind will call.'], 'Rosalind will call.'],
    ['the first, where both have it', ['Eriksson is late.', 'Eriksson was late.'], 'Eriksson is late.'],
    ['its possessive', ["Ericson's car.", "Eric's son's car."], "Eriksson's car."],
    [
      'across a sentence nothing is joined',
      ['Fine post. Grass is green.', 'Fine. Post grass.'],
      'Fine post. Grass is green.',
    ],
    ['a word with its letters keeps its case', ['The postgres upgrade.', 'The post grey.'], 'The postgres upgrade.'],
    ['names of three letters sound like too much', ['An apple.', 'Ann apple.'], 'An apple.'],
    ['one decoding alone', ['Asked Kawalski about it.'], 'Asked Kowalski about it.'],
    ['no text', [''], ''],
  ];
  for (const [says, decodings, expected] of cases) t.equal(TERMS.bestOf(decodings), expected, says);
});

t.test('K-439 without terms, and with terms that no sound is known of, the first decoding stays', async (t) => {
  for (const terms of [[], ['123'], ['東京タワー'], ['x']])
    t.equal(new KnownTerms(terms).bestOf(['Two new chairs.', 'To new chairs.']), 'Two new chairs.', String(terms));
});
