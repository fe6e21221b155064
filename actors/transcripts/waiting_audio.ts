import type { Interval } from '../../src/domain/intervals.js';
import { LIMITS } from '../../src/domain/limits.js';
import type { WaitingAudio } from './transcript_state.js';

/**
 * Audio waits here until a worker claims a window of it. One window is claimed at a time, and the next begins where its
 * result ends. Audio stays until a result covers it. docs/architecture.md, "Jobs".
 */

const WAITING_AUDIO_MIN_MS = 50; // ours: shorter pieces between what was transcribed are left out

/** In the order of the timeline. Beyond the bound the nearest intervals become one. */
export function inOrder(waiting: WaitingAudio[]): WaitingAudio[] {
  const sorted = [...waiting].sort((a, b) => a.from_ms - b.from_ms);
  const joined: WaitingAudio[] = [];
  for (const one of sorted) {
    const last = joined.at(-1);
    if (last !== undefined && last.to_ms >= one.from_ms && last.again === one.again && last.tail === one.tail)
      joined[joined.length - 1] = {
        ...last,
        to_ms: Math.max(last.to_ms, one.to_ms),
        at_ms: Math.max(last.at_ms, one.at_ms),
      };
    else joined.push(one);
  }
  while (joined.length > LIMITS.transcript_intervals_max) joinNearest(joined);
  return joined;
}

function joinNearest(waiting: WaitingAudio[]): void {
  let nearest = 1;
  const gapAt = (at: number) => (waiting[at] as WaitingAudio).from_ms - (waiting[at - 1] as WaitingAudio).to_ms;
  for (let at = 2; at < waiting.length; at++) if (gapAt(at) < gapAt(nearest)) nearest = at;
  const [first, second] = [waiting[nearest - 1] as WaitingAudio, waiting[nearest] as WaitingAudio];
  waiting.splice(nearest - 1, 2, { ...first, to_ms: second.to_ms, at_ms: Math.max(first.at_ms, second.at_ms) });
}

export function spanOf({ from_ms, to_ms }: { from_ms: number; to_ms: number }): Interval {
  return [from_ms, to_ms];
}

export function clip([from, to]: Interval, [within_from, within_to]: Interval): Interval[] {
  const cut: Interval = [Math.max(from, within_from), Math.min(to, within_to)];
  return cut[0] < cut[1] ? [cut] : [];
}

export function isWorthIt([from_ms, to_ms]: Interval): boolean {
  return to_ms - from_ms >= WAITING_AUDIO_MIN_MS;
}
