import t from 'tap';
import type { Transcript } from '../../../actors/transcripts/transcript_state.js';
import { consumed, nextWindow } from '../../../actors/transcripts/transcript_windows.js';

/** A recording of 30 seconds in windows of ten, all of it waiting. */
const whole = {
  ...{ account_id: 'a', workspace_id: 'w', source_id: 's', captured_at_ms: 0, end_ms: 30_000 },
  ...{ revision: 0, turns: 0, covered: [], failed: [], longest_ms: 1_000, window_ms: 10_000, windows: 0 },
  waiting: [{ from_ms: 0, to_ms: 30_000, at_ms: 5 }],
  ...{ window: null, retry: null, published: null, final_pass: 'none', speakers: 0, labels: {} },
  ...{ contacts: [], announcing: [], oldest: null },
} as unknown as Transcript;

t.test('K-040 what a window left goes with the audio after it, and is final only alone', async (t) => {
  const first = nextWindow(whole);
  t.match(first, { from_ms: 0, to_ms: 10_000, final: false });
  const after = consumed(whole, { from_ms: 0, to_ms: 10_000 } as NonNullable<Transcript['window']>, 7_500, 9);
  t.same(after.covered, [[0, 7_500]]);
  t.same(after.waiting, [
    { from_ms: 7_500, to_ms: 10_000, at_ms: 9, tail: true },
    { from_ms: 10_000, to_ms: 30_000, at_ms: 5 },
  ]);
  t.match(nextWindow(after), { from_ms: 7_500, to_ms: 17_500, final: false });
  const short = { ...whole, end_ms: null, waiting: [{ from_ms: 0, to_ms: 10_000, at_ms: 5 }] };
  const left = consumed(short, { from_ms: 0, to_ms: 10_000 } as NonNullable<Transcript['window']>, 7_500, 9);
  t.match(nextWindow(left), { from_ms: 7_500, to_ms: 10_000, final: true });
  const all = consumed(whole, { from_ms: 0, to_ms: 10_000 } as NonNullable<Transcript['window']>, 10_000, 9);
  t.same(all.waiting, [{ from_ms: 10_000, to_ms: 30_000, at_ms: 5 }]);
});
