import { FeatureBag, hashedRow, sigmoid } from './feature_bag.js';
import { answersOf, type HashedModel } from './hashed_model.js';
import { ITEM_KINDS, type ItemKind } from './item_finder.js';
import { type SpokenWord, spokenWords, type WordKind } from './word_kinds.js';

/**
 * Finds the sentences of a memo with which somebody notes what is to be done or kept in mind: "Call the dentist.", "Physio on
 * Tuesday." The finder of items learned from conversations, where hardly anybody speaks so; what it says of a sentence is one
 * of the features here.
 */

export type MemoModel = {
  /** Two answers: whether a sentence is an item, and if it is one, whether a reminder. */
  items: HashedModel;
  /** From this probability on a sentence is an item. */
  bound: number;
  /** One answer: whether a text is a memo, and not a piece of a conversation of which nobody told the speakers apart. */
  memo: HashedModel;
};

/** A sentence, and what the finder of items says of its utterance. */
export type MemoSentence = { text: string; chances: Readonly<Record<ItemKind, number>> };
export type MemoItem = { at: number; kind: 'task' | 'reminder' };

/** Stands before a note and is no part of it. */
const LEAD =
  /^(?:(?:and|then|so|okay|ok|also|plus|oh|right|first|firstly|second|secondly|third|next|finally|lastly|please|just|maybe|um|uh|yeah|hey|hmm|well|now|yes|no|but|to-?do|note to self|reminder|memo|task|action|(?:number )?(?:one|two|three|four|five|six|seven|eight|nine|ten|\d+)(?=[,.:]| is)|another thing|one more thing|after that|before i forget)(?:[,.:;]+ ?| is | ))+/i;
const OUGHT =
  /\b(?:needs? to|have to|has to|got to|gotta|must|should|ought to|better|supposed to|meaning to|want to|wants? \w+ing|needs? \w+ing|let's|remember|forget|don't let|make sure|remind)\b/;
