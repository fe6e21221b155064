import type { Suggestion } from '../../kits/typescript/src/api.js';
import { type PlainText, sayChoices } from '../language/say.js';

/** The kinds of suggestions, in words. */
export const KINDS: Record<Suggestion['kind'], PlainText> = {
  task: 'Task',
  follow_up: 'Follow-up',
  reminder: 'Reminder',
  question: 'Question',
  decision: 'Decision',
};

export function kindOptions(): (readonly [string, string])[] {
  return sayChoices(Object.entries(KINDS));
}
