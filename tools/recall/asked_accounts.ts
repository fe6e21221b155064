import { Block, encodeBlock } from '../../src/domain/search/block.js';
import { stemmerOf } from '../../src/domain/search/stemmers.js';
import { encodeVectors, readVectors, type WindowVector } from '../../src/domain/search/vectors.js';
import { termsIn, wordsIn } from '../../src/domain/search/words.js';
import { Slices } from '../../src/engine/time/slices.js';
import { evaluate, type SearchScope, type Voices } from '../../src/features/search/index/evaluate.js';
import type { IndexedPage, SearchIndex } from '../../src/features/search/index/search_index.js';
import { TurnSimilarities } from '../../src/features/search/index/turn_similarity.js';
import { SearchedTexts } from '../../src/features/search/index/word_places.js';
import { askedTime } from '../../src/features/search/questions/asked_time.js';
import { candidatesWithFeatures, type PassageRanking } from '../../src/features/search/questions/passage_ranking.js';
import type { TurnCandidate } from '../../src/features/search/questions/ranking/turn_candidates.js';
import { questionOf, weightsOf } from '../../src/features/search/questions/recall_question.js';
import { bestHitsOf, factorOfTime } from '../../src/features/search/questions/recall_ranking.js';
import type { CorpusTalk } from '../insights/corpus.js';

/** Questions of labelled talks, asked in accounts that hold one or many of them, by the very code of the server. */

/** The vector of a text; null where none was made. */
export type VectorOf = (text: string) => Int8Array | null;
/** The vector that answers to a question are like. */
export type SoughtOf = (talk: CorpusTalk, question: string, vector: Int8Array) => Int8Array;

export type AskedQuestion = {
  talk: CorpusTalk;
  q: string;
  /** Positions of the turns that answer it. */
  answers: ReadonlySet<number>;
  transcript_id: string;
  ranking: PassageRanking;
  candidates: TurnCandidate[];
  features: Float64Array[];
};

/** An account: the number of its talks says how hard it is. */
export type Account = { talks: readonly CorpusTalk[]; asked: readonly CorpusTalk[] };

const PAGE_MS = 600_000;
const DAY_MS = 86_400_000;
const TURN_MS = 600;
const WORD_MS = 380;
/** Questions are asked so long after their talk. */
const ASKED_AFTER_MS = 21 * DAY_MS;
/** As for contacts: the shortest first name. */
const NAME_CHARS_MIN = 3;
const MODEL = 1;
const LIBRARY_ID = '01999999-0001-7444-8444-4444440000aa';

/** Blocks and vectors of talks, made once for all accounts. */
export class TalkIndex {
  readonly #pages = new Map<CorpusTalk, IndexedPage[]>();
  readonly #ids = new Map<CorpusTalk, string>();
  readonly #texts = new SearchedTexts();
  readonly #vectorOf: VectorOf;
  readonly #soughtOf: SoughtOf;

  constructor(vectorOf: VectorOf, soughtOf: SoughtOf) {
    this.#vectorOf = vectorOf;
    this.#soughtOf = soughtOf;
  }

