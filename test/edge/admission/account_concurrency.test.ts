import t from 'tap';
import { LIMITS } from '../../../src/domain/limits.js';
import { AccountConcurrencyLimiter, type Admission } from '../../../src/edge/admission/account_concurrency.js';
import { makeMetrics } from '../../../src/engine/metrics/metrics.js';

const AT_ONCE = LIMITS.account_requests_at_once_max;
const WAITING = LIMITS.account_requests_waiting_max;

/** Those that began so far, by number. */
function began(entrances: readonly Admission[]): number[] {
  const begun: number[] = [];
  for (const [number, entrance] of entrances.entries())
    if (typeof entrance !== 'string') void entrance.then(() => begun.push(number));
  return begun;
}

const nextRound = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

t.test('requests of an account begin a few at a time, in order; others do not wait for them', async (t) => {
  const turns = new AccountConcurrencyLimiter(makeMetrics());
  for (let n = 0; n < AT_ONCE; n++) t.equal(turns.enter('a', 0), 'at once');
  const waiting = Array.from({ length: 5 }, () => turns.enter('a', 0));
  const begun = began(waiting);
  t.equal(turns.enter('b', 0), 'at once');
  await nextRound();
  t.same(begun, []);
  turns.leave('a', 0);
  turns.leave('a', 0);
  await nextRound();
  t.same(begun, [0, 1]);
  for (let n = 0; n < 3; n++) turns.leave('a', 0);
  await nextRound();
  t.same(begun, [0, 1, 2, 3, 4]);
  for (let n = 0; n < AT_ONCE; n++) turns.leave('a', 0);
  for (let n = 0; n < AT_ONCE; n++) t.equal(turns.enter('a', 0), 'at once', 'all have left');
});

t.test('so many may wait, and hold so much memory', async (t) => {
  const turns = new AccountConcurrencyLimiter(makeMetrics());
  for (let n = 0; n < AT_ONCE; n++) void turns.enter('a', 0);
  for (let n = 0; n < WAITING; n++) t.not(turns.enter('a', 0), 'full');
  t.equal(turns.enter('a', 0), 'full');
  t.equal(turns.enter('b', 0), 'at once');
  turns.leave('a', 0);
  t.not(turns.enter('a', 0), 'full', 'there is room again');

  const half = LIMITS.account_bytes_waiting_max / 2;
  void turns.enter('c', half);
  for (let n = 0; n < 2; n++) t.not(turns.enter('c', half), 'full');
  t.equal(turns.enter('c', half), 'full');
  turns.leave('c', half);
  await nextRound();
  t.not(turns.enter('c', half), 'full', 'what begins no longer waits');
});

t.test('large bodies have a line of their own, one at a time', async (t) => {
  const turns = new AccountConcurrencyLimiter(makeMetrics());
  const large = LIMITS.json_body_bytes_max + 1;
  t.equal(turns.enter('a', large), 'at once');
  const waiting = [turns.enter('a', large), turns.enter('a', large)];
  const begun = began(waiting);
  t.equal(turns.enter('a', LIMITS.json_body_bytes_max), 'at once', 'what is small passes by');
  t.equal(turns.enter('b', large), 'at once');
  turns.leave('a', LIMITS.json_body_bytes_max);
  await nextRound();
  t.same(begun, []);
  turns.leave('a', large);
  await nextRound();
  t.same(begun, [0]);
  turns.leave('a', large);
  await nextRound();
  t.same(begun, [0, 1]);
  turns.leave('a', large);
  t.equal(turns.enter('a', large), 'at once', 'all have left');
});
