import { shownId } from '../../../../actors/insights/item_records.js';
import { languageOf, saidAt, searchedText } from '../../../../actors/insights/library_block.js';
import type { Suggestion } from '../../../../actors/insights/library_state.js';
import { type PageTurn, pageOf } from '../../../../actors/transcripts/transcript_page.js';
import type { Principal } from '../../../access/principal.js';
import { momentOrNull } from '../../../access/response_schemas.js';
import { type Interval, shared } from '../../../domain/intervals.js';
import type { NotePlace } from '../../../domain/search/places.js';
import { matchesIn } from '../../../domain/search/snippet.js';
import { stemmerOf } from '../../../domain/search/stemmers.js';
import { kindTerm, termsIn } from '../../../domain/search/words.js';
import type { FoundItem } from '../../insights/reading/insight_access.js';
import type { FeatureServices } from '../../services.js';
import type { ReadableTranscript } from '../../transcripts/transcript_pages.js';
import { type FoundTurn, viewTurns } from '../../transcripts/transcript_reading.js';
import type { TurnView } from '../../transcripts/turn_shape.js';
import type { TurnAt } from './hit_reader.js';
import { type Passage, pagesOfPassage, turnAt } from './passages.js';
import type { Candidate } from './recall_candidates.js';
import type { Recalled } from './recall_ranking.js';
import type { RecallItem } from './recall_shapes.js';

/** The views of a question's results; null for one whose text is no hit, or that the caller may not read. */
export class RecallViews {
  readonly #services: Pick<FeatureServices, 'actors'>;
  readonly #who: Principal;
  readonly #recalled: Recalled;

  constructor(services: Pick<FeatureServices, 'actors'>, who: Principal, recalled: Recalled) {
    this.#services = services;
    this.#who = who;
    this.#recalled = recalled;
  }

  view(candidate: Candidate): Promise<RecallItem | null> {
    const { score } = candidate;
    if (!('hit' in candidate)) return this.#passage(candidate.passage, score);
    const note = this.#recalled.hits.note(candidate.hit);
    return note === null ? this.#suggestion(candidate.hit, score) : this.#note(note, score);
  }

  async #passage(passage: Passage, score: number): Promise<RecallItem | null> {
    const { reading, question, context_turns } = this.#recalled;
    const { transcript_id, pages, first: from_at, last: to_at, supports, by_meaning } = passage;
    const own = Array.from({ length: to_at - from_at + 1 }, (_, at) => from_at + at);
    const positions = [...new Set([...own, ...supports])];
    const read = await Promise.all(
      positions.map(async (position) => {
        const place = turnAt(transcript_id, pages, position);
        const found = place === null ? null : await reading.turnAt(place);
        return found === null ? null : { ...found, position, matched: this.#matched(found) };
      }),
    );
    const found = read.flatMap((one) => one ?? []);
    const standing = found.filter(({ position }) => position >= from_at && position <= to_at);
    const borne = found.flatMap(({ matched }) => matched);
    if (question.words.length > 0 && !by_meaning && borne.length === 0) return null;
    const [first] = standing;
    if (first === undefined) return null;
    const { readable } = first;
    const all = await reading.turnsOf(readable, pagesOfPassage(passage, context_turns));
    const places = new Set(standing.map(({ page, turn }) => `${page.number} ${turn.serial}`));
    const shown = await this.#shown(readable, all, ({ page, turn }) => places.has(`${page} ${turn.serial}`));
    if (shown === null) return null;
    const { from, to, turns, highlights } = shown;
    return {
      kind: 'passage',
      score,
      stream_id: readable.stream.id,
      start_ms: from.start_ms,
      end_ms: to.end_ms,
      started_at: new Date(Date.parse(readable.stream.captured_at) + from.start_ms).toISOString(),
      suggestion: null,
      note: null,
      turns,
      highlights,
      matched: this.#inOrder(borne),
      found_by: question.words.length === 0 ? 'time' : borne.length > 0 ? 'words' : 'meaning',
    };
  }

