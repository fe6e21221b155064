import { z } from 'zod';
import { LIMITS } from '../../domain/limits.js';
import { EngineFailed, type Heard, type HeardSegment, type HeardWord } from './engine.js';
import { languageTag } from './language_tag.js';

/**
 * Transcriptions as JSON, as OpenAI's `json`, `verbose_json` and `diarized_json` have them, and whisper.cpp and others
 * with members of their own. What is missing or of an odd type is passed over; only what holds no text at all is refused.
 */

const number = z.number().optional().catch(undefined);
const text = z.string().optional().catch(undefined);
/** A list of what can be read of it. */
const listOf = <T extends z.ZodType>(item: T) =>
  z
    .array(item.nullable().catch(null as never))
    .transform((items) => items.filter((found) => found !== null))
    .optional()
    .catch(undefined);

const word = z
  .object({
    ...{ word: text, text, start: number, end: number, speaker: text },
    ...{ probability: number, confidence: number, score: number },
  })
  .refine(({ word, text }) => word !== undefined || text !== undefined);

const segment = z.object({
  ...{ text: z.string(), start: number, end: number, speaker: text, words: listOf(word) },
  ...{ confidence: number, no_speech_prob: number, avg_logprob: number, compression_ratio: number },
});

const transcription = z.object({ text, language: text, segments: listOf(segment), words: listOf(word) });

type Word = z.output<typeof word>;
type Segment = z.output<typeof segment>;

/** `length_s` is that of the file: no time lies beyond it, and text without times has all of it. Throws EngineFailed. */
export function readTranscription(json: string, length_s: number): Heard {
  const read = transcription.safeParse(parsed(json));
  if (!read.success) throw bad('The answer is not a transcription.');
  const { text, language, segments, words } = read.data;
  const words_count = (words?.length ?? 0) + (segments ?? []).reduce((sum, one) => sum + (one.words?.length ?? 0), 0);
  if ((segments?.length ?? 0) > LIMITS.engine_segments_max || words_count > LIMITS.engine_words_max)
    throw bad('The answer has more words than anybody says.');
  if (text === undefined && segments === undefined && words === undefined) throw bad('The answer has no text.');
  const bounded = (seconds: number | undefined, otherwise: number) =>
    Math.min(length_s, Math.max(0, seconds !== undefined && Number.isFinite(seconds) ? seconds : otherwise));
  const wordOf = ({ word, text, start, end, probability, confidence, score, speaker }: Word): HeardWord => {
    const start_s = bounded(start, 0);
    return {
      ...{ text: word ?? text ?? '', start_s, end_s: Math.max(start_s, bounded(end, start_s)), speaker },
      confidence: share(probability ?? confidence ?? score),
    };
  };
  const segmentOf = ({ start, end, words = [], confidence, avg_logprob, ...rest }: Segment): HeardSegment => {
    const start_s = bounded(start, 0);
    return {
      ...{ ...rest, start_s, end_s: Math.max(start_s, bounded(end, length_s)), avg_logprob },
      words: joinedWords(words.filter(isTimed)).map(wordOf),
      confidence: share(confidence ?? (avg_logprob === undefined ? undefined : Math.exp(avg_logprob))),
    };
  };
  const found = (segments ?? []).map(segmentOf).sort((a, b) => a.start_s - b.start_s);
  const loose = joinedWords((words ?? []).filter(isTimed)).map(wordOf);
  const whole = text ?? loose.map((one) => one.text).join(' ');
  if (found.length === 0 && whole.trim() !== '')
    found.push({ start_s: loose[0]?.start_s ?? 0, end_s: loose.at(-1)?.end_s ?? length_s, text: whole, words: loose });
  else if (found.every((one) => one.words.length === 0)) deal(loose, found);
  return { language: languageTag(language), segments: found };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new EngineFailed('ENGINE_NOT_JSON', 'The answer is not JSON.');
  }
}

function bad(message: string): EngineFailed {
  return new EngineFailed('ENGINE_BAD_ANSWER', message);
}

function isTimed({ start, end }: Word): boolean {
  return start !== undefined && end !== undefined;
}

/** Where words carry the space before them, one without it is a part of the word before. */
function joinedWords(words: readonly Word[]): Word[] {
  const textOf = ({ word, text }: Word) => word ?? text ?? '';
  if (!words.some((one) => textOf(one).startsWith(' '))) return [...words];
  const joined: Word[] = [];
  for (const one of words) {
    const last = joined.at(-1);
    if (last === undefined || textOf(one).startsWith(' ')) joined.push({ ...one });
    else Object.assign(last, { word: textOf(last) + textOf(one), end: one.end });
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
