import { type Interval, shared } from '../../src/domain/intervals.js';
import { LIMITS } from '../../src/domain/limits.js';
import {
  type Correction,
  heardText,
  isOfText,
  type PageRun,
  type PageTurn,
  type PageWords,
  type TranscriptPage,
  textsHeld,
  withTexts,
} from './transcript_page.js';
import { fits, isAt, lengthOf, sharedMs, wordsWithin } from './transcript_spans.js';
import type { PublicationTally, PublishedTurn, Word } from './transcript_state.js';

/**
 * Merges the result of a run with people's corrections into one page (docs/areas.md, "Transcripts"). The outcome is the
 * same in whichever order both came. A correction holds for the turn with exactly its span, or else for each turn that
 * shares half of the shorter of both.
 */

const SPEAKER_OVERLAP_MIN = 0.6; // ours: of what a label says, so that it is who spoke there before

/** The turns of a run between `from_ms` and `to_ms`, which replace the turns there. */
export type HeardRun = {
  from_ms: number;
  to_ms: number;
  /** The parts that could not be heard; turns there stay. */
  unheard: Interval[];
  run: PageRun;
  turns: PublishedTurn[];
  /** The numbers of known labels. Other labels are matched with earlier speakers, or get the next number. */
  labels: Readonly<Record<string, number>>;
  /** Speaker numbers given out so far. */
  speakers: number;
};

/** The numbers of speakers by label; 0 for nobody. A map, since workers choose labels freely. */
export type SpeakerNumbers = ReadonlyMap<string, number>;

export type Merged = {
  page: TranscriptPage;
  words: PageWords;
  speakers: number;
  numbers: SpeakerNumbers;
  created: PageTurn[];
  /** Unchanged turns with another speaker. */
  attributed: PageTurn[];
  tally: PublicationTally;
};

type Draft = { turn: Omit<PageTurn, 'serial'>; words: Word[] | undefined; is_corrected: boolean };

export function mergeRun(page: TranscriptPage, words: PageWords, heard: HeardRun): Merged {
  const is_covered = ({ start_ms }: PageTurn) =>
    start_ms >= heard.from_ms &&
    start_ms < heard.to_ms &&
    !heard.unheard.some(([from_ms, to_ms]) => start_ms >= from_ms && start_ms < to_ms);
  const before = page.turns.filter(is_covered);
  const { numbers, speakers } = numberSpeakers(heard, before);
  const said = heard.turns.map((turn) => draftOf(turn, { numbers, run: heard.run }));
  const left = withoutDeleted(said, page.corrections);
  const drafts = left.flatMap((draft) => splitUp(draft, page.corrections));
  correct(drafts, page.corrections);

  const merged: Merged = {
    page,
    words: new Map(words),
    speakers,
    numbers,
    created: [],
    attributed: [],
    tally: {
      turns: drafts.length,
      replaced: 0,
      protected: 0,
      suppressed: said.length - left.length,
    },
  };
  const kept = new Set<PageTurn>();
  let { next_serial } = page;
  const turns = drafts.map(({ turn, words: of_turn }): PageTurn => {
    const same = before.find((other) => !kept.has(other) && isSame(other, turn));
    if (same === undefined) {
      const created = { serial: next_serial, ...turn };
      next_serial += 1;
      merged.created.push(created);
      if (of_turn !== undefined) merged.words.set(created.serial, of_turn);
      return created;
    }
    kept.add(same);
    if (of_turn !== undefined) merged.words.set(same.serial, wordsWithin(of_turn, same));
    const { speaker, language, confidence } = turn;
    const known = { ...same, speaker, language: language ?? same.language, confidence: confidence ?? same.confidence };
    if (same.speaker !== speaker) merged.attributed.push(known);
    return known;
  });
  merged.tally.replaced = before.length - kept.size;
  for (const { serial } of before.filter((turn) => !kept.has(turn))) merged.words.delete(serial);
  merged.page = withTurns({ ...page, next_serial }, [...page.turns.filter((turn) => !is_covered(turn)), ...turns]);
  const texts = new Set([...textsHeld(merged.page.turns, page.corrections).keys()].map(({ serial }) => serial));
  merged.tally.protected = drafts.filter(
    ({ is_corrected }, at) => is_corrected || texts.has((turns[at] as PageTurn).serial),
  ).length;
  return merged;
}

