import type { Redis } from 'ioredis';
import t from 'tap';
import { Clock } from '../src/clock.js';
import { until } from './fixtures/until.js';

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

t.test('fault 9: a clock of Redis that jumps by an hour is believed when it stays so, and not before', async (t) => {
  const HOUR_MS = 3_600_000;
  let ahead_ms = 0;
  let asked = 0;
  const redis = {
    async eval() {
      asked += 1;
      const now_ms = Date.now() + ahead_ms;
      return [String(Math.floor(now_ms / 1_000)), String((now_ms % 1_000) * 1_000)];
    },
    get: async () => '0',
  };
  const clock = new Clock(redis as unknown as Redis, { movable: true });
  await clock.start();
  t.teardown(() => clock.stop());
  const off_ms = () => Math.abs(clock.now() - Date.now());
  const syncs = async (count: number) => {
    const wanted = asked + count;
    await until('it was asked', () => asked >= wanted);
  };
  for (const jump_ms of [HOUR_MS, -HOUR_MS]) {
    ahead_ms = jump_ms;
    await syncs(3);
    t.ok(off_ms() < 1_000, `not after three looks at ${jump_ms} ms`);
    ahead_ms = 0;
    await syncs(2);
  }
  ahead_ms = -HOUR_MS;
  await syncs(8);
  t.ok(Math.abs(clock.now() - (Date.now() - HOUR_MS)) < 1_000, 'after eight it is the time');
});
