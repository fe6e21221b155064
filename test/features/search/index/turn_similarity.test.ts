import t from 'tap';
import {
  encodeVectors,
  type PageVectors,
  quantized,
  readVectors,
  type WindowVector,
} from '../../../../src/domain/search/vectors.js';
import { Slices } from '../../../../src/engine/time/slices.js';
import type { SearchScope } from '../../../../src/features/search/index/evaluate.js';
import type { SearchIndex } from '../../../../src/features/search/index/search_index.js';
import { TurnSimilarities } from '../../../../src/features/search/index/turn_similarity.js';
import { libraryOf, searchIndexOf, sourceOf } from '../../../fixtures/search_index.js';

const BEGAN_MS = Date.parse('2026-11-25T09:00:00.000Z');
const PAGE_MS = 600_000;
const TURN_MS = 1_000;
const MODEL = 7;
const ALWAYS = { from_ms: Number.NEGATIVE_INFINITY, to_ms: Number.POSITIVE_INFINITY };

const unit = (...values: number[]) => quantized(values) as Int8Array;
const streamOf = (number: number) => `01999999-000${number}-7222-8222-2222220000aa`;

/** Transcripts of pages of turns; each turn is its vector. `model`: of all vectors. */
function stored(model: number, windows: WindowVector[]): PageVectors {
  return readVectors(encodeVectors(model, windows)) as PageVectors;
}

function indexOf(transcripts: Int8Array[][][], model = MODEL): SearchIndex {
  const index = searchIndexOf({
    library_id: libraryOf(1),
    transcripts: transcripts.map((pages, number) => ({
      ...{ id: streamOf(number), source_id: sourceOf(1), begins_at_ms: BEGAN_MS },
      pages: new Map(
        pages.map((turns, page) => [
          page,
          turns.map((_, at) => ({
            ...{ serial: at, at_ms: page * PAGE_MS + at * TURN_MS, text: 'Well.', language: 'en', speaker: 1 },
          })),
        ]),
      ),
    })),
    items: [],
    deleted_streams: new Set(),
  });
  const vectors = (turns: Int8Array[]) =>
    stored(
      model,
      turns.map((vector, at) => ({ first: at, last: at, vector })),
    );
  for (const [number, pages] of transcripts.entries())
    for (const [page, turns] of pages.entries()) {
      const indexed = index.transcripts.get(streamOf(number))?.[page];
      if (indexed !== undefined) indexed.vectors = vectors(turns);
    }
  return index;
}

async function similaritiesIn(index: SearchIndex, sought: Int8Array, { bounds = ALWAYS, vector = sought } = {}) {
  const scope: SearchScope = {
    ...{ indexes: [index], kinds: new Set(['turn']), pipeline: 0, source_id: null, deleted_sources: new Set() },
  };
  return TurnSimilarities.of(scope, { vector, sought, model: MODEL }, { bounds, slices: new Slices() });
}

t.test('K-197 turns are alike by their vectors, to what is sought and to the question itself', async (t) => {
  const found = await similaritiesIn(indexOf([[[unit(1, 0), unit(0, 1)]]]), unit(0, 1), { vector: unit(1, 0) });
  const transcript = found.transcript(streamOf(0));
  t.same([transcript?.turn(0), transcript?.turn(1)], [0, 1]);
  t.same([transcript?.plain(0), transcript?.plain(1)], [1, 0]);
  t.same([transcript?.turn(-1), transcript?.turn(2)], [Number.NaN, Number.NaN]);
  t.equal(found.turns.most, 1);
});

t.test('K-197 a window of several turns counts for each of them', async (t) => {
  const index = indexOf([[[unit(1, 0), unit(1, 0), unit(0, 1)]]]);
  const [page] = index.transcripts.get(streamOf(0)) ?? [];
  if (page?.vectors) {
    page.vectors = stored(MODEL, [{ first: 0, last: 1, vector: unit(1, 0) }]);
  }
  const transcript = (await similaritiesIn(index, unit(1, 0))).transcript(streamOf(0));
  t.same(
    [0, 1, 2].map((at) => transcript?.turn(at)),
    [1, 1, Number.NaN],
  );
});

t.test('K-197 vectors of another model and turns outside of the bounds do not count', async (t) => {
  const other = await similaritiesIn(indexOf([[[unit(1, 0)]]], MODEL + 1), unit(1, 0));
  t.same([other.scanned, other.transcript(streamOf(0))?.turn(0)], [[], Number.NaN]);
  const bounds = { from_ms: BEGAN_MS + TURN_MS, to_ms: BEGAN_MS + TURN_MS };
  const found = await similaritiesIn(indexOf([[[unit(1, 0), unit(1, 0), unit(1, 0)], [unit(1, 0)]]]), unit(1, 0), {
    bounds,
  });
  const transcript = found.transcript(streamOf(0));
  t.same(
    [0, 1, 2, 3].map((at) => transcript?.turn(at)),
    [Number.NaN, 1, Number.NaN, Number.NaN],
  );
});

t.test(
  'K-197 of a large account the pages are scanned that are most alike as a whole, any turn on demand',
  async (t) => {
    const far = Array.from({ length: 1_000 }, () => unit(0, 1));
    const near = Array.from({ length: 1_000 }, () => unit(1, 1));
    const found = await similaritiesIn(indexOf([Array.from({ length: 12 }, () => far), [near]]), unit(1, 0));
    t.equal(found.scanned.length, 6);
    t.equal(found.scanned[0]?.transcript.transcript_id, streamOf(1));
    const last = found.transcript(streamOf(0));
    t.same([last?.known(11_999), last?.turn(11_999)], [Number.NaN, 0]);
  },
);
