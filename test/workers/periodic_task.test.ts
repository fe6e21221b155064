import t from 'tap';
import { PeriodicTask } from '../../src/workers/periodic_task.js';

/** Looks that end when the test says so; each gives its number. */
function heldLooks() {
  const ends: ((error?: Error) => void)[] = [];
  const looks = new PeriodicTask(
    () =>
      new Promise<number>((resolve, reject) => {
        const number = ends.length + 1;
        ends.push((error) => (error === undefined ? resolve(number) : reject(error)));
      }),
    3_600_000,
  );
  return { looks, ends };
}

t.test('who asks while a look is under way gets one that begins later', async (t) => {
  const { looks, ends } = heldLooks();
  const first = looks.runOnce();
  const [second, third] = [looks.runOnce(), looks.runOnce()];
  t.equal(ends.length, 1);
  ends[0]?.();
  t.equal(await first, 1);
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(ends.length, 2, 'one for both');
  const fourth = looks.runOnce();
  ends[1]?.();
  t.same([await second, await third], [2, 2]);
  await new Promise((resolve) => setImmediate(resolve));
  ends[2]?.();
  t.equal(await fourth, 3);
});

t.test('one that fails keeps no other from its end, and nobody waits for ever', async (t) => {
  const { looks, ends } = heldLooks();
  const [first, second] = [looks.runOnce(), looks.runOnce()];
  const stopped = looks.stop();
  ends[0]?.(new Error('away'));
  await t.rejects(first, /away/);
  await new Promise((resolve) => setImmediate(resolve));
  ends[1]?.();
  t.equal(await second, 2);
  await stopped;
  await looks.stop();
});
