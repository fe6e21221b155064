import { z } from 'zod';
import { languageOf, saidAt, searchedText } from '../../../../actors/insights/library_block.js';
import { otherCursor, type Page } from '../../../access/cursors.js';
import type { Principal } from '../../../access/principal.js';
import { count, id, moment } from '../../../access/response_schemas.js';
import { Refused } from '../../../domain/refusals.js';
import { QueryWord } from '../../../domain/search/matching.js';
import type { NotePlace } from '../../../domain/search/places.js';
import { type ParsedQuery, parseQuery, standsIn, wordBeingTyped } from '../../../domain/search/query.js';
import { matchesIn, type Snippet, snippetOf } from '../../../domain/search/snippet.js';
import { stemmerOf } from '../../../domain/search/stemmers.js';
import { wordsIn, wordTerm } from '../../../domain/search/words.js';
import { Slices } from '../../../engine/time/slices.js';
import type { FeatureServices } from '../../services.js';
import { viewTurns } from '../../transcripts/transcript_reading.js';
import { evaluateInSlices, type Wanted } from '../index/evaluate.js';
import type { Hits, SearchKind } from '../index/hits.js';
import { idOfHit, Ranking, type Sort } from '../index/ranking.js';
import type { SearchIndexes } from '../index/search_index.js';
import { contactsOfItem, HitReader } from './hit_reader.js';
import { invalidQuery } from './invalid_query.js';
import { digestOfQuery, readSearchCursor, writeSearchCursor } from './search_cursor.js';
import { openScope, type ScopeQuery } from './search_scope.js';

/** Searches turns and items made from them. Rule K-015; docs/choices.md, "Search and recall". */

const SEARCH_LOOKED_MAX = 400; // ours: hits of the index that one page reads the texts of
const SEARCH_PASSED_MAX = 2_000; // ours: and those that it looks at at all

export const SEARCH_KINDS = ['turn', 'suggestion', 'note', 'conversation', 'memory'] as const satisfies SearchKind[];

export type SearchQuery = Omit<ScopeQuery, 'contact_ids'> & {
  q: string;
  contact_id?: string | undefined;
  /** Times are ISO 8601. */
  from?: string | undefined;
  to?: string | undefined;
  sort: Sort;
  fuzzy: boolean;
  limit: number;
  cursor?: string | undefined;
};

const snippetShape = z
  .strictObject({
    text: z.string().describe('What stands around the best place, with … where it is cut.'),
    highlights: z
      .array(z.tuple([count, count]))
      .describe('Where the words stand in it: from and to, in UTF-16 units, as JavaScript counts.'),
  })
  .describe('What was found.');

export const searchHitShape = z
  .strictObject({
    kind: z.enum(SEARCH_KINDS).describe('What it is.'),
    id: id.describe('Of the turn, suggestion, signal, conversation or memory.'),
    score: z.number().describe('How well it fits; only scores of one query compare.'),
    snippet: snippetShape,
    stream_id: id.nullable().describe('The recording; null for a memory that a person wrote.'),
    source_id: id.nullable().describe('The source of its stream.'),
    start_ms: count.nullable().describe("Where it begins, in ms of the stream's timeline."),
    started_at: moment.describe('When it was said or noted, or made where nobody knows that.'),
    contact_id: id
      .nullable()
      .describe('Who said it, whose task it is, or about whom; null where nobody knows, and to others.'),
    speaker_name: z.string().nullable().describe("That contact's name."),
  })
  .meta({ id: 'SearchHit' });

export type SearchHit = z.infer<typeof searchHitShape>;

/** A page of hits, as the query sorts them. BAD_REQUEST for a query without words, or a cursor of another one. */
export async function search(
  services: Pick<FeatureServices, 'actors' | 'runtime' | 'store'> & { search_indexes: SearchIndexes },
  who: Principal,
  query: SearchQuery,
): Promise<Page<SearchHit>> {
  const { q, sort, fuzzy, limit, cursor, contact_id, from, to } = query;
  const parsed = parseQuery(q);
  if ('wrong' in parsed) throw new Refused(invalidQuery('q', parsed.wrong));
  const { limit: _limit, cursor: _cursor, ...asked } = query;
  const digestOf = (begins: boolean) =>
    digestOfQuery({ account_id: who.account_id, ...asked, ...(begins && { begins }) });
  const positionIn = (begins: boolean) => readSearchCursor(cursor ?? '', digestOf(begins), parsed.words.length);
  const position = positionIn(false) ?? positionIn(true);
  if (cursor !== undefined && position === null) throw new Refused(otherCursor());
  const opened = await openScope(services, who, {
    ...query,
    contact_ids: contact_id === undefined ? undefined : [contact_id],
  });
  const typed = wordBeingTyped(q);
  const slices = new Slices();
  const find = async (begins: boolean) => {
    const words = parsed.words.map((word) => new QueryWord(word, { fuzzy, begins: begins && word === typed }));
    const wanted: Wanted = {
      words,
      match: 'all',
      excluded: parsed.excluded.flatMap((run) => (run.length === 1 ? run.map(wordTerm) : [])),
      exact: [...new Set(parsed.phrases.flat())].map((word) => parsed.words.indexOf(word)),
      from_ms: from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from),
      to_ms: to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to),
    };
    return { ...(await evaluateInSlices(opened.scope, wanted, slices)), words, digest: digestOf(begins) };
  };
  const exactly = await find(cursor !== undefined && positionIn(false) === null);
  // Where nothing has the word that is being typed, words count that begin with it. Later pages go on as the first began.
  const is_unknown = typed !== null && exactly.found[parsed.words.indexOf(typed)] === 0;
  const { hits, weights: now, words, digest } = cursor === undefined && is_unknown ? await find(true) : exactly;
  const weights = position?.weights ?? now;
  const ranking = new Ranking(hits, {
    scoreOf: (hit) => hits.score(hit, weights),
    sort,
    after: position?.rank ?? null,
  });
  const reading = new HitReader(services, who, opened.filters);
  const shown = new ShownHits(services, who, { hits, reading, words, parsed });
  const items: SearchHit[] = [];
  let last: number | null = null;
  for (let passed = 0; items.length < limit && ranking.left > 0; ) {
    if (reading.looked >= SEARCH_LOOKED_MAX || passed >= SEARCH_PASSED_MAX) break;
    const batch = ranking.take(limit - items.length);
    passed += batch.length;
    last = batch.at(-1) ?? last;
    const views = await Promise.all(batch.map((hit) => shown.view(hit, ranking.score(hit))));
    for (const view of views) {
      if (view !== null) items.push(view);
    }
  }
  const is_over = ranking.left === 0 || last === null;
  return { items, cursor: is_over ? null : writeSearchCursor(digest, { weights, rank: ranking.rank(last as number) }) };
}

