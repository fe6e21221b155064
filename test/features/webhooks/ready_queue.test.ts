import t from 'tap';
import { LIMITS } from '../../../src/domain/limits.js';
import {
  type Bound,
  type ConcurrencyGroups,
  ConcurrencyLimit,
} from '../../../src/features/webhooks/concurrency_limit.js';
import { type Queued, ReadyQueue } from '../../../src/features/webhooks/ready_queue.js';
import { until } from '../../fixtures/until.js';

/** Takes one place when it starts. */
class Waiting implements Queued {
  tries = 0;
  started = false;
  constructor(
    readonly groups: ConcurrencyGroups,
    readonly limit: ConcurrencyLimit,
  ) {}
  tryStart(): Bound | null {
    this.tries += 1;
    const bound = this.limit.boundOf(this.groups, 0);
    if (bound !== null) return bound;
    this.started = true;
    this.limit.take(this.groups, 1);
    return null;
  }
}

const hanging = 'https://hangs.test';
const groups = (account_id: string, origin = `https://${account_id}.test`) => ({ account_id, origin });

function world() {
  const [limit, queue] = [new ConcurrencyLimit(), new ReadyQueue()];
  const add = (of: ConcurrencyGroups) => {
    const one = new Waiting(of, limit);
    queue.add(one);
    return one;
  };
  const free = (of: ConcurrencyGroups) => {
    limit.giveBack(of, 1);
    queue.freed(of);
  };
  return { limit, queue, add, free };
}

t.test('F-030: thousands that wait for one receiver are not looked at for the places of others', async (t) => {
  const { limit, add, free } = world();
  limit.take(groups('first', hanging), LIMITS.origin_in_flight_max);
  const waiting = Array.from({ length: 5_000 }, (_, n) => add(groups(`a${n}`, hanging)));
  t.notOk(waiting.some(({ started }) => started));
  const healthy = add(groups('b'));
  t.ok(healthy.started, 'another receiver does not wait');
  const tries_before = waiting.reduce((sum, { tries }) => sum + tries, 0);
  free(groups('b'));
  free(groups('first', hanging));
  await until('the first of the line starts', () => waiting[0]?.started === true);
  const tries = waiting.reduce((sum, one) => sum + one.tries, 0) - tries_before;
  t.ok(tries <= 3, `a place that comes free costs ${tries} tries`);
  t.equal(waiting.filter(({ started }) => started).length, 1);
});

t.test('F-030: the next one waits behind those that wait for the same, and each gets its turn', async (t) => {
  const { limit, add, free } = world();
  const full = groups('first', hanging);
  limit.take(full, LIMITS.origin_in_flight_max);
  const line = [add(groups('a', hanging)), add(groups('b', hanging))];
  limit.giveBack(full, 1);
  line.push(add(groups('c', hanging)));
  t.same(
    line.map(({ started }) => started),
    [false, false, false],
    'a free place belongs to the first',
  );
  for (const at of [1, 2, 3]) {
    await until('the next one starts', () => line.filter(({ started }) => started).length === at);
    t.same(
      line.map(({ started }) => started),
      line.map((_, n) => n < at),
    );
    free(full);
  }
});

t.test('F-030: what waited for one bound waits for the next, and leaves when it wants nothing any more', async (t) => {
  const { limit, queue, add, free } = world();
  const [full, rest] = [groups('first', hanging), LIMITS.deliveries_in_flight_max - LIMITS.origin_in_flight_max];
  limit.take(full, LIMITS.origin_in_flight_max);
  for (let n = 0; n < rest; n++) limit.take(groups(`o${n}`), 1);
  const [one, gone] = [add(groups('a', hanging)), add(groups('b'))];
  queue.remove(gone);
  free(groups('o0'));
  await until('it was tried', () => one.tries === 2);
  t.notOk(one.started, 'its origin has none');
  free(full);
  await until('it starts', () => one.started);
  t.notOk(gone.started);
  t.notOk(queue.isAhead(full), 'nobody waits any more');
});