const APPOINTMENT =
  /\b(?:due|booked|expires?|deadline|appointment|starts?|opens?|closes?|closed|meeting|birthday|moved to|at \d|o'clock|half past|quarter)\b/;
const KITCHEN = /\b(?:oven|pan|butter|flour|simmer|tablespoons?|teaspoons?|dough|onions?|garlic|grams|minutes)\b/;
const LETTER = /\b(?:dear|sincerely|regards)\b/;
const LENGTHS = [2, 3, 4, 6, 9, 13, 18];
const LOG_ODDS_MAX = 6;
const WORD_WEIGHT = 0.4;
const PAIR_WEIGHT = 0.3;
/** Most recordings of a few sentences are memos: log odds from which on a text is one. */
const MEMO_MIN = -1;
/** Euclidean length of the row of a text as a whole. */
export const MANNER_LENGTH = 3;
/** First words in the form of a request. */
const VERBS: readonly WordKind[] = ['act', 'moment', 'kitchen'];

type ReadSentence = MemoSentence & { lower: string; has_lead: boolean; words: SpokenWord[]; verb: WordKind };

/** The items of a memo, in its order. */
export function memoItems({ items, bound }: Omit<MemoModel, 'memo'>, memo: readonly MemoSentence[]): MemoItem[] {
  const features = new MemoFeatures(memo);
  return memo.flatMap((_, at): MemoItem[] => {
    const [item = 0, reminder = 0] = answersOf(items, hashedRow(features.of(at), items.bits, null));
    if (sigmoid(item) < bound) return [];
    return [{ at, kind: reminder > 0 ? 'reminder' : 'task' }];
  });
}

/** Whether somebody notes this alone. */
export function isMemo({ memo }: MemoModel, sentences: readonly string[]): boolean {
  return (answersOf(memo, hashedRow(mannerOf(sentences), memo.bits, MANNER_LENGTH))[0] ?? 0) > MEMO_MIN;
}

/** The features of a text as a whole. */
export function mannerOf(sentences: readonly string[]): FeatureBag {
  const bag = new FeatureBag();
  for (const text of sentences) {
    const words = spokenWords(text);
    const kinds = words.map(({ kind }) => kind);
    for (const count of [1, 2]) bag.add(`begins ${kinds.slice(0, count).join(' ')}`);
    bag.add(`word ${words[0]?.word}`);
    for (const kind of ['i', 'we', 'you', 'they'] as const) if (kinds.includes(kind)) bag.add(`has ${kind}`);
    bag.add(text.endsWith('?') ? 'asks' : 'says');
    bag.addSteps('length', words.length, LENGTHS, WORD_WEIGHT);
    for (const [at, { word }] of words.entries()) {
      bag.add(`in ${word}`, WORD_WEIGHT);
      bag.add(`words ${word} ${words[at + 1]?.word}`, PAIR_WEIGHT);
    }
  }
  return bag;
}

/** Reads a memo once and gives the features of any of its sentences. */
export class MemoFeatures {
  readonly #memo: readonly ReadSentence[];
  /** Features of the memo as a whole, for each of its sentences. */
  readonly #whole = new FeatureBag();

  constructor(memo: readonly MemoSentence[]) {
    this.#memo = memo.map((sentence) => {
      const lower = sentence.text.toLowerCase().replaceAll('’', "'");
      const lead = LEAD.exec(lower)?.[0].length ?? 0;
      const words = spokenWords(sentence.text.slice(lead));
      const kind = words[0]?.kind ?? '';
      return { ...sentence, lower, has_lead: lead > 0, words, verb: VERBS.includes(kind) ? kind : '' };
    });
    const all = this.#memo.map(({ lower }) => lower).join(' ');
    this.#whole.add(`memo ${memo.length === 1 ? 'one' : memo.length <= 4 ? 'few' : 'many'}`);
    if (LETTER.test(all)) this.#whole.add('letter');
    if (KITCHEN.test(all)) this.#whole.add('recipe');
    this.#whole.add(
      'you',
      this.#share(({ words }) => words.some(({ kind }) => kind === 'you')),
    );
    this.#whole.add(
      'did',
      this.#share(({ words }) => words.some(({ kind }) => kind === 'did')),
    );
    if (memo.length > 1)
      for (const kind of VERBS)
        this.#whole.add(
          `all ${kind}`,
          this.#share(({ verb }) => verb === kind),
        );
  }

  of(at: number): FeatureBag {
    const bag = new FeatureBag();
    const { text, lower, has_lead, words, verb, chances } = this.#memo[at] as ReadSentence;
    for (const kind of ITEM_KINDS) bag.add(`chance ${kind}`, logOdds(chances[kind]));
    const kinds = words.map(({ kind }) => kind);
    for (const count of [1, 2, 3, 4]) bag.add(`begins ${kinds.slice(0, count).join(' ')}`, count === 4 ? 0.5 : 1);
    bag.add(`second ${kinds[1] ?? ''}`);
    bag.add(`word ${words[0]?.word}`);
    bag.add(`begin ${words[0]?.word} ${words[1]?.word}`);
    if (has_lead) bag.add('lead');
    const ought = OUGHT.exec(lower)?.[0].replace(/^(?:wants?|needs?) \w+ing$/, 'needs doing');
    if (ought !== undefined) for (const name of ['', ` ${ought}`, `: ${kinds[0]}`]) bag.add(`ought${name}`);
    const later = kinds.slice(verb === '' ? 0 : 1);
    const form = later.includes('is') || later.includes('did') ? 'says' : verb !== '' ? verb : 'names';
    const when = `${kinds.includes('day') ? 'day' : ''}${kinds.includes('number') ? 'number' : ''}`;
    for (const name of [form, when, `${form} ${when}`, `${form} ${when}${text.includes(',') ? ',' : ''}`])
      bag.add(`is ${name}`);
    for (const [name, clause] of clausesOf(lower)) {
      bag.add(`then ${clause}`);
      bag.add(`${name} then ${clause}`);
    }
    if (later.includes('did')) bag.add('past');
    if (form === 'names' && !kinds.includes('act')) bag.add('no verb');
    if (APPOINTMENT.test(lower)) bag.add('appointment');
    if (lower.endsWith('?')) bag.add('asks');
    for (const kind of ['i', 'we', 'you', 'they', 'my', 'ask'] as const)
      if (kinds.includes(kind)) bag.add(`has ${kind}`);
    bag.addSteps('length', words.length, LENGTHS);
    for (const word of new Set(words.map((one) => one.word))) bag.add(`in ${word}`, WORD_WEIGHT);
    for (const [at, { word, kind }] of words.entries()) {
      const next = words[at + 1];
      bag.add(`words ${word} ${next?.word}`, PAIR_WEIGHT);
      bag.add(`kinds ${kind} ${next?.kind ?? ''}`, PAIR_WEIGHT);
    }
    const [before, after] = [this.#memo[at - 1]?.verb ?? '^', this.#memo[at + 1]?.verb ?? '$'];
    bag.add(`before ${before}`);
    bag.add(`after ${after}`);
    for (const [name, value] of this.#whole.values) {
      bag.add(name, value);
      if (verb !== '') bag.add(`${verb} in ${name}`, value);
    }
    if (verb !== '') for (const near of [`before ${before}`, `after ${after}`]) bag.add(`${verb} ${near}`);
    return bag;
  }

  #share(is: (sentence: ReadSentence) => boolean): number {
    return this.#memo.filter(is).length / this.#memo.length;
  }
}

/** The first words of clauses after the first one that begin in the form of a request. */
function clausesOf(lower: string): [joint: string, form: string][] {
  return [...lower.matchAll(/(,|\b(?:so|and|but|then))(?: (?:so|and|but|then|please|also))* (\S+ \S+)/g)].flatMap(
    ([, joint = '', begins = '']) => {
      const [first, next] = spokenWords(begins);
      const verb = first?.kind ?? '';
      return VERBS.includes(verb) && next !== undefined ? [[joint, `${verb} ${next.kind}`]] : [];
    },
  );
}

function logOdds(chance: number): number {
  const odds = Math.log(chance / (1 - chance));
  return Math.max(-LOG_ODDS_MAX, Math.min(LOG_ODDS_MAX, odds)) / (LOG_ODDS_MAX / 2);
}
