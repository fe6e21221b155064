import { type Chances, chancesAt } from '../learned/item_finder.js';
import { isMemo, memoItems } from '../learned/memo_finder.js';
import { speakersOf } from '../learned/talk.js';
import type { TalkModel } from '../learned/talk_model.js';
import { type SpokenWord, spokenWords, type WordKind } from '../learned/word_kinds.js';
import { capitalized, matterStems, plainSentence } from './item_text.js';
import type { Sentence } from './sentences.js';
import type { SpokenTalk } from './spoken_units.js';

/** Notes of one person: the sentences that are to be done or kept in mind, and a title that is the note itself. */

/** A text of one speaker, or of which nobody knows who spoke, is a memo up to so many sentences. */
const SENTENCES_MAX = 60;
/** Its first note, or else its first sentence, is the title of a memo of so many sentences, or where so many of all are notes. */
const TITLE_SENTENCES_MAX = 3;
const NOTED_MIN = 0.5;
const TITLE_WORDS = { min: 2, max: 5 };

/** `at`: the utterance. */
export type Note = { at: number; kind: 'task' | 'reminder'; own: Sentence };

/** Null for what is no memo. */
export function notesOf(
  { talk, sentences, chances }: { talk: SpokenTalk; sentences: readonly Sentence[]; chances: Chances },
  model: TalkModel,
): Note[] | null {
  const texts = sentences.map(({ text }) => text);
  if (texts.length > SENTENCES_MAX || speakersOf(talk) > 1 || !isMemo(model.memos, texts)) return null;
  const memo = talk.utterances.flatMap(({ sentences: said }, at) =>
    said.map((own) => ({ own, at, text: own.text, chances: chancesAt(chances, at) })),
  );
  const notes = memoItems(model.memos, memo).map(({ at: place, kind }): Note => {
    const { own, at } = memo[place] as (typeof memo)[number];
    return { kind, at, own };
  });
  return notes.filter(
    ({ own }, at) =>
      !LIST.test(plainSentence(own.text)) && !(PRONOUN.test(own.text) && notes[at - 1]?.own.place === own.place - 1),
  );
}

/** Begins a sentence that says more of the note before it: "It runs out on Monday." */
const PRONOUN = /^(?:it|it['’]s|they|they['’]re|that|that['’]s|he|he['’]s|she|she['’]s)\b/i;

/** Words before what is noted, which a title leaves out. */
const OUGHT =
  /^(?:(?:i|we|i've|we've|i'd|we'd|i'll|we'll|i'm|we're) )?(?:(?:really|just|also|still|do) )*(?:need to|have to|have got to|got to|gotta|must|should|ought to|better|had better|remember to|don't forget to|don't forget|remind me to|make sure to|keep meaning to|been meaning to|supposed to|want to|going to|gonna|note to self,?|to do[,:]?) /i;
/** Words of these kinds begin another phrase, and so do these words. */
const OPENS: readonly WordKind[] = ['to', 'is', 'did', 'ask', 'i', 'we', 'you', 'they', 'day'];
const JOINS = /^(?:and|but|or|because|if|that|which|then|unless)$/;
/** With words of these kinds no title ends, and with none of these words. */
const DANGLES: readonly WordKind[] = ['the', 'my', 'to', 'is', 'ask', 'number', 'i', 'we'];
const DANGLING = /^(?:and|but|or|like|than|as|ever|very|so|really|quite)$/;

/** A heading ("Science project ideas."), or what is noted up to where a phrase ends. Null where neither is short enough. */
export function noteTitle(notes: readonly Note[], sentences: readonly Sentence[]): string | null {
  const [first] = sentences;
  if (first === undefined) return null;
  const is_noted = notes.some(({ own }) => own === first);
  const heading = plainSentence(first.text);
  if (sentences.length > 1 && !is_noted && isHeading(heading)) return capitalized(heading);
  if (sentences.length > TITLE_SENTENCES_MAX && notes.length < sentences.length * NOTED_MIN) return null;
  const own = notes[0]?.own ?? first;
  const text = plainSentence(own.text).replace(OUGHT, '');
  const title = shortened(text);
  return title === null || matterStems(title).size === 0 ? null : capitalized(title);
}

const LIST = /^(?:things )?to do(?: list)?$/i;
const NAMES: readonly WordKind[] = ['other', 'plural', 'name', 'doing', 'number', 'the'];

function isHeading(text: string): boolean {
  const words = spokenWords(text);
  const { min, max } = TITLE_WORDS;
  return (
    LIST.test(text) || (words.length >= min && words.length <= max && words.every(({ kind }) => NAMES.includes(kind)))
  );
}

/** Whether a new phrase begins here. "Get the car serviced" goes on. */
function opens([next, after]: readonly (SpokenWord | undefined)[], first: SpokenWord | undefined): boolean {
  if (/^(?:this|next)$/.test(next?.word ?? '') && after?.kind === 'day') return true;
  if (next === undefined || next.word === 'of' || (next.kind === 'did' && first?.kind === 'act')) return false;
  return OPENS.includes(next.kind) || JOINS.test(next.word);
}

/** The most words from the beginning after which a phrase ends. */
function shortened(text: string): string | null {
  const said = text.split(' ');
  const kinds = said.map((word) => spokenWords(`x ${word}`)[1]);
  for (let count = Math.min(TITLE_WORDS.max, said.length); count >= TITLE_WORDS.min; count--) {
    const last = kinds[count - 1];
    const ends = count === said.length || /[,;:]$/.test(said[count - 1] ?? '') || opens(kinds.slice(count), kinds[0]);
    if (!ends || (count < said.length && (DANGLES.includes(last?.kind ?? 'other') || DANGLING.test(last?.word ?? ''))))
      continue;
    return said
      .slice(0, count)
      .join(' ')
      .replace(/[,;:.?!]+$/, '');
  }
  return null;
}
