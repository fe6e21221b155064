import { type Interval, shared } from '../../src/domain/intervals.js';
import { LIMITS } from '../../src/domain/limits.js';
import type { PageTurn } from './transcript_page.js';
import type { SpeakerSamples } from './transcript_state.js';

const SPEAKER_SAMPLE_MS_MIN = 1_500; // ours: shorter talk shows no voice
const SPEAKER_SAMPLE_MS_GOOD = 4_000; // ours: so long a sample is not replaced
const SPEAKER_SAMPLE_MS_MAX = 6_000; // ours

/** Adds the samples that new turns offer: the first long enough turn of each speaker, else the longest. */
export function withSamples(samples: SpeakerSamples, turns: readonly PageTurn[]): SpeakerSamples {
  const next: Record<string, Interval> = { ...samples };
  for (const { speaker, start_ms, end_ms } of turns) {
    const found: Interval = [start_ms, Math.min(end_ms, start_ms + SPEAKER_SAMPLE_MS_MAX)];
    const known = next[speaker];
    const has_room = known !== undefined || Object.keys(next).length < LIMITS.speaker_samples_max;
    if (speaker === 0 || !has_room || lengthOf(found) < SPEAKER_SAMPLE_MS_MIN) continue;
    if (known === undefined || lengthOf(known) < Math.min(lengthOf(found), SPEAKER_SAMPLE_MS_GOOD))
      next[speaker] = found;
  }
  return next;
}

/** Removes samples in a turn that a person deleted or gave to another speaker. */
export function samplesOutside(
  { samples }: { samples: SpeakerSamples },
  { start_ms, end_ms }: Pick<PageTurn, 'start_ms' | 'end_ms'>,
): { samples: SpeakerSamples } {
  const left = Object.entries(samples).filter(([, span]) => shared(span, [start_ms, end_ms]) === 0);
  return { samples: Object.fromEntries(left) };
}

function lengthOf([from_ms, to_ms]: Interval): number {
  return to_ms - from_ms;
}
