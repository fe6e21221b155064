import { deflateSync } from 'node:zlib';

/** Speech models write down what nobody said: in silence, in noise, and in loops. docs/transcription.md, "What is dropped". */

type ScoredSegment = {
  text: string;
  no_speech_prob?: number | undefined;
  avg_logprob?: number | undefined;
  compression_ratio?: number | undefined;
};

const NO_SPEECH_PROB_MAX = 0.6;
const AVG_LOGPROB_MIN = -1;
const COMPRESSION_RATIO_MAX = 2.4;
/** Longer text is judged in parts: the longer a text, the more it is compressed. */
const COMPRESSED_CHARS = 600;
const EQUAL_IN_A_ROW_MAX = 3;
/** Nothing but what engines write of sounds and silence, such as `[BLANK_AUDIO] [ Music ]`. */
const MARKS_ONLY = /^(\s*\[[^[\]]*\])+\s*$/;
const HAS_WORDS = /[\p{L}\p{N}]/u;

/** The segments that were probably said, and how many others there were. */
export function dropHallucinations<T extends ScoredSegment>(segments: readonly T[]): { kept: T[]; dropped: number } {
  let [previous, in_a_row] = ['', 0];
  const kept = segments.filter((segment) => {
    const words = wordsOf(segment.text);
    in_a_row = words === previous ? in_a_row + 1 : 1;
    previous = words;
    return in_a_row <= EQUAL_IN_A_ROW_MAX && isLikely(segment);
  });
  return { kept, dropped: segments.length - kept.length };
}

export function hasWords(text: string): boolean {
  return HAS_WORDS.test(text) && !MARKS_ONLY.test(text);
}

function isLikely({ text, no_speech_prob = 0, avg_logprob = 0, compression_ratio }: ScoredSegment): boolean {
  if (no_speech_prob > NO_SPEECH_PROB_MAX && avg_logprob < AVG_LOGPROB_MIN) return false;
  return (compression_ratio ?? leastRatio(text)) <= COMPRESSION_RATIO_MAX && hasWords(text);
}

/** By how much its parts can be compressed at least: beside a loop something may have been said. */
function leastRatio(text: string): number {
  const parts = Math.ceil(text.length / COMPRESSED_CHARS);
  const part_chars = Math.ceil(text.length / parts);
  const ratios = Array.from({ length: parts }, (_, part) =>
    ratioOf(text.slice(part * part_chars, (part + 1) * part_chars)),
  );
  return Math.min(...ratios);
}

/** One byte for each character: in UTF-8 those of most scripts begin alike, and any text of them would look repeated. */
function ratioOf(text: string): number {
  const bytes = Buffer.from(text, 'latin1');
  return bytes.length / deflateSync(bytes).length;
}

/** Equal to a listener: without case, punctuation, or spaces. */
function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[\p{P}\p{Z}]+/gu, ' ')
    .trim();
}
