import t from 'tap';
import { findIn } from '../../app/recording/text_search.js';
import { wordAt, wordHeard, wordPlaces } from '../../app/recording/word_places.js';

const said = { text: 'The key is here', start_ms: 1_000, end_ms: 2_500 };
const timed = [
  ['The', 1_000, 1_100],
  ['key', 1_200, 1_800],
  ['is', 1_800, 1_900],
  ['here', 2_000, 2_500],
] as const;
const words = timed.map(([text, start_ms, end_ms]) => ({ text, start_ms, end_ms, confidence: null }));
const textOf = (text: string, place: { from: number; to: number } | null) => place && text.slice(place.from, place.to);

t.test('a word is said when the engine heard it', async (t) => {
  const places = wordPlaces({ ...said, words });
  t.match(places[1], { from: 4, to: 7, start_ms: 1_200, end_ms: 1_800 });
  t.equal(textOf(said.text, wordHeard(places, 1_950)), 'is');
  t.equal(textOf(said.text, wordHeard(places, 2_400)), 'here');
  t.equal(wordHeard(places, 900), null);
  t.equal(textOf(said.text, wordAt(places, 5)), 'key');
  t.equal(textOf(said.text, wordAt(places, 7)), 'key', 'the gap behind a word is the word’s');
});

t.test('without times for each word of the text, letters share the turn', async (t) => {
  for (const of of [undefined, words.slice(1)]) {
    const places = wordPlaces({ ...said, ...(of && { words: of }) });
    t.match(places[0], { start_ms: 1_000 });
    t.match(places[1], { start_ms: 1_400, end_ms: 1_700 });
    t.match(places[3], { end_ms: 2_500 });
  }
  t.same(wordPlaces({ text: '', start_ms: 0, end_ms: 0 }), []);
});

t.test('text is found in any letter case and over line ends, with what patterns mean taken as it is', async (t) => {
  const turns = [
    { id: '1', text: 'The Key (spare).\nThe key!' },
    { id: '2', text: 'Ärger' },
  ];
  t.same(findIn(turns, 'the key'), [
    { turn_id: '1', from: 0, to: 7 },
    { turn_id: '1', from: 17, to: 24 },
  ]);
  t.same(findIn(turns, '(spare). the'), [{ turn_id: '1', from: 8, to: 20 }]);
  t.same(findIn(turns, 'ärger'), [{ turn_id: '2', from: 0, to: 5 }]);
  t.same(findIn(turns, '  '), []);
  for (const text of ['.*', 'a-z', '[', '\\d', '/']) t.same(findIn(turns, text), []);
});
