import type { ItemKind } from '../learned/item_finder.js';
import { spokenWords, type WordKind } from '../learned/word_kinds.js';
import { matterStems, plainSentence, shownSentence } from './item_text.js';
import type { Sentence } from './sentences.js';

/**
 * The words of an item, so that somebody who did not hear the rest understands them: a request becomes what is to be done,
 * and where a sentence alone names too little, what was said before it comes first.
 */

const REQUEST =
  /^(?:(?:and|so|then|but|please|maybe|also),? )*(?:(?:can|could|will|would) (?:you|somebody|someone|one of you)(?: all)?|would you mind|i (?:need|want|would like|'d like) you to|you (?:need|have|want) to|make sure you|you'd better|you could|if you could|do you want to|are you able to|might you|(?:should|shall) i|do you want me to)(?: please| just| maybe| also| then)*,? (?=\p{L})/iu;
const PLEASE = /^please,? |,? please(?=[.?!]*$)/giu;
const REQUEST_WORDS_MIN = 2;
const OPEN_PRONOUN = /\b(?:it|that|this|them|those|these|him|her|hers|one|ones|there|they|both|so|do|mine)\b/i;
const ASKS =
  /^(?:what|who|whose|when|where|how|why|which|is|are|do|does|did|can|could|shall|should|will|would|have|has|was|were|am)\b/i;
const WHO = /^(?:who|somebody|someone|which of)\b/i;
/** A sentence with a pronoun and fewer words of matter is not understood alone. */
const MATTER_MIN = 3;
const CONTEXT_CHARS_MAX = 120;

type ItemSentences = { kind: ItemKind; own: Sentence; said: Sentence; context: Sentence | null };

/** Without a capital letter and a stop. `parts`: the sentences that it is made of. `names`: of people, whom a request may call. */
export function itemWords(
  { kind, own, said, context }: ItemSentences,
  names: readonly string[],
): { plain: string; parts: Sentence[] } {
  const main = wordsOf(said.text, kind, names);
  if (own.place !== said.place) {
    const more = uncalled(plainSentence(own.text), names);
    const asks = ASKS.test(main) || said.text.trimEnd().endsWith('?');
    const is_answered = (kind === 'decision' && (asks || / or /.test(main))) || (kind === 'task' && WHO.test(main));
    const is_told = (kind === 'task' || kind === 'decision') && adds(more, main);
    return { plain: (is_answered && says(more)) || is_told ? joined(main, more) : main, parts: [said, own] };
  }
  const before = context === null ? '' : uncalled(plainSentence(context.text), names);
  const needs_more = OPEN_PRONOUN.test(main) && matterStems(main).size < MATTER_MIN;
  if (context === null || !needs_more || before.length > CONTEXT_CHARS_MAX || !adds(before, main))
    return { plain: main, parts: [own] };
  return { plain: joined(before, main), parts: [context, own] };
}

/** "The lake or the hills? The hills." "Somebody has to clear the attic: I'll do that." */
function joined(first: string, second: string): string {
  if (second === '') return first;
  return first.endsWith('?') ? `${first} ${shownSentence(second, [])}` : `${first}: ${uncapitalized(second)}`;
}

const CAPITALS: readonly WordKind[] = ['i', 'name', 'other', 'plural', 'day'];

function uncapitalized(text: string): string {
  const [first] = spokenWords(text);
  if (first === undefined || CAPITALS.includes(first.kind)) return text;
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** Whether a text says more than yes. */
function says(text: string): boolean {
  return matterStems(text).size > 0 || OPEN_PRONOUN.test(text);
}

function adds(text: string, known: string): boolean {
  const stems = matterStems(known);
  return [...matterStems(text)].some((stem) => !stems.has(stem));
}

function wordsOf(text: string, kind: ItemKind, names: readonly string[]): string {
  const plain = uncalled(plainSentence(text), names);
  if (kind === 'question' && ASKS.test(plain) && !/[.?!]$/.test(text.trim())) return `${plain}?`;
  if (kind !== 'task') return plain;
  const asked = plain.replace(PLEASE, '').replace(REQUEST, '');
  return asked.split(' ').length < REQUEST_WORDS_MIN ? plain : asked.replace(/\?+$/u, '');
}

/** Without the name at its beginning of somebody who is called. */
function uncalled(text: string, names: readonly string[]): string {
  for (const name of names) {
    if (name.length < 2 || !text.toLowerCase().startsWith(name.toLowerCase())) continue;
    const rest = /^(?:,\s*|\s+(?=(?:can|could|will|would|please|you)\b))/i.exec(text.slice(name.length));
    if (rest !== null) return text.slice(name.length + rest[0].length);
  }
  return text;
}
