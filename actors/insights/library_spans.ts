import { type Interval, shared } from '../../src/domain/intervals.js';
import type { RecordQuery } from '../actor.js';
import type { Writing } from './library_items.js';
import type { ConversationSpan, Span } from './library_state.js';

/** The spans of conversations, by stream: of those made and those still to be made. */

const CONVERSATIONS_PER_STREAM_MAX = 2_000; // ours: of all pipelines

export function spansOf(spans: readonly Pick<Span, 'stream_id'>[]): RecordQuery[] {
  return [...new Set(spans.map(({ stream_id }) => stream_id))].map((id) => ({ collection: 'spans', id }));
}

export function spansOn(writing: Pick<Writing, 'record'>, stream_id: string): ConversationSpan[] {
  return writing.record<ConversationSpan[]>('spans', stream_id) ?? [];
}

export function putSpans(writing: Writing, stream_id: string, spans: ConversationSpan[]): void {
  const kept = [...spans].sort((a, b) => a.start_ms - b.start_ms).slice(-CONVERSATIONS_PER_STREAM_MAX);
  if (kept.length === 0) writing.drop('spans', stream_id);
  else writing.write('spans', stream_id, { value: kept });
}

export function withoutConversation(writing: Writing, number: number, parts: readonly Span[]): void {
  for (const stream_id of new Set(parts.map((part) => part.stream_id))) {
    const before = spansOn(writing, stream_id);
    const kept = before.filter(({ conversation }) => conversation !== number);
    if (kept.length < before.length) putSpans(writing, stream_id, kept);
  }
}

type SpanPart = Pick<Span, 'stream_id' | 'start_ms' | 'end_ms'>;

/** The ms that two spans share; a span without a length counts as one ms. */
export function sharedMs(one: SpanPart, other: SpanPart): number {
  return one.stream_id === other.stream_id ? shared(intervalOf(one), intervalOf(other)) : 0;
}

function intervalOf({ start_ms, end_ms }: SpanPart): Interval {
  return [start_ms, Math.max(end_ms, start_ms + 1)];
}

export function overlap(some: readonly Span[], others: readonly Span[]): boolean {
  return some.some((one) => others.some((other) => sharedMs(one, other) > 0));
}
