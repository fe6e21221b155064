import t from 'tap';
import { Slices } from '../../../../src/engine/time/slices.js';
import { sentencesOf } from '../../../../src/features/insights/engines/sentences.js';
import { subjectsOf } from '../../../../src/features/insights/engines/subjects.js';
import { distinctSubjects, titleOf } from '../../../../src/features/insights/engines/title.js';
import { inputOf } from '../../../fixtures/insight_input.js';

const titled = async (...lines: string[]) => {
  const input = inputOf(lines);
  const slices = new Slices();
  const sentences = await sentencesOf(input, slices);
  return titleOf(distinctSubjects(await subjectsOf({ sentences, people: input.people }, slices)));
};

t.test('K-230 a title names what a conversation announces', async (t) => {
  const title = await titled(
    'A: Good evening. Two topics for tonight, the greenhouse roof and then the seed order.',
    'B: Fine. The roof leaks again, above the tomatoes.',
    'A: Since Thursday. The wind on Wednesday lifted two panes.',
    'B: Then we need glass for the roof before October.',
    'A: Next. The seed order.',
    'B: I have the catalogue here, the seed order is due on Monday.',
  );
  t.equal(title, 'Greenhouse roof and seed order');
});

t.test('K-230 without an announcement a title names what recurs, and neither days nor speakers', async (t) => {
  const title = await titled(
    'A: Ann, did you see the fence on Monday?',
    'B: The fence is fine, Ann, it is the gate that sags.',
    'A: On Monday the gate did not close at all.',
    'B: Because the hinge of the gate is bent. The fence carries it on one side.',
    'A: Monday again, then. Ask Ann, they say, Ann knows.',
    'B: Ann, on Monday I have no time for a gate or a hinge.',
  );
  t.match(title, /gate/i);
  t.match(title, /fence/i);
  t.notMatch(title, /monday|ann/i);
  t.ok((title?.split(' ').length ?? 0) <= 5);
});

t.test('K-230 small talk alone has no title', async (t) => {
  t.equal(await titled('A: Hello. How are you?', 'B: Fine, thanks. And you?', 'A: Yes, good, thank you.'), null);
});
