import t from 'tap';
import { type AnswerMark, answerMarksOf } from '../../../src/domain/search/answer_marks.js';
import { numbersIn } from '../../../src/domain/search/spoken_numbers.js';
import { stemmerOf } from '../../../src/domain/search/stemmers.js';
import { answerTerm, cardinalTerm, ordinalTerm, termsIn, wordsIn } from '../../../src/domain/search/words.js';

const NUMBERS: [text: string, numbers: string[]][] = [
  ['forty', ['40']],
  ['twenty two euros', ['22']],
  ['the twenty second', ['22nd']],
  ['four thousand two hundred', ['4200']],
  ['a hundred and five people', ['105']],
  ['from eight to eight', ['8', '8']],
  ['the 7th', ['7nd']],
  ['30', ['30']],
  ['ten twenty', ['10', '20']],
  ['a dog and a cat', []],
];

t.test('K-192 numbers as words are numbers', async (t) => {
  for (const [text, numbers] of NUMBERS) {
    const found = numbersIn(wordsIn(text).map(({ word }) => word));
    t.same(
      found.map(({ value, is_ordinal }) => `${value}${is_ordinal ? 'nd' : ''}`),
      numbers,
      text,
    );
  }
  const terms = (text: string) => termsIn(text, stemmerOf('en')).terms;
  t.ok(terms('about forty minutes').includes(cardinalTerm(40)));
  t.ok(terms('40 minutes').includes(cardinalTerm(40)));
  for (const text of ['the seventh', 'on the 7th', 'on 7.12.']) t.ok(terms(text).includes(ordinalTerm(7)), text);
  t.notOk(terms('the seventh').includes(cardinalTerm(7)));
});

const MARKS: [text: string, marks: AnswerMark[], not: AnswerMark[]][] = [
  ['Who feeds the cat?', ['asks'], ['promises', 'decides']],
  ['does the oven work', ['asks'], []],
  ['Is it late? Then we stay.', ['decides'], ['asks']],
  ['That would be Helena.', ['who'], ['asks', 'when', 'number']],
  ['On Tuesday, I think.', ['when'], ['who', 'number']],
  ['About two hundred.', ['number'], ['when']],
  ['In the garden shed.', ['where'], ['number']],
  ['Because the road was closed.', ['why'], []],
  ["I'll bring the drill.", ['promises'], ['refuses']],
  ["I can't promise that.", ['refuses'], []],
  ['Yes, of course.', ['affirms'], ['asks']],
  ['The soup was good.', [], ['asks', 'promises', 'when', 'number', 'who', 'why', 'affirms']],
];

t.test('K-193 signs of what a turn may answer', async (t) => {
  for (const [text, marks, not] of MARKS) {
    const found = answerMarksOf(text);
    t.same(
      marks.filter((mark) => !found.includes(mark)),
      [],
      `${text} has ${marks}`,
    );
    t.same(
      not.filter((mark) => found.includes(mark)),
      [],
      `${text} has not ${not}`,
    );
  }
  t.ok(termsIn('Who feeds the cat?', stemmerOf('en')).terms.includes(answerTerm('asks')));
  t.notOk(termsIn('Who feeds the cat?', stemmerOf('de')).terms.includes(answerTerm('asks')), 'of English alone');
});