/** Sets the speakers if a result gives only these; corrected turns stay as they are. */
export function attributeRun(
  page: TranscriptPage,
  heard: HeardRun,
): Pick<Merged, 'page' | 'speakers' | 'numbers' | 'attributed'> {
  const { numbers, speakers } = numberSpeakers(heard, []);
  const attributed: PageTurn[] = [];
  const turns = page.turns.map((turn) => {
    if (turn.speaker_is_manual || turn.start_ms < heard.from_ms || turn.start_ms >= heard.to_ms) return turn;
    const said = mostShared(heard.turns, turn);
    const speaker = said?.speaker === undefined ? turn.speaker : (numbers.get(said.speaker) ?? 0);
    if (said === undefined || !fits(said, turn) || speaker === turn.speaker) return turn;
    const changed = { ...turn, speaker };
    attributed.push(changed);
    return changed;
  });
  return { page: withTurns(page, turns), speakers, numbers, attributed };
}

/**
 * The page with these turns in order, and their runs. A page without turns keeps no text, since retention would not
 * find it.
 */
export function withTurns(page: TranscriptPage, turns: PageTurn[]): TranscriptPage {
  const corrections = turns.length > 0 ? page.corrections : page.corrections.filter((one) => !isOfText(one));
  const sorted = [...turns].sort((a, b) => a.start_ms - b.start_ms || a.serial - b.serial);
  const runs = [...new Set(sorted.map(({ run }) => run))];
  return { ...page, corrections, turns: withTexts(sorted, corrections), runs };
}

/** Adds a correction, which replaces an earlier one of its span and kind. */
export function withCorrection(corrections: readonly Correction[], added: Correction): Correction[] {
  const others = corrections.filter(
    ({ kind, start_ms, end_ms }) => kind !== added.kind || start_ms !== added.start_ms || end_ms !== added.end_ms,
  );
  return [...others, added];
}

/** The two parts of a turn: words before a time, and from it on. Null if one of them would be empty. */
export function splitWords(text: string, words: Word[], at_ms: number): [SplitPart, SplitPart] | null {
  const first = words.filter(([, start_ms]) => start_ms < at_ms);
  const second = words.slice(first.length);
  const [, , first_end_ms] = first.at(-1) ?? [];
  const [, second_start_ms] = second[0] ?? [];
  if (first_end_ms === undefined || second_start_ms === undefined) return null;
  const cut = textOf(text, words, (_, index) => index < first.length);
  const rest = textOf(text, words, (_, index) => index >= first.length);
  return [
    { text: cut, words: first, end_ms: Math.min(first_end_ms, at_ms), start_ms: (first[0] as Word)[1] },
    { text: rest, words: second, start_ms: second_start_ms, end_ms: (second.at(-1) as Word)[2] },
  ];
}

type SplitPart = { text: string; words: Word[]; start_ms: number; end_ms: number };

function draftOf(
  { start_ms, end_ms, text, speaker, confidence, language, words }: PublishedTurn,
  { numbers, run }: { numbers: SpeakerNumbers; run: PageRun },
): Draft {
  const of_speaker = speaker === undefined ? 0 : (numbers.get(speaker) ?? 0);
  const turn = { start_ms, end_ms, text, speaker: of_speaker, run };
  return {
    turn: { ...turn, language: language ?? null, confidence: confidence ?? null },
    words: words === undefined || words.length === 0 ? undefined : words,
    is_corrected: false,
  };
}

