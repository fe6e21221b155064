import type { SuggestionKind } from '../../../../actors/insights/library_state.js';
import { LIMITS } from '../../../domain/limits.js';
import type { DialogueSentence } from './dialogue.js';

/** More say nothing new of when it is due. */
const DUE_SENTENCES_MAX = 12;

/** An item found in a conversation: a task, a follow-up, a reminder, a decision or an open question. */
export type FoundItem = {
  kind: SuggestionKind;
  /** Not yet with a capital letter and a stop. */
  text: string;
  /** Labels of people. */
  owner: string | null;
  requester: string | null;
  /** The sentences that bear it and whose words its text has, in their order. */
  said: DialogueSentence[];
  /** Sentences that may say when it is due, the most telling one first. */
  due_in: DialogueSentence[];
  /** The sentence with which it was found. */
  place: number;
};

/** Adds sentences that bear an item, as many as an item may have. */
export function addSaid(item: FoundItem, sentences: readonly DialogueSentence[]): void {
  for (const sentence of sentences)
    if (item.said.length < LIMITS.evidence_spans_max && !item.said.includes(sentence)) item.said.push(sentence);
}

/** Adds sentences that may say when it is due; `first`: before those that there are. */
export function addDueIn(item: FoundItem, sentences: readonly DialogueSentence[], { first }: { first: boolean }): void {
  const due_in = first ? [...sentences, ...item.due_in] : [...item.due_in, ...sentences];
  item.due_in = due_in.slice(0, DUE_SENTENCES_MAX);
}
