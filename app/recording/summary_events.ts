import type { EventType } from '../../kits/typescript/src/api.js';

/** The events after which a summary of a recording may be another. */
export const SUMMARY_EVENTS: readonly EventType[] = [
  'conversation.created',
  'conversation.updated',
  'conversation.deleted',
  'suggestion.created',
  'suggestion.updated',
  'suggestion.deleted',
];
