import { lengthOf, SPEECH_RATE, type Stretch } from './utterances.js';

/** A sentence of a transcription. Times are seconds of the audio; those of words are estimates. */
export type Sentence = { start_s: number; end_s: number; text: string; words: TimedWord[] };
export type TimedWord = { text: string; start_s: number; end_s: number };

const SENTENCE_END = /[.?!]+["')]?\s+(?=\S)/g;
/** A pause farther than this from where a sentence should end is another one's. */
const PAUSE_AWAY_MAX = 1.5 * SPEECH_RATE;

/**
 * Cuts the text of an utterance after sentences near whose end the speaker paused, and gives words the time of their
 * letters within the voice: pauses get none. `voice`: its stretches, in samples.
 */
export function sentencesOf(text: string, voice: readonly Stretch[]): Sentence[] {
  const bounds = [...cutsOf(text, voice), { end: text.length, stretch: voice.length }];
  return bounds.map(({ end, stretch }, index) => {
    const before = bounds[index - 1] ?? { end: 0, stretch: 0 };
    const own = voice.slice(before.stretch, stretch);
    const said = text.slice(before.end, end).trim();
    const [first, last] = [own[0] as Stretch, own.at(-1) as Stretch];
    return { start_s: seconds(first.from), end_s: seconds(last.to), text: said, words: timedWords(said, own) };
  });
}

/** Where sentences end in the text, and with which stretch the next one begins. */
function cutsOf(text: string, voice: readonly Stretch[]): { end: number; stretch: number }[] {
  const length = lengthOf(voice);
  const pauses = voice.slice(1).map(({ from }, at) => ({
    stretch: at + 1,
    middle: ((voice[at] as Stretch).to + from) / 2,
  }));
  const cuts: { end: number; stretch: number }[] = [];
  for (const { index, 0: mark } of text.matchAll(SENTENCE_END)) {
    const end = index + mark.length;
    const expected = placeOf((end / text.length) * length, voice, 'end');
    const after = cuts.at(-1)?.stretch ?? 0;
    const away = ({ middle }: { middle: number }) => Math.abs(middle - expected);
    const [nearest] = pauses.filter(({ stretch }) => stretch > after).sort((a, b) => away(a) - away(b));
    if (nearest !== undefined && away(nearest) < PAUSE_AWAY_MAX) cuts.push({ end, stretch: nearest.stretch });
  }
  return cuts;
}

function timedWords(text: string, voice: readonly Stretch[]): TimedWord[] {
  const words = text.split(/\s+/);
  const weights = words.map((word) => word.replace(/[^\p{L}\p{N}]/gu, '').length + 1);
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const length = lengthOf(voice);
  let passed = 0;
  return words.map((word, index) => {
    const start = placeOf((passed / all) * length, voice, 'start');
    passed += weights[index] as number;
    const end = placeOf((passed / all) * length, voice, 'end');
    return { text: word, start_s: seconds(start), end_s: seconds(Math.max(start, end)) };
  });
}

/** The sample before which so much voice has passed. Between two stretches a start is that of the later one. */
function placeOf(voiced: number, voice: readonly Stretch[], side: 'start' | 'end'): number {
  let left = voiced;
  for (const { from, to } of voice) {
    if (side === 'end' ? left <= to - from : left < to - from) return from + left;
    left -= to - from;
  }
  return voice.at(-1)?.to ?? 0;
}

/** To the hundredth. */
function seconds(samples: number): number {
  return Math.round((samples / SPEECH_RATE) * 100) / 100;
}
