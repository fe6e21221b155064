/** One chunk of a recording: a WAV of 16-bit samples in one channel, which plays by itself. */

const HEADER_BYTES = 44;
const SAMPLE_BYTES = 2;
const PCM = 1;
const FULL_SCALE = 0x7fff;

export function wavOf(pieces: readonly Float32Array[], samples_per_s: number): Uint8Array<ArrayBuffer> {
  const samples = pieces.reduce((sum, { length }) => sum + length, 0);
  const data_bytes = samples * SAMPLE_BYTES;
  const bytes = new Uint8Array(HEADER_BYTES + data_bytes);
  const view = new DataView(bytes.buffer);
  const tag = (at: number, text: string) => bytes.set(new TextEncoder().encode(text), at);
  tag(0, 'RIFF');
  view.setUint32(4, HEADER_BYTES - 8 + data_bytes, true);
  tag(8, 'WAVEfmt ');
  view.setUint32(16, 16, true); // bytes of the format
  view.setUint16(20, PCM, true);
  view.setUint16(22, 1, true); // channels
  view.setUint32(24, samples_per_s, true);
  view.setUint32(28, samples_per_s * SAMPLE_BYTES, true);
  view.setUint16(32, SAMPLE_BYTES, true);
  view.setUint16(34, SAMPLE_BYTES * 8, true);
  tag(36, 'data');
  view.setUint32(40, data_bytes, true);
  let at = HEADER_BYTES;
  for (const piece of pieces) {
    for (const sample of piece) {
      view.setInt16(at, Math.round(Math.max(-1, Math.min(1, sample)) * FULL_SCALE), true);
      at += SAMPLE_BYTES;
    }
  }
  return bytes;
}