/** Removes the drafts that people have deleted before. */
function withoutDeleted(drafts: Draft[], corrections: readonly Correction[]): Draft[] {
  let left = drafts;
  for (const span of corrections) {
    if (span.kind !== 'deleted') continue;
    const exact = span.is_part ? [] : left.filter((draft) => isAt(span, draft.turn));
    left =
      exact.length > 0
        ? left.filter((draft) => !exact.includes(draft))
        : left.flatMap((draft) => withoutSpan(draft, span) ?? []);
  }
  return left;
}

/** The turn and its words without those in a deleted part of the recording; null if nothing is left. */
export function withoutPart(
  turn: PageTurn,
  words: Word[] | undefined,
  [start_ms, end_ms]: Interval,
): { turn: PageTurn; words: Word[] | undefined } | null {
  const part: DeletedSpan = { start_ms, end_ms, at_ms: 0, kind: 'deleted', is_part: true };
  const left = withoutSpan({ turn, words, is_corrected: false }, part);
  return left && { turn: { ...turn, ...left.turn }, words: left.words };
}

type DeletedSpan = Extract<Correction, { kind: 'deleted' }>;

/**
 * A draft without the words in a span; null if no word is left. Without times of its words it goes as a whole, or stays:
 * in a part of the recording by where its middle lies.
 */
function withoutSpan(draft: Draft, { start_ms, end_ms, is_part }: DeletedSpan): Draft | null {
  const { turn, words } = draft;
  const common_ms = shared([start_ms, end_ms], [turn.start_ms, turn.end_ms]);
  if (common_ms === 0) return draft;
  const middle_ms = (turn.start_ms + turn.end_ms) / 2;
  if (words === undefined && is_part) return middle_ms >= start_ms && middle_ms < end_ms ? null : draft;
  if (words === undefined) return common_ms * 2 >= end_ms - start_ms || common_ms >= lengthOf(turn) ? null : draft;
  const stays = ([, from_ms, to_ms]: Word) => (from_ms + to_ms) / 2 < start_ms || (from_ms + to_ms) / 2 >= end_ms;
  const staying = words.filter(stays);
  if (staying.length === words.length) return draft;
  const [first, last] = [staying[0], staying.at(-1)];
  if (first === undefined || last === undefined) return null;
  const changed = {
    text: textOf(turn.text, words, stays),
    start_ms: first === words[0] ? turn.start_ms : first[1],
    end_ms: last === words.at(-1) ? turn.end_ms : last[2],
  };
  return { turn: { ...turn, ...changed }, words: staying, is_corrected: true };
}

function splitUp(draft: Draft, corrections: readonly Correction[]): Draft[] {
  for (const correction of corrections) {
    if (correction.kind !== 'split' || !fits(correction, draft.turn)) continue;
    const { turn, words } = draft;
    const at_ms = correction.split_at_ms;
    if (words === undefined || at_ms <= turn.start_ms || at_ms >= turn.end_ms) continue;
    const parts = splitWords(turn.text, words, at_ms);
    if (parts === null) continue;
    const [first, second] = parts;
    const drafts: Draft[] = [
      { turn: { ...turn, text: first.text, end_ms: first.end_ms }, words: first.words, is_corrected: true },
      { turn: { ...turn, text: second.text, start_ms: second.start_ms }, words: second.words, is_corrected: true },
    ];
    return drafts.flatMap((part) =>
      splitUp(
        part,
        corrections.filter((other) => other !== correction),
      ),
    );
  }
  return [draft];
}

/** Applies people's corrections to turns, the latest last. */
function correct(drafts: Draft[], corrections: readonly Correction[]): void {
  const in_order = [...corrections].sort((a, b) => a.at_ms - b.at_ms);
  for (const correction of in_order) {
    if (correction.kind !== 'contact' && correction.kind !== 'speaker') continue;
    const exact = drafts.filter((draft) => isAt(correction, draft.turn));
    const meant = exact.length > 0 ? exact : drafts.filter(({ turn }) => fits(correction, turn));
    for (const draft of meant) {
      draft.is_corrected = true;
      draft.turn =
        correction.kind === 'contact'
          ? { ...draft.turn, contact_id: correction.contact_id }
          : { ...draft.turn, speaker: correction.speaker, speaker_is_manual: true };
    }
  }
}

