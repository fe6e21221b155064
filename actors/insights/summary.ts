import type { Conversation, SummarySentence } from './library_state.js';

/** The summary of a conversation, which is its sentences. */

/** Null where there is no sentence. */
export function summaryOf(sentences: readonly Pick<SummarySentence, 'text'>[]): string | null {
  return sentences.length === 0 ? null : sentences.map(({ text }) => text).join(' ');
}

/** None where an earlier release wrote the summary. */
export function sentencesOf({
  summary,
  sentences = [],
}: Pick<Conversation, 'summary' | 'sentences'>): SummarySentence[] {
  return summaryOf(sentences) === summary ? sentences : [];
}
