import t from 'tap';
import { spend } from '../../src/domain/budgets.js';

t.test('a budget is spent until its window is over, which begins with the first', async (t) => {
  const budget = { max: 2, window_ms: 10_000 };
  t.same(spend(null, budget, 5), { began_ms: 5, count: 1 });
  t.same(spend(undefined, budget, 5), { began_ms: 5, count: 1 });
  t.same(spend({ began_ms: 5, count: 1 }, budget, 9_000), { began_ms: 5, count: 2 });
  t.same(spend({ began_ms: 5, count: 2 }, budget, 5), { wait_s: 10 });
  t.same(spend({ began_ms: 5, count: 2 }, budget, 10_004), { wait_s: 1 });
  t.same(spend({ began_ms: 5, count: 2 }, budget, 10_005), { began_ms: 10_005, count: 1 });
});
