import { LIMITS } from '../../../domain/limits.js';
import type { Slices } from '../../../engine/time/slices.js';
import { spokenWords } from '../learned/word_kinds.js';
import { splitClauses } from './clause_starts.js';
import { cleanText } from './clean_text.js';
import type { InputTurn, InsightInput, RawEvidence } from './insight_input.js';

/**
 * The sentences of a conversation. A speech engine cuts turns in the middle of a sentence, so consecutive turns of one
 * speaker are joined first. Where an engine writes no punctuation, pauses and clause starts divide them.
 */

export type Sentence = {
  /** Its place in the conversation, from 0. */
  place: number;
  text: string;
  /** The label of a person of the input. */
  speaker: string | null;
  language: string | null;
  /** The numbers of its turns. */
  turns: number[];
  /** A quotation of each of its turns, at least as long as a quotation must be. */
  evidence: RawEvidence[];
  at_ms: number;
  utc_offset_min: number;
  /** Whether the engine writes punctuation: a sentence without a question mark is none only there. */
  is_punctuated: boolean;
};

/** A turn whose words are so many says whether its engine writes punctuation. */
const TELLING_WORDS_MIN = 5;
/** The share of such turns that have a sign, from which on an engine writes punctuation. */
const PUNCTUATED_SHARE_MIN = 0.3;
/** Without punctuation, a pause of so many ms ends a sentence. */
const PAUSE_MS = 600;
/** With punctuation, a sentence that has not ended goes on after a pause of at most so many ms. */
const UNFINISHED_PAUSE_MS_MAX = 3_000;
/** A block of turns is at most so long: nobody speaks a sentence of more. */
const BLOCK_CHARS_MAX = 4_000;

