import type { FoundConversation, Span } from '../../../../actors/insights/library_state.js';
import type { Interval } from '../../../domain/intervals.js';
import { LIMITS } from '../../../domain/limits.js';

/**
 * Where conversations begin and end: after five minutes without a turn, at the end of a recording, and at two hours, cut
 * at the widest gap. docs/choices.md, "Insights".
 */

const { conversation_gap_ms: GAP_MS, conversation_ms_max: LONGEST_MS } = LIMITS;

export type SpokenTurn = { start_ms: number; end_ms: number; words: number };

/** The text of a recording. Times are ms of its timeline. */
export type TranscribedStream = {
  stream_id: string;
  source_id: string;
  captured_at_ms: number;
  turns: readonly SpokenTurn[];
  /** Audio that is still to be transcribed. */
  waiting: readonly Interval[];
  /** The time up to which recordings are known; infinite if nothing more is expected. */
  came_to_ms: number;
};

/** The query: conversations on this part of one of the recordings. */
export type BoundaryQuery = {
  /** Recordings of one source and session, by their start. */
  streams: readonly TranscribedStream[];
  session_id: string | null;
  stream_id: string;
  from_ms: number;
  to_ms: number;
  /** Nothing has arrived for so long that nothing more is expected. */
  is_over: boolean;
};

/** `left`: the part of the recording that must be searched again, since its text may be incomplete. */
export type Conversations = { found: FoundConversation[]; left: { from_ms: number; to_ms: number } | null };

/** A turn by the clock. */
type Turn = { stream: TranscribedStream; start_ms: number; end_ms: number; words: number };
type TurnPiece = { turns: Turn[]; is_last: boolean };

export function findConversations(sought: BoundaryQuery): Conversations {
  const turns = sought.streams.flatMap((stream) =>
    stream.turns.map(({ start_ms, end_ms, words }): Turn => {
      const at_ms = stream.captured_at_ms;
      return { stream, start_ms: at_ms + start_ms, end_ms: at_ms + end_ms, words };
    }),
  );
  turns.sort((a, b) => a.start_ms - b.start_ms || a.end_ms - b.end_ms);
  const found: FoundConversation[] = [];
  let left: Conversations['left'] = null;
  for (const piece of stretchesOf(turns).flatMap(piecesOf)) {
    const parts = partsOf(piece.turns);
    const own = parts.filter(({ stream_id }) => stream_id === sought.stream_id);
    const open = sought.is_over || isComplete(piece, sought.streams) ? null : (own[0] ?? null);
    if (open !== null) {
      // Nothing lies between it and what was asked for, so that what is left is one part.
      if (open.start_ms <= sought.to_ms) left ??= { from_ms: open.start_ms, to_ms: sought.to_ms };
      left = left === null ? null : { ...left, to_ms: Math.max(left.to_ms, own.at(-1)?.end_ms ?? 0) };
    } else if (own.some(({ start_ms, end_ms }) => start_ms <= sought.to_ms && end_ms >= sought.from_ms)) {
      if (isLongEnough(piece.turns, sought))
        found.push(conversationOf(piece.turns, { parts, session_id: sought.session_id }));
    }
  }
  return { found, left };
}

/** Counts words between blanks, so that every reader counts the same. */
export function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}

/** Groups turns with less than five minutes between one and the next. */
function stretchesOf(turns: readonly Turn[]): Turn[][] {
  const stretches: Turn[][] = [];
  let ended_ms = Number.NEGATIVE_INFINITY;
  for (const turn of turns) {
    if (turn.start_ms - ended_ms >= GAP_MS) stretches.push([]);
    stretches.at(-1)?.push(turn);
    ended_ms = Math.max(ended_ms, turn.end_ms);
  }
  return stretches;
}

/** Cuts each group in its second hour. The place depends on the group's beginning alone, so later turns move no cut. */
function piecesOf(stretch: readonly Turn[]): TurnPiece[] {
  const pieces: TurnPiece[] = [];
  let rest = [...stretch];
  while (endOf(rest) - startOf(rest) > LONGEST_MS) {
    const at = cutOf(rest);
    if (at === null) break;
    pieces.push({ turns: rest.slice(0, at), is_last: false });
    rest = rest.slice(at);
  }
  return [...pieces, { turns: rest, is_last: true }];
}

/** The turn before which to cut; null if there is only one. */
function cutOf(turns: readonly Turn[]): number | null {
  const begun_ms = startOf(turns);
  let [best, widest_ms]: [number | null, number] = [null, Number.NEGATIVE_INFINITY];
  let ended_ms = turns[0]?.end_ms ?? 0;
  for (const [at, { start_ms, end_ms }] of turns.entries()) {
    if (at === 0) continue;
    const after_ms = start_ms - begun_ms;
    // Where nobody begins to speak in all of the second hour, the first who does later, or the last before.
    if (after_ms > LONGEST_MS) return best ?? at;
    if (after_ms > LONGEST_MS / 2 && start_ms - ended_ms >= widest_ms) [best, widest_ms] = [at, start_ms - ended_ms];
    ended_ms = Math.max(ended_ms, end_ms);
  }
  return best ?? (turns.length > 1 ? turns.length - 1 : null);
}

/** Whether no further turn can belong to it. */
function isComplete({ turns, is_last }: TurnPiece, streams: readonly TranscribedStream[]): boolean {
  const from_ms = startOf(turns) - GAP_MS;
  const to_ms = is_last ? endOf(turns) + GAP_MS : startOf(turns) + LONGEST_MS;
  return streams.every(({ captured_at_ms, waiting, came_to_ms }) => {
    if (captured_at_ms >= to_ms) return true;
    const is_awaited = waiting.some(([from, to]) => captured_at_ms + from < to_ms && captured_at_ms + to > from_ms);
    return !is_awaited && (!is_last || captured_at_ms + came_to_ms >= to_ms);
  });
}

/** A few words are enough once nothing more is expected: a memo may be one turn. */
function isLongEnough(turns: readonly Turn[], { is_over }: Pick<BoundaryQuery, 'is_over'>): boolean {
  const words = turns.reduce((sum, turn) => sum + turn.words, 0);
  if (is_over || turns.every(({ stream }) => stream.came_to_ms === Number.POSITIVE_INFINITY))
    return words >= LIMITS.memo_words_min;
  return turns.length >= LIMITS.conversation_turns_min && words >= LIMITS.conversation_words_min;
}

function conversationOf(
  turns: readonly Turn[],
  { parts, session_id }: { parts: Span[]; session_id: string | null },
): FoundConversation {
  return { parts, session_id, started_at_ms: startOf(turns), ended_at_ms: endOf(turns) };
}

/** The part of each recording, by its start. */
function partsOf(turns: readonly Turn[]): Span[] {
  const parts = new Map<TranscribedStream, Span>();
  for (const { stream, ...turn } of turns) {
    const start_ms = turn.start_ms - stream.captured_at_ms;
    const end_ms = turn.end_ms - stream.captured_at_ms;
    const part = parts.get(stream);
    if (part === undefined)
      parts.set(stream, { stream_id: stream.stream_id, source_id: stream.source_id, start_ms, end_ms });
    else part.end_ms = Math.max(part.end_ms, end_ms);
  }
  return [...parts.values()];
}

function startOf(turns: readonly Turn[]): number {
  return turns[0]?.start_ms ?? 0;
}

function endOf(turns: readonly Turn[]): number {
  return turns.reduce((latest, { end_ms }) => Math.max(latest, end_ms), Number.NEGATIVE_INFINITY);
}
