import type { Interval } from '../../src/domain/intervals.js';
import { LIMITS } from '../../src/domain/limits.js';
import type { Effect } from '../actor.js';
import { fits, isAt, overlap } from './transcript_spans.js';
import type { Word } from './transcript_state.js';

/**
 * Ten minutes of a transcript: the unit that is stored, replaced and expired. A turn lies in the page in which it
 * starts. Its serial number is never used again there.
 */
export type TranscriptPage = {
  number: number;
  next_serial: number;
  /** By start, then serial. */
  turns: PageTurn[];
  /** The publications of these turns. */
  runs: PageRun[];
  /** Corrections by people, which outlive every run. */
  corrections: Correction[];
  /** The serials and places of turns that retention removed. */
  expired: { serials: Interval[]; spans: Interval[] };
};

/** `pipeline`: the number of the pipeline that made it; absent for the first. */
export type PageRun = { id: string; published_at_ms: number; pipeline?: number };

export type PageTurn = {
  serial: number;
  start_ms: number;
  end_ms: number;
  /** The text shown: as heard, or as a person corrected it. */
  text: string;
  /** The text as heard, if a person corrected it. */
  heard_text?: string;
  language: string | null;
  /** 0 to 1. */
  confidence: number | null;
  /** 0 for nobody. */
  speaker: number;
  /**
   * The contact that a person set for this turn, whoever its speaker is; null for nobody. Absent if no person set one.
   */
  contact_id?: string | null;
  /** Whether a person set the speaker. */
  speaker_is_manual?: true;
  run: PageRun;
};

/** A person's correction of a span. It also holds for turns of later runs there. */
export type Correction = { start_ms: number; end_ms: number; at_ms: number } & (
  | { kind: 'contact'; contact_id: string | null }
  | { kind: 'speaker'; speaker: number }
  | { kind: 'split'; split_at_ms: number }
  /** `is_part`: a part of the recording, and not a turn. */
  | { kind: 'deleted'; is_part?: true }
  /** `serial`: the turn that was corrected. */
  | { kind: 'text'; text: string; serial: number }
);

/** Words by the serial of their turn. */
export type PageWords = Map<number, Word[]>;

type TextCorrection = Extract<Correction, { kind: 'text' }>;

/** Rows instead of objects, and times as differences, since pages are many and are read and written whole. */
type StoredPage = {
  n: number;
  r: StoredRun[];
  t: StoredTurn[];
  c?: Correction[];
  xs?: Interval[];
  xt?: Interval[];
};
type StoredRun = [id: string, published_at_ms: number, pipeline?: number];
type StoredTurn = [
  serial: number,
  start: number,
  length: number,
  text: string,
  speaker: number,
  run: number,
  language: string | 0,
  /** In hundredths; -1 for none. */
  confidence: number,
  /** A person's correction, if there is one: whether the speaker was set, then the contact. */
  is_speaker_said?: 0 | 1,
  said_contact_id?: string | null,
];
type StoredWords = [serial: number, words: [text: string, start: number, length: number, confidence: number][]][];

export function pageOf(start_ms: number): number {
  return Math.floor(start_ms / LIMITS.transcript_page_ms);
}

/** The record id of a page: fixed width, so that ids sort as numbers. */
export function pageKey(page: number): string {
  return page.toString(16).padStart(4, '0');
}

function emptyPage(number: number): TranscriptPage {
  return { number, next_serial: 0, turns: [], runs: [], corrections: [], expired: { serials: [], spans: [] } };
}

export function readPage(number: number, stored: unknown): TranscriptPage {
  if (stored === undefined) return emptyPage(number);
  const { n, r, t, c = [], xs = [], xt = [] } = stored as StoredPage;
  const runs = r.map(
    ([id, published_at_ms, pipeline]): PageRun => ({
      id,
      published_at_ms,
      ...(pipeline === undefined ? {} : { pipeline }),
    }),
  );
  let at_ms = number * LIMITS.transcript_page_ms;
  // Pages are read whole for each result: no object here is made that is not kept.
  const turns = t.map(([serial, start, length, text, speaker, run, language, confidence, ...said]): PageTurn => {
    at_ms += start;
    const turn: PageTurn = {
      serial,
      start_ms: at_ms,
      end_ms: at_ms + length,
      text,
      language: language === 0 ? null : language,
      confidence: confidence < 0 ? null : confidence / 100,
      speaker,
      run: runs[run] as PageRun,
    };
    const [is_speaker_said = 0, said_contact_id] = said;
    if (said_contact_id !== undefined) turn.contact_id = said_contact_id;
    if (is_speaker_said === 1) turn.speaker_is_manual = true;
    return turn;
  });
  return {
    ...{ number, next_serial: n, turns: withTexts(turns, c), runs, corrections: c },
    expired: { serials: xs, spans: xt },
  };
}

export function putPage(page: TranscriptPage): Effect {
  const { number, next_serial, turns, corrections, expired } = page;
  const runs = [...new Set(turns.map(({ run }) => run))];
  let at_ms = number * LIMITS.transcript_page_ms;
  const numbers = new Map(runs.map((run, at) => [run, at]));
  const rows = turns.map((turn): StoredTurn => {
    const { serial, start_ms, end_ms, speaker, run, language, confidence, contact_id, speaker_is_manual } = turn;
    const text = heardText(turn);
    const start = start_ms - at_ms;
    at_ms = start_ms;
    const sureness = confidence === null ? -1 : Math.round(confidence * 100);
    const place = numbers.get(run) as number;
    const row: StoredTurn = [serial, start, end_ms - start_ms, text, speaker, place, language ?? 0, sureness];
    if (contact_id !== undefined || speaker_is_manual) row.push(speaker_is_manual ? 1 : 0);
    if (contact_id !== undefined) row.push(contact_id);
    return row;
  });
  const value: StoredPage = {
    n: next_serial,
    r: runs.map(storedRun),
    t: rows,
    ...(corrections.length === 0 ? {} : { c: corrections }),
    ...(expired.serials.length === 0 ? {} : { xs: expired.serials, xt: expired.spans }),
  };
  return { effect: 'put_record', collection: 'pages', id: pageKey(number), value, order: number, packed: true };
}

