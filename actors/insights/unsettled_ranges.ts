import { addInterval } from '../../src/domain/intervals.js';
import { LIMITS } from '../../src/domain/limits.js';
import type { Read } from '../actor.js';
import { itemIn } from './item_records.js';
import type { Writing } from './library_items.js';
import { sharedMs } from './library_spans.js';
import type { ConversationSpan, FoundConversation, Span, Suppressed, Unsettled } from './library_state.js';

/** Ranges in which conversations are to be found, and what follows from a search in one. */

const CHANGED_SPANS_MAX = 16; // ours: corrected parts of one recording; beyond it the nearest become one
const SAME_CONVERSATION_MIN = 0.5; // ours: of the shorter one's time, so that it is the same conversation
/**
 * `found`: ended conversations, in their order; `expired`: spans whose turns retention removed; `left`: where a
 * conversation may still go on, to be searched again then.
 */
export type Settled = Pick<Unsettled, 'stream_id' | 'pipeline_id' | 'heard' | 'again'> & {
  found: FoundConversation[];
  expired: SpanPart[];
  left: { from_ms: number; to_ms: number } | null;
  recheck_ms: number | null;
};

type UnsettledRange = Pick<Unsettled, 'stream_id' | 'source_id' | 'pipeline_id' | 'again' | 'from_ms' | 'to_ms'>;

export function unsettledKey({
  stream_id,
  pipeline_id,
  again,
}: Pick<Unsettled, 'stream_id' | 'pipeline_id' | 'again'>): string {
  return [stream_id, ...(pipeline_id === null ? [] : [pipeline_id]), ...(again ? ['again'] : [])].join(':');
}

/** When corrections are taken up: after ten quiet minutes, or an hour after the first, at most once an hour. */
export function quietAt({ facts }: Writing, range: UnsettledRange, touched: ConversationSpan[]): number {
  const before = facts.record<Unsettled>('unsettled', unsettledKey(range));
  const quiet_ms = facts.now_ms + LIMITS.correction_quiet_ms;
  const late_ms = (before?.since_ms ?? facts.now_ms) + LIMITS.insights_again_ms;
  const next_ms = touched.map(({ looked_at_ms }) => looked_at_ms + LIMITS.insights_again_ms);
  return Math.max(Math.min(quiet_ms, late_ms), before?.due_ms ?? 0, ...next_ms);
}

/** Adds a range to be searched; conversations that it touches are searched as a whole. */
export function unsettle(
  writing: Writing,
  { from_ms, to_ms, ...range }: UnsettledRange,
  { touched, due_ms }: { touched: ConversationSpan[]; due_ms: number },
): void {
  const { now_ms } = writing.facts;
  const key = unsettledKey(range);
  const before = writing.record<Unsettled>('unsettled', key);
  const unsettled: Unsettled = {
    ...range,
    from_ms: Math.min(from_ms, before?.from_ms ?? from_ms, ...touched.map(({ start_ms }) => start_ms)),
    to_ms: Math.max(to_ms, before?.to_ms ?? to_ms, ...touched.map(({ end_ms }) => end_ms)),
    heard: (before?.heard ?? 0) + 1,
    changed: addInterval(before?.changed ?? [], [from_ms, Math.max(to_ms, from_ms + 1)], CHANGED_SPANS_MAX),
    since_ms: before?.since_ms ?? now_ms,
    changed_at_ms: now_ms,
    due_ms,
  };
  writing.write('unsettled', key, { value: unsettled, order: due_ms });
  writing.due(due_ms);
}

type Settling = {
  unsettled: Unsettled;
  /** `number`: of the known conversation, or null. `is_same`: its spans did not change. */
  known: { found: FoundConversation; number: number | null; is_same: boolean }[];
  /** Conversations that were not found again. */
  gone: number[];
  /** The part of the range that is still to be searched. */
  left: Settled['left'];
};

