import { z } from 'zod';
import { languageTag } from '../../../domain/language_tag.js';
import { LIMITS } from '../../../domain/limits.js';
import { EngineFailed, type HeardSegment, type HeardWord, type Transcription } from './engine.js';
import { placesOf, type SegmentSpan, unitOf } from './segment_times.js';

/**
 * Transcriptions as JSON, as OpenAI's `json`, `verbose_json` and `diarized_json` have them, and whisper.cpp and others
 * with members of their own. What is missing or of an odd type is passed over; only what holds no text at all is refused.
 */

const ENGINE_WORDS_MAX = 32_768; // ours: of one answer, parts of words where an engine splits them

const number = z.number().optional().catch(undefined);
const text = z.string().optional().catch(undefined);
/** Some engines number them. */
const speaker = z
  .union([z.string(), z.number().transform(String)])
  .optional()
  .catch(undefined);
const speakers = { speaker, speaker_id: speaker };
/** A list of what can be read of it. */
const listOf = <T extends z.ZodType>(item: T) =>
  z
    .array(item.nullable().catch(null as never))
    .transform((items) => items.filter((found) => found !== null))
    .optional()
    .catch(undefined);

const word = z
  .object({
    word: text,
    text,
    start: number,
    end: number,
    ...speakers,
    probability: number,
    confidence: number,
    score: number,
  })
  .refine(({ word, text }) => word !== undefined || text !== undefined)
  .transform(({ word, text = '', ...rest }) => ({ ...rest, text: word ?? text }));

const segment = z.object({
  text: z.string(),
  start: number,
  end: number,
  ...speakers,
  words: listOf(word),
  confidence: number,
  no_speech_prob: number,
  avg_logprob: number,
  compression_ratio: number,
});

const transcription = z.object({ text, language: text, segments: listOf(segment), words: listOf(word) });

type Word = z.output<typeof word>;
type Segment = z.output<typeof segment>;

/** `length_s` is that of the file: no time lies beyond it, and no text is left out for its times. Throws EngineFailed. */
export function readTranscription(json: string, length_s: number): Transcription {
  const read = transcription.safeParse(parsed(json));
  if (!read.success) throw bad('The answer is not a transcription.');
  const { text, language, segments, words } = read.data;
  const words_count = (words?.length ?? 0) + (segments ?? []).reduce((sum, one) => sum + (one.words?.length ?? 0), 0);
  if ((segments?.length ?? 0) > LIMITS.engine_segments_max || words_count > ENGINE_WORDS_MAX)
    throw bad('The answer has more words than anybody says.');
  if (text === undefined && segments === undefined && words === undefined) throw bad('The answer has no text.');
  const all_words = [...(words ?? []), ...(segments ?? []).flatMap((one) => one.words ?? [])];
  const units = { segments: unitOf(segments ?? [], length_s), words: unitOf(all_words, length_s) };
  const whole_file = { from_s: 0, to_s: length_s, length_s };
  /** None where no time of them can be believed: they say no more than the text. */
  const wordsIn = (said: readonly Word[], within: { from_s: number; to_s: number }): HeardWord[] => {
    const joined = joinedWords(said);
    const places = placesOf(joined, { ...whole_file, ...within, unit_s: units.words });
    if (places.every(({ guessed }) => guessed)) return [];
    return joined.map(({ text, probability, confidence, score, ...who }, index) => {
      const { start_s, end_s } = places[index] as SegmentSpan;
      const sure = share(probability ?? confidence ?? score);
      return { text, start_s, end_s, speaker: who.speaker ?? who.speaker_id, confidence: sure };
    });
  };
  const places = placesOf(segments ?? [], { ...whole_file, unit_s: units.segments });
  const segmentOf = (said: Segment, index: number): HeardSegment => {
    const { text, words = [], confidence, no_speech_prob, avg_logprob, compression_ratio } = said;
    const place = places[index] as SegmentSpan;
    const heard = wordsIn(words, { from_s: place.start_s, to_s: place.end_s });
    const [first, last] = [heard[0], heard.at(-1)];
    // Its words may say what it does not.
    const by_words = place.guessed && first !== undefined && last !== undefined;
    const { start_s, end_s, guessed } = by_words ? { ...first, end_s: last.end_s, guessed: false } : place;
    return {
      text,
      start_s,
      end_s: Math.max(start_s, end_s),
      guessed,
      no_speech_prob,
      avg_logprob,
      compression_ratio,
      speaker: said.speaker ?? said.speaker_id,
      words: heard,
      confidence: share(confidence ?? (avg_logprob === undefined ? undefined : Math.exp(avg_logprob))),
    };
  };
  const found = (segments ?? []).map(segmentOf).sort((a, b) => a.start_s - b.start_s);
  const loose = wordsIn(words ?? [], whole_file);
  const whole = text ?? (words ?? []).map((one) => one.text).join(' ');
  if (found.length === 0 && whole.trim() !== '')
    found.push({ start_s: loose[0]?.start_s ?? 0, end_s: loose.at(-1)?.end_s ?? length_s, text: whole, words: loose });
  else if (found.every((one) => one.words.length === 0)) deal(loose, found);
  return { language: languageTag(language), segments: found };
}

/** Python writes numbers that JSON does not have. Text in quotation marks stays as it is. */
const NO_NUMBERS = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|-?\bInfinity\b|\bNaN\b/g;

function parsed(json: string): unknown {
  const text = json.replace(/^\ufeff/, '');
  for (const form of [() => text, () => text.replace(NO_NUMBERS, (found) => (found.startsWith('"') ? found : 'null'))])
    try {
      return JSON.parse(form());
    } catch {
      // Not in this form.
    }
  throw new EngineFailed('ENGINE_NOT_JSON', 'The answer is not JSON.');
}

function bad(message: string): EngineFailed {
  return new EngineFailed('ENGINE_BAD_ANSWER', message);
}

/** Where words carry the space before them, one without it is a part of the word before. */
function joinedWords(words: readonly Word[]): Word[] {
  if (!words.some((one) => one.text.startsWith(' '))) return [...words];
  const joined: Word[] = [];
  for (const one of words) {
    const last = joined.at(-1);
    if (last === undefined || one.text.startsWith(' ')) joined.push({ ...one });
    else Object.assign(last, { text: last.text + one.text, end: one.end ?? last.end });
  }
  return joined;
}

/** Gives words that stand beside the segments to the segment that each lies in. */
function deal(words: readonly HeardWord[], segments: readonly HeardSegment[]): void {
  for (const one of words) {
    const middle_s = (one.start_s + one.end_s) / 2;
    const into = segments.findLast(({ start_s }) => start_s <= middle_s) ?? segments[0];
    into?.words.push(one);
  }
}

function share(value: number | undefined): number | undefined {
  return value !== undefined && value >= 0 && value <= 1 ? value : undefined;
}
