import t from 'tap';
import { LIMITS } from '../../../src/domain/limits.js';
import { BodyBudget } from '../../../src/edge/admission/body_budget.js';
import { DeviceBudgets } from '../../../src/edge/admission/device_budgets.js';
import { Overload, type Shedding, sheddingFor, spreadRetryAfter } from '../../../src/edge/admission/overload.js';
import { makeMetrics } from '../../../src/engine/metrics/metrics.js';
import { until } from '../../fixtures/until.js';

t.test('what is refused under a load, after what was refused before', async (t) => {
  const cases: [name: 'delay' | 'memory', load: number, before: Shedding, now: Shedding][] = [
    ['delay', 0, 'nothing', 'nothing'],
    ['delay', 0.99, 'nothing', 'nothing'],
    ['delay', 1, 'nothing', 'first'],
    ['delay', 1.99, 'nothing', 'first'],
    ['delay', 2, 'nothing', 'all'],
    ['delay', 1.5, 'all', 'first'],
    ['delay', 0.5, 'all', 'first'],
    ['delay', 0.5, 'first', 'first'],
    ['delay', 0.49, 'first', 'nothing'],
    ['delay', 0.49, 'all', 'nothing'],
    ['memory', 0.99, 'nothing', 'nothing'],
    ['memory', 1, 'nothing', 'first'],
    ['memory', 1.05, 'first', 'all'],
    ['memory', 0.96, 'all', 'first'],
    ['memory', 0.94, 'first', 'nothing'],
  ];
  for (const [name, load, before, now] of cases)
    t.equal(sheddingFor(name, load, before), now, `${name} ${load} ${before}`);
});

t.test('the worse of the two loads decides, and says what it was', async (t) => {
  const overload = new Overload({ delay_ms: 500, memory_mb: null }, makeMetrics());
  const causes = () => [overload.causeAgainst('normal'), overload.causeAgainst('critical')];
  t.same(causes(), [null, null]);
  overload.take({ delay: 1, memory: 0 });
  t.same(causes(), ['delay', null]);
  overload.take({ delay: 1, memory: 2 });
  t.same(causes(), ['memory', 'memory']);
  overload.take({ delay: 3, memory: 0.96 });
  t.same(causes(), ['delay', 'delay']);
  overload.take({ delay: 0, memory: 0.96 });
  t.same(causes(), ['memory', null], 'memory is not over yet');
  overload.take({ delay: 0, memory: 0 });
  t.same(causes(), [null, null]);
});

t.test('a loop that is kept busy is noticed, and so is its rest; memory too', async (t) => {
  const overload = new Overload({ delay_ms: 40, memory_mb: null }, makeMetrics());
  overload.start();
  t.teardown(() => overload.stop());
  await until('it is noticed', () => {
    for (const end = performance.now() + 150; performance.now() < end; );
    return overload.shedding === 'all';
  });
  t.equal(overload.causeAgainst('critical'), 'delay');
  await until('it is over', () => overload.shedding === 'nothing');
  for (const end = performance.now() + 700; performance.now() < end; );
  let looked_at = 0;
  const { take } = overload;
  overload.take = (load) => {
    looked_at += 1;
    take.call(overload, load);
    if (looked_at === 1) t.equal(overload.shedding, 'nothing', 'one stall is no overload');
  };
  await until('the looks after it', () => looked_at > 1);

  const small = new Overload({ delay_ms: 0, memory_mb: 8 }, makeMetrics());
  small.start();
  t.teardown(() => small.stop());
  await until('it is noticed', () => small.causeAgainst('critical') === 'memory');
});

t.test('a fleet that is told to come again comes spread out', async (t) => {
  const told = Array.from({ length: 2_000 }, () => spreadRetryAfter());
  t.ok(Math.min(...told) >= 5 && Math.max(...told) <= 15);
  t.ok(new Set(told).size > 8);
  t.ok(Array.from({ length: 50 }, () => spreadRetryAfter(0.1)).every((seconds) => seconds === 1));
});

t.test('a device has a minute of requests at once, and then as many as a minute brings', async (t) => {
  let now_ms = 0;
  const budgets = new DeviceBudgets(60, { on: true, monotonic_ms: () => now_ms });
  const served = (device: string, tries: number) =>
    Array.from({ length: tries }, () => budgets.takeRequest(device)).filter(Boolean).length;
  t.equal(served('a', 100), 60);
  t.equal(served('b', 10), 10, 'another has its own');
  now_ms += 999;
  t.equal(served('a', 5), 0);
  now_ms += 1;
  t.equal(served('a', 5), 1, 'one a second');
  now_ms += 3_600_000;
  t.equal(served('a', 100), 60, 'never more than a minute of them');
  const off = new DeviceBudgets(1, { on: false });
  t.ok([1, 2, 3].every(() => off.takeRequest('a')));
});

t.test('a device has so many uploads at once, and each ends once', async (t) => {
  const budgets = new DeviceBudgets(60, { on: true });
  const begun = Array.from({ length: LIMITS.device_uploads_in_flight_max }, () => budgets.beginUpload('a'));
  t.ok(begun.every((end) => end !== null));
  t.equal(budgets.beginUpload('a'), null);
  t.not(budgets.beginUpload('b'), null);
  begun[0]?.();
  begun[0]?.();
  t.not(budgets.beginUpload('a'), null);
  t.equal(budgets.beginUpload('a'), null, 'ending twice frees one place');
  const off = new DeviceBudgets(60, { on: false });
  t.ok(Array.from({ length: 50 }, () => off.beginUpload('a')).every((end) => end !== null));
});

const NEVER = () => new AbortController().signal;

t.test('bodies are counted as they come, within a bound and the share of an owner', async (t) => {
  const budget = new BodyBudget();
  const begin = (owner: string) => budget.begin(owner, { is_large: false, hasLeft: NEVER });
  const { bodies_bytes_max: max, bodies_bytes_share_max: share } = LIMITS;
  const first = await begin('a');
  first.take(share);
  t.throws(() => first.take(1), { code: 'UNAVAILABLE' });
  const owners = max / share - 1;
  for (let n = 0; n < owners; n++) (await begin(`b${n}`)).take(share);
  const late = await begin('c');
  t.throws(() => late.take(1), { code: 'UNAVAILABLE' }, 'there is no room for anybody');
  first.end();
  first.end();
  t.equal(budget.bytes, max - share);
  late.take(1);
});

t.test('one large body of an owner comes at a time', async (t) => {
  const budget = new BodyBudget();
  const begin = (owner: string, left = new AbortController()) =>
    budget.begin(owner, { is_large: true, hasLeft: () => left.signal });
  const first = await begin('a');
  const gone = new AbortController();
  const leaving = begin('a', gone);
  const second = begin('a');
  const other = await begin('b');
  gone.abort();
  await t.rejects(leaving, { cause: 'left' });
  t.match(budget.large.counts, { taken: 2, waiting: 1 });
  first.end();
  (await second).end();
  other.end();
  t.match(budget.large.counts, { taken: 0, waiting: 0 });
});
