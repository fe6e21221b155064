import type { InputPerson } from './insight_input.js';
import { plainSentence } from './item_text.js';
import type { Sentence } from './sentences.js';
import { type AnswerForm, answerIn, lowered } from './speech_forms.js';

/** A conversation as sentences that answer each other: who is addressed, and what somebody says next. */

export type DialogueSentence = Sentence & {
  /** In lower case, as it was said. */
  said: string;
  /** Without openers, tags and the name of whoever is addressed; as written. */
  plain: string;
  /** The same in lower case. */
  lower: string;
  /** The place of the first sentence of what one speaker says until another does. */
  utterance: number;
  /** The label of the speaker whose name it calls; null for none. */
  addressed: string | null;
  is_question: boolean;
};

type Named = { label: string; name: string; first: string };

/** Longer sentences are none that somebody promises, asks or decides with. */
const WORDS_MAX = 60;
const CHARS_MAX = 500;
const ASKS =
  /^(?:(?:and|but|so|or|then|okay|well),? )*(?:do|does|did|is|are|was|were|can|could|will|would|shall|should|has|have|what|who|whose|when|where|why|how|which|isn't|aren't|don't|didn't|can't|won't) (?!forget|worry|come)\S+ ?\S*/;
const ASKING_TAIL = /\b(?:is (?:there|it|that)|isn't it|are (?:we|you|they)|do (?:we|you))$/;

export class Dialogue {
  readonly sentences: DialogueSentence[] = [];
  readonly names: readonly string[];
  readonly labels: readonly string[];
  readonly #named: readonly Named[];
  readonly #vocative: RegExp | null;

  constructor(people: readonly InputPerson[]) {
    this.#named = people.flatMap(({ label, name }) => {
      const first = name?.trim().split(/\s+/)[0] ?? '';
      return name === null || first === '' ? [] : [{ label, name, first: first.toLowerCase() }];
    });
    this.names = this.#named.flatMap(({ name }) => name.trim().split(/\s+/));
    this.labels = people.map(({ label }) => label);
    const firsts = this.#named.map(({ first }) => escaped(first)).join('|');
    this.#vocative =
      firsts === ''
        ? null
        : new RegExp(
            `^((?:okay|ok|so|and|but|right|good|now|hey|thanks|well|no|yes|oh|please)[,.]? )*(${firsts})(?:[,.:?!]+ |[.?!]*$| (?=(?:(?:can|could|will|would|shall|do) you|please|you|don't)\\b))|(?:, | )(${firsts})[.?!]*$`,
          );
  }

  add(sentence: Sentence): DialogueSentence {
    const said = lowered(sentence.text);
    const is_short = sentence.text.length <= CHARS_MAX && sentence.text.split(' ', WORDS_MAX + 1).length <= WORDS_MAX;
    const before = this.sentences.at(-1);
    const { addressed, text } = is_short ? this.#called(sentence) : { addressed: null, text: '' };
    const plain = is_short ? plainSentence(text) : '';
    const added = {
      ...sentence,
      said: is_short ? said : '',
      plain,
      lower: lowered(plain),
      utterance: before !== undefined && isSameSpeaker(before, sentence) ? before.utterance : sentence.place,
      addressed,
      is_question: is_short && isQuestion(said, sentence),
    };
    this.sentences.push(added);
    return added;
  }

  /** The speaker whose name it calls, and the rest of it. */
  #called({ text, speaker, is_punctuated }: Sentence): { addressed: string | null; text: string } {
    const lower = text.toLowerCase().replaceAll('’', "'");
    const found = lower.length === text.length ? this.#vocative?.exec(lower) : null;
    if (found === null || found === undefined) return { addressed: null, text };
    const first = found[2] ?? found[3] ?? '';
    const person = this.#named.find((one) => one.first === first);
    if (person === undefined || person.label === speaker) return { addressed: null, text };
    if (found[2] !== undefined) {
      const rest = text.slice(found.index + found[0].length).trim();
      return { addressed: person.label, text: rest === '' ? text : rest };
    }
    // Without a comma, a name at the end may be what the sentence is about.
    const has_comma = found[0].startsWith(',');
    if (
      !has_comma &&
      (is_punctuated ||
        /\b(?:to|for|with|from|by|and|or|ask|tell|call|of|about|is|was|than|it's)$/.test(lower.slice(0, found.index)))
    )
      return { addressed: null, text };
    const rest = text.slice(0, found.index);
    const end = /[.?!]*$/.exec(text)?.[0] ?? '';
    return { addressed: person.label, text: rest + end };
  }

  /** The speakers whose first names a text has. */
  namedIn(lower: string): string[] {
    return this.#named
      .filter(({ first }) => new RegExp(`(?<![\\p{L}])${escaped(first)}(?!\\p{L})`, 'u').test(lower))
      .map(({ label }) => label);
  }

  labelOf(first_name: string): string | null {
    return this.#named.find(({ first }) => first === first_name)?.label ?? null;
  }

  firstNames(): string[] {
    return this.#named.map(({ first }) => first);
  }

  /** The only other person, where two speak. */
  otherThan(speaker: string | null): string | null {
    const others = this.labels.filter((label) => label !== speaker);
    return this.labels.length === 2 && others.length === 1 ? (others[0] ?? null) : null;
  }

  /** The rest of what its speaker says. */
  rest({ place, utterance }: DialogueSentence): DialogueSentence[] {
    const rest: DialogueSentence[] = [];
    for (let at = place + 1; this.sentences[at]?.utterance === utterance; at++)
      rest.push(this.sentences[at] as DialogueSentence);
    return rest;
  }

  /** The sentences that its speaker said just before. */
  earlier({ place, utterance }: DialogueSentence): DialogueSentence[] {
    return this.sentences.slice(utterance, place);
  }

  /** So many sentences before that place, the nearest first. */
  before(place: number, count: number): DialogueSentence[] {
    return this.sentences.slice(Math.max(0, place - count), place).reverse();
  }

  /** The utterances of others that follow, as lists of sentences, at most so many. */
  replies(sentence: DialogueSentence, count: number): DialogueSentence[][] {
    const found: DialogueSentence[][] = [];
    let at = sentence.place + 1;
    while (this.sentences[at]?.utterance === sentence.utterance) at++;
    while (found.length < count && at < this.sentences.length) {
      const first = this.sentences[at] as DialogueSentence;
      const reply = [first, ...this.rest(first)];
      found.push(reply);
      at += reply.length;
    }
    return found;
  }
}

/** Where nobody knows who spoke, another turn may be another speaker's. */
export function isSameSpeaker(one: Sentence, other: Sentence): boolean {
  if (one.speaker !== other.speaker) return false;
  return one.speaker !== null || one.turns.some((turn) => other.turns.includes(turn));
}

/** How an utterance answers: its first sentence that says anything. */
export function answerOf(reply: readonly DialogueSentence[]): AnswerForm {
  for (const { said } of reply.slice(0, 2)) {
    const answer = answerIn(said);
    if (answer !== 'other') return answer;
    if (said.split(' ').length > 2) return 'other';
  }
  return 'other';
}

function isQuestion(said: string, { is_punctuated, text }: Sentence): boolean {
  if (/\?["'”’)]*$/.test(text)) return true;
  return !is_punctuated && (ASKS.test(said) || ASKING_TAIL.test(said));
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
