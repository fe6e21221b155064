import t from 'tap';
import { wordErrors } from '../../../src/engine/speech/word_errors.js';

t.test('words that differ are counted', async (t) => {
  const rows: [string, string, number, number][] = [
    ['We will meet, at three.', 'we will meet at three', 5, 0],
    ['we will meet', 'we meet', 3, 1],
    ['we will meet', 'well we will all meet', 3, 2],
    ['we will meet', 'they could wait', 3, 3],
    ['we will meet', '', 3, 3],
    ['', 'we', 0, 1],
    ['press one for twenty two seats', 'Press 1 for 22 seats.', 5, 0],
    ['the seventh of May', 'The 7th of May', 4, 0],
    ['the second of May', 'The two of May', 4, 1],
    ["It's Zoë", 'it’s zoë', 2, 2],
  ];
  for (const [said, heard, words, errors] of rows)
    t.same(wordErrors(said, heard), { words, errors }, `${said} | ${heard}`);
});
