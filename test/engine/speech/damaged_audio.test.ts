import t from 'tap';
import { ProcessFailed } from '../../../src/engine/process/framed_process.js';
import { SeededRandom } from '../../../src/engine/random/seeded_random.js';
import { SpeechProcess } from '../../../src/engine/speech/speech_process.js';
import { drawSeed, drawsOf } from '../../fixtures/seed.js';
import { audioFixture } from '../../fixtures/speech.js';

const FORMATS = ['opus', 'webm', 'mp3', 'm4a', 'aac', 'flac', 'ogg', 'caf'];
/** Files of each format; `DAMAGED=2000` takes as many. */
const FILES = Number(process.env.DAMAGED ?? drawsOf(40));
const CHANGES_MAX = 40;

/** Some bytes are others, a part is gone, or it is cut off. */
function damaged(sound: Buffer, random: SeededRandom): Buffer {
  const bytes = Buffer.from(sound);
  for (let change = random.below(CHANGES_MAX); change >= 0; change--) {
    // The head decides what a decoder makes of the rest.
    const at = random.below(random.below(2) === 0 ? 400 : bytes.length);
    bytes[at] = random.below(4) === 0 ? 255 : random.below(256);
  }
  const [from, length] = [random.below(bytes.length), random.below(bytes.length)];
  switch (random.below(4)) {
    case 0:
      return bytes.subarray(0, from);
    case 1:
      return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + length)]);
    default:
      return bytes;
  }
}

t.test('K-161 K-163 damaged files harm nobody', async (t) => {
  const random = new SeededRandom(drawSeed(t));
  const decoder = new SpeechProcess({
    ...{ model_folder: null, idle_ms: 60_000, silence_ms_max: 20_000, memory_bytes_max: 2 ** 30, priority: 0 },
  });
  t.teardown(() => decoder.close());
  const decode = (bytes: Buffer) =>
    decoder.decode(
      [bytes],
      { rate: 16_000, length_s_max: 60 },
      {
        ...{ owner: 'a', signal: new AbortController().signal, onPiece: async () => {} },
      },
    );
  const ends = new Map<string, number>();
  for (const format of FORMATS) {
    const sound = audioFixture(`said.${format}`);
    for (let file = 0; file < FILES; file++) {
      const end = await decode(damaged(sound, random)).then(
        () => 'decoded',
        (error: unknown) => (error instanceof ProcessFailed ? error.code : `${format}: ${error}`),
      );
      ends.set(end, (ends.get(end) ?? 0) + 1);
    }
    t.ok((await decode(sound)).samples > 0, `a sound ${format} is decoded after them`);
  }
  t.comment(JSON.stringify(Object.fromEntries(ends)));
  const known = ['decoded', 'NOT_DECODED', 'FAILED', 'EXITED', 'TIMEOUT'];
  t.same(
    [...ends.keys()].filter((end) => !known.includes(end)),
    [],
  );
});