const ENDED = /[.?!…。！？]["'”’)\]]*$/u;
/** A word with which no sentence ends. */
const DANGLING =
  /(?:^|\s)(?:a|an|the|and|or|but|because|so|if|that|to|of|in|on|at|by|for|from|with|into|about|than|as|my|your|his|her|its|our|their|is|are|was|were|be|i|we|he|she|they|i'll|we'll|i'm|we're|they're|it's|very|not|before|after|until|when|where|who|which|while|some|any|every|another|this|these|those)[,-]?$/iu;
const BACKCHANNEL = /^(?:mm+|m?hm+|uh[- ]?huh|yeah|yes|yep|right|okay|ok|oh|ah|sure|i see|true|exactly)[.!,]?$/iu;
const SIGN = /[.?!。！？]/u;
/** Shortened words, whose full stop ends no sentence. */
const SHORTENED = /(?:^|[\s(])(?:mr|mrs|ms|dr|prof|st|vs|etc|no|e\.g|i\.e|a\.m|p\.m|\p{L})\.$/iu;
const ENDING = /[.?!…]+["'”’)\]]*(?=\s|$)|[。！？]/gu;

type JoinedTurn = { turn: InputTurn; text: string; from: number };
type TurnBlock = { turns: JoinedTurn[]; text: string };

export async function sentencesOf(
  { turns, people }: Pick<InsightInput, 'turns' | 'people'>,
  slices: Slices,
): Promise<Sentence[]> {
  const names = new Set(people.flatMap(({ name }) => name?.toLowerCase().split(' ', 1) ?? []));
  const cleaned: { turn: InputTurn; text: string }[] = [];
  for (const turn of turns) {
    cleaned.push({ turn, text: cleanText(turn.text) });
    await slices.pause();
  }
  const is_punctuated = isPunctuated(cleaned.map(({ text }) => text));
  const found: Sentence[] = [];
  for (const block of blocksOf(cleaned, is_punctuated)) {
    for (const span of is_punctuated
      ? endedSpans(block.text).flatMap(listed(block.text))
      : splitClauses(block.text, names)) {
      const sentence = sentenceOf(block, span, { place: found.length, is_punctuated });
      if (sentence !== null) found.push(sentence);
    }
    await slices.pause();
  }
  return found;
}

function isPunctuated(texts: readonly string[]): boolean {
  const telling = texts.filter((text) => text.split(' ', TELLING_WORDS_MIN).length >= TELLING_WORDS_MIN);
  const marked = telling.filter((text) => SIGN.test(text)).length;
  return marked >= telling.length * PUNCTUATED_SHARE_MIN;
}

/** Turns that belong together: of one speaker, and the one before is not over. */
function* blocksOf(
  cleaned: readonly { turn: InputTurn; text: string }[],
  is_punctuated: boolean,
): Generator<TurnBlock> {
  const open: TurnBlock[] = [];
  for (const { turn, text } of cleaned) {
    if (text === '') continue;
    const before = open.findLast(({ turns }) => turns.at(-1)?.turn.speaker === turn.speaker);
    const is_next = before === open.at(-1);
    if (before !== undefined && goesOn(before, { turn, text, is_next, is_punctuated })) {
      before.turns.push({ turn, text, from: before.text.length + 1 });
      before.text += ` ${text}`;
      continue;
    }
    // A short word of another does not end the sentence that it interrupts.
    if (open.length === 1 && BACKCHANNEL.test(text) && isUnfinished(open[0] as TurnBlock, is_punctuated)) {
      open.push({ turns: [{ turn, text, from: 0 }], text });
      continue;
    }
    yield* open.splice(0);
    open.push({ turns: [{ turn, text, from: 0 }], text });
  }
  yield* open;
}

function isUnfinished({ text }: TurnBlock, is_punctuated: boolean): boolean {
  return is_punctuated ? !ENDED.test(text) : DANGLING.test(text);
}

type NextTurn = { turn: InputTurn; text: string; is_next: boolean; is_punctuated: boolean };

function goesOn(before: TurnBlock, { turn, text, is_next, is_punctuated }: NextTurn): boolean {
  const last = before.turns.at(-1)?.turn;
  if (last === undefined || last.stream_id !== turn.stream_id || last.language !== turn.language) return false;
  if (before.text.length + text.length > BLOCK_CHARS_MAX) return false;
  const pause_ms = turn.start_ms - last.end_ms;
  if (is_punctuated) return !ENDED.test(before.text) && pause_ms <= UNFINISHED_PAUSE_MS_MAX;
  if (DANGLING.test(before.text)) return pause_ms <= UNFINISHED_PAUSE_MS_MAX;
  return is_next && pause_ms < PAUSE_MS;
}

/** From sign to sign. */
function endedSpans(text: string): [number, number][] {
  const spans: [number, number][] = [];
  let from = 0;
  for (const found of text.matchAll(ENDING)) {
    const to = found.index + found[0].length;
    const is_plain_stop = found[0] === '.' || found[0].startsWith('…') || found[0].startsWith('..');
    const goes_on = /^\s+[\p{Ll}\d]/u.test(text.slice(to, to + 4));
    if (is_plain_stop && (SHORTENED.test(text.slice(Math.max(from, to - 8), to)) ? to < text.length : goes_on))
      continue;
    spans.push([from, to]);
    from = to;
  }
  if (from < text.length) spans.push([from, text.length]);
  return spans;
}

/** A spoken list has so many parts, each of which asks for something. */
const LISTED_MIN = 3;
const COMMA = /,\s+/g;
const JOINT = /^(?:and|then|also)(?: then| also)? /i;

/** The parts of a sentence that an engine made of a spoken list: "Buy milk, pay the rent, call Tom." */
const listed =
  (text: string) =>
  ([from, to]: [number, number]): [number, number][] => {
    const own = text.slice(from, to);
    const starts = [...own.matchAll(COMMA)].map((found) => from + found.index + found[0].length);
    if (starts.length < LISTED_MIN - 1) return [[from, to]];
    const asks = (part: string) => {
      const [first, ...rest] = spokenWords(part.replace(JOINT, ''));
      return first?.kind === 'act' && rest.length > 0;
    };
    const spans = [from, ...starts].map((start, at): [number, number] => [start, starts[at] ?? to]);
    const [, ...others] = spans;
    const asking = spans.filter(([start, end]) => asks(text.slice(start, end))).length;
    const is_list = asking >= LISTED_MIN && others.every(([start, end]) => asks(text.slice(start, end)));
    return is_list ? spans : [[from, to]];
  };

function sentenceOf(
  { turns, text }: TurnBlock,
  [from, to]: [number, number],
  { place, is_punctuated }: Pick<Sentence, 'place' | 'is_punctuated'>,
): Sentence | null {
  const own = text.slice(from, to).trim().replace(/,$/, '');
  if (!/[\p{L}\p{N}]/u.test(own)) return null;
  const said = turns.filter((one) => one.from < to && one.from + one.text.length > from);
  const [first] = said;
  if (first === undefined) return null;
  const evidence = said.map((one) => ({
    turn: one.turn.number,
    quote: quoteOf(one.text, Math.max(0, from - one.from), Math.min(one.text.length, to - one.from)),
  }));
  return {
    ...{ place, text: own, speaker: first.turn.speaker, language: first.turn.language, is_punctuated },
    ...{ turns: said.map(({ turn }) => turn.number), evidence },
    ...{ at_ms: first.turn.at_ms, utc_offset_min: first.turn.utc_offset_min },
  };
}

/** The words at that place of a turn, with those around them where they are fewer than a quotation must have. */
function quoteOf(text: string, from: number, to: number): string {
  let [start, end] = [from, to];
  const words = () =>
    text
      .slice(start, end)
      .split(/\s+/)
      .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  while (words() < LIMITS.quote_words_min && (start > 0 || end < text.length)) {
    if (end < text.length) {
      const next = text.indexOf(' ', end + 1);
      end = next < 0 ? text.length : next;
    } else start = Math.max(0, text.lastIndexOf(' ', start - 2));
  }
  return text.slice(start, end).trim().slice(0, LIMITS.insight_quote_chars_max);
}