/** Null if the range has changed since the worker read it. */
export function settlingOf(input: Settled, read: Pick<Read, 'record'>): Settling | null {
  const unsettled = read.record<Unsettled>('unsettled', unsettledKey(input));
  if (unsettled === undefined || unsettled.heard !== input.heard) return null;
  const { pipeline_id, stream_id } = input;
  const left = leftOf(input, unsettled);
  const all = conversationsOn(streamsIn(input), pipeline_id, read);
  // What was made of turns that are not there any more can't be made better of those that are.
  const kept = new Set(thinned(input, read).filter((number) => itemIn(read, 'conversation', number) !== undefined));
  const lying = new Map([...all].filter(([number]) => !kept.has(number)));
  const isKept = ({ parts }: FoundConversation) =>
    [...kept].some((number) => shareOf(parts, all.get(number) ?? []) >= SAME_CONVERSATION_MIN);
  const taken = new Set<number>();
  const known = input.found.slice(0, LIMITS.found_conversations_max).flatMap((found): Settling['known'] => {
    if (isSuppressed(found, pipeline_id, read) || isKept(found)) return [];
    const [best] = [...lying]
      .filter(([number]) => !taken.has(number))
      .map(([number, parts]) => ({ number, parts, share: shareOf(found.parts, parts) }))
      .filter(({ share }) => share >= SAME_CONVERSATION_MIN)
      .sort((a, b) => b.share - a.share || a.number - b.number);
    if (best === undefined) return [{ found, number: null, is_same: false }];
    taken.add(best.number);
    const is_same = sameParts(best.parts, found.parts);
    return [{ found, number: best.number, is_same }];
  });
  const until_ms = left?.from_ms ?? unsettled.to_ms;
  const gone = [...lying].flatMap(([number, parts]) => {
    const here = parts.filter((part) => part.stream_id === stream_id);
    const was_looked_at = here.some(({ start_ms, end_ms }) => start_ms >= unsettled.from_ms && end_ms <= until_ms);
    return was_looked_at && !taken.has(number) ? [number] : [];
  });
  return { unsettled, known, gone, left };
}

/** The conversations that have lost turns to retention. */
export function thinned(input: Settled, read: Pick<Read, 'record'>): number[] {
  const lying = input.expired.length === 0 ? [] : conversationsOn(streamsIn(input), input.pipeline_id, read);
  return [...lying].flatMap(([number, parts]) =>
    input.expired.some((gone) => parts.some((part) => sharedMs(gone, part) > 0)) ? [number] : [],
  );
}

/** The rest is searched again if it exceeds one commit. */
function leftOf({ found, left, stream_id }: Settled, { to_ms }: Unsettled): Settled['left'] {
  const [next] = found.slice(LIMITS.found_conversations_max);
  if (next === undefined) return left;
  const here = next.parts.filter((part) => part.stream_id === stream_id).map(({ start_ms }) => start_ms);
  return here.length === 0 ? left : { from_ms: Math.min(...here), to_ms };
}

type SpanPart = Pick<Span, 'stream_id' | 'start_ms' | 'end_ms'>;

/** The spans of a pipeline's conversations on these streams, by number. */
function conversationsOn(
  streams: { stream_id: string }[],
  pipeline_id: string | null,
  read: Pick<Read, 'record'>,
): Map<number, SpanPart[]> {
  const parts = new Map<number, SpanPart[]>();
  for (const stream_id of new Set(streams.map((one) => one.stream_id)))
    for (const span of read.record<ConversationSpan[]>('spans', stream_id) ?? []) {
      if (span.pipeline_id !== pipeline_id) continue;
      const { conversation, start_ms, end_ms } = span;
      parts.set(conversation, [...(parts.get(conversation) ?? []), { stream_id, start_ms, end_ms }]);
    }
  return parts;
}

/** The time that both share, as a part of the shorter one, 0 to 1. */
function shareOf(some: readonly SpanPart[], others: readonly SpanPart[]): number {
  const lengthOf = (parts: readonly SpanPart[]) =>
    parts.reduce((sum, { start_ms, end_ms }) => sum + end_ms - start_ms, 0);
  const both = some.flatMap((one) => others.map((other) => sharedMs(one, other))).reduce((sum, ms) => sum + ms, 0);
  return both / Math.max(1, Math.min(lengthOf(some), lengthOf(others)));
}

function sameParts(some: readonly SpanPart[], others: readonly SpanPart[]): boolean {
  const textOf = (parts: readonly SpanPart[]) =>
    parts
      .map(({ stream_id, start_ms, end_ms }) => `${stream_id} ${start_ms} ${end_ms}`)
      .sort()
      .join();
  return textOf(some) === textOf(others);
}

/** Whether a person has deleted this conversation. */
function isSuppressed({ parts }: FoundConversation, pipeline_id: string | null, read: Pick<Read, 'record'>): boolean {
  const deleted = new Map<number, SpanPart[]>();
  for (const stream_id of new Set(parts.map((part) => part.stream_id)))
    for (const one of read.record<Suppressed[]>('suppressed', stream_id) ?? []) {
      if (one.kind !== 'conversation' || one.pipeline_id !== pipeline_id) continue;
      deleted.set(one.number, [...(deleted.get(one.number) ?? []), { stream_id, ...one }]);
    }
  return [...deleted.values()].some((spans) => shareOf(parts, spans) >= SAME_CONVERSATION_MIN);
}

export function streamsIn({ stream_id, found, expired }: Settled): { stream_id: string }[] {
  return [{ stream_id }, ...found.slice(0, LIMITS.found_conversations_max).flatMap(({ parts }) => parts), ...expired];
}
