import fc from 'fast-check';
import t from 'tap';
import { pipelineOutputId } from '../../../../src/domain/ids.js';
import { Block, encodeBlock } from '../../../../src/domain/search/block.js';
import { AS_IT_IS, BY_SOUND, BY_STEM, QueryWord } from '../../../../src/domain/search/matching.js';
import { parseQuery, wordBeingTyped } from '../../../../src/domain/search/query.js';
import { stemmerOf } from '../../../../src/domain/search/stemmers.js';
import { soundsOf, termsIn, wordsIn, wordTerm } from '../../../../src/domain/search/words.js';
import { SeededRandom } from '../../../../src/engine/random/seeded_random.js';
import { evaluate, type SearchScope, type Wanted } from '../../../../src/features/search/index/evaluate.js';
import type { SearchKind } from '../../../../src/features/search/index/hits.js';
import { idOfHit, Ranking } from '../../../../src/features/search/index/ranking.js';
import { SearchedTexts } from '../../../../src/features/search/index/word_places.js';
import {
  digestOfQuery,
  readSearchCursor,
  writeSearchCursor,
} from '../../../../src/features/search/questions/search_cursor.js';
import {
  libraryOf,
  searchIndexOf,
  sourceOf,
  type Told,
  type ToldText,
  type ToldTurn,
  textsOf,
  told,
  WORDS,
} from '../../../fixtures/search_index.js';
import { drawsOf } from '../../../fixtures/seed.js';

const RUNS = drawsOf(300);
const ALL_KINDS: SearchKind[] = ['turn', 'suggestion', 'conversation', 'memory'];

/** What is asked, by itself. */
type Asked = {
  words: string[];
  phrases: string[][];
  excluded: string[];
  match: 'all' | 'any';
  fuzzy: boolean;
  kinds: SearchKind[];
  pipeline: number;
  source_id: string | null;
  deleted_sources: string[];
  from_ms: number;
  to_ms: number;
};

const asked: fc.Arbitrary<Asked> = fc.constantFrom(...Object.values(WORDS)).chain((texts) => {
  const word = fc.constantFrom(...texts.flatMap((text) => wordsIn(text).map((one) => one.word)));
  return fc
    .record({
      plain: fc.array(word, { minLength: 1, maxLength: 2 }),
      phrases: often<string[][]>([], fc.array(fc.array(word, { minLength: 1, maxLength: 2 }), { maxLength: 1 })),
      excluded: often<string[]>([], fc.array(word, { maxLength: 1 })),
      match: fc.constantFrom<'all' | 'any'>('all', 'any'),
      fuzzy: fc.boolean(),
      kinds: fc.constantFrom<SearchKind[]>(ALL_KINDS, ['turn'], ['suggestion', 'memory']),
      pipeline: often(0, fc.constant(2)),
      source_id: often<string | null>(null, fc.constant(sourceOf(1))),
      deleted_sources: often<string[]>([], fc.constant([sourceOf(2)])),
      from_ms: often(Number.NEGATIVE_INFINITY, fc.constant(Date.UTC(2026, 10, 1) + 4_000)),
      to_ms: often(Number.POSITIVE_INFINITY, fc.constant(Date.UTC(2026, 10, 1) + 605_000)),
    })
    .map(({ plain, ...more }) => ({ ...more, words: [...new Set([...plain, ...more.phrases.flat()])] }));
});

function often<T>(usual: T, other: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });
}

function scopeOf(told: Told[], asked: Asked): SearchScope {
  const { kinds, pipeline, source_id, deleted_sources } = asked;
  return {
    indexes: told.map(searchIndexOf),
    ...{ kinds: new Set(kinds), pipeline, source_id, deleted_sources: new Set(deleted_sources) },
  };
}

/** Phrases of several words are for whoever reads the texts. */
function wantedOf({ words, phrases, excluded, match, fuzzy, from_ms, to_ms }: Asked): Wanted {
  return {
    words: words.map((one) => new QueryWord(one, { fuzzy })),
    exact: [...new Set(phrases.flat())].map((one) => words.indexOf(one)),
    ...{ match, excluded: excluded.map(wordTerm), from_ms, to_ms },
  };
}

