/** Words as people say them: few of them often, many of them rarely. Synthetic, drawn with a seed. */
const VOWELS = 'aeiou';
const CONSONANTS = 'bcdfghlmnprstvw';

/** A generator of numbers from 0 to 1 (mulberry32). */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const draw = seeded(1);
const pick = (letters) => letters[Math.floor(draw() * letters.length)];
const VOCABULARY = Array.from({ length: 20_000 }, (_, rank) => {
  const syllables = 1 + Math.floor(Math.log10(rank + 1));
  return Array.from(
    { length: syllables },
    () => pick(CONSONANTS) + pick(VOWELS) + (draw() < 0.4 ? pick(CONSONANTS) : ''),
  ).join('');
});

/** A sentence of about eleven words; the word of rank r comes about 1/r times as often as the first. */
export function sentence(random) {
  const words = 7 + Math.floor(random() * 9);
  return Array.from(
    { length: words },
    () => VOCABULARY[Math.floor(VOCABULARY.length ** random()) - 1] ?? VOCABULARY[0],
  ).join(' ');
}

/** Twenty turns of two speakers within a window of a minute. */
export function minuteOf(from_ms, random) {
  return Array.from({ length: 20 }, (_, at) => {
    const start_ms = from_ms + at * 2_900;
    const end_ms = start_ms + 1_500 + Math.floor(random() * 1_300);
    return { start_ms, end_ms, text: sentence(random), speaker: 'AB'[at % 2], confidence: 0.9, language: 'en' };
  });
}
