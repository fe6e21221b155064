import type { Word } from './transcript_state.js';

/** Compares spans of a recording, of turns and of corrections. */

const SAME_TURN_MS = 50; // ours: a later run's turn with the same text and times is the same turn

type TurnSpan = { start_ms: number; end_ms: number };

/** Whether a correction's span and a turn match so closely that the correction holds for the turn. */
export function fits(span: TurnSpan, turn: TurnSpan): boolean {
  const common_ms = sharedMs(span, turn);
  return common_ms > 0 && common_ms * 2 >= Math.min(lengthOf(span), lengthOf(turn));
}

/** Whether both begin and end at the same time, within the precision of engines. */
export function isAt(one: TurnSpan, other: TurnSpan): boolean {
  return isNear(one.start_ms, other.start_ms) && isNear(one.end_ms, other.end_ms);
}

/** The time that both share, as a part of the longer one. */
export function overlap(one: TurnSpan, other: TurnSpan): number {
  return sharedMs(one, other) / Math.max(1, lengthOf(one), lengthOf(other));
}

export function sharedMs(one: TurnSpan, other: TurnSpan): number {
  return Math.max(0, Math.min(one.end_ms, other.end_ms) - Math.max(one.start_ms, other.start_ms));
}

export function lengthOf({ start_ms, end_ms }: TurnSpan): number {
  return end_ms - start_ms;
}

function isNear(a_ms: number, b_ms: number): boolean {
  return Math.abs(a_ms - b_ms) <= SAME_TURN_MS;
}

/** Fits words into their turn. No word begins after `latest_ms`, since one of them may become the start of a turn. */
export function wordsWithin(
  words: readonly Word[],
  { start_ms, end_ms }: TurnSpan,
  latest_ms: number = end_ms,
): Word[] {
  return words.map(([text, from_ms, to_ms, confidence]): Word => {
    const begins_ms = clamp(from_ms, start_ms, Math.min(end_ms, latest_ms));
    return [text, begins_ms, clamp(to_ms, begins_ms, end_ms), confidence];
  });
}

export function clamp(ms: number, from_ms: number, to_ms: number): number {
  return Math.min(Math.max(ms, from_ms), to_ms);
}
