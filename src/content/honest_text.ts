/** Speech models write down what nobody said: in silence, in noise, and in loops. docs/transcription.md, "What is dropped". */

type Judged = {
  text: string;
  no_speech_prob?: number | undefined;
  avg_logprob?: number | undefined;
  compression_ratio?: number | undefined;
};

const NO_SPEECH_PROB_MAX = 0.6;
const AVG_LOGPROB_MIN = -1;
const COMPRESSION_RATIO_MAX = 2.4;
const EQUAL_IN_A_ROW_MAX = 3;
/** How whisper.cpp writes that it heard nothing. */
const NOTHING_HEARD = '[BLANK_AUDIO]';

/** The segments that were probably said, and how many others there were. A figure that is missing drops nothing. */
export function honestText<T extends Judged>(segments: readonly T[]): { kept: T[]; dropped: number } {
  let [previous, in_a_row] = ['', 0];
  const kept = segments.filter((segment) => {
    const words = wordsOf(segment.text);
    in_a_row = words === previous ? in_a_row + 1 : 1;
    previous = words;
    return in_a_row <= EQUAL_IN_A_ROW_MAX && isLikely(segment);
  });
  return { kept, dropped: segments.length - kept.length };
}

function isLikely({ text, no_speech_prob = 0, avg_logprob = 0, compression_ratio = 0 }: Judged): boolean {
  if (no_speech_prob > NO_SPEECH_PROB_MAX && avg_logprob < AVG_LOGPROB_MIN) return false;
  return compression_ratio <= COMPRESSION_RATIO_MAX && text.trim() !== NOTHING_HEARD;
}

/** Equal to a listener: without case, punctuation, or spaces. */
function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[\p{P}\p{Z}]+/gu, ' ')
    .trim();
}