function storedRun({ id, published_at_ms, pipeline }: PageRun): StoredRun {
  return pipeline === undefined ? [id, published_at_ms] : [id, published_at_ms, pipeline];
}

export function readWords(page: number, stored: unknown): PageWords {
  const begins_ms = page * LIMITS.transcript_page_ms;
  return new Map(
    ((stored as StoredWords | undefined) ?? []).map(([serial, words]) => {
      let at_ms = begins_ms;
      const read = words.map(([text, start, length, confidence]): Word => {
        at_ms += start;
        return [text, at_ms, at_ms + length, confidence < 0 ? null : confidence / 100];
      });
      return [serial, read];
    }),
  );
}

/** Of the turns that are still there. */
export function putWords({ number, turns }: TranscriptPage, words: PageWords): Effect {
  const begins_ms = number * LIMITS.transcript_page_ms;
  const value: StoredWords = turns.flatMap(({ serial }) => {
    const of_turn = words.get(serial);
    if (of_turn === undefined || of_turn.length === 0) return [];
    let at_ms = begins_ms;
    const rows = of_turn.map(([text, start_ms, end_ms, confidence]): StoredWords[number][1][number] => {
      const start = start_ms - at_ms;
      at_ms = start_ms;
      return [text, start, end_ms - start_ms, confidence === null ? -1 : Math.round(confidence * 100)];
    });
    return [[serial, rows]];
  });
  const record = { collection: 'words', id: pageKey(number) };
  return value.length === 0
    ? { effect: 'delete_record', ...record }
    : { effect: 'put_record', ...record, value, packed: true };
}

/** When its oldest turn was published; null without turns. */
export function oldestIn({ turns }: TranscriptPage): number | null {
  return turns.length === 0 ? null : Math.min(...turns.map(({ run }) => run.published_at_ms));
}

export function isExpired({ expired }: TranscriptPage, serial: number): boolean {
  return expired.serials.some(([from, to]) => serial >= from && serial < to);
}

/**
 * The turns with their shown text. Heard text and corrections are stored apart, so that no run overwrites a correction
 * and removing one restores what was heard.
 */
export function withTexts(turns: PageTurn[], corrections: readonly Correction[]): PageTurn[] {
  const held = textsHeld(turns, corrections);
  if (held.size === 0 && turns.every(({ heard_text }) => heard_text === undefined)) return turns;
  return turns.map((turn) => {
    const { heard_text: _, ...rest } = turn;
    const [text, heard] = [held.get(turn)?.text, heardText(turn)];
    if (text === undefined || text === heard) return turn.heard_text === undefined ? turn : { ...rest, text: heard };
    return { ...rest, text, heard_text: heard };
  });
}

export function heardText({ text, heard_text }: Pick<PageTurn, 'text' | 'heard_text'>): string {
  return heard_text ?? text;
}

/**
 * The text correction of each turn that has one. A correction holds for the turn that was corrected. If a run has
 * replaced that turn, it holds for one other turn of the same audio, the latest correction first.
 */
export function textsHeld(
  turns: readonly PageTurn[],
  corrections: readonly Correction[],
): Map<PageTurn, TextCorrection> {
  const held = new Map<PageTurn, TextCorrection>();
  const latest_first = corrections.filter(isOfText).reverse();
  for (const correction of latest_first) {
    const turn = turns.find(({ serial }) => serial === correction.serial);
    if (turn !== undefined && isSameStretch(correction, turn)) held.set(turn, correction);
  }
  const placed = new Set(held.values());
  for (const correction of latest_first.filter((one) => !placed.has(one))) {
    const [turn] = turns
      .filter((one) => isSameStretch(correction, one) && !held.has(one))
      .sort((a, b) => overlap(correction, b) - overlap(correction, a));
    if (turn !== undefined) held.set(turn, correction);
  }
  return held;
}

/**
 * The corrections without the texts of turns that are removed, and without those that no turn shows and that lie there
 * or were made before `made_before_ms`. Corrections are as private as the speech.
 */
export function withoutTexts(
  { turns, corrections }: Pick<TranscriptPage, 'turns' | 'corrections'>,
  gone: readonly PageTurn[],
  made_before_ms = 0,
): Correction[] {
  const held = textsHeld(turns, corrections);
  const holders = new Map([...held].map(([turn, correction]): [Correction, PageTurn] => [correction, turn]));
  return corrections.filter((one) => {
    const holder = holders.get(one);
    if (!isOfText(one)) return true;
    if (holder !== undefined) return !gone.includes(holder);
    return one.at_ms >= made_before_ms && !gone.some((turn) => fits(one, turn));
  });
}

export function charsOfTexts(corrections: readonly Correction[]): number {
  return corrections.reduce((sum, one) => sum + (isOfText(one) ? one.text.length : 0), 0);
}

export function isOfText(correction: Correction): correction is TextCorrection {
  return correction.kind === 'text';
}

/** A text covers all speech in its span, so it does not fit a turn that is much shorter or longer. */
function isSameStretch(correction: TextCorrection, turn: PageTurn): boolean {
  return isAt(correction, turn) || overlap(correction, turn) > LIMITS.text_overlap_min;
}
