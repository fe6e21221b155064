import t from 'tap';
import { titleOf } from '../../../../src/features/insights/engines/title.js';
import { builtInEngine } from '../../../fixtures/built_in_engine.js';
import { inputOf } from '../../../fixtures/insight_input.js';

const engine = builtInEngine();
const titled = async (...lines: string[]) => (await engine.think(inputOf(lines))).conversation.title;

t.test('K-230 a title names what recurs, and neither days nor speakers', async (t) => {
  const title = await titled(
    'A: Ann, did you see the fence on Monday?',
    'B: The fence is fine, Ann, it is the gate that sags.',
    'A: On Monday the gate did not close at all.',
    'B: Because the hinge of the gate is bent. The fence carries it on one side.',
    'A: Monday again, then. Ask Ann, they say, Ann knows.',
    'B: Ann, on Monday I have no time for a gate or a hinge.',
  );
  t.match(title, /gate/i);
  t.match(title, /fence|hinge/i);
  t.notMatch(title, /monday|ann/i);
  t.ok((title?.split(' ').length ?? 0) <= 6);
});

t.test('K-230 small talk alone has no title', async (t) => {
  t.equal(await titled('A: Hello. How are you?', 'B: Fine, thanks. And you?', 'A: Yes, good, thank you.'), null);
});

t.test('K-230 a single sentence has a title', async (t) => {
  t.match(await titled('A: I will call the plumber on Tuesday about the kitchen sink.'), /plumber|kitchen sink/i);
});

t.test('K-230 a title takes the words that are likeliest to stand in one, at most five', (t) => {
  const phrase = (text: string, chance: number, worth = 1) => ({ text, stems: text.split(' '), at: 0, chance, worth });
  const phrases = [
    phrase('oak worktop', 1.4),
    phrase('worktop', 0.9),
    phrase('tile', 0.8),
    phrase('skirting board', 0.7, 0.1), // its words stood side by side by chance
    phrase('plaster', 0.5),
    phrase('van', 0.3),
    phrase('sink', 0.2),
  ];
  t.equal(titleOf(phrases), 'Oak worktop, tile, plaster and van');
  t.equal(titleOf([phrase('kettle', 0.01), phrase('mug', 0.005)]), 'Kettle', 'one there always is');
  t.equal(titleOf([]), null);
  t.end();
});
