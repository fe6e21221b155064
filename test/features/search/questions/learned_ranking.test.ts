import t from 'tap';
import { encodeVectors, fingerprintOf, quantized, readVectors } from '../../../../src/domain/search/vectors.js';
import { Slices } from '../../../../src/engine/time/slices.js';
import { evaluate, type SearchScope } from '../../../../src/features/search/index/evaluate.js';
import { TurnSimilarities } from '../../../../src/features/search/index/turn_similarity.js';
import { rankPassages } from '../../../../src/features/search/questions/passage_ranking.js';
import { soughtBy } from '../../../../src/features/search/questions/ranking/question_map.js';
import { questionOf, weightsOf } from '../../../../src/features/search/questions/recall_question.js';
import { libraryOf, searchIndexOf, sourceOf } from '../../../fixtures/search_index.js';

const BEGAN_MS = Date.parse('2026-11-25T09:00:00.000Z');
const TURN_MS = 4_000;
const MODEL = 7;
const ALWAYS = { from_ms: Number.NEGATIVE_INFINITY, to_ms: Number.POSITIVE_INFINITY };
const NOISE = ['Hello there.', 'What a day.', 'The cat sleeps.', 'So it goes.', 'See you.'];
/** A dimension each, by the words in a text; the last is of no meaning. */
const MEANINGS = [
  ['bicycle', 'pedals', 'handlebar'],
  ['soup', 'broth'],
];

function vectorOf(text: string): Int8Array {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const counts = MEANINGS.map((alike) => words.filter((word) => alike.includes(word)).length);
  return quantized([...counts, 0.1]) as Int8Array;
}

/** The passages that a question gets in an account of these talks, the best first: of which talk, and their texts. */
async function recalled(
  talks: string[][],
  query: string,
  { factorOf = () => 1 }: { factorOf?: (started_ms: number) => number } = {},
): Promise<{ talk: number; texts: string[] }[]> {
  const idOf = (number: number) => `01999999-000${number}-7222-8222-2222220000aa`;
  const index = searchIndexOf({
    library_id: libraryOf(1),
    transcripts: talks.map((texts, number) => ({
      ...{ id: idOf(number), source_id: sourceOf(1), begins_at_ms: BEGAN_MS + number * 3_600_000 },
      pages: new Map([
        [0, texts.map((text, at) => ({ serial: at, at_ms: at * TURN_MS, text, language: 'en', speaker: 1 }))],
      ]),
    })),
    items: [],
    deleted_streams: new Set(),
  });
  for (const [number, texts] of talks.entries()) {
    const [page] = index.transcripts.get(idOf(number)) ?? [];
    const windows = texts.map((text, at) => ({ first: at, last: at, vector: vectorOf(text) }));
    if (page !== undefined) page.vectors = readVectors(encodeVectors(MODEL, windows));
  }
  const scope: SearchScope = {
    ...{ indexes: [index], kinds: new Set(['turn']), pipeline: 0, source_id: null, deleted_sources: new Set() },
  };
  const asked = { now_ms: BEGAN_MS + 86_400_000, time_zone: 'UTC' };
  const question = questionOf(query, { indexes: [index], may_be_empty: false, days: [], asked });
  const { hits, weights } = evaluate(scope, {
    ...{ words: question.wanted, match: 'any', exact: [], excluded: [], ...ALWAYS, about: question.about },
  });
  const vector = soughtBy({ vector: vectorOf(query), model: MODEL });
  const ranked = await rankPassages(
    hits,
    Array.from({ length: hits.count }, (_, hit) => hit),
    {
      ...{ scope, weights: weightsOf(question, weights), question, said_by: new Set<number>(), around: 1, limit: 10 },
      similarities: await TurnSimilarities.of(scope, vector, { bounds: ALWAYS, slices: new Slices() }),
      factorOf,
    },
    new Slices(),
  );
  return ranked.map(({ passage: { transcript_id, first, last } }) => {
    const talk = Number(transcript_id.charAt(12));
    return { talk, texts: (talks[talk] ?? []).slice(first, last + 1) };
  });
}

t.test('K-197 what means the same is found without a word of the question', async (t) => {
  const [first] = await recalled([[...NOISE, 'My bicycle squeaks.', ...NOISE]], 'Where are the pedals?');
  t.ok(first?.texts.includes('My bicycle squeaks.'), first?.texts.join(' | ') ?? '');
});

t.test('K-197 of what is alike, words decide, and no turn is in two passages', async (t) => {
  const talks = [
    [...NOISE, 'My bicycle squeaks.', ...NOISE],
    [...NOISE, 'The bicycle of Helena has a new handlebar.', ...NOISE],
  ];
  const found = await recalled(talks, 'What is new on the bicycle of Helena?');
  t.ok(found[0]?.texts.includes('The bicycle of Helena has a new handlebar.'), found[0]?.texts.join(' | ') ?? '');
  t.equal(found.filter(({ texts }) => texts.includes('My bicycle squeaks.')).length, 1);
});

t.test('K-197 of two that are equal the one with the better time comes first', async (t) => {
  const talks = [
    [...NOISE, 'The soup was cold.'],
    [...NOISE, 'The soup was cold.'],
  ];
  for (const better of [0, 1]) {
    const factorOf = (started_ms: number) => (started_ms >= BEGAN_MS + 3_600_000 === (better === 1) ? 1.3 : 0.8);
    const [first] = await recalled(talks, 'Was the broth cold?', { factorOf });
    t.equal(first?.talk, better);
  }
});

t.test('the question of a model without a learned map stays as it is', async (t) => {
  const vector = Int8Array.from({ length: 512 }, (_, at) => (at % 7) - 3);
  t.equal(soughtBy({ vector, model: MODEL }).sought, vector);
  const short = vectorOf('soup');
  const built_in = fingerprintOf(['universal-sentence-encoder-lite/1']);
  t.equal(soughtBy({ vector: short, model: built_in }).sought, short, 'nor one of another length');
  const mapped = soughtBy({ vector, model: built_in }).sought;
  t.equal(mapped.length, vector.length);
  t.not(mapped, vector);
});
