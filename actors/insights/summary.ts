import type { Conversation, SummarySentence } from './library_state.js';

/** The summary of a conversation: the texts of its sentences. */

/** Null without sentences. */
export function summaryOf(sentences: readonly Pick<SummarySentence, 'text'>[]): string | null {
  return sentences.length === 0 ? null : sentences.map(({ text }) => text).join(' ');
}

/**
 * A conversation as shown for one of its recordings, without sentences of others. A title that a person gave is shown
 * for all.
 */
export function onRecording(item: Conversation, stream_id: string): Conversation {
  if (item.parts.every((part) => part.stream_id === stream_id)) return item;
  const own = item.by_recording?.find((one) => one.stream_id === stream_id);
  const said = sentencesOn(item, stream_id);
  const sentences = said.length > 0 ? said : (own?.sentences ?? []);
  const title = item.protected_fields.includes('title') ? item.title : (own?.title ?? null);
  return { ...item, title, summary: summaryOf(sentences), sentences, topics: own?.topics ?? [] };
}

/** The sentences of a summary that rest on one recording alone. */
export function sentencesOn({ sentences }: Pick<Conversation, 'sentences'>, stream_id: string): SummarySentence[] {
  return sentences.filter(({ evidence }) => evidence.every((span) => span.stream_id === stream_id));
}