  /** Asks the questions of the account's talks. */
  async ask({ talks, asked }: Account, { with_vectors }: { with_vectors: boolean }): Promise<AskedQuestion[]> {
    const index = this.#indexOf(talks);
    const scope: SearchScope = {
      ...{ indexes: [index], kinds: new Set(['turn']), pipeline: 0, source_id: null, deleted_sources: new Set() },
    };
    const found: AskedQuestion[] = [];
    for (const talk of asked)
      for (const { q, turns } of talk.questions) {
        const answers = new Set(turns.map((n) => n - 1).filter((at) => at >= 0 && at < talk.turns.length));
        if (answers.size === 0) continue;
        const vector = with_vectors ? this.#vectorOf(q) : null;
        if (with_vectors && vector === null) throw new Error(`no vector: ${q}`);
        found.push(await this.#askOne({ scope, talks, talk, q, answers, vector }));
      }
    return found;
  }

  async #askOne({
    scope,
    talks,
    talk,
    q,
    answers,
    vector,
  }: {
    scope: SearchScope;
    talks: readonly CorpusTalk[];
    talk: CorpusTalk;
    q: string;
    answers: ReadonlySet<number>;
    vector: Int8Array | null;
  }): Promise<AskedQuestion> {
    const asked = { now_ms: beginOf(talk) + ASKED_AFTER_MS, time_zone: talk.zone };
    // A period that binds would ask for when it was said, and no talk says when it is asked for.
    const { rest, days, near } = { ...askedTime(q, asked), rest: q };
    const question = questionOf(rest, { indexes: scope.indexes, may_be_empty: true, days, asked });
    const said_by = this.#voicesOf(question.words, talks);
    const slices = new Slices();
    const bounds = { from_ms: Number.NEGATIVE_INFINITY, to_ms: Number.POSITIVE_INFINITY };
    const { hits, weights: found } = evaluate(scope, {
      ...{ words: question.wanted, match: 'any', exact: [], excluded: [], ...bounds, about: question.about, said_by },
    });
    const weights = weightsOf(question, found);
    const sought = vector === null ? null : this.#soughtOf(talk, q, vector);
    const similarities =
      vector === null || sought === null
        ? null
        : await TurnSimilarities.of(scope, { vector, sought, model: MODEL }, { bounds, slices });
    const factorOf = factorOfTime({ now_ms: asked.now_ms, near });
    const best = await bestHitsOf({ hits, weights, question, factorOf }, slices);
    const ranking: PassageRanking = {
      ...{ scope, weights, question, said_by: new Set(said_by.keys()), around: 1, limit: 60, similarities, factorOf },
    };
    const made = await candidatesWithFeatures(hits, best, ranking, slices);
    return { talk, q, answers, transcript_id: this.#idOf(talk), ranking, ...made };
  }

  /** Speakers are contacts with their names: by the place of a word that is a first name, who says what. */
  #voicesOf(words: readonly string[], talks: readonly CorpusTalk[]): Map<number, Voices> {
    const found = new Map<number, Voices & { speakers: Map<string, Set<number>> }>();
    for (const talk of talks)
      for (const [number, name] of Object.values(talk.speakers).entries()) {
        const first = wordsIn(name)[0]?.word ?? '';
        const place = first.length < NAME_CHARS_MIN ? -1 : words.indexOf(first);
        if (place < 0) continue;
        const voices = found.get(place) ?? { contact_ids: new Set<string>(), speakers: new Map() };
        found.set(place, voices);
        const id = this.#idOf(talk);
        voices.speakers.set(id, (voices.speakers.get(id) ?? new Set()).add(number));
      }
    return found;
  }

  #indexOf(talks: readonly CorpusTalk[]): SearchIndex {
    return {
      library_id: LIBRARY_ID,
      transcripts: new Map(talks.map((talk) => [this.#idOf(talk), this.#pagesOf(talk)])),
      items: new Map(),
      notes: new Map(),
      deleted_streams: new Set(),
      searched_texts: this.#texts,
    };
  }

  #idOf(talk: CorpusTalk): string {
    const id = this.#ids.get(talk) ?? `01999999-${this.#ids.size.toString(16).padStart(4, '0')}-7222-8222-2222220000aa`;
    this.#ids.set(talk, id);
    return id;
  }

  #pagesOf(talk: CorpusTalk): IndexedPage[] {
    const known = this.#pages.get(talk) ?? this.#makePages(talk);
    this.#pages.set(talk, known);
    return known;
  }

  #makePages(talk: CorpusTalk): IndexedPage[] {
    const speakers = Object.keys(talk.speakers);
    const stemmer = stemmerOf('en');
    const by_page = new Map<number, { start_ms: number; text: string; speaker: number }[]>();
    let at_ms = 0;
    for (const { speaker, text } of talk.turns) {
      const page = Math.floor(at_ms / PAGE_MS);
      const turns = by_page.get(page) ?? [];
      by_page.set(page, turns);
      turns.push({ start_ms: at_ms - page * PAGE_MS, text, speaker: Math.max(0, speakers.indexOf(speaker)) });
      at_ms += TURN_MS + WORD_MS * text.split(' ').length;
    }
    return [...by_page].map(([page, turns]) => {
      const texts = turns.map(({ start_ms, text, speaker }, serial) => ({
        ...{ serial, start_ms, speaker, stemmer, said: termsIn(text, stemmer) },
      }));
      const begins_at_ms = beginOf(talk) + page * PAGE_MS;
      const windows = turns.flatMap(({ text }, at): WindowVector[] => {
        const vector = this.#vectorOf(text);
        return vector === null ? [] : [{ first: at, last: at, vector }];
      });
      const vectors = readVectors(encodeVectors(MODEL, windows));
      return { page, block: new Block(encodeBlock({ begins_at_ms, source_id: null }, texts)), vectors };
    });
  }
}

function beginOf({ at }: CorpusTalk): number {
  const began = Date.parse(at);
  return Number.isNaN(began) ? Date.UTC(2027, 0, 1) : began;
}
