import { pcm16Format, writeWav } from '../../src/engine/audio/wav.js';

const FRAMES_PER_SECOND = 16_000;
const LOUDNESS = 0.3;

/** A tone as a WAV file: 16 bit, one channel. */
export function makeTone({ seconds, hertz }: { seconds: number; hertz: number }): Buffer {
  const samples = Buffer.alloc(seconds * FRAMES_PER_SECOND * 2);
  for (let frame = 0; frame * 2 < samples.length; frame++) {
    const value = Math.sin((2 * Math.PI * hertz * frame) / FRAMES_PER_SECOND) * LOUDNESS;
    samples.writeInt16LE(Math.round(value * 0x7fff), frame * 2);
  }
  return writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: FRAMES_PER_SECOND }) }, samples);
}
