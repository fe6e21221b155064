import { fetchWaveform } from './audio_access.js';

/** The outline of a recording, from the waveform that the server makes of its audio. */

export const PEAKS = 600;
const WAVEFORM_PER_S = 16;
const FULL_SCALE = 255;
/** A recording that stays below this share of full scale is not drawn as a loud one. */
const TOP_MIN = 0.05;

/** The loudness, 0 to 1, at evenly spaced moments of a recording of that length. Throws where the server has no waveform. */
export async function loadPeaks(stream_id: string, length_ms: number, signal: AbortSignal): Promise<Float32Array> {
  const waveform = await fetchWaveform(stream_id, signal);
  const peaks = new Float32Array(PEAKS);
  const step = (length_ms * WAVEFORM_PER_S) / 1_000 / PEAKS;
  for (let n = 0; n < PEAKS; n++) {
    const from = Math.floor(n * step);
    const part = waveform.subarray(from, Math.max(from + 1, Math.floor((n + 1) * step)));
    peaks[n] = part.reduce((loudest, value) => Math.max(loudest, value), 0) / FULL_SCALE;
  }
  const top = peaks.reduce((highest, one) => Math.max(highest, one), TOP_MIN);
  return peaks.map((one) => one / top);
}
