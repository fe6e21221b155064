import t from 'tap';
import { stemmerOf } from '../../../src/domain/search/stemmers.js';
import { foldText, soundsOf, termsOf, wordsIn } from '../../../src/domain/search/words.js';

const WORDS: [text: string, words: string[]][] = [
  ['', []],
  ['...!?', []],
  ["Don't forget Ada's 3.5 follow-ups", ["don't", 'forget', 'ada', '3', '5', 'follow', 'ups']],
  ['Don’t forget Ada’s café', ["don't", 'forget', 'ada', 'café']],
  ['Straße und Ärger', ['straße', 'und', 'ärger']],
  ['Ｆｕｌｌ ﬁnally', ['full', 'finally']],
  ['明日の会議は', ['明日', 'の', '会議', 'は']],
  ['снова и снова', ['снова', 'и', 'снова']],
  ['مرحبا بالعالم', ['مرحبا', 'بالعالم']],
  ['हिन्दी में', ['हिन्दी', 'में']],
  ['mixed 会議 room', ['mixed', '会議', 'room']],
  ["de l'eau d’Annecy, jusqu'à L‘École", ['de', 'eau', 'annecy', 'à', 'école']],
  ["Ho visto l'albero dell'amico", ['ho', 'visto', 'albero', 'amico']],
  ["Aujourd'hui, qu'aujourd’hui", ["aujourd'hui", "aujourd'hui"]],
  ['O’Brien OʼBrien O‘Brien O＇Brien rock‘n’roll', [...Array(4).fill("o'brien"), "rock'n'roll"]],
  ['обʼєднання об’єднання', ["об'єднання", "об'єднання"]],
  ['ʼtis dogsʼ ʼ', ['tis', 'dogs']],
  ['İstanbul I\u0307stanbul ışık', ['istanbul', 'istanbul', 'ışık']],
  ['학교에서 만나', ['학교에서', '만나']],
];

t.test('K-097 words', async (t) => {
  for (const [text, words] of WORDS) {
    const found = wordsIn(text);
    t.same(
      found.map(({ word }) => word),
      words,
      text,
    );
    let before = 0;
    for (const { at, length, word } of found) {
      t.ok(at >= before && length > 0 && at + length <= text.length, word);
      before = at + length;
    }
  }
});

t.test('K-097 an elision is no part of the word, wherever that is shown', async (t) => {
  const text = 'De l’école.';
  t.same(
    wordsIn(text).map(({ at, length }) => text.slice(at, at + length)),
    ['De', 'école'],
  );
});

t.test('K-097 foldText: one letter case, width, apostrophe, quotation mark and hyphen', async (t) => {
  t.equal(foldText('Ｊｅａｎ–Luc O’Brien «İ»'), `jean-luc o'brien "i"`);
});

t.test('K-097 words are looked up by themselves, by their stem and by their sound', async (t) => {
  const [english, german] = [stemmerOf('en-GB'), stemmerOf('de')];
  t.equal(termsOf('running', english).stem, termsOf('runs', english).stem);
  t.not(termsOf('running', english).word, termsOf('runs', english).word);
  t.equal(termsOf('run', english).stem, 0, 'a word that is its own stem');
  t.not(termsOf('läuft', german).stem, termsOf('läuft', english).stem, 'stems are of a language');
  t.equal(termsOf('Smith'.toLowerCase(), english).sound, termsOf('smyth', english).sound, 'alike');
  t.equal(termsOf('ship', english).sound, 0, 'too short to go by its sound');
  t.equal(termsOf('снова', english).sound, 0, 'only of Latin letters');
  t.ok(soundsOf('schmidt').every((sound) => sound !== ''));
  for (const tag of ['xx', '', 'constructor', null]) t.equal(stemmerOf(tag), english, `no stemmer for ${tag}`);
});
