import t, { type Test } from 'tap';
import { Slices } from '../../../../src/engine/time/slices.js';
import { evaluate, type SearchScope } from '../../../../src/features/search/index/evaluate.js';
import { askedTime } from '../../../../src/features/search/questions/asked_time.js';
import { rankPassages } from '../../../../src/features/search/questions/passage_ranking.js';
import { questionOf, weightsOf } from '../../../../src/features/search/questions/recall_question.js';
import { libraryOf, searchIndexOf, sourceOf } from '../../../fixtures/search_index.js';

const BEGAN_MS = Date.parse('2026-11-25T09:00:00.000Z');
const TURN_MS = 4_000;

/** Texts of the passages that a question gets among these turns, the best first. */
async function recalled(texts: string[], query: string, { around = 0 } = {}): Promise<string[][]> {
  const turns = texts.map((text, at) => ({ serial: at, at_ms: at * TURN_MS, text, language: 'en', speaker: 1 }));
  const pages = new Map([[0, turns]]);
  const id = '01999999-0001-7222-8222-2222220000aa';
  const index = searchIndexOf({
    library_id: libraryOf(1),
    transcripts: [{ id, source_id: sourceOf(1), begins_at_ms: BEGAN_MS, pages }],
    items: [],
    deleted_streams: new Set(),
  });
  const asked = { now_ms: BEGAN_MS + 3_600_000, time_zone: 'UTC' };
  const { rest, days } = askedTime(query, asked);
  const question = questionOf(rest, { indexes: [index], may_be_empty: false, days, asked });
  const scope: SearchScope = {
    ...{ indexes: [index], kinds: new Set(['turn']), pipeline: 0, source_id: null, deleted_sources: new Set() },
  };
  const { hits, weights } = evaluate(scope, {
    ...{ words: question.wanted, match: 'any', exact: [], excluded: [] },
    ...{ from_ms: Number.NEGATIVE_INFINITY, to_ms: Number.POSITIVE_INFINITY, about: question.about },
  });
  const best = Array.from({ length: hits.count }, (_, hit) => hit);
  const ranking = {
    scope,
    weights: weightsOf(question, weights),
    question,
    said_by: new Set<number>(),
    around,
    limit: 10,
    similarities: null,
    factorOf: () => 1,
  };
  const ranked = await rankPassages(hits, best, ranking, new Slices());
  return ranked.map(({ passage: { first, last } }) => texts.slice(first, last + 1));
}

/** The passage that comes first holds the text. */
async function isFirst(t: Pick<Test, 'ok'>, texts: string[], query: string, expected: string): Promise<void> {
  const [first] = await recalled(texts, query);
  t.ok(first?.includes(expected), `${query}: ${first?.join(' | ')}`);
}

t.test('K-193 what stands near counts, and the kind of answer that is asked for', async (t) => {
  const picnic = [
    'Lovely weather today.',
    'We have to talk about the picnic.',
    'Mum would like the fifth of June.',
    'Too early, the school is not over.',
    'Then we go on June twelfth.',
    'Fine with me.',
    'Did you feed the hens this morning?',
    'I did.',
  ];
  const [first] = await recalled(picnic, 'When is the picnic?', { around: 2 });
  t.ok(first?.some((text) => text.includes('June')));
  await isFirst(
    t,
    ['Who waters the plants in the office?', 'That would be Helena.', 'The plants look bad.', 'They do.'],
    'Who waters the plants?',
    'That would be Helena.',
  );
  await isFirst(
    t,
    ['The fence is old.', 'The fence cost about four hundred.', 'Paint the fence.', 'Who built the fence?'],
    'How much was the fence?',
    'The fence cost about four hundred.',
  );
  await isFirst(
    t,
    ['The bakery is closed today.', 'It is closed because the oven broke.', 'Is the bakery closed?', 'Yes.'],
    'Why is the bakery closed?',
    'It is closed because the oven broke.',
  );
});

t.test('K-193 a question of the recording comes after its answer', async (t) => {
  const found = await recalled(
    ['Hello.', 'Where did you put the ladder?', 'Behind the shed, next to the ladder of the neighbours.', 'Thanks.'],
    'Where is the ladder?',
  );
  t.ok(found[0]?.includes('Behind the shed, next to the ladder of the neighbours.'));
});

t.test('K-194 promises come before what somebody refuses', async (t) => {
  const texts = ["I can't promise the roof.", 'The weather turns.', 'So it goes.', 'Well.', "I'll mend the roof."];
  const found = (await recalled(texts, 'what did I promise about the roof')).map((passage) => passage[0]);
  t.ok(found.indexOf("I'll mend the roof.") < found.indexOf("I can't promise the roof."), found.join(' | '));
});

t.test('K-192 numbers, days and other words for the same', async (t) => {
  const noise = ['Hello there.', 'What a day.', 'The cat sleeps.'];
  const rows: [query: string, text: string][] = [
    ['Who mentioned 40 chairs?', 'I have forty of those.'],
    ['What is on 7 December?', 'We paint on the seventh.'],
    ['What is on the 7.12.?', 'We paint on December seventh.'],
    ['code freeze december seventh', 'We stop on the 7th.'],
    // The seventh of December is a Monday, and the recording is two weeks older.
    ['What is on 30 November?', 'We paint next Monday.'],
    ['Where is my automobile, the car?', 'The vehicle is in the yard.'],
    ['When is the holiday?', 'The vacation begins in June.'],
  ];
  for (const [query, text] of rows) await isFirst(t, [...noise, text, ...noise], query, text);
  t.same(await recalled(['We paint next Monday.'], 'What is on 7 December?'), [], 'another Monday');
  t.same(await recalled(['The giraffe sleeps.'], 'Where is the invoice?'), []);
});
