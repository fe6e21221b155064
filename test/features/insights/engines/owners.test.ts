import t from 'tap';
import { taskOwner } from '../../../../src/features/insights/engines/owners.js';

const NAMES = { A: 'Ann', B: 'Bob Miller', C: 'Cleo' } as const;
const people = Object.entries(NAMES).map(([label, name], at) => ({
  ...{ label, name, contact_id: null, is_self: at === 0, who: { stream_id: 's', speaker: at + 1 } },
}));
type Said = readonly [speaker: keyof typeof NAMES, text: string];

const ownerOf = (own: Said, said: Said = own, of = people) => {
  const sentences = [own, said].map(([speaker, text]) => ({ speaker, text }));
  const [first, second] = sentences as [{ speaker: string; text: string }, { speaker: string; text: string }];
  return taskOwner(first, own === said ? first : second, of as Parameters<typeof taskOwner>[2]);
};

t.test('K-201 a task is of whoever says it last', async (t) => {
  t.equal(ownerOf(['A', "I'll call the landlord."]), 'A');
  t.equal(ownerOf(['B', 'Sure, tomorrow.'], ['A', 'Can you order the chairs?']), 'B');
});

t.test('K-201 it is of a speaker whom its words call or name', async (t) => {
  t.equal(ownerOf(['A', 'Bob, can you bring the drill?']), 'B');
  t.equal(ownerOf(['A', 'okay bob you ring the baker']), 'B');
  t.equal(ownerOf(['A', 'Then Cleo takes the tickets.']), 'C');
  t.equal(ownerOf(['A', 'Cleo will write the letter by Friday.']), 'C');
  t.equal(ownerOf(['A', "I'll tell Bob about the drill."]), 'A', 'a name that is no owner');
});

t.test('K-201 it is of whoever offered it where the last words only agree', async (t) => {
  t.equal(ownerOf(['A', 'Great, thank you.'], ['B', "I'll print the list."]), 'B');
  t.equal(ownerOf(['A', 'Carried.'], ['C', 'I can ask the vicar.']), 'C');
});

t.test('K-201 it is of nobody who speaks where the words name somebody else', async (t) => {
  t.equal(ownerOf(['A', "She'll have the posters ready by Friday."]), null);
  t.equal(ownerOf(['A', "Luis said he'd have the palms trimmed."]), null);
});

t.test('K-201 of two people whoever is asked has it', async (t) => {
  t.equal(ownerOf(['A', 'Can you send me the invoice by Friday?'], undefined, people.slice(0, 2)), 'B');
  t.equal(ownerOf(['A', 'Can you send me the invoice by Friday?']), 'A', 'of three nobody knows which one');
});
