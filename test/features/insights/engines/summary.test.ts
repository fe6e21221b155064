import t from 'tap';
import { openServerKeys } from '../../../../src/engine/secrets/server_keys.js';
import { checkedInsights } from '../../../../src/features/insights/library/checked_insights.js';
import { builtInEngine } from '../../../fixtures/built_in_engine.js';
import { inputOf } from '../../../fixtures/insight_input.js';
import { tempFolder } from '../../../fixtures/temp_folder.js';

const made = async (lines: string[]) => (await builtInEngine().think(inputOf(lines))).conversation;

const BOAT = [
  'A: Okay, two things today, the boat engine and then the harbour fee.',
  'B: The boat engine coughs since Easter.',
  'A: We could buy a new engine, or we have the old one repaired.',
  'B: A new one is far too expensive for us.',
  'A: Then we have the old engine repaired by the yard in Kappeln.',
  'B: Agreed.',
  'A: And the harbour fee, it went up to four hundred and twenty euros.',
  'B: What about paying it in two parts?',
  'A: Yes, let us pay the harbour fee in two parts.',
];

t.test('K-231 a summary says what was decided, in whole sentences', async (t) => {
  const { sentences } = await made(BOAT);
  const text = sentences.map((one) => one.text).join(' ');
  t.ok(sentences.length >= 2 && sentences.length <= 5, text);
  t.match(text, /old engine repaired/);
  t.match(text, /in two parts/);
  for (const one of sentences) t.match(one.text, /^\p{Lu}.*[.?!]$/su);
});

t.test('K-231 each sentence is borne by what was said', async (t) => {
  const input = inputOf(BOAT);
  const keys = await openServerKeys(tempFolder(t));
  const checked = checkedInsights(await builtInEngine().think(input), { input, keys, made_by: 'extractive' });
  t.ok(checked.ok);
  if (!checked.ok) return;
  const { sentences = [] } = checked.insights.conversation;
  t.equal(sentences.length, (await made(BOAT)).sentences.length, 'none is dropped');
  t.ok(sentences.every(({ evidence }) => evidence.length > 0));
});

t.test('K-231 without a decision it says what says most of its subjects', async (t) => {
  const { sentences } = await made([
    'A: The heron stood in the pond again this morning.',
    'B: My neighbour has put a net over his pond because of the heron.',
    'A: The heron has eaten five of the goldfish since Sunday, and two of them were large.',
    'B: Hm.',
  ]);
  t.ok(sentences.length >= 2);
  t.match(sentences.map(({ text }) => text).join(' '), /heron has eaten five of the goldfish/);
});
