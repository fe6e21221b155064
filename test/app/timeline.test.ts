import t from 'tap';
import { Timeline } from '../../app/audio/timeline.js';

const stretches = (...pairs: [number, number][]) => pairs.map(([start_ms, end_ms]) => ({ start_ms, end_ms }));

t.test('moments of a recording, and where they are in the joined file', (t) => {
  const without_gaps = stretches([0, 5_000], [5_000, 10_000]);
  const with_a_gap = stretches([1_000, 5_000], [8_000, 10_000]);
  const overlapping = stretches([0, 5_000], [4_000, 9_000]);
  for (const [name, chunks, moment_ms, file_ms] of [
    ['no gap', without_gaps, 0, 0],
    ['no gap', without_gaps, 7_000, 7_000],
    ['before the first audio', with_a_gap, 0, 0],
    ['in the first stretch', with_a_gap, 2_000, 1_000],
    ['in the gap: where it goes on', with_a_gap, 6_000, 4_000],
    ['behind the gap', with_a_gap, 9_000, 5_000],
    ['behind the end', with_a_gap, 12_000, 6_000],
    ['where chunks overlap, the first that has it', overlapping, 4_500, 4_500],
    ['behind the overlap', overlapping, 6_000, 7_000],
  ] as const) {
    t.equal(new Timeline(chunks).fileAt(moment_ms), file_ms, name);
  }
  for (const [name, chunks, file_ms, moment_ms] of [
    ['no gap', without_gaps, 7_000, 7_000],
    ['the file begins where the audio does', with_a_gap, 0, 1_000],
    ['up to the gap', with_a_gap, 3_999, 4_999],
    ['behind the gap', with_a_gap, 4_000, 8_000],
    ['a player that plays on beyond its end', with_a_gap, 9_000, 10_000],
    ['an overlap is heard twice', overlapping, 5_000, 4_000],
  ] as const) {
    t.equal(new Timeline(chunks).momentAt(file_ms), moment_ms, name);
  }
  t.end();
});

t.test('how long it is, and how little is kept of it', (t) => {
  const hours = Array.from({ length: 5_000 }, (_, n) => ({ start_ms: n * 10_000, end_ms: (n + 1) * 10_000 }));
  const timeline = new Timeline(hours);
  t.same(timeline.stretches.length, 1);
  t.same([timeline.file_ms, timeline.end_ms], [50_000_000, 50_000_000]);
  const with_a_gap = new Timeline(stretches([1_000, 5_000], [8_000, 10_000]));
  t.same([with_a_gap.file_ms, with_a_gap.end_ms], [6_000, 10_000]);
  const nothing = new Timeline([]);
  t.same([nothing.file_ms, nothing.end_ms, nothing.momentAt(100), nothing.fileAt(100)], [0, 0, 100, 0]);
  t.end();
});
