import t from 'tap';
import { SerialTask } from '../../../src/engine/jobs/serial_task.js';

/** A task whose runs end when the test says so; each gives its number. */
function heldTask() {
  const ends: ((error?: Error) => void)[] = [];
  const task = new SerialTask(
    () =>
      new Promise<number>((resolve, reject) => {
        const number = ends.length + 1;
        ends.push((error) => (error === undefined ? resolve(number) : reject(error)));
      }),
  );
  return { task, ends };
}

t.test('who asks while a look is under way gets one that begins later', async (t) => {
  const { task, ends } = heldTask();
  const first = task.runOnce();
  const [second, third] = [task.runOnce(), task.runOnce()];
  t.equal(ends.length, 1);
  ends[0]?.();
  t.equal(await first, 1);
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(ends.length, 2, 'one for both');
  const fourth = task.runOnce();
  ends[1]?.();
  t.same([await second, await third], [2, 2]);
  await new Promise((resolve) => setImmediate(resolve));
  ends[2]?.();
  t.equal(await fourth, 3);
});

t.test('one that fails keeps no other from its end, and nobody waits for ever', async (t) => {
  const { task, ends } = heldTask();
  const [first, second] = [task.runOnce(), task.runOnce()];
  const stopped = task.stop();
  ends[0]?.(new Error('away'));
  await t.rejects(first, /away/);
  await new Promise((resolve) => setImmediate(resolve));
  ends[1]?.();
  t.equal(await second, 2);
  await stopped;
  await task.stop();
});