/** How often a word stands in a text, and what that weighs, as the rules say it. */
function standing(word: string, { text, language }: { text: string; language: string | null }, fuzzy: boolean) {
  const { stem } = stemmerOf(language);
  const all = wordsIn(text).map((one) => one.word);
  const isSaid = (one: string) => one.length >= 5 && /^[\p{Script=Latin}\p{M}']+$/u.test(one);
  const ways: [weight: number, count: number][] = [
    [1, all.filter((one) => one === word).length],
    [0.7, all.filter((one) => stem(one) === stem(word)).length],
    [
      0.4,
      fuzzy && isSaid(word)
        ? all.filter((one) => isSaid(one) && soundsOf(one)[0] !== '' && soundsOf(word).includes(soundsOf(one)[0]))
            .length
        : 0,
    ],
  ];
  return ways.find(([, count]) => count > 0) ?? null;
}

/** Each hit's id and score by reading all texts. */
function bruteForce(libraries: Told[], asked: Asked): { id: string; score: number; at_ms: number }[] {
  const { words, phrases, excluded, match, fuzzy, kinds, pipeline, source_id, deleted_sources } = asked;
  const deleted = new Set(
    libraries.flatMap(({ deleted_streams }) =>
      [...deleted_streams].map((id) => (pipeline === 0 ? id : pipelineOutputId(id, pipeline))),
    ),
  );
  const scope = libraries.flatMap(textsOf).filter((text) => {
    if (!kinds.includes(text.kind as SearchKind) || text.pipeline !== pipeline) return false;
    if (text.kind !== 'turn') return true;
    if (deleted.has(text.stream_id as string) || deleted_sources.includes(text.source_id as string)) return false;
    return source_id === null || text.source_id === source_id;
  });
  const lengthOf = ({ text }: ToldText) => wordsIn(text).length;
  const average =
    Math.max(
      1,
      scope.reduce((sum, text) => sum + lengthOf(text), 0),
    ) / scope.length;
  const idf = words.map((one) => {
    const count = scope.filter((text) => standing(one, text, fuzzy) !== null).length;
    return Math.log(1 + (scope.length - count + 0.5) / (count + 0.5));
  });
  const isHit = (text: ToldText) => {
    const own = wordsIn(text.text).map((one) => one.word);
    if (excluded.some((one) => own.includes(one))) return false;
    const there = words.map((one) => standing(one, text, fuzzy) !== null);
    if (!there.includes(true)) return false;
    if (text.at_ms < asked.from_ms || text.at_ms > asked.to_ms) return false;
    if (match === 'any') return true;
    if (!phrases.flat().every((one) => own.includes(one))) return false;
    return words.every((one, at) => there[at] || text.beside.some((other) => standing(one, other, fuzzy) !== null));
  };
  return scope.filter(isHit).map((text) => {
    const score = words.reduce((sum, one, at) => {
      const [weight, count] = standing(one, text, fuzzy) ?? [0, 0];
      const norm = 1.2 * (1 - 0.75 + (0.75 * lengthOf(text)) / average);
      return sum + ((idf[at] as number) * weight * count * 2.2) / (count + norm);
    }, 0);
    return { id: text.id, score, at_ms: text.at_ms };
  });
}

const two = fc.tuple(told(1), told(2));

t.test('K-097 K-099 a search finds what reading everything finds, with the same scores', async (t) => {
  let found = 0;
  fc.assert(
    fc.property(two, asked, (libraries, asked) => {
      const scope = scopeOf(libraries, asked);
      // What the first evaluation of a scope leaves in memory serves the second one, with the words in another order.
      evaluate(scope, wantedOf({ ...asked, words: asked.words.toReversed() }));
      const { hits, weights } = evaluate(scope, wantedOf(asked));
      const ranking = new Ranking(hits, { scoreOf: (hit) => hits.score(hit, weights), sort: 'relevance', after: null });
      const scores = new Map<string, number>();
      for (let hit = ranking.next(); hit !== null; hit = ranking.next())
        scores.set(idOfHit(hits, hit), ranking.score(hit));
      const expected = bruteForce(libraries, asked);
      found += expected.length;
      t.same([...scores.keys()].sort(), expected.map(({ id }) => id).sort());
      for (const { id, score } of expected) t.ok(Math.abs((scores.get(id) as number) - score) < 1e-9, `${score}`);
    }),
    { numRuns: RUNS },
  );
  t.ok(found > RUNS, `${found} hits`);
});

t.test('K-102 the best comes first, of equals the newest, then the first id', async (t) => {
  fc.assert(
    fc.property(
      two,
      asked,
      fc.constantFrom<'relevance' | 'recent'>('relevance', 'recent'),
      (libraries, asked, sort) => {
        const { hits, weights } = evaluate(scopeOf(libraries, asked), wantedOf(asked));
        const ranking = new Ranking(hits, { scoreOf: (hit) => hits.score(hit, weights), sort, after: null });
        const ranks: { score: number; started_ms: number; id: string }[] = [];
        for (let hit = ranking.next(); hit !== null; hit = ranking.next()) ranks.push(ranking.rank(hit));
        const ordered = ranks.toSorted(
          (a, b) =>
            (sort === 'relevance' ? b.score - a.score : 0) || b.started_ms - a.started_ms || (a.id < b.id ? -1 : 1),
        );
        t.same(ranks, ordered);
      },
    ),
    { numRuns: drawsOf(75) },
  );
});

t.test('K-102 thousands of hits come in their order, and those behind a rank as well', async (t) => {
  const random = new SeededRandom(7);
  const turns = (page: number) =>
    Array.from({ length: 200 }, (_, serial): ToldTurn => {
      const text = `Anna ${'paper '.repeat(random.below(9))}${random.below(3) === 0 ? 'Anna' : ''}`.trim();
      return { serial, at_ms: page * 600_000 + Math.floor(serial / 3) * 1_000, text, language: 'en', speaker: 0 };
    });
  const pages = new Map(Array.from({ length: 10 }, (_, page) => [page, turns(page)] as const));
  const transcript = { id: '01999999-0001-7222-8222-2222220000aa', source_id: sourceOf(1), begins_at_ms: 0, pages };
  const told = { library_id: libraryOf(1), transcripts: [transcript], items: [], deleted_streams: new Set<string>() };
  const scope: SearchScope = {
    indexes: [searchIndexOf(told)],
    kinds: new Set(ALL_KINDS),
    pipeline: 0,
    source_id: null,
    deleted_sources: new Set<string>(),
  };
  const words = [new QueryWord('anna', { fuzzy: false })];
  const any = { from_ms: Number.NEGATIVE_INFINITY, to_ms: Number.POSITIVE_INFINITY, exact: [], excluded: [] };
  const { hits, weights } = evaluate(scope, { ...any, words, match: 'all' });
  t.equal(hits.count, 2_000);
  for (const sort of ['relevance', 'recent'] as const) {
    const options = { scoreOf: (hit: number) => hits.score(hit, weights), sort, after: null };
    const ranking = new Ranking(hits, options);
    const ranks = ranking.take(hits.count).map((hit) => ranking.rank(hit));
    t.equal(ranking.left, 0);
    const ordered = ranks.toSorted(
      (a, b) => (sort === 'relevance' ? b.score - a.score : 0) || b.started_ms - a.started_ms || (a.id < b.id ? -1 : 1),
    );
    t.same(ranks, ordered);
    t.equal(new Set(ranks.map(({ id }) => id)).size, hits.count);
    const behind = new Ranking(hits, { ...options, after: ranks[700] as (typeof ranks)[number] });
    t.equal(behind.left, hits.count - 701);
    t.same(
      behind.take(100).map((hit) => behind.rank(hit)),
      ranks.slice(701, 801),
    );
  }
});

t.test('K-104 pages of a search are a partition of what stays, whatever changes meanwhile', async (t) => {
  const sort = fc.constantFrom<'relevance' | 'recent'>('relevance', 'recent');
  const changes = fc.array(two, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(two, asked, sort, changes, fc.integer({ min: 1, max: 3 }), (libraries, asked, sort, changes, limit) => {
      const wanted = wantedOf(asked);
      const digest = digestOfQuery(asked.words);
      const walk = (at: (page: number) => Told[]) => {
        const ids: string[] = [];
        let cursor: string | null = null;
        for (let page = 0; ; page++) {
          const { hits, weights: now } = evaluate(scopeOf(at(page), asked), wanted);
          const before: ReturnType<typeof readSearchCursor> =
            cursor === null ? null : readSearchCursor(cursor, digest, wanted.words.length);
          const weights = before?.weights ?? now;
          const ranking = new Ranking(hits, {
            scoreOf: (hit) => hits.score(hit, weights),
            ...{ sort, after: before?.rank ?? null },
          });
          for (let shown = 0; shown < limit && ranking.left > 0; shown++) {
            const hit = ranking.next() as number;
            ids.push(idOfHit(hits, hit));
            cursor = writeSearchCursor(digest, { weights, rank: ranking.rank(hit) });
          }
          if (ranking.left === 0) return ids;
        }
      };
      // The libraries stay; a third one's texts are others with each page.
      const stay = new Set(walk(() => libraries));
      const all = walk((page) => [...libraries, ...others(changes, page)]);
      t.equal(new Set(all).size, all.length, 'nothing twice');
      const of_those = all.filter((id) => stay.has(id));
      t.same(of_those.sort(), [...stay].sort(), 'nothing left out');
    }),
    { numRuns: drawsOf(150) },
  );
});

/** What changes with each page, of other recordings. */
function others(changes: [Told, Told][], page: number): Told[] {
  const [{ transcripts, items }] = changes[page % changes.length] as [Told, Told];
  const begin = `01aaaa${(page % 256).toString(16).padStart(2, '0')}`;
  const renamed = transcripts.map((one) => ({ ...one, id: begin + one.id.slice(begin.length) }));
  const library_id = begin + libraryOf(1).slice(begin.length);
  return [{ library_id, transcripts: renamed, items, deleted_streams: new Set() }];
}

t.test('K-104 a cursor is of one query', async (t) => {
  const digest = digestOfQuery({ q: 'one' });
  const position = {
    weights: { idf: [0.1, 1 / 3], average: 7.3 },
    rank: { score: Math.PI, started_ms: 1_793_491_200_123, id: '01999999-1111-7111-8111-1111118000aa' },
  };
  const cursor = writeSearchCursor(digest, position);
  t.same(readSearchCursor(cursor, digest, 2), position);
  t.equal(readSearchCursor(cursor, digestOfQuery({ q: 'two' }), 2), null);
  t.equal(readSearchCursor(cursor, digest, 3), null);
  for (const wrong of ['', 'x', `${cursor}A`, cursor.slice(0, -4), `${cursor} `, 'é'.repeat(40)])
    t.equal(readSearchCursor(wrong, digest, 2), null, wrong);
  const endless = { ...position, rank: { ...position.rank, score: Number.NaN } };
  t.equal(readSearchCursor(writeSearchCursor(digest, endless), digest, 2), null);
});

const QUERIES: [text: string, parsed: unknown][] = [
  ['', { wrong: 'must have a word to look for' }],
  ['... "" -', { wrong: 'must have a word to look for' }],
  ['-only', { wrong: 'must have a word to look for' }],
  ['Big  dogs', { words: ['big', 'dogs'], phrases: [], excluded: [] }],
  ['follow-up', { words: ['follow', 'up'], phrases: [], excluded: [] }],
  ['a "Big dog" b', { words: ['a', 'big', 'dog', 'b'], phrases: [['big', 'dog']], excluded: [] }],
  ['“Big dog”', { words: ['big', 'dog'], phrases: [['big', 'dog']], excluded: [] }],
  ['a "big dog', { words: ['a', 'big', 'dog'], phrases: [['big', 'dog']], excluded: [] }],
  ['a -b', { words: ['a'], phrases: [], excluded: [['b']] }],
  [
    'a -b-c -"d e',
    {
      words: ['a'],
      phrases: [],
      excluded: [
        ['b', 'c'],
        ['d', 'e'],
      ],
    },
  ],
  ['a - b', { words: ['a', 'b'], phrases: [], excluded: [] }],
  ['a – b — c', { words: ['a', 'b', 'c'], phrases: [], excluded: [] }],
  ['a –b —c −d', { words: ['a'], phrases: [], excluded: [['b'], ['c'], ['d']] }],
  [
    '«Big dog» ‹a b›',
    {
      words: ['big', 'dog', 'a', 'b'],
      phrases: [
        ['big', 'dog'],
        ['a', 'b'],
      ],
      excluded: [],
    },
  ],
  ['「Big dog」 -『cat』', { words: ['big', 'dog'], phrases: [['big', 'dog']], excluded: [['cat']] }],
  ['»Big dog« ＂a＂', { words: ['big', 'dog', 'a'], phrases: [['big', 'dog'], ['a']], excluded: [] }],
  ["l'eau qu'il", { words: ['eau', 'il'], phrases: [], excluded: [] }],
  ['明日の会議', { words: ['明日', 'の', '会議'], phrases: [], excluded: [] }],
  ['w '.repeat(50), { words: ['w'], phrases: [], excluded: [] }],
  [Array.from({ length: 17 }, (_, at) => `w${at}`).join(' '), { wrong: 'must have at most 16 words' }],
  [`${Array.from({ length: 15 }, (_, at) => `w${at}`).join(' ')} -"x y"`, { wrong: 'must have at most 16 words' }],
];

t.test('K-098 the word that is being typed is the last one, as long as nothing ends it', async (t) => {
  const rows: [text: string, typed: string | null][] = [
    ['green hous', 'hous'],
    ["l'hous", 'hous'],
    ['follow-up', 'up'],
    ['hous ', null],
    ['hous.', null],
    ['green -hous', null],
    ['"green hous', null],
    ['"green" hous', 'hous'],
    ['hous "green"', null],
    ['', null],
  ];
  for (const [text, typed] of rows) t.equal(wordBeingTyped(text), typed, text);
});

t.test('K-097 how a word stands in a text', async (t) => {
  const english = stemmerOf('en');
  const rows: [word: string, options: { fuzzy?: boolean; begins?: boolean }, said: string, variant: number][] = [
    ['işik', {}, 'ışık', AS_IT_IS],
    ['ışık', {}, 'işik', AS_IT_IS],
    ['학교', {}, '학교에서', BY_STEM],
    ['학교', {}, '고등학교', BY_STEM],
    ['학교에서', {}, '학교', 0],
    ['나', {}, '나는', 0],
    ['hous', { begins: true }, 'house', BY_SOUND],
    ['hous', { begins: true }, 'hours', 0],
    ['hous', {}, 'house', 0],
    ['hou', { begins: true }, 'house', 0],
  ];
  for (const [word, { fuzzy = false, begins = false }, said, variant] of rows)
    t.equal(new QueryWord(word, { fuzzy, begins }).variantOf(said, english), variant, `${word} in ${said}`);
});

t.test('K-097 a part of a Korean word is found where all its pairs of syllables are', async (t) => {
  const texts = ['저는 고등학교에서 만났습니다', '학교에 고등어', '초등학교'];
  const block = (text: string, serial: number) => {
    const stemmer = stemmerOf('ko');
    return { serial, start_ms: serial * 1_000, speaker: 0, stemmer, said: termsIn(text, stemmer) };
  };
  const page = new Block(encodeBlock({ begins_at_ms: 0, source_id: null }, texts.map(block)));
  const index = {
    ...{ library_id: libraryOf(1), items: new Map(), notes: new Map(), deleted_streams: new Set<string>() },
    searched_texts: new SearchedTexts(),
    transcripts: new Map([['01999999-0001-7222-8222-2222220000aa', [{ page: 0, block: page }]]]),
  };
  const scope = {
    ...{ indexes: [index], kinds: new Set<SearchKind>(['turn']), pipeline: 0, source_id: null },
    deleted_sources: new Set<string>(),
  };
  const found = (word: string) => {
    const words = [new QueryWord(word, { fuzzy: false })];
    const any = { ...{ match: 'any' as const, exact: [], excluded: [] }, from_ms: -Infinity, to_ms: Infinity };
    const { hits } = evaluate(scope, { ...any, words });
    return Array.from({ length: hits.count }, (_, hit) => hits.text(hit));
  };
  t.same(found('학교'), [0, 1, 2]);
  t.same(found('등학'), [0, 2]);
  t.same(found('고등학교'), [0]);
  t.same(found('대학교'), []);
});

t.test('K-099 K-103 queries', async (t) => {
  for (const [text, parsed] of QUERIES) t.same(parseQuery(text), parsed, text);
});
