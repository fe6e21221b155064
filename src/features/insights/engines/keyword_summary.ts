import { LIMITS } from '../../../domain/limits.js';
import { cleanText } from './clean_text.js';
import type { InputTurn, RawSentence } from './insight_input.js';

const SUMMARY_TURNS = 3;
const SUMMARY_WORDS_MIN = 8;
const SUMMARY_TURN_CHARS_MAX = LIMITS.insight_text_chars_max;
const LENGTH_DAMPS = 0.25;
/** Of a phrase that a chosen turn has said already. */
const REPEATED_WEIGHT = 0.3;

/** The three turns that say most of these phrases, in the order in which they were said. */
export function keywordSummary(turns: readonly InputTurn[], phrases: readonly string[]): RawSentence[] {
  const chosen: { turn: InputTurn; text: string }[] = [];
  const unsaid = new Set(phrases);
  const weightOf = (said: string) =>
    phrases.reduce((sum, phrase, at) => {
      const weight = (phrases.length - at) * (unsaid.has(phrase) ? 1 : REPEATED_WEIGHT);
      return sum + (said.includes(phrase) ? weight : 0);
    }, 0);
  const fit = turns
    .map((turn) => ({ turn, text: cleanText(turn.text) }))
    .filter(({ text }) => text.split(' ').length >= SUMMARY_WORDS_MIN && text.length < SUMMARY_TURN_CHARS_MAX);
  while (chosen.length < SUMMARY_TURNS) {
    // A long turn is no weightier for being long.
    const weighed = fit.map((one) => {
      const said = one.text.toLowerCase();
      return { ...one, said, weight: weightOf(said) / said.length ** LENGTH_DAMPS };
    });
    const best = weighed.reduce((a, b) => (b.weight > a.weight ? b : a), {
      weight: 0,
      said: '',
      turn: null,
      text: '',
    } as Weighed);
    if (best.turn === null) break;
    chosen.push({ turn: best.turn, text: best.text });
    for (const phrase of phrases) if (best.said.includes(phrase)) unsaid.delete(phrase);
    fit.splice(
      fit.findIndex(({ turn }) => turn === best.turn),
      1,
    );
  }
  chosen.sort((a, b) => a.turn.number - b.turn.number);
  return chosen.map(({ turn, text }) => ({ text, evidence: [{ turn: turn.number, quote: text }] }));
}

type Weighed = { turn: InputTurn | null; text: string; said: string; weight: number };
