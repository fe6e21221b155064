import { Chrono, casual } from 'chrono-node/en';
import type { SuggestionKind } from '../../../../actors/library_state.js';
import { LIMITS } from '../../../domain/limits.js';
import type { InputTurn, InsightInput, RawInsights, RawSuggestion } from '../insight_input.js';
import { cleanText } from '../plain_words.js';
import { languageOf } from '../spoken_language.js';
import { stems } from '../stems.js';
import type { InsightEngine } from './insight_engine.js';
import { weightiest } from './weighty_words.js';

/**
 * Insights without a model. It invents nothing: titles, summaries and suggestions are words that were said. Suggestions
 * are sentences that promise or ask, in English; other languages get none. docs/choices.md, "Insights".
 */

const SUMMARY_TURNS = 3;
const TITLE_PHRASES = 2;
const SENTENCE_WORDS = { min: 3, max: 60 };
/** So much alike, a suggestion of before is the same one. */
const SAME_SHARED_MIN = 0.8;

const SENTENCES = new Intl.Segmenter('en', { granularity: 'sentence' });
const CHRONO = new Chrono(casual);

const I_WILL = `(?:i(?:['’]ll| will| shall| can| promise(?: you)?(?: to| that i)|['’]m going to| am going to)|let me|we(?:['’]ll| will)| i have to| i need to| i must)`;
const DOES = `(?:send|call|write|e-?mail|mail|text|check|look (?:into|at|for|up)|find out|ask|tell|book|buy|bring|order|pay|prepare|finish|fix|review|schedule|arrange|organi[sz]e|set up|make sure|take care|follow up|get back|let you know|remind|share|update|submit|deliver|print|pick (?:it |them |you )?up|talk to|speak to|contact|confirm|cancel|invite|forward|sign|read|draft|do (?:it|that|this)|handle)`;

