import { Chrono, casual } from 'chrono-node/en';
import type { SuggestionKind } from '../../../../actors/insights/library_state.js';
import { LIMITS } from '../../../domain/limits.js';
import { cleanText } from '../clean_text.js';
import type { InputTurn, InsightInput, RawInsights, RawSentence, RawSuggestion } from '../insight_input.js';
import { languageOf } from '../spoken_language.js';
import { stems } from '../stems.js';
import type { InsightEngine } from './insight_engine.js';
import { keywords } from './keywords.js';

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
const SENTENCE_WORDS = { min: 3, max: 60 };
/** So much alike, a suggestion of before is the same one. */
const SAME_SHARED_MIN = 0.8;
/** With fewer words, sentences are alike by chance. */
const PART_STEMS_MIN = 5;

const SENTENCES = new Intl.Segmenter('en', { granularity: 'sentence' });
const CHRONO = new Chrono(casual);

const I_WILL = `(?:i(?:['’]ll| will| shall| promise(?: you)?(?: to| that i)|['’]m going to| am going to)|let me|we(?:['’]ll| will)| i have to| i need to| i must)`;
const DOES = `(?:send|call|write|e-?mail|mail|text|check|look (?:into|up)|ask|tell|book|buy|bring|order|pay|prepare|finish|fix|review|schedule|arrange|organi[sz]e|set up|make sure|take care|follow up|get back|let you know|remind|share|update|submit|deliver|print|pick (?:them |you )?up|talk to|speak to|contact|confirm|cancel|invite|forward|sign|draft|list|handle)`;

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
    form: /\b(?:do you know|can you tell me|could you tell me|any idea|when (?:will|can|do)|who (?:will|can))\b[^?]*\?/iu,
  },
];
/** Said of the past, of nobody, or not meant so. */
const UNMEANT =
  /\b(?:if i|if we|i mean|i would have|i could have|should have|would have|as i said|i can['’]?t|i cannot|i won['’]?t|will not|you know what i mean|i will say|i would say|let me (?:see|think|tell))\b/iu;

export class Extractive implements InsightEngine {
  readonly name = 'extractive';
  readonly made_by = 'extractive';

  async think(input: InsightInput): Promise<RawInsights> {
    const phrases = keywords(input.turns, { count: LIMITS.insight_topics_max, language: languageOf(input.turns) });
    const sentences = summaryOf(input.turns, phrases);
    const title = phrases.slice(0, TITLE_PHRASES).join(', ').slice(0, LIMITS.conversation_title_chars_max);
    return {
      conversation: { title: title === '' ? null : title, sentences, topics: phrases },
      suggestions: changesOf(input, promisesIn(input)),
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

type NewSuggestion = RawSuggestion & { op: 'new'; kind: SuggestionKind; text: string };

function promisesIn({ turns, people, suggestion_kinds }: InsightInput): NewSuggestion[] {
  const found: NewSuggestion[] = [];
  for (const turn of turns) {
    if (!isEnglish(turn.language ?? languageOf(turns))) continue;
    for (const sentence of sentencesOf(turn.text)) {
      const kind = kindOf(sentence);
      if (kind === null || !suggestion_kinds.includes(kind) || found.length >= LIMITS.suggestions_per_result_max)
        continue;
      if (found.some(({ text }) => isSame(text, sentence))) continue;
      found.push({
        op: 'new',
        kind,
        text: sentence,
        due_at: dueIn(sentence, turn),
        owner: ownerOf(
          sentence,
          turn,
          people.map(({ label }) => label),
        ),
        requester: null,
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

/** A day or a time that the sentence names, from when it was said on, by the clocks of the place where it was said. */
function dueIn(sentence: string, { at_ms, utc_offset_min }: InputTurn): string | null {
  const said = { instant: new Date(at_ms), timezone: utc_offset_min };
  const [found] = CHRONO.parse(sentence, said, { forwardDate: true });
  const due = found?.date();
  if (due === undefined || !Number.isFinite(due.getTime()) || due.getTime() < at_ms) return null;
  return due.toISOString();
}

/** The suggestions that are new, changed or gone. The same turns again change nothing. */
function changesOf({ suggestions }: InsightInput, promises: readonly NewSuggestion[]): RawSuggestion[] {
  const taken = new Set<number>();
  const known = new Map<NewSuggestion, InsightInput['suggestions'][number]>();
  // Another run may cut a sentence off, or hear more of it: that comes after what is said as before.
  for (const is of [isSame, isPart])
    for (const promise of promises) {
      const before = known.has(promise)
        ? undefined
        : suggestions.find(({ ref, text }) => !taken.has(ref) && is(text, promise.text));
      if (before === undefined) continue;
      taken.add(before.ref);
      known.set(promise, before);
    }
  const changes = promises.flatMap((promise): RawSuggestion[] => {
    const before = known.get(promise);
    if (before === undefined) return [promise];
    const { op: _, ...said } = promise;
    const is_equal = before.text === promise.text && before.kind === promise.kind;
    if (is_equal && isSameDue(before, promise) && isSameOwner(before, promise)) return [];
    return [{ op: 'revise', ref: before.ref, ...said }];
  });
  const gone = suggestions.filter(({ ref, status }) => status === 'open' && !taken.has(ref));
  const room = Math.max(0, LIMITS.suggestions_per_result_max - changes.length);
  return [...changes, ...gone.slice(0, room).map(({ ref }): RawSuggestion => ({ op: 'withdraw', ref }))];
}

/** A day is the same whatever its noon is. */
function isSameDue(
  { due_at_ms, due_date }: InsightInput['suggestions'][number],
  promise: Pick<RawSuggestion, 'due_at' | 'due_date'>,
): boolean {
  const at_ms = typeof promise.due_at === 'string' ? Date.parse(promise.due_at) : null;
  const day = at_ms === null ? (promise.due_date ?? null) : null;
  return day === (due_date ?? null) && (day !== null || due_at_ms === at_ms);
}

/** One that is not heard any more stays. */
function isSameOwner({ owner: before = null }: InsightInput['suggestions'][number], { owner }: RawSuggestion): boolean {
  return owner == null || owner === before;
}

function isSame(one: string, other: string): boolean {
  const [own, others] = [stems(one, 'en'), stems(other, 'en')];
  const shared = [...own].filter((stem) => others.has(stem)).length;
  return shared >= Math.max(own.size, others.size) * SAME_SHARED_MIN;
}

/** Nearly all that the shorter one says. */
function isPart(one: string, other: string): boolean {
  const [own, others] = [stems(one, 'en'), stems(other, 'en')];
  const shared = [...own].filter((stem) => others.has(stem)).length;
  const smaller = Math.min(own.size, others.size);
  return smaller >= PART_STEMS_MIN && shared >= smaller * SAME_SHARED_MIN;
}

function isEnglish(language: string | null): boolean {
  return language === null || /^en(-|$)/i.test(language);
}
