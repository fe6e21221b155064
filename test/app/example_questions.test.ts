import t from 'tap';
import { exampleQuestions } from '../../app/search/example_questions.js';

const SELF = 'me';
const NAMES = new Map([
  ['i', 'Ines'],
  ['t', 'Tom'],
  [SELF, 'Ann'],
]);
const NOBODY = { streams: [], tasks: [], names: NAMES, self_id: SELF };
const heard = (title: string | null, ...ids: string[]) => ({
  title,
  title_suggested: null,
  speakers: ids.map((id) => ({ speaker: 'S1', contact_id: id, name: NAMES.get(id) ?? null })),
});
const task = (owner_contact_id: string | null) => ({
  roles: { owner_contact_id, requester_contact_id: null, owner_name: null, requester_name: null } as never,
});

t.test('nothing is asked of nothing', async (t) => {
  t.same(exampleQuestions(NOBODY), []);
  t.same(exampleQuestions({ ...NOBODY, streams: [heard(null, 'i')], tasks: [task(null), task('gone')] }), []);
});

t.test('people, promises and titles give four questions at most', async (t) => {
  const streams = [
    heard('the fence', SELF, 'i'),
    heard('the roof', 'i', 't'),
    heard('the cellar', 't'),
    heard('the garden'),
    heard('the kitchen'),
  ];
  t.same(exampleQuestions({ ...NOBODY, streams, tasks: [task('t'), task('i')] }), [
    'What did Ines say about the fence?',
    'What did Tom say about the roof?',
    'What did Tom promise?',
    'What was said about the cellar?',
  ]);
});

t.test('nobody is asked what they said themselves, and what they promised as themselves', async (t) => {
  t.same(exampleQuestions({ ...NOBODY, streams: [heard('the fence', SELF)], tasks: [task(SELF)] }), [
    'What did I promise?',
    'What was said about the fence?',
  ]);
});

t.test('names of files, long titles and the same title again are left out', async (t) => {
  const streams = [heard('IMG_2041'), heard('memo.m4a'), heard('x'.repeat(61)), heard('the fence'), heard('the fence')];
  t.same(exampleQuestions({ ...NOBODY, streams }), ['What was said about the fence?']);
});

t.test('a suggested title stands in where nobody gave one', async (t) => {
  t.same(exampleQuestions({ ...NOBODY, streams: [{ ...heard(null), title_suggested: 'the fence' }] }), [
    'What was said about the fence?',
  ]);
});
