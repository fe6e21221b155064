import fc from 'fast-check';
import t from 'tap';
import { audioLength } from '../../../src/engine/audio/decode_audio.js';
import { flacSlices } from '../../../src/engine/audio/flac_frames.js';
import { silentFlac } from '../../fixtures/flac_file.js';
import { audioFixture, SAID_MS } from '../../fixtures/speech.js';

async function* inPieces(file: Buffer, bytes: number) {
  for (let at = 0; at < file.length; at += bytes) yield file.subarray(at, at + bytes);
}

async function slicesOf(file: Buffer, bytes: number, samples_max: number): Promise<Buffer[]> {
  const slices: Buffer[] = [];
  for await (const slice of flacSlices(inPieces(file, bytes), samples_max)) slices.push(Buffer.from(slice));
  return slices;
}

t.test('K-161 a slice is of whole frames, and of as many as become so many samples', async (t) => {
  const file = silentFlac({ seconds: 60, rate: 48_000, block: 4_096 });
  const slices = await slicesOf(file, 1_000, 20_000);
  t.ok(Buffer.concat(slices).equals(file), 'nothing is lost');
  const [, ...frames] = slices;
  t.equal(frames.length, Math.ceil((60 * 48_000) / 4_096 / 4));
  for (const slice of frames) t.equal(slice.readUInt16BE(0), 0xfff8);
});

t.test('K-161 any FLAC keeps all its samples, however it comes', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 100_000 }), async (bytes) => {
      const length_s = await audioLength(inPieces(audioFixture('said.flac'), bytes), { length_s_max: 60 });
      return Math.abs(length_s * 1_000 - SAID_MS) < 10;
    }),
    { numRuns: 15 },
  );
  const hour = silentFlac({ seconds: 3_600, block: 16_384 });
  t.equal(Math.round((await audioLength(inPieces(hour, 65_536), { length_s_max: 7_200 })) * 16_000), 3_600 * 16_000);
});

t.test('what is no FLAC comes as it is', async () => {
  const drawn = fc.uint8Array({ maxLength: 2_000 });
  await fc.assert(
    fc.asyncProperty(drawn, fc.boolean(), async (bytes, has_mark) => {
      const file = Buffer.concat([Buffer.from(has_mark ? 'fLaC' : ''), bytes]);
      return Buffer.concat(await slicesOf(file, 100, 1_000)).equals(file);
    }),
  );
});