/** Views of hits; null for one whose text is no hit, or that the caller may not read. */
class ShownHits {
  readonly #services: Pick<FeatureServices, 'actors'>;
  readonly #who: Principal;
  readonly #hits: Hits;
  readonly #reading: HitReader;
  readonly #words: readonly QueryWord[];
  readonly #parsed: ParsedQuery;

  constructor(
    services: Pick<FeatureServices, 'actors'>,
    who: Principal,
    of: { hits: Hits; reading: HitReader; words: readonly QueryWord[]; parsed: ParsedQuery },
  ) {
    this.#services = services;
    this.#who = who;
    this.#hits = of.hits;
    this.#reading = of.reading;
    this.#words = of.words;
    this.#parsed = of.parsed;
  }

  view(hit: number, score: number): Promise<SearchHit | null> {
    if (this.#hits.isTurn(hit)) return this.#turn(hit, score);
    const note = this.#hits.note(hit);
    return note === null ? this.#item(hit, score) : this.#note(note, score);
  }

  async #turn(hit: number, score: number): Promise<SearchHit | null> {
    const found = await this.#reading.turn(this.#hits, hit);
    if (found === null) return null;
    const { readable, page, turn } = found;
    const checked = this.#check(turn);
    if (checked === null) return null;
    if (checked.missing.length > 0) {
      const beside = await this.#reading.beside(this.#hits, hit, found);
      if (!checked.missing.every((word) => beside.some((other) => stands(word, other)))) return null;
    }
    const views = await viewTurns(this.#services, this.#who, { readable, turns: [{ page: page.number, turn }] });
    const [view] = views;
    if (view === undefined) return null;
    const { stream_id, source_id, start_ms, started_at, contact_id, speaker_name } = view;
    return {
      kind: 'turn',
      id: view.id,
      score,
      snippet: checked.snippet,
      stream_id,
      source_id,
      start_ms,
      started_at,
      contact_id,
      speaker_name,
    };
  }

  async #item(hit: number, score: number): Promise<SearchHit | null> {
    const found = await this.#reading.item(this.#hits, hit);
    if (found === null) return null;
    const { kind, item, place } = found;
    const checked = this.#check({ text: searchedText(kind, item), language: languageOf(kind, item) });
    if (checked === null || checked.missing.length > 0) return null;
    const [held = null] = contactsOfItem(kind, item);
    const is_own = held !== null && place.account_id === this.#who.account_id;
    const contact = is_own ? await this.#reading.insights.contact(place.account_id, held) : null;
    const [first] = 'parts' in item ? item.parts : item.evidence;
    return {
      kind,
      id: idOfHit(this.#hits, hit),
      score,
      snippet: checked.snippet,
      stream_id: first?.stream_id ?? null,
      source_id: first?.source_id ?? null,
      start_ms: first?.start_ms ?? null,
      started_at: new Date(saidAt(kind, item)).toISOString(),
      contact_id: contact?.id ?? null,
      speaker_name: contact?.name ?? null,
    };
  }

  async #note(place: NotePlace, score: number): Promise<SearchHit | null> {
    const found = await this.#reading.note(place);
    if (found === null) return null;
    const { stream, start_ms, text } = found;
    const checked = this.#check({ text, language: null });
    if (checked === null || checked.missing.length > 0) return null;
    return {
      kind: 'note',
      id: place.signal_id,
      score,
      snippet: checked.snippet,
      stream_id: stream.id,
      source_id: stream.source_id,
      start_ms,
      started_at: new Date(Date.parse(stream.captured_at) + start_ms).toISOString(),
      contact_id: null,
      speaker_name: null,
    };
  }

  /** Checks a text: its snippet, and the words that it lacks; null where it is no hit whatever stands beside it. */
  #check({ text, language }: Text): { snippet: Snippet; missing: QueryWord[] } | null {
    const { phrases, excluded } = this.#parsed;
    const is_bound = phrases.length > 0 || excluded.length > 0;
    const said = is_bound ? wordsIn(text).map(({ word }) => word) : [];
    if (excluded.some((run) => standsIn(said, run)) || !phrases.every((run) => standsIn(said, run))) return null;
    const matches = matchesIn(this.#words, text, stemmerOf(language));
    const there = matches.reduce((all, { words }) => all | words, 0);
    if (there === 0) return null;
    const missing = this.#words.filter((_, place) => (there & (1 << place)) === 0);
    return { snippet: snippetOf(text, matches), missing };
  }
}

type Text = { text: string; language: string | null };

function stands(wanted: QueryWord, { text, language }: Text): boolean {
  const stemmer = stemmerOf(language);
  return wordsIn(text).some(({ word }) => wanted.variantOf(word, stemmer) !== 0);
}
