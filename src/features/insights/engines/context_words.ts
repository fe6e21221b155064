import type { Dialogue, DialogueSentence } from './dialogue.js';
import { matterWords } from './item_text.js';
import { reactionIn } from './speech_forms.js';

/** The sentence before that names the matter of one that says "it" or "that". */

const OPEN_PRONOUN =
  /\b(?:it|that|this|them|those|these|hers|her|him|one|ones|yours|there|so)\b(?=$|[,.;?!]| (?:by|on|at|in|to|for|with|from|this|next|tonight|tomorrow|today|right|now|first|when|before|after|again|myself|up|down|off|out|over|and|ready|done|then|monday|tuesday|wednesday|thursday|friday|saturday|sunday|too|as|if|it|please|so|until)\b)/;
/** With fewer, nobody knows what is meant. */
const MATTER_WORDS_MIN = 2;
const CONTEXT_WORDS_MIN = 2;
const CONTEXT_SENTENCES_MAX = 4;
const CONTEXT_CHARS_MAX = 160;

/** A pronoun of something that the sentence itself does not name before it. */
export function hasOpenPronoun(lower: string): boolean {
  const found = OPEN_PRONOUN.exec(lower);
  return found !== null && !NAMED_THING.test(lower.slice(0, found.index));
}

const NAMED_THING = /\b(?:an?|the|my|your|our|their) (?!same\b|other\b)\p{L}{3,}/u;
const NO_CONTEXT = /\b(?:nobody|no one|don't) forgets?\b|\bi prefer\b|\bi have to\b|\bby the way\b/;

/** Whether somebody who did not hear the rest understands it. */
export function standsAlone({ lower }: Pick<DialogueSentence, 'lower'>): boolean {
  const words = matterWords(lower).length;
  return words >= (hasOpenPronoun(lower) ? MATTER_WORDS_MIN + 2 : MATTER_WORDS_MIN);
}

/** The nearest sentence before that has a matter. */
export function contextOf(dialogue: Dialogue, { place, lower }: DialogueSentence): DialogueSentence | null {
  const own = new Set(matterWords(lower));
  for (let at = place - 1; at >= Math.max(0, place - CONTEXT_SENTENCES_MAX); at--) {
    const before = dialogue.sentences[at] as DialogueSentence;
    if (before.plain === '' || before.plain.length > CONTEXT_CHARS_MAX) continue;
    const words = matterWords(before.lower).filter((word) => !own.has(word));
    const is_same_turn = at === place - 1 && before.utterance === dialogue.sentences[place]?.utterance;
    if (words.length < (is_same_turn ? 1 : CONTEXT_WORDS_MIN) || NO_CONTEXT.test(before.said)) continue;
    if (reactionIn(before.said) === 'agrees' && words.length < CONTEXT_WORDS_MIN + 1) continue;
    return before;
  }
  return null;
}

/** A sentence behind what it speaks of and a colon. */
export function withContext(text: string, context: DialogueSentence | null): string {
  if (context === null) return text;
  const bare = text.trim();
  // A name keeps its capital letter; of the rest nobody knows.
  const lowered = /^(?:I\b|\p{Lu}\p{L}*['’]?s? \p{Lu}|\p{Lu}{2})/u.test(bare) ? bare : loweredFirst(bare);
  return `${context.plain.replace(/[.?!…\s]+$/u, '')}: ${lowered}`;
}

const OPENING_WORDS = new Set(
  `the a an we you he she they it there this that these those my your our his her their its nobody somebody someone everybody everyone no not what who when where why how
   which if in on at by for to from and but so do does did is are was were can could will would shall should has have maybe please some all last next one two three four ask call send write bring close take remove let's let's don't make put tell test check book order print add i'm`.split(
    /\s+/,
  ),
);

function loweredFirst(text: string): string {
  const word = /^[\p{L}'’]+/u.exec(text)?.[0] ?? '';
  const plain = word
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/'\p{L}+$/u, '');
  return OPENING_WORDS.has(plain) ? text.slice(0, 1).toLowerCase() + text.slice(1) : text;
}
