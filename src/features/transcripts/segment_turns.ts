import { LIMITS } from '../../domain/limits.js';
import { plainText } from '../../domain/plain_text.js';
import type { AudioPart } from './audio_pieces.js';
import type { HeardSegment, HeardWord } from './engines/engine.js';
import type { TranscribedTurn } from './transcription.js';
import { onTimeline } from './window_audio.js';

/** A segment of a transcription on the timeline: one turn, or more where its words say that it is none. */

type SegmentPlace = { parts: readonly AudioPart[]; label: string };
/** `begins`: another turn begins with it. */
type PlacedWord = {
  text: string;
  start_ms: number;
  end_ms: number;
  confidence: number | null;
  speaker: string | null;
  begins: boolean;
};
/** A run of words that becomes one turn. */
type WordRun = { text: string; start_ms: number; end_ms: number; speaker: string | null; words: PlacedWord[] };

/** More time than the file shows between two words: what is said after it is no part of the same utterance. */
const HOLE_MS = 1_000;

/** Split where the speaker changes, where the recording has a hole, and where the text is longer than a turn may be. */
export function turnsOfSegment(segment: HeardSegment, place: SegmentPlace): TranscribedTurn[] {
  const words = placedWords(segment, place);
  const whole: WordRun = {
    text: segment.text,
    start_ms: onTimeline(place.parts, segment.start_s * 1_000, 'start'),
    end_ms: onTimeline(place.parts, segment.end_s * 1_000, 'end'),
    speaker: words[0]?.speaker ?? labelOf(segment, place),
    words,
  };
  const { confidence } = segment;
  const breaks = words.flatMap(({ begins }, index) => (begins ? [index] : []));
  return runsOf(whole, breaks)
    .flatMap(shortRuns)
    .map((run) => turnOf(run, confidence));
}

/** The turn and its words moved into the span. */
export function clampedTurn(turn: TranscribedTurn, span: { start_ms: number; end_ms: number }): TranscribedTurn {
  const clamp = (ms: number) => Math.min(span.end_ms, Math.max(span.start_ms, ms));
  const [start_ms, end_ms] = [clamp(turn.start_ms), clamp(turn.end_ms)];
  if (turn.words === undefined) return { ...turn, start_ms, end_ms };
  const words = turn.words.map(([text, from_ms, to_ms, confidence]): NonNullable<TranscribedTurn['words']>[number] => {
    return [text, clamp(from_ms), clamp(to_ms), confidence];
  });
  return { ...turn, start_ms, end_ms, words };
}

function placedWords(segment: HeardSegment, place: SegmentPlace): PlacedWord[] {
  const [startOf, endOf] = [
    ({ start_s }: HeardWord) => onTimeline(place.parts, start_s * 1_000, 'start'),
    ({ end_s }: HeardWord) => onTimeline(place.parts, end_s * 1_000, 'end'),
  ];
  let before = null as { word: HeardWord; speaker: string | null } | null;
  const placed: PlacedWord[] = [];
  for (const word of segment.words) {
    const text = cut(plainText(word.text), LIMITS.word_chars_max);
    if (text === '') continue;
    const speaker: string | null = labelOf(word, place) ?? before?.speaker ?? labelOf(segment, place);
    // Times may be out of order; words are not.
    const start_ms = Math.max(placed.at(-1)?.start_ms ?? 0, startOf(word));
    const end_ms = endOf(word);
    const hole_ms =
      before === null ? 0 : startOf(word) - endOf(before.word) - (word.start_s - before.word.end_s) * 1_000;
    const begins = before !== null && (speaker !== before.speaker || hole_ms >= HOLE_MS);
    const confidence = rounded(word.confidence) ?? null;
    placed.push({ text, start_ms, end_ms: Math.max(start_ms, end_ms), confidence, speaker, begins });
    before = { word, speaker };
  }
  return placed;
}

function labelOf(
  { speaker, is_known }: Pick<HeardSegment, 'speaker' | 'is_known'>,
  { label }: SegmentPlace,
): string | null {
  if (is_known === true && speaker !== undefined) return speaker;
  const said = plainText(speaker ?? '');
  return said === '' ? null : cut(label + said, LIMITS.speaker_label_chars_max);
}

function runsOf(whole: WordRun, breaks: readonly number[]): WordRun[] {
  if (breaks.length === 0) return [whole];
  const texts = textsBetween(whole, breaks);
  return texts.map((text, run): WordRun => {
    const words = whole.words.slice(breaks[run - 1] ?? 0, breaks[run]);
    const [first, last] = [words[0] as PlacedWord, words.at(-1) as PlacedWord];
    return { text, start_ms: first.start_ms, end_ms: last.end_ms, speaker: first.speaker, words };
  });
}

/** The text of a segment cut before some of its words: its own, with its marks, where all words are found in it. */
function textsBetween({ text, words }: WordRun, breaks: readonly number[]): string[] {
  const lower = text.toLowerCase();
  const found: number[] = [];
  let at = 0;
  for (const word of words) {
    const begins = lower.length === text.length ? lower.indexOf(word.text.toLowerCase(), at) : -1;
    if (begins < 0) break;
    found.push(begins);
    at = begins + word.text.length;
  }
  const ends = [...breaks, words.length];
  if (found.length < words.length)
    return ends.map((end, run) =>
      words
        .slice(ends[run - 1] ?? 0, end)
        .map((word) => word.text)
        .join(' '),
    );
  return ends.map((end, run) => text.slice(run === 0 ? 0 : found[ends[run - 1] as number], found[end]).trim());
}

/** Parts of a run whose text is too long for a turn, cut between words; without words its time is dealt by letters. */
function shortRuns(run: WordRun): WordRun[] {
  const { text, words } = run;
  if (text.length <= LIMITS.turn_text_chars_max) return [run];
  const middle = text.lastIndexOf(' ', LIMITS.turn_text_chars_max);
  const first = cut(text, middle > 0 ? middle : LIMITS.turn_text_chars_max);
  const at_ms = Math.round(run.start_ms + ((run.end_ms - run.start_ms) * first.length) / text.length);
  const [said, rest] = [words.filter(({ start_ms }) => start_ms < at_ms), words.filter((w) => w.start_ms >= at_ms)];
  return [
    { ...run, text: first.trim(), end_ms: at_ms, words: said },
    ...shortRuns({ ...run, text: text.slice(first.length).trim(), start_ms: at_ms, words: rest }),
  ];
}

function turnOf({ text, start_ms, end_ms, speaker, words }: WordRun, of_segment: number | undefined): TranscribedTurn {
  const sure = words.flatMap(({ confidence }) => (confidence === null ? [] : [confidence]));
  const mean = sure.length === 0 ? undefined : sure.reduce((sum, one) => sum + one, 0) / sure.length;
  const confidence = rounded(of_segment ?? mean);
  const turn = {
    start_ms,
    end_ms: Math.max(start_ms, end_ms),
    text,
    ...(speaker !== null && { speaker }),
    ...(confidence !== undefined && { confidence }),
    ...(words.length > 0 && {
      words: words
        .slice(0, LIMITS.turn_words_max)
        .map((word): [string, number, number, number | null] => [
          ...([word.text, word.start_ms, word.end_ms] as const),
          word.confidence,
        ]),
    }),
  };
  return clampedTurn(turn, turn);
}

function rounded(share: number | undefined): number | undefined {
  return share === undefined ? undefined : Math.round(share * 1_000) / 1_000;
}

/** So many units at most, and no half of a character. */
function cut(text: string, units: number): string {
  const short = text.slice(0, units);
  return short.isWellFormed() ? short : short.slice(0, -1);
}