/**
 * Gives each label of a result a number. An unknown label is the earlier speaker of at least six tenths of its time,
 * nobody if two match alike; no two labels share a number.
 */
function numberSpeakers(
  { turns, labels, speakers: given }: HeardRun,
  before: readonly PageTurn[],
): { numbers: SpeakerNumbers; speakers: number } {
  const numbers = new Map<string, number>();
  const talk = new Map<string, PublishedTurn[]>();
  for (const turn of turns) {
    if (turn.speaker === undefined) continue;
    const known = Object.hasOwn(labels, turn.speaker) ? labels[turn.speaker] : undefined;
    if (known !== undefined) numbers.set(turn.speaker, known);
    else talk.set(turn.speaker, [...(talk.get(turn.speaker) ?? []), turn]);
  }
  const taken = new Set(numbers.values());
  const matches = [...talk].flatMap(([label, said]) => {
    const match = formerSpeaker(said, before);
    return match === null ? [] : [{ label, ...match }];
  });
  for (const { label, speaker } of matches.sort((a, b) => b.shared_ms - a.shared_ms || (a.label < b.label ? -1 : 1))) {
    if (taken.has(speaker)) continue;
    taken.add(speaker);
    numbers.set(label, speaker);
  }
  let speakers = given;
  for (const label of talk.keys()) {
    if (numbers.has(label)) continue;
    // Beyond the bound it is nobody.
    if (speakers >= LIMITS.speakers_per_stream_max) numbers.set(label, 0);
    else {
      speakers += 1;
      numbers.set(label, speakers);
    }
  }
  return { numbers, speakers };
}

function formerSpeaker(
  said: PublishedTurn[],
  before: readonly PageTurn[],
): { speaker: number; shared_ms: number } | null {
  const total_ms = said.reduce((sum, turn) => sum + lengthOf(turn), 0);
  const by_speaker = new Map<number, number>();
  for (const turn of said) {
    for (const other of before) {
      const shared_ms = other.speaker === 0 || other.speaker_is_manual ? 0 : sharedMs(turn, other);
      if (shared_ms > 0) by_speaker.set(other.speaker, (by_speaker.get(other.speaker) ?? 0) + shared_ms);
    }
  }
  const [first, second] = [...by_speaker].sort((a, b) => b[1] - a[1]);
  if (first === undefined || first[1] < total_ms * SPEAKER_OVERLAP_MIN || first[1] === second?.[1]) return null;
  return { speaker: first[0], shared_ms: first[1] };
}

/** The text without some of its words. If a word is not found in it, the text is made of the words. */
function textOf(text: string, words: readonly Word[], stays: (word: Word, index: number) => boolean): string {
  const places: Interval[] = [];
  let at = 0;
  for (const [word] of words) {
    const found = text.indexOf(word.trim(), at);
    if (found < 0)
      return words
        .filter(stays)
        .map(([said]) => said.trim())
        .join(' ');
    places.push([found, found + word.trim().length]);
    at = found + word.trim().length;
  }
  const parts = places.map(([from], index) =>
    text.slice(index === 0 ? 0 : from, places[index + 1]?.[0] ?? text.length),
  );
  return parts
    .filter((_, index) => stays(words[index] as Word, index))
    .join('')
    .trim();
}

function mostShared(said: readonly PublishedTurn[], turn: PageTurn): PublishedTurn | undefined {
  let [found, most_ms]: [PublishedTurn | undefined, number] = [undefined, 0];
  for (const one of said) {
    const shared_ms = sharedMs(one, turn);
    if (shared_ms > most_ms) [found, most_ms] = [one, shared_ms];
  }
  return found;
}

function isSame(one: PageTurn, other: Omit<PageTurn, 'serial'>): boolean {
  return (
    heardText(one) === heardText(other) &&
    isAt(one, other) &&
    one.contact_id === other.contact_id &&
    one.speaker_is_manual === other.speaker_is_manual
  );
}
