import t from 'tap';
import { wavOf } from '../../app/recorder/wav.js';
import { readWav } from '../../src/engine/audio/wav.js';
import { bufferSource } from '../../tools/demo/recording.js';

t.test('what the browser records is a WAV as the server reads it', async (t) => {
  const bytes = Buffer.from(wavOf([Float32Array.of(0, 1, -1), Float32Array.of(0.5, 2, -2)], 16_000));
  const read = await readWav(bufferSource(bytes));
  if (!read.ok) throw new Error(read.why);
  const { format, data_offset, frames } = read.wav;
  t.match(format, { codec: 'pcm_s16le', channels: 1, frames_per_second: 16_000, frame_bytes: 2 });
  t.equal(frames, 6);
  const samples = Array.from({ length: frames }, (_, n) => bytes.readInt16LE(data_offset + n * 2));
  t.same(samples, [0, 32_767, -32_767, 16_384, 32_767, -32_767], 'what is too loud is cut off, and does not turn over');
});
