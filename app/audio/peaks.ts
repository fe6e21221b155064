import { fetchAudio } from './audio_access.js';
import type { Timeline } from './timeline.js';

/**
 * The outline of a recording. Only of one that is short: the whole file is fetched and decoded for it. Of longer ones the
 * turns alone are drawn.
 */

export const PEAKS = 600;
const LENGTH_MS_MAX = 30 * 60_000;
const BYTES_MAX = 60_000_000;
/** Enough for an outline. */
const SAMPLES_PER_S = 8_000;

/** The loudness, 0 to 1, at evenly spaced moments of the recording; null where it is not drawn. */
export async function loadPeaks(
  stream: { id: string; stored_bytes: number },
  timeline: Timeline,
  signal: AbortSignal,
): Promise<Float32Array | null> {
  if (timeline.file_ms === 0 || timeline.file_ms > LENGTH_MS_MAX || stream.stored_bytes > BYTES_MAX) return null;
  const file = await fetchAudio(stream.id, { bytes_max: BYTES_MAX, signal });
  const context = new OfflineAudioContext(1, 1, SAMPLES_PER_S);
  const decoded = await context.decodeAudioData(await file.arrayBuffer());
  return peaksOf(decoded.getChannelData(0), timeline);
}

function peaksOf(samples: Float32Array, timeline: Timeline): Float32Array {
  const peaks = new Float32Array(PEAKS);
  const samples_per_ms = SAMPLES_PER_S / 1_000;
  const step_ms = timeline.end_ms / PEAKS;
  for (const { start_ms, end_ms } of timeline.stretches) {
    const first = Math.floor(start_ms / step_ms);
    const last = Math.min(PEAKS - 1, Math.ceil(end_ms / step_ms));
    for (let n = first; n <= last; n++) {
      const from_ms = Math.max(start_ms, n * step_ms);
      const to_ms = Math.min(end_ms, (n + 1) * step_ms);
      if (to_ms <= from_ms) continue;
      const from = Math.floor(timeline.fileAt(from_ms) * samples_per_ms);
      const to = Math.min(samples.length, from + Math.max(1, Math.floor((to_ms - from_ms) * samples_per_ms)));
      let loudest = peaks[n] as number;
      for (let at = from; at < to; at++) loudest = Math.max(loudest, Math.abs(samples[at] as number));
      peaks[n] = loudest;
    }
  }
  const top = peaks.reduce((highest, one) => Math.max(highest, one), 0.05);
  return peaks.map((one) => one / top);
}
