import t from 'tap';
import { backoffAfter } from '../../src/domain/backoff.js';

t.test('a wait doubles with each failure, up to its bound, however many there are', async (t) => {
  const rule = { first_ms: 50, max_ms: 5_000 };
  t.same(
    [1, 2, 3, 7, 8, 9, 5_000].map((failures) => backoffAfter(failures, rule)),
    [50, 100, 200, 3_200, 5_000, 5_000, 5_000],
  );
});

t.test('another factor, and no bound', async (t) => {
  const rule = { first_ms: 10_000, max_ms: Number.POSITIVE_INFINITY, factor: 4 };
  t.same(
    [1, 2, 3].map((failures) => backoffAfter(failures, rule)),
    [10_000, 40_000, 160_000],
  );
});
