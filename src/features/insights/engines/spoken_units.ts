import type { Talk } from '../learned/talk.js';
import type { InputPerson } from './insight_input.js';
import type { Sentence } from './sentences.js';

/** The sentences of a conversation as the utterances that learned models read. */

export type SpokenUnit = { text: string; speaker: string | null; sentences: readonly Sentence[] };
export type SpokenTalk = Omit<Talk, 'utterances'> & { utterances: readonly SpokenUnit[] };

/** Sentences of one turn are one utterance, up to so many words. */
const WORDS_MAX = 24;

export function spokenTalk(sentences: readonly Sentence[], people: readonly Pick<InputPerson, 'name'>[]): SpokenTalk {
  const utterances: { text: string; speaker: string | null; sentences: Sentence[] }[] = [];
  let words = 0;
  for (const sentence of sentences) {
    const last = utterances.at(-1);
    const own = sentence.text.split(' ').length;
    const turn = last?.sentences.at(-1)?.turns.at(-1);
    if (last !== undefined && turn !== undefined && sentence.turns[0] === turn && words + own <= WORDS_MAX) {
      last.sentences.push(sentence);
      last.text += ` ${sentence.text}`;
      words += own;
    } else {
      utterances.push({ text: sentence.text, speaker: sentence.speaker, sentences: [sentence] });
      words = own;
    }
  }
  return { utterances, names: people.flatMap(({ name }) => name ?? []) };
}
