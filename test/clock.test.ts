import type { Redis } from 'ioredis';
import t from 'tap';
import { Clock } from '../src/clock.js';

t.test('an offset that was asked for before the clock moved does not move it back', async (t) => {
  let answer = (_offset: string) => {};
  const redis = {
    eval: async () => ['1700000000', '0'],
    get: () =>
      new Promise<string>((resolve) => {
        answer = resolve;
      }),
    incrby: async (_key: string, ms: number) => ms,
  };
  const clock = new Clock(redis as unknown as Redis, { movable: true });
  const started = clock.start();
  await clock.advance(3_600_000);
  answer('0');
  await started;
  t.teardown(() => clock.stop());
  t.ok(clock.now() >= 1_700_000_000_000 + 3_600_000);
});
