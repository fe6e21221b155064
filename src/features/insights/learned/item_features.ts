import { FeatureBag } from './feature_bag.js';
import { isSameSpeaker, plainWords, speakersOf, type Talk } from './talk.js';

/**
 * The features of an utterance for the first pass of the item finder: its words and those of its neighbours, pairs of words,
 * letters, classes of words, and what each neighbour does (asks, agrees, refuses, does not know).
 */

/** Words of one class count as that class too, so that a day that no talk has named counts like the others. */
const CLASSES: readonly [RegExp, string][] = [
  [/^(?:mon|tues|wednes|thurs|fri|satur|sun)days?$/, '#day'],
  [/^(?:january|february|march|april|may|june|july|august|september|october|november|december)$/, '#month'],
  [/^(?:tonight|tomorrow|today)$/, '#soon'],
  [/^(?:morning|afternoon|evening|lunch|noon|midnight)$/, '#part'],
  [
    /^(?:\d+(?:st|nd|rd|th|am|pm)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\w+teenth|twentieth|thirtieth)$/,
    '#number',
  ],
];
const YES =
  /^(?:yeah|yes|yep|yup|ok|okay|right|sure|fine|good|great|perfect|done|deal|agreed|will do|lovely|grand|cool|noted|got it|alright|all right|sounds good|go on|thanks|thank you|brilliant|aye|works for me|mhm|cheers|ta)\b/;
const NO = /^(?:no|nope|nah|not|but|wait|actually|hang on|hold on|i don't|i can't|i'm not|you can't|don't|well)\b/;
const UNKNOWN =
  /\b(?:no idea|don't know|dunno|who knows|nobody knows|not sure|no clue|couldn't say|can't say|have to see|we'll see|god knows|your guess)\b/;
const ASKS = /^(?:what|who|when|where|how|why|is|are|do|does|did|can|could|shall|should|will|would|have|has)\b/;
const ANSWERS = /^(?:yes|no|it's|because|i think|about|there's|he's|she's|they|at|on|in|the|a|that's)\b/;
const TAKES_BACK =
  /\b(?:no wait|scrap that|actually no|forget it|never mind|leave it|changed my mind|not any more|instead|hang on)\b/;

const SHORT_ANSWER_CHARS_MAX = 15;
const NEIGHBOURS: readonly [number, number][] = [
  [0, 1],
  [-1, 0.6],
  [1, 0.6],
  [2, 0.3],
  [-2, 0.3],
];
const FAR = [-4, -3, 3, 4];
const FAR_WEIGHT = 0.2;
const SKIP_WEIGHT = 0.5;
const SKIP_MAX = 4;
const LETTERS_WEIGHT = 0.2;
const LETTERS = { min: 3, max: 5 };

/** Reads a talk once and gives the features of any of its utterances. */
export class ItemFeatures {
  readonly #talk: Talk;
  readonly #words: string[][];
  readonly #classes: string[][];
  readonly #texts: string[];
  readonly #acts: string[];
  readonly #speakers: string;

  constructor(talk: Talk) {
    this.#talk = talk;
    const names = new Set(talk.names.flatMap(plainWords).filter((word) => word.length > 2));
    this.#words = talk.utterances.map(({ text }) => plainWords(text));
    this.#texts = this.#words.map((words) => words.join(' '));
    this.#classes = this.#words.map((words) =>
      words.map((word) => (names.has(word) ? '#name' : (CLASSES.find(([form]) => form.test(word))?.[1] ?? word))),
    );
    this.#acts = this.#texts.map((text, at) => actOf(text, talk.utterances[at]?.text ?? ''));
    const speakers = speakersOf(talk);
    this.#speakers = speakers === 0 ? 'unknown' : speakers === 1 ? 'one' : 'several';
  }

  of(at: number): FeatureBag {
    const bag = new FeatureBag();
    const { utterances } = this.#talk;
    for (const [distance, weight] of NEIGHBOURS) this.#addWords(bag, at, distance, weight);
    const own = ['^', ...(this.#words[at] ?? []), '$'];
    for (let first = 0; first < own.length; first++)
      for (let last = first + 2; last < Math.min(own.length, first + SKIP_MAX + 1); last++)
        bag.add(`skip:${own[first]}_${own[last]}`, SKIP_WEIGHT);
    const letters = `^${this.#texts[at]}$`;
    for (let length = LETTERS.min; length <= LETTERS.max; length++)
      for (let from = 0; from + length <= letters.length; from++)
        bag.add(`c:${letters.slice(from, from + length)}`, LETTERS_WEIGHT);
    for (const distance of FAR)
      for (const word of this.#words[at + distance] ?? []) bag.add(`far${Math.sign(distance)}${word}`, FAR_WEIGHT);
    const who = (distance: number) =>
      utterances[at + distance] === undefined ? '-' : 'uos'.charAt(isSameSpeaker(this.#talk, at, at + distance) + 1);
    const act = (distance: number) => this.#acts[at + distance] ?? '-';
    bag.add(`same-1${who(-1)}`);
    bag.add(`same+1${who(1)}`);
    bag.add(`speakers ${this.#speakers}`);
    bag.add(`who${who(-2)}${who(-1)}${who(1)}${who(2)}`);
    bag.add(`place${Math.floor((5 * at) / utterances.length)}`);
    bag.add(`act+${act(0)}${act(1)}${who(1)}`);
    bag.add(`act-${act(-1)}${act(0)}`);
    bag.add(`act3${act(-1)}${act(0)}${act(1)}`);
    bag.add(`act++${act(0)}${act(1)}${act(2)}`);
    const isAhead = (form: RegExp, most: number) =>
      this.#texts.slice(at + 1, at + 1 + most).some((text) => form.test(text));
    if (isAhead(UNKNOWN, 3)) bag.add('unknown soon');
    if (isAhead(TAKES_BACK, 4)) bag.add('taken back soon');
    return bag;
  }

  /** Words, pairs and (of the utterance itself) triples, and the same where they hold a class. */
  #addWords(bag: FeatureBag, at: number, distance: number, weight: number): void {
    const prefix = `${distance}:`;
    const words = this.#words[at + distance];
    if (words === undefined) {
      bag.add(`${prefix}#none`);
      return;
    }
    const most = distance === 0 ? 3 : 2;
    for (const list of [words, this.#classes[at + distance] ?? []]) {
      const all = ['^', ...list, '$'];
      for (let from = 0; from < all.length; from++)
        for (let length = 1; length <= most && from + length <= all.length; length++) {
          const gram = all.slice(from, from + length);
          if (list === words || gram.some((word) => word.startsWith('#'))) bag.add(prefix + gram.join('_'), weight);
        }
    }
    bag.add(`${prefix}${this.#talk.utterances[at + distance]?.text.includes('?') ? '#asks' : '#says'}`);
    bag.add(`${prefix}#length${Math.min(6, Math.floor(Math.log2(words.length + 1)))}`);
  }
}

function actOf(text: string, said: string): string {
  if (text === '') return '-';
  if (UNKNOWN.test(text)) return 'U';
  if (YES.test(text)) return text.length <= SHORT_ANSWER_CHARS_MAX ? 'Y' : 'y';
  if (NO.test(text)) return 'N';
  if (said.includes('?') || ASKS.test(text)) return '?';
  return ANSWERS.test(text) ? 'a' : 'x';
}
