import type { SuggestionKind } from '../../../../actors/insights/library_state.js';
import type { DialogueSentence } from './dialogue.js';

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
