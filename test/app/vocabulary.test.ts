import t from 'tap';
import { WORD_CHARS_MAX, WORDS_MAX, withoutWord, withWord } from '../../app/pages/account/vocabulary.js';
import { LIMITS } from '../../src/domain/limits.js';

t.test('K-471 Settings adds each word once, without blanks around it, and puts a removed one back', async (t) => {
  t.same(withWord(['Zoë'], ' Bo Li '), ['Zoë', 'Bo Li']);
  t.same(withWord(['Zoë'], 'Zoë '), ['Zoë']);
  t.same(withWord(['Zoë'], 'zoë'), ['Zoë', 'zoë'], 'spelt another way it is another word');
  t.same(withWord(['Zoë'], '  '), ['Zoë']);
  const words = ['Zoë', 'Bo Li', 'Ljubljana'];
  t.same(withoutWord(words, 'Bo Li'), ['Zoë', 'Ljubljana']);
  t.same(withWord(withoutWord(words, 'Bo Li'), 'Bo Li', 1), words);
  t.same(withoutWord(words, 'Bo'), words);
});

t.test('K-471 Settings knows the limits of the server', async (t) => {
  t.equal(WORDS_MAX, LIMITS.vocabulary_terms_max);
  t.equal(WORD_CHARS_MAX, LIMITS.vocabulary_term_chars_max);
});