  async #suggestion(hit: number, score: number): Promise<RecallItem | null> {
    const { hits, reading, question } = this.#recalled;
    const found = await reading.item(hits, hit);
    if (found === null) return null;
    const { place, number, item } = found as FoundItem<'suggestion'>;
    if (item.status === 'dismissed') return null;
    const matched = this.#wordsIn(searchedText('suggestion', item), languageOf('suggestion', item));
    const term = kindTerm(item.kind);
    for (const [at, terms] of question.about) if (terms.includes(term)) matched.push(question.words[at] as string);
    if (matched.length === 0) return null;
    const moment = await this.#momentOf(item);
    const { kind, text, status, due_at_ms } = item;
    const id = shownId(place.library_id, 'suggestion', number, item);
    return {
      kind: 'suggestion',
      score,
      ...moment,
      started_at: new Date(saidAt('suggestion', item)).toISOString(),
      suggestion: { id, kind, text, status, due_at: momentOrNull(due_at_ms) },
      note: null,
      matched: this.#inOrder(matched),
      found_by: 'words',
    };
  }

  async #note(place: NotePlace, score: number): Promise<RecallItem | null> {
    const { reading } = this.#recalled;
    const found = await reading.note(place);
    if (found === null) return null;
    const { stream, start_ms, text } = found;
    const matched = this.#wordsIn(text, null);
    if (matched.length === 0) return null;
    const readable = await reading.heard(stream.id, null);
    const all = readable === null ? [] : await reading.turnsOf(readable, pagesAround(start_ms));
    const last = all.findLast(({ turn }) => turn.start_ms <= start_ms);
    const shown = readable === null ? null : await this.#shown(readable, all, (turn) => turn === last);
    return {
      kind: 'note',
      score,
      stream_id: stream.id,
      start_ms,
      end_ms: start_ms,
      started_at: new Date(Date.parse(stream.captured_at) + start_ms).toISOString(),
      suggestion: null,
      note: { id: place.signal_id, text },
      turns: shown?.turns ?? [],
      highlights: shown?.highlights ?? [],
      matched: this.#inOrder(matched),
      found_by: 'words',
    };
  }

  /** Where a suggestion was said: the first of what it rests on of which something is left. */
  async #momentOf({ evidence, pipeline_id }: Suggestion): Promise<Moment> {
    const { reading } = this.#recalled;
    for (const { stream_id, start_ms, end_ms } of evidence) {
      const readable = await reading.heard(stream_id, pipeline_id);
      if (readable === null) continue;
      const all = await reading.turnsOf(readable, pagesAround(start_ms));
      const span = spanOf({ start_ms, end_ms });
      const shown = await this.#shown(readable, all, ({ turn }) => shared(spanOf(turn), span) > 0);
      if (shown !== null) return { stream_id, start_ms, end_ms, turns: shown.turns, highlights: shown.highlights };
    }
    return { stream_id: null, start_ms: null, end_ms: null, turns: [], highlights: [] };
  }

  /** From the first to the last turn that is meant, with what was said before and after; null where none is. */
  async #shown(
    readable: ReadableTranscript,
    all: readonly FoundTurn[],
    isMeant: (turn: FoundTurn) => boolean,
  ): Promise<(Pick<RecallItem, 'turns' | 'highlights'> & { from: PageTurn; to: PageTurn }) | null> {
    const { context_turns } = this.#recalled;
    const [from, to] = [all.findIndex(isMeant), all.findLastIndex(isMeant)];
    const [first, last] = [all[from], all[to]];
    if (first === undefined || last === undefined) return null;
    const around = all.slice(Math.max(0, from - context_turns), to + 1 + context_turns);
    const turns = await viewTurns(this.#services, this.#who, { readable, turns: around });
    return { from: first.turn, to: last.turn, turns, highlights: turns.map((turn) => this.#highlightsIn(turn)) };
  }

  #highlightsIn({ text, language }: TurnView): [number, number][] {
    const matches = matchesIn(this.#recalled.question.wanted, text, stemmerOf(language));
    return matches.map(({ at, length }) => [at, at + length]);
  }

  /** Words of the question that stand in a turn, and names of whoever said it. */
  #matched({ readable, turn }: TurnAt): string[] {
    const { question, named } = this.#recalled;
    const found = this.#wordsIn(turn.text, turn.language);
    for (const [at, { contact_ids, speakers }] of named.said_by) {
      const { contact_id } = turn;
      const is_theirs =
        contact_id === undefined
          ? speakers.get(readable.id)?.has(turn.speaker) === true
          : contact_id !== null && contact_ids.has(contact_id);
      if (is_theirs) found.push(question.words[at] as string);
    }
    return found;
  }

  #wordsIn(text: string, language: string | null): string[] {
    const { question } = this.#recalled;
    const stemmer = stemmerOf(language);
    const there = matchesIn(question.wanted, text, stemmer).reduce((all, one) => all | one.words, 0);
    const terms = new Set(termsIn(text, stemmer).terms);
    return question.words.filter(
      (_, at) => (there & (1 << at)) !== 0 || question.wanted[at]?.others.some(({ term }) => terms.has(term)),
    );
  }

  #inOrder(matched: readonly string[]): string[] {
    return this.#recalled.question.words.filter((word) => matched.includes(word));
  }
}

type Moment = Pick<RecallItem, 'stream_id' | 'start_ms' | 'end_ms' | 'turns' | 'highlights'>;

/** Pages of a moment: a turn may have begun in the page before, and what was said next may lie in the one behind. */
function pagesAround(start_ms: number): number[] {
  const first = pageOf(start_ms);
  return [first - 1, first, first + 1].filter((page) => page >= 0);
}

function spanOf({ start_ms, end_ms }: { start_ms: number; end_ms: number }): Interval {
  return [start_ms, Math.max(end_ms, start_ms + 1)];
}
