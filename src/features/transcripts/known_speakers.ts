import type { HeardSegment } from './engines/engine.js';
import type { FileSample, WindowFile } from './window_audio.js';

/**
 * Names the speakers of a window who are known, in its own audio alone. An engine labels speakers anew in each
 * answer; the samples of known speakers before the audio show which label is whose.
 */
export function withKnownSpeakers(
  { samples, begins_ms }: Pick<WindowFile, 'samples' | 'begins_ms'>,
  segments: readonly HeardSegment[],
): HeardSegment[] {
  if (samples.length === 0) return [...segments];
  const names = namesOf(samples, segments);
  const begins_s = begins_ms / 1_000;
  const named = <T extends { speaker?: string | undefined }>(said: T): T => {
    const name = said.speaker === undefined ? undefined : names.get(said.speaker);
    return name === undefined ? said : { ...said, speaker: name, is_known: true };
  };
  return segments
    .filter(({ start_s, end_s }) => (start_s + end_s) / 2 >= begins_s && start_s >= begins_s - BEFORE_S_MAX)
    .map((segment) => ({
      ...named(segment),
      start_s: Math.max(begins_s, segment.start_s),
      words: segment.words.filter(({ end_s }) => end_s > begins_s).map(named),
    }));
}

/** An engine's times may be a little early. */
const BEFORE_S_MAX = 0.5;

type Vote = { label: string; speaker: string; share_s: number };

/** Labels with the speakers in whose samples they talk most; no two labels are one speaker. */
function namesOf(samples: readonly FileSample[], segments: readonly HeardSegment[]): Map<string, string> {
  const votes = new Map<string, Vote>();
  for (const { speaker: of_segment, words, start_s, end_s } of segments) {
    const said = words.length > 0 ? words : [{ speaker: of_segment, start_s, end_s }];
    for (const { speaker: label = of_segment, ...span } of said)
      for (const { speaker, from_ms, to_ms } of samples) {
        const share_s = Math.min(span.end_s, to_ms / 1_000) - Math.max(span.start_s, from_ms / 1_000);
        if (label === undefined || share_s <= 0) continue;
        const key = JSON.stringify([label, speaker]);
        votes.set(key, { label, speaker, share_s: share_s + (votes.get(key)?.share_s ?? 0) });
      }
  }
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const { label, speaker } of [...votes.values()].sort((a, b) => b.share_s - a.share_s)) {
    if (names.has(label) || taken.has(speaker)) continue;
    names.set(label, speaker);
    taken.add(speaker);
  }
  return names;
}

/** Of a pause, so much speech is no error of an engine's times. */
const PAUSE_SHARE_MAX = 0.6;

/**
 * Whether something was said in the pauses behind samples, where the file is silent: such an engine hears another order
 * than that of the file, or gives no times that could tell whose a label is.
 */
export function hearsInPauses(
  { samples, begins_ms }: Pick<WindowFile, 'samples' | 'begins_ms'>,
  segments: readonly HeardSegment[],
): boolean {
  const said = segments
    .flatMap(({ words, start_s, end_s }) => (words.length > 0 ? words : [{ start_s, end_s }]))
    .sort((a, b) => a.start_s - b.start_s);
  return samples.some(({ to_ms }, at) => {
    const [from_s, to_s] = [to_ms / 1_000, (samples[at + 1]?.from_ms ?? begins_ms) / 1_000];
    let [heard_s, until_s] = [0, from_s];
    // Words may overlap, and be as short as they will: what counts is how much of the pause they fill.
    for (const { start_s, end_s } of said) {
      const more_s = Math.min(end_s, to_s) - Math.max(start_s, until_s);
      heard_s += Math.max(0, more_s);
      until_s = Math.max(until_s, end_s);
    }
    return heard_s > (to_s - from_s) * PAUSE_SHARE_MAX;
  });
}
