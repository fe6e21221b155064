import { LIMITS } from '../../../domain/limits.js';
import { stemmerOf } from '../../../domain/search/stemmers.js';

/** Spoken sentences as a reader wants them: without what only fills, with a capital letter and one final stop. */

/** Fills a pause, wherever it stands. */
const HESITATION = /(?:^|(?<=[\s,.;…-]))(?:u+m+|u+h+m*|e+r+m*|h+m+|m+h?m+|a+h+)(?:[,.…]+|(?=\s|$))/giu;
/** Opens a sentence and says nothing of its matter. */
const OPENER =
  /^(?:okay|ok|so|and|but|well|oh|ah|ha|anyway|also|plus|because|look|listen|you know|i mean|i think|i guess|i say|by the way|one more thing|one thing|another thing|last thing|honestly|basically|hold on|wait|right(?! now| away| after)|now(?=,)|alright|all right)(?:[,.!;:…—-]+\s*|\s+)/iu;
/** Answers what was said before; opens a sentence where a sign or a new clause follows. */
const ANSWER =
  /^(?:yes please|yes|yeah|yep|no|nope|sure(?: thing)?|great|good(?: idea| point)?|perfect|fine|lovely|nice|wonderful|thanks|thank you|true|agreed|exactly|really|sorry|of course|fair (?:point|enough)|no problem|then|actually)(?:[,.!;:…—-]+\s*|\s+(?=(?:i|i'll|i'd|i'm|i've|we|we'll|let's|you|you'll|he|she|they|can|could|don't|remember|please|that's|it's|there's|so|and|but|somebody|someone|who|what|when|where|how)\b))/iu;
const THEN = /^then\s+(?!the \S+ one\b)(?=\S+\s+\S+\s+\S+)/iu;
/** Asks for assent after a sentence. */
const TAG =
  /(?:[,;]?\s+(?:okay|ok|right|alright|all right|isn't it|aren't we|don't you think|you know|by the way|if that's okay|if that's all right|if you like|would you)\s*\?|[,;]\s+(?:okay|ok|right|you know|by the way|anyway|then|though))\s*[.?!]*$/iu;
const BARE_TAG = /\s+(?:by the way|okay|you know)$/iu;
const AN_ASIDE = /,?\s*\b(?:you know|i mean|hold on|let me see|kind of|sort of)\b,\s*/giu;
/** The same word again, as people say it who look for the next one. */
const REPEATED =
  /\b((?:the|an?|i|it|we|you|he|she|they|and|but|to|in|of|on|so|is|was|my|your|if|or|for|with|what|when|i'm|it's|we're|that's|there's|we'll|i'll))(?:,?\s+\1\b)+(?!['’])/giu;
const WEEKDAYS_AND_MONTHS =
  /\b(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|april|june|july|august|september|october|november|december)\b/giu;
const STEMMER = stemmerOf('en');
/** Words that name no matter. */
const LIGHT = new Set(
  `a an the and or but so if then than that this these those there here it its is are was were be been am do does did done have has had i me my mine we us our you your
  yours he him his she her hers they them their who what which when where why how to of in on at by for from with into about up off out as not no yes will would can could
  shall should may might must let's lets i'll i'd i'm i've we'll we'd we're you'll he's she's it's that's there's they'll don't doesn't going go get got take make give have put do
  just also still really very too again please okay ok now one ones thing things something someone somebody everything all some any right well good sure need needs want
  today tomorrow tonight morning afternoon evening week day first say said know think see leave ready yeah yep yup aye sure agreed deal idea fine great perfect lovely grand done sounds works
  thanks thank cheers alright course indeed exactly noted settled carried um uh`.split(/\s+/),
);

/** Words by which somebody knows what a sentence is about. */
export function matterWords(text: string): string[] {
  const plain = text.toLowerCase().replaceAll('’', "'");
  return (plain.match(/[\p{L}\p{N}]+(?:'[\p{L}]+)?/gu) ?? []).filter((word) => !LIGHT.has(word));
}

/** Stems of those words. */
export function matterStems(text: string): Set<string> {
  return new Set(matterWords(text).map((word) => STEMMER.stem(word.replace(/'s$/, ''))));
}

/** A sentence without its openers, hesitations and tags, not yet with a capital letter and a stop. */
export function plainSentence(said: string): string {
  let text = said
    .replace(HESITATION, ' ')
    .replace(AN_ASIDE, (aside, at: number) => (at === 0 ? '' : aside.startsWith(',') ? ', ' : ' '))
    .replace(REPEATED, '$1')
    .replace(/\s+/g, ' ')
    .replace(/\s+([,.;?!])/g, '$1')
    .replace(/^[\s,.;:—-]+/u, '');
  for (let before = ''; before !== text; ) {
    before = text;
    for (const opener of [OPENER, ANSWER, THEN]) {
      const rest = text.replace(opener, '');
      if (/[\p{L}\p{N}]{2}/u.test(rest)) text = rest;
    }
  }
  for (const tag of [TAG, BARE_TAG]) {
    const rest = text.replace(tag, '');
    if (rest.split(' ').length > 1) text = rest;
  }
  return text
    .replace(/[\s,.;:…—-]+$/u, '')
    .replace(/,? (?:and|but|so|or|because)$/iu, '')
    .trim();
}

/** With a capital letter and one final stop; `names` of people are capitalized where the engine wrote none. */
export function shownSentence(plain: string, names: readonly string[]): string {
  const is_small = !/\p{Lu}/u.test(plain.replace(/\bI\b/gu, ''));
  let text = plain.replace(/\bi(?=\b(?!\.)|['’])/gu, 'I');
  if (is_small) {
    text = text.replace(WEEKDAYS_AND_MONTHS, capitalized);
    for (const name of names) {
      const form = new RegExp(`(?<![\\p{L}\\p{N}])${escaped(name.toLowerCase())}(?![\\p{L}\\p{N}])`, 'gu');
      text = text.replace(form, name);
    }
  }
  const bare = text.replace(/[\s,;:—-]+$/u, '').replace(/[.?!…]*([?!])[.?!…]*$|[.…]+$/u, '$1');
  const ended = /[?!]$/.test(bare) ? bare : `${bare}.`;
  return capitalized(ended).slice(0, LIMITS.insight_text_chars_max);
}

export function capitalized(text: string): string {
  const [first = ''] = text;
  return first.toUpperCase() + text.slice(first.length);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
