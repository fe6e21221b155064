import { turnId } from '../../src/domain/ids.js';
import { type Interval, shared, subtract } from '../../src/domain/intervals.js';
import { DONE, type DoneDecision, type Effect, type Facts, messagesOf } from '../actor.js';
import { samplesOutside } from './speaker_samples.js';
import { writePage } from './transcript_block.js';
import { pageRecords } from './transcript_corrections.js';
import { withoutPart, withTurns } from './transcript_merge.js';
import {
  type Correction,
  type PageTurn,
  type PageWords,
  pageKey,
  putWords,
  readPage,
  readWords,
  type TranscriptPage,
  textsHeld,
  withoutTexts,
} from './transcript_page.js';
import { placePage } from './transcript_publication.js';
import { ofTranscript, type Transcript, tellLibrary } from './transcript_state.js';
import { dueEffects } from './transcript_windows.js';
import { spanOf } from './waiting_audio.js';

/** Deletion of what was said in a part of a recording. Later runs leave the part out as well (transcript_merge.ts). */
export const deletionMessages = messagesOf<Transcript>()({
  /**
   * Deletes what a page has in this part of the timeline. A turn that reaches out of it keeps its other words; one of
   * which nobody knows when its words were said goes if its middle lies inside. `silent`: no event is recorded.
   */
  delete_part: {
    records: pageRecords,
    decide: ofTranscript((state, input: DeletedPagePart, facts): DoneDecision<Transcript> => {
      const { page: number, part, silent } = input;
      const page = readPage(number, facts.record('pages', pageKey(number)));
      const words = readWords(number, facts.record('words', pageKey(number)));
      const cut = cutPage(page, words, { part, at_ms: facts.now_ms });
      const is_changed = cut.gone.length + cut.shortened.length > 0;
      const events = silent ? [] : eventsOf(state, number, cut, facts);
      const changed: Transcript = {
        ...withoutAudio(state, part),
        ...samplesOutside(state, { start_ms: part[0], end_ms: part[1] }),
        revision: state.revision + (is_changed ? 1 : 0),
        turns: state.turns - cut.gone.length,
      };
      const placed = placePage(changed, { page: cut.page, was: page, self: facts.self });
      const [from_ms, to_ms] = part;
      const heard = { stream_id: facts.self, from_ms, to_ms, is_new: false, is_deleted: true } as const;
      const effects: Effect[] = [
        ...writePage(state, cut.page, facts.self),
        ...(words.size > 0 ? [putWords(cut.page, cut.words)] : []),
        ...placed.effects,
        ...events,
        ...(is_changed ? [tellLibrary(state, heard)] : []),
        ...dueEffects(state, placed.state, facts.self),
      ];
      return { reply: DONE, next: placed.state, effects };
    }),
  },
});

type DeletedPagePart = { page: number; part: Interval; silent: boolean };

/** A page without a part. `shortened`: pairs of a turn and what is left of it. */
type CutPage = {
  page: TranscriptPage;
  words: PageWords;
  gone: PageTurn[];
  shortened: [was: PageTurn, is: PageTurn][];
};

function cutPage(page: TranscriptPage, words: PageWords, { part, at_ms }: { part: Interval; at_ms: number }): CutPage {
  const [start_ms, end_ms] = part;
  const corrected = textsHeld(page.turns, page.corrections);
  const gone: PageTurn[] = [];
  const shortened: CutPage['shortened'] = [];
  const next_words = new Map(words);
  for (const said of page.turns) {
    // Which of the words that a person wrote were said when, nobody knows.
    const known = corrected.has(said) ? undefined : words.get(said.serial);
    const left = withoutPart(said, known, part);
    if (left === null) gone.push(said);
    else if (left.words !== known) shortened.push([said, left.turn]);
    if (left === null) next_words.delete(said.serial);
    else if (left.words !== undefined) next_words.set(said.serial, left.words);
  }
  const deleted: Correction = { start_ms, end_ms, at_ms, kind: 'deleted', is_part: true };
  const others = withoutTexts(page, gone).filter(
    (one) => one.start_ms < start_ms || one.end_ms > end_ms || shared([one.start_ms, one.end_ms], part) === 0,
  );
  const changed = new Map(shortened);
  const turns = page.turns.filter((one) => !gone.includes(one)).map((one) => changed.get(one) ?? one);
  const cut = withTurns({ ...page, corrections: [...others, deleted] }, turns);
  return { page: cut, words: next_words, gone, shortened };
}

function eventsOf(
  { account_id, source_id }: Transcript,
  page: number,
  { gone, shortened }: CutPage,
  { self }: Facts,
): Effect[] {
  const idOf = ({ serial }: PageTurn) => turnId(self, { page, serial });
  return [
    ...gone.map((turn): Effect => {
      return { effect: 'append_event', account_id, type: 'turn.deleted', resource_id: idOf(turn), data: { source_id } };
    }),
    ...shortened.map(([was, is]): Effect => {
      const changed_fields = (['end_ms', 'start_ms', 'text'] as const).filter((field) => was[field] !== is[field]);
      const data = { changed_fields, source_id };
      return { effect: 'append_event', account_id, type: 'turn.updated', resource_id: idOf(is), data };
    }),
  ];
}

/** Nobody waits for a part that is gone. */
function withoutAudio(state: Transcript, part: Interval): Transcript {
  const outside = <One extends { from_ms: number; to_ms: number }>(all: readonly One[]): One[] =>
    all.flatMap((one) => subtract([spanOf(one)], [part]).map(([from_ms, to_ms]) => ({ ...one, from_ms, to_ms })));
  return { ...state, waiting: outside(state.waiting), failed: outside(state.failed) };
}