/** The first that fits says which kind it is. */
const FORMS: readonly { kind: SuggestionKind; form: RegExp }[] = [
  { kind: 'reminder', form: /\b(?:remember to|don['’]?t forget|do not forget|remind me|remind us|make a note)\b/iu },
  {
    kind: 'decision',
    form: /\b(?:we(?:['’]ve| have)? (?:decided|agreed)|let['’]?s (?:go with|agree)|it['’]?s decided|the decision is)\b/iu,
  },
  {
    kind: 'follow_up',
    form: new RegExp(
      `\\b${I_WILL}\\b[^.?!]{0,40}\\b(?:get back|follow up|let you know|call you back|come back to)\\b`,
      'iu',
    ),
  },
  {
    kind: 'task',
    form: new RegExp(`\\b${I_WILL}(?: (?:just|also|then|quickly|definitely|try to|go and|still))*\\s+${DOES}\\b`, 'iu'),
  },
  {
    kind: 'task',
    form: new RegExp(`\\b(?:could|can|would|will) you (?:please |maybe |also |kindly )*${DOES}\\b`, 'iu'),
  },
  { kind: 'task', form: new RegExp(`(?:^|\\bplease |[,;] )please ${DOES}\\b|^please ${DOES}\\b`, 'iu') },
  { kind: 'task', form: new RegExp(`\\b(?:you|we|i) (?:should|need to|have to|must) ${DOES}\\b`, 'iu') },
  {
    kind: 'question',
    form: /\b(?:do you know|can you tell me|could you tell me|any idea|what about|when (?:will|can|do)|who (?:will|can))\b[^?]*\?/iu,
  },
];
/** Said of the past, of nobody, or not meant so. */
const UNMEANT =
  /\b(?:if i|i would have|i could have|should have|would have|as i said|i can['’]?t|i cannot|i won['’]?t|will not|you know what i mean|i will say|i would say|let me (?:see|think|tell))\b/iu;

export class Extractive implements InsightEngine {
  readonly name = 'extractive';
  readonly made_by = 'extractive';

  async think(input: InsightInput): Promise<RawInsights> {
    const phrases = weightiest(input.turns, { count: LIMITS.insight_topics_max, language: languageOf(input.turns) });
    const title = phrases.slice(0, TITLE_PHRASES).join(', ').slice(0, LIMITS.conversation_title_chars_max);
    return {
      conversation: { title: title === '' ? null : title, summary: summaryOf(input.turns, phrases), topics: phrases },
      suggestions: changesOf(input, promisesIn(input)),
      memories: [],
    };
  }

  async close(): Promise<void> {}
}

/** The three turns with most of these phrases, in the order in which they were said. */
function summaryOf(turns: readonly InputTurn[], phrases: readonly string[]): string | null {
  const weightOf = ({ text }: InputTurn) => {
    const said = text.toLowerCase();
    const weight = phrases.reduce((sum, phrase, at) => sum + (said.includes(phrase) ? phrases.length - at : 0), 0);
    // A long turn is no weightier for being long.
    return weight / Math.sqrt(10 + said.length);
  };
  const chosen = turns
    .map((turn) => ({ turn, weight: weightOf(turn) }))
    .filter(({ turn, weight }) => weight > 0 && turn.text.length < LIMITS.insight_summary_chars_max / SUMMARY_TURNS)
    .sort((a, b) => b.weight - a.weight || a.turn.number - b.turn.number)
    .slice(0, SUMMARY_TURNS)
    .sort((a, b) => a.turn.number - b.turn.number);
  return chosen.length === 0 ? null : chosen.map(({ turn }) => cleanText(turn.text)).join(' ');
}

type Said = RawSuggestion & { op: 'new'; kind: SuggestionKind; text: string };

function promisesIn({ turns, people, suggestion_kinds }: InsightInput): Said[] {
  const found: Said[] = [];
  for (const turn of turns) {
    if (!isEnglish(turn.language ?? languageOf(turns))) continue;
    for (const sentence of sentencesOf(turn.text)) {
      const kind = kindOf(sentence);
      if (kind === null || !suggestion_kinds.includes(kind) || found.length >= LIMITS.suggestions_per_result_max)
        continue;
      if (found.some(({ text }) => isSame(text, sentence))) continue;
      found.push({
        ...{ op: 'new', kind, text: sentence, due_at: dueIn(sentence, turn) },
        ...{
          owner: ownerOf(
            sentence,
            turn,
            people.map(({ label }) => label),
          ),
          requester: null,
        },
        evidence: [{ turn: turn.number, quote: sentence }],
      });
    }
  }
  return found;
}

/** Who says that they will do it; of two people, the other one of whom it is asked. */
function ownerOf(sentence: string, { speaker }: InputTurn, labels: readonly string[]): string | null {
  if (new RegExp(`\\b${I_WILL}\\b`, 'iu').test(sentence)) return speaker;
  const others = labels.filter((label) => label !== speaker);
  return /\byou\b/i.test(sentence) && speaker !== null && others.length === 1 ? (others[0] ?? null) : null;
}

function sentencesOf(text: string): string[] {
  return [...SENTENCES.segment(cleanText(text))]
    .map(({ segment }) => segment.trim())
    .filter((sentence) => {
      const words = sentence.split(' ').length;
      const is_fit = words >= SENTENCE_WORDS.min && words <= SENTENCE_WORDS.max;
      return is_fit && sentence.length <= LIMITS.insight_quote_chars_max;
    });
}

export function kindOf(sentence: string): SuggestionKind | null {
  if (UNMEANT.test(sentence)) return null;
  return FORMS.find(({ form }) => form.test(sentence))?.kind ?? null;
}

/** A day or a time that the sentence names, from when it was said on. Times are those of UTC: nobody says where they are. */
function dueIn(sentence: string, { at_ms }: InputTurn): string | null {
  const [found] = CHRONO.parse(sentence, { instant: new Date(at_ms), timezone: 0 }, { forwardDate: true });
  const due = found?.date();
  if (due === undefined || !Number.isFinite(due.getTime()) || due.getTime() < at_ms) return null;
  return due.toISOString();
}

/** What is new, what is said otherwise now, and what is not said any more. The same turns again change nothing. */
function changesOf({ suggestions }: InsightInput, promises: readonly Said[]): RawSuggestion[] {
  const taken = new Set<number>();
  const changes = promises.flatMap((promise): RawSuggestion[] => {
    const before = suggestions.find(({ ref, text }) => !taken.has(ref) && isSame(text, promise.text));
    if (before === undefined) return [promise];
    taken.add(before.ref);
    const due_at_ms = typeof promise.due_at === 'string' ? Date.parse(promise.due_at) : null;
    const is_equal = before.text === promise.text && before.kind === promise.kind && before.due_at_ms === due_at_ms;
    if (is_equal) return [];
    const { kind, text, due_at, evidence } = promise;
    return [{ op: 'revise', ref: before.ref, kind, text, due_at, evidence }];
  });
  const gone = suggestions.filter(({ ref, status }) => status === 'open' && !taken.has(ref));
  const room = Math.max(0, LIMITS.suggestions_per_result_max - changes.length);
  return [...changes, ...gone.slice(0, room).map(({ ref }): RawSuggestion => ({ op: 'withdraw', ref }))];
}

function isSame(one: string, other: string): boolean {
  const [own, others] = [stems(one, 'en'), stems(other, 'en')];
  const shared = [...own].filter((stem) => others.has(stem)).length;
  return shared >= Math.max(own.size, others.size) * SAME_SHARED_MIN;
}

function isEnglish(language: string | null): boolean {
  return language === null || /^en(-|$)/i.test(language);
}
