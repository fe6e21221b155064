import type { InputPerson } from './insight_input.js';

/**
 * Who is to do a task: whoever says it last, unless the words hand it to somebody ("Ben, can you …", "she'll have it by
 * Friday") or only agree to what somebody offered.
 */

/** A sentence of a task, and the label of who says it. */
export type TaskSentence = { text: string; speaker: string | null };

export const OFFERS =
  /\b(?:i'll|(?:should|shall) i|i will|i'm (?:going to|gonna|on)|i can|i could|i've got|let me|leave (?:it|that) (?:with|to) me|on it|mine|i do|i'd better|i have to|i need to|i must|i should)\b/;
const AGREES_ONLY =
  /^(?:(?:yes|yeah|good|great|perfect|done|carried|fine|lovely|ok|okay|right|thanks|thank you|brilliant|please|do|agreed|deal|that'd be|that would be|if you would|if you could|cheers|ta|ma'am|sir|then|it is|sounds|settled|sorted)\W*)+$/;
const ANOTHER =
  /^(?:(?:and|so|but|then|well|okay|ok|right|no|yes|oh),? )*(?:he|she)(?:'ll|'s|'d| will| is| said| has| can| does)\b/;
const ASKS_YOU =
  /^(?:(?:and|so|but|then|well|okay|ok|right|no|yes|oh|please),? )*(?:can|could|will|would) you\b|\byou(?:'ll| will| just| can| please|'d better| get| bring| take| send| call| drop| keep)\b/;
const HANDS_OVER = /^(?:,| (?:can|could|will|would|you|please|i want|i need|when|that's|get|do)\b)/;
const WILL =
  /^(?:'ll| will| can|'s (?:going|doing|getting|redoing|bringing|on)| is (?:going|doing|getting)|'s got| said|'s to| does| goes| \p{L}{2,}[^s\P{L}]s)\b/u;
const CLAUSE_BEGINS = /(?:^|[,;:.] ?|\b(?:and|so|then|but|that|okay|right|no|yes|well|let|maybe|our|your) )$/;

/** A name further on in a sentence calls nobody. */
const CALL_CHARS_MAX = 24;

/** `own`: the sentence with which it became a task; `said`: the one that says what is to be done, which may be the same. */
export function taskOwner(own: TaskSentence, said: TaskSentence, people: readonly InputPerson[]): string | null {
  for (const { text, speaker } of own === said ? [own] : [own, said]) {
    const lower = plain(text);
    const called = people.find(({ label, name }) => label !== speaker && name !== null && isHanded(lower, plain(name)));
    if (called !== undefined) return called.label;
  }
  const lower = plain(own.text);
  if (OFFERS.test(lower)) return own.speaker;
  if (ANOTHER.test(lower) || isOfAbsent(own.text, people)) return null;
  const is_other = said.speaker !== own.speaker;
  if (is_other && AGREES_ONLY.test(lower) && OFFERS.test(plain(said.text))) return said.speaker;
  // Of two people, whoever is asked.
  const [first, second, third] = people;
  if (first !== undefined && second !== undefined && third === undefined && ASKS_YOU.test(lower))
    return own.speaker === first.label ? second.label : first.label;
  return own.speaker;
}

function plain(text: string): string {
  return text.toLowerCase().replaceAll('’', "'");
}

/** Whether a sentence calls somebody, or says that somebody will do it. */
function isHanded(lower: string, name: string): boolean {
  const [first = ''] = name.split(' ');
  for (const form of new Set([name, first])) {
    if (form.length < 2) continue;
    const at = wordAt(lower, form);
    if (at < 0) continue;
    const [before, rest] = [lower.slice(0, at), lower.slice(at + form.length)];
    if (CLAUSE_BEGINS.test(before) && WILL.test(rest)) return true;
    if (before.length < CALL_CHARS_MAX && HANDS_OVER.test(rest) && !OFFERS.test(rest)) return true;
  }
  return false;
}

function wordAt(text: string, word: string): number {
  const at = text.indexOf(word);
  if (at < 0) return -1;
  const [before = ' ', after = ' '] = [text[at - 1], text[at + word.length]];
  return /[\p{L}\p{N}]/u.test(before) || /[\p{L}\p{N}]/u.test(after) ? -1 : at;
}

/** "Luis said he'd have them trimmed": a name at the beginning that nobody who speaks has. */
function isOfAbsent(text: string, people: readonly InputPerson[]): boolean {
  const [, name, rest = ''] =
    /^(?:(?:And|So|But|Then|Well|Okay|Right),? )*(?:\p{L}+ )?(\p{Lu}\p{Ll}+)((?:'s|'ll|’s|’ll| will| said| is| has| orders?| writes?)\b)/u.exec(
      text,
    ) ?? [];
  if (name === undefined || rest === '' || NOT_NAMES.has(name.toLowerCase())) return false;
  return !people.some((person) =>
    plain(person.name ?? '')
      .split(' ')
      .includes(name.toLowerCase()),
  );
}

const NOT_NAMES = new Set(
  `that it there what who where how he she they this here let everybody somebody nobody someone everyone i we you monday tuesday wednesday thursday friday saturday sunday`.split(
    /\s+/,
  ),
);
