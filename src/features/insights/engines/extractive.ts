import { LIMITS } from '../../../domain/limits.js';
import { cleanText } from '../clean_text.js';
import type { InputTurn, InsightInput, RawInsights, RawSentence } from '../insight_input.js';
import { languageOf } from '../spoken_language.js';
import type { InsightEngine } from './insight_engine.js';
import { itemsIn } from './items.js';
import { keywords } from './keywords.js';
import { sentencesOf } from './sentences.js';
import { Slices } from './slices.js';
import { changesOf, type NewSuggestion } from './suggestion_changes.js';

/**
 * Insights without a model. It invents nothing: titles, summaries and suggestions are words that were said. Suggestions
 * are sentences that promise or ask, in English; other languages get none. docs/choices.md, "Insights".
 */

const SUMMARY_TURNS = 3;
const SUMMARY_WORDS_MIN = 8;
const SUMMARY_TURN_CHARS_MAX = LIMITS.insight_text_chars_max;
const LENGTH_DAMPS = 0.25;
/** Of a phrase that a chosen turn has said already. */
const REPEATED_WEIGHT = 0.3;
const TITLE_PHRASES = 2;

export class Extractive implements InsightEngine {
  readonly name = 'extractive';
  readonly made_by = 'extractive';

  async think(input: InsightInput): Promise<RawInsights> {
    const phrases = keywords(input.turns, { count: LIMITS.insight_topics_max, language: languageOf(input.turns) });
    const sentences = summaryOf(input.turns, phrases);
    const title = phrases.slice(0, TITLE_PHRASES).join(', ').slice(0, LIMITS.conversation_title_chars_max);
    return {
      conversation: { title: title === '' ? null : title, sentences, topics: phrases },
      suggestions: changesOf(input, await itemsOf(input)),
      memories: [],
    };
  }

  async close(): Promise<void> {}
}

/** The three turns that say most of these phrases, in the order in which they were said. */
function summaryOf(turns: readonly InputTurn[], phrases: readonly string[]): RawSentence[] {
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

/** Suggestions are made of what was said in English. */
async function itemsOf(input: InsightInput): Promise<NewSuggestion[]> {
  const slices = new Slices();
  const most = languageOf(input.turns);
  const english = input.turns.filter(({ language }) => isEnglish(language ?? most));
  return english.length === 0 ? [] : itemsIn(await sentencesOf({ ...input, turns: english }, slices), input, slices);
}

function isEnglish(language: string | null): boolean {
  return language === null || /^en(-|$)/i.test(language);
}
