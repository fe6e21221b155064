import fc from 'fast-check';
import t from 'tap';
import { type PoolBounds, SharedPool } from '../../../src/engine/pools/shared_pool.js';

const BOUNDS: PoolBounds = {
  places_max: 4,
  share_max: 2,
  waiting_max: 6,
  waiting_share_max: 4,
  wait_ms_max: Number.POSITIVE_INFINITY,
};

const nextRound = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

function poolOf(bounds: Partial<PoolBounds> = {}) {
  const pool = new SharedPool('test', { ...BOUNDS, ...bounds });
  const begun: string[] = [];
  const refused: string[] = [];
  const want = (owner: string, name = owner, signal?: AbortSignal) => {
    if (pool.tryTake(owner)) begun.push(name);
    else
      pool.take(owner, { signal }).then(
        () => begun.push(name),
        ({ cause }) => refused.push(`${name} ${cause}`),
      );
  };
  return { pool, begun, refused, want };
}

t.test('an owner has its share; those that wait are served by owners in turns', async (t) => {
  const { pool, begun, want } = poolOf();
  for (const name of ['a1', 'a2', 'a3', 'a4']) want('a', name);
  t.same(begun, ['a1', 'a2']);
  for (const name of ['b1', 'b2', 'b3']) want('b', name);
  want('c', 'c1');
  t.same(begun, ['a1', 'a2', 'b1', 'b2']);
  t.match(pool.counts, { taken: 4, waiting: 4 });
  for (const owner of ['a', 'b', 'a', 'b']) pool.leave(owner);
  await nextRound();
  t.same(begun.slice(4), ['a3', 'b3', 'c1', 'a4'], 'each owner once, before one has its second');
});

t.test('so many wait, in all and of one owner; the rest is refused', async (t) => {
  const { pool, begun, refused, want } = poolOf({ places_max: 1 });
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']) want('a', name);
  for (const name of ['b1', 'b2', 'b3']) want('b', name);
  await nextRound();
  t.same(begun, ['a1']);
  t.same(refused, ['a6 waiting_share', 'b3 waiting']);
  t.match(pool.counts.refused, { waiting: 1, waiting_share: 1 });
});

t.test('a wait ends when its client leaves, and after its time', async (t) => {
  const { pool, begun, refused, want } = poolOf({ places_max: 1, wait_ms_max: 5 });
  want('a', 'a1');
  const left = new AbortController();
  want('b', 'b1', left.signal);
  left.abort();
  want('b', 'b2', left.signal);
  await nextRound();
  t.same(refused, ['b1 left', 'b2 left']);
  const late = pool.take('b');
  // Its timer keeps no process alive.
  const alive = setInterval(() => {}, 1_000);
  await t.rejects(late, { cause: 'late', code: 'UNAVAILABLE' });
  clearInterval(alive);
  pool.leave('a');
  t.match(pool.counts, { taken: 0, waiting: 0 });
  t.same(begun, ['a1']);
});

t.test('what is short passes what is not', async (t) => {
  const { pool, begun, want } = poolOf({ places_max: 1 });
  want('a', 'a1');
  want('b', 'b long');
  for (const owner of ['c', 'd']) void pool.take(owner, { is_short: true }).then(() => begun.push(`${owner} short`));
  for (const owner of ['a', 'c', 'd']) {
    pool.leave(owner);
    await nextRound();
  }
  t.same(begun, ['a1', 'c short', 'd short', 'b long']);
});

t.test('work gives its place back, also where it fails', async (t) => {
  const { pool } = poolOf({ places_max: 1 });
  await t.rejects(
    pool.run('a', async () => {
      throw new Error('odd');
    }),
    { message: 'odd' },
  );
  t.equal(await pool.run('a', async () => pool.counts.taken), 1);
  t.match(pool.counts, { taken: 0, waiting: 0 });
});

t.test('whatever owners do, bounds hold, nobody is forgotten and all counts end at zero', async () => {
  const owner = fc.constantFrom('a', 'b', 'c');
  const step = fc.oneof(
    fc.record({ does: fc.constant('want' as const), owner }),
    fc.record({ does: fc.constant('leave' as const), owner }),
    fc.record({ does: fc.constant('give up' as const), owner }),
    fc.record({ does: fc.constant('pass' as const), owner }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const pool = new SharedPool('test', { ...BOUNDS, places_max: 3, waiting_max: 100, waiting_share_max: 100 });
      const held = new Map([...'abc'].map((name) => [name, 0]));
      const waiting: { owner: string; left: AbortController; done: boolean }[] = [];
      const settle = async () => {
        await nextRound();
        const taken = [...held.values()].reduce((sum, count) => sum + count, 0);
        const waits = waiting.filter(({ done }) => !done);
        if (taken !== pool.counts.taken || waits.length !== pool.counts.waiting) throw new Error('counts differ');
        if (taken > 3 || [...held.values()].some((count) => count > BOUNDS.share_max)) throw new Error('over a bound');
        const idle = waits.some((one) => taken < 3 && (held.get(one.owner) as number) < BOUNDS.share_max);
        if (idle) throw new Error('somebody waits beside a free place');
      };
      for (const { does, owner } of steps) {
        const count = held.get(owner) as number;
        if (does === 'want') {
          if (pool.tryTake(owner)) held.set(owner, count + 1);
          else {
            const wait = { owner, left: new AbortController(), done: false };
            waiting.push(wait);
            pool
              .take(owner, { signal: wait.left.signal, is_short: steps.length % 2 === 0 })
              .then(() => held.set(owner, (held.get(owner) as number) + 1))
              .catch(() => {})
              .finally(() => {
                wait.done = true;
              });
          }
        } else if (does === 'leave' && count > 0) {
          held.set(owner, count - 1);
          pool.leave(owner);
        } else if (does === 'give up') waiting.find((one) => one.owner === owner && !one.done)?.left.abort();
        await settle();
      }
      for (;;) {
        const [some] = [...held].filter(([, count]) => count > 0);
        if (some === undefined) break;
        held.set(some[0], some[1] - 1);
        pool.leave(some[0]);
        await settle();
      }
      if (pool.counts.taken + pool.counts.waiting > 0) throw new Error('something is left');
    }),
    { numRuns: 100 },
  );
});
