import type { Heard, HeardSegment } from './engine.js';

/** Debian's program (package pocketsphinx, 0.8): small, free, English. Good for a try, far behind newer models. */
export const POCKETSPHINX = {
  words: ['pocketsphinx_continuous', '-infile', '{audio}', '-time', 'yes', '-logfn', '/dev/null'],
  frames_per_second: 16_000,
  read: readPocketsphinx,
};

/** A word with its times, such as `meet 6.670 6.930 0.371348`. */
const TIMED = /^(\S+) (\d+\.\d+) (\d+\.\d+) (\d+\.\d+)$/;
/** What is no word, and of which of its pronunciations a word was: `was(2)`. */
const NOT_SAID = /^(<.*>|\[.*\]|\+\+.*\+\+)$/;
const PRONUNCIATION = /\(\d+\)$/;

/** Its output: of each utterance a line of text, and a line for each word. */
export function readPocketsphinx(output: string): Heard {
  const segments: HeardSegment[] = [];
  for (const line of output.split('\n')) {
    const [, said, start, end, probability] = TIMED.exec(line.trim()) ?? [];
    if (said === undefined) {
      if (line.trim() !== '') segments.push({ start_s: 0, end_s: 0, text: line.trim(), words: [] });
      continue;
    }
    const word = { text: said.replace(PRONUNCIATION, ''), start_s: Number(start), end_s: Number(end) };
    // Rounded in its own arithmetic, it may be a little above 1.
    const confidence = Math.min(1, Number(probability));
    if (!NOT_SAID.test(said)) segments.at(-1)?.words.push({ ...word, confidence });
  }
  const spoken = segments.filter(({ words }) => words.length > 0);
  for (const segment of spoken) {
    segment.start_s = segment.words[0]?.start_s ?? 0;
    segment.end_s = segment.words.at(-1)?.end_s ?? segment.start_s;
  }
  return { language: 'en', segments: spoken };
}
