import type { WavFormat } from '../../src/engine/audio/wav.js';

/**
 * Speech that a program can hear: what is said stands in the samples themselves, again and again for as long as it is
 * said. An engine that reads it (scripted_engine.ts) then hears exactly the script, in whatever windows the audio comes:
 * whoever has the beginning of an utterance hears it, and nobody else does.
 */

/** Times are ms of the audio. Two utterances of one recording differ in their text. */
export type Utterance = { text: string; start_ms: number; end_ms: number; speaker?: string | undefined };

/** As an engine answers: seconds of the file. */
export type Spoken = { text: string; start: number; end: number; speaker?: string } & Record<string, unknown>;

type Format = Pick<WavFormat, 'frames_per_second' | 'frame_bytes'>;

const MAGIC = Buffer.from('a55a536169643a5aa5', 'hex');
/** Then: how long the script is, how many frames ago the utterance began, and how many it has. */
const HEAD_BYTES = MAGIC.length + 2 + 4 + 4;

/** Writes what is said over samples that are there. Throws where an utterance is too short for its text. */
export function speak(samples: Buffer, format: Format, utterances: readonly Utterance[]): void {
  for (const { text, start_ms, end_ms, speaker = null } of utterances) {
    const script = Buffer.from(JSON.stringify([text, speaker]));
    const mark_frames = Math.ceil((HEAD_BYTES + script.length) / format.frame_bytes);
    const [start, end] = [frameAt(format, start_ms), frameAt(format, end_ms)];
    if (start + mark_frames > end || end * format.frame_bytes > samples.length)
      throw new Error(`there is no room for "${text}" in ${end_ms - start_ms} ms`);
    for (let frame = start; frame + mark_frames <= end; frame += mark_frames) {
      const at = frame * format.frame_bytes;
      const head = MAGIC.copy(samples, at) + at;
      samples.writeUInt16LE(script.length, head);
      samples.writeUInt32LE(frame - start, head + 2);
      samples.writeUInt32LE(end - start, head + 6);
      script.copy(samples, at + HEAD_BYTES);
    }
  }
}

/** The utterances in samples: each whose first mark is whole in them, or was cut off by their beginning. */
export function heardIn(samples: Buffer, format: Format): Spoken[] {
  const heard = new Map<string, Spoken>();
  const frames = Math.floor(samples.length / format.frame_bytes);
  for (let at = samples.indexOf(MAGIC); at >= 0; at = samples.indexOf(MAGIC, at + 1)) {
    const head = at + MAGIC.length;
    if (at + HEAD_BYTES > samples.length) break;
    const script = samples.subarray(at + HEAD_BYTES, at + HEAD_BYTES + samples.readUInt16LE(head));
    if (script.length < samples.readUInt16LE(head)) break;
    // Cut off, and other audio follows.
    if (script.includes(0)) continue;
    const mark_frames = Math.ceil((HEAD_BYTES + script.length) / format.frame_bytes);
    const start = Math.round(at / format.frame_bytes) - samples.readUInt32LE(head + 2);
    const key = `${start} ${script}`;
    if (start <= -mark_frames) continue;
    // Where it was cut off, nothing of it is heard behind its last mark.
    const last = Math.round(at / format.frame_bytes) + 2 * mark_frames;
    const end = Math.min(frames, start + samples.readUInt32LE(head + 6), last);
    const known = heard.get(key);
    if (known !== undefined) {
      known.end = end / format.frames_per_second;
      continue;
    }
    const [text, speaker] = JSON.parse(script.toString()) as [string, string | null];
    const times = { start: Math.max(0, start) / format.frames_per_second, end: end / format.frames_per_second };
    heard.set(key, { text, ...times, ...(speaker !== null && { speaker }) });
  }
  return [...heard.values()].sort((a, b) => a.start - b.start);
}

function frameAt({ frames_per_second }: Format, ms: number): number {
  return Math.round((ms / 1_000) * frames_per_second);
}
