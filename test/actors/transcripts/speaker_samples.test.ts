import t from 'tap';
import { samplesOutside, withSamples } from '../../../actors/transcripts/speaker_samples.js';
import type { PageTurn } from '../../../actors/transcripts/transcript_page.js';
import { LIMITS } from '../../../src/domain/limits.js';

const turn = (speaker: number, start_ms: number, length_ms: number) =>
  ({ speaker, start_ms, end_ms: start_ms + length_ms }) as PageTurn;

t.test('a sample is the first stretch of a speaker that is long enough, else the longest', async (t) => {
  const first = withSamples({}, [turn(1, 0, 1_000), turn(2, 1_000, 2_000), turn(0, 3_000, 9_000)]);
  t.same(first, { 2: [1_000, 3_000] }, 'nobody and short talk give none');
  const second = withSamples(first, [turn(2, 10_000, 9_000), turn(1, 20_000, 4_500)]);
  t.same(second, { 1: [20_000, 24_500], 2: [10_000, 16_000] });
  t.same(withSamples(second, [turn(1, 30_000, 6_000), turn(2, 40_000, 6_000)]), second, 'a good one stays');
});

t.test('only the first speakers have one', async (t) => {
  const many = Array.from({ length: 20 }, (_, at) => turn(at + 1, at * 10_000, 5_000));
  t.equal(Object.keys(withSamples({}, many)).length, LIMITS.speaker_samples_max);
});

t.test('what a person deletes or gives to somebody else is no sample any more', async (t) => {
  t.same(samplesOutside({ samples: { 1: [0, 4_000], 2: [5_000, 9_000] } }, turn(1, 3_000, 500)), {
    samples: { 2: [5_000, 9_000] },
  });
  t.same(samplesOutside({ samples: {} }, turn(1, 0, 1)), { samples: {} });
});
