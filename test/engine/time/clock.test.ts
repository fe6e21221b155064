import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import t from 'tap';
import { Clock } from '../../../src/engine/time/clock.js';
import { until } from '../../fixtures/until.js';

/** Seconds and microseconds. */
const redisTime = (now_ms: number) => [String(Math.floor(now_ms / 1_000)), String((now_ms % 1_000) * 1_000)];

t.test('an offset that was asked for before the clock moved does not move it back', async (t) => {
  let answer = (_offset: string) => {};
  const redis = {
    eval: async () => ['1700000000', '0'],
    get: (key: string) =>
      key.includes('offset')
        ? new Promise<string>((resolve) => {
            answer = resolve;
          })
        : null,
    incrby: async (_key: string, ms: number) => ms,
    set: async () => 'OK',
  };
  const clock = new Clock(redis as unknown as Redis, { movable: true });
  const started = clock.start();
  await clock.advance(3_600_000);
  answer('0');
  await started;
  t.teardown(() => clock.stop());
  t.ok(clock.now() >= 1_700_000_000_000 + 3_600_000);
});

t.test('an answer that comes late does not set the clock back', async (t) => {
  const LATE_MS = 100;
  let late_ms = 0;
  let answered = 0;
  const redis = {
    async eval() {
      const now_ms = Date.now();
      await delay(late_ms);
      answered += 1;
      return redisTime(now_ms);
    },
    get: async () => '0',
    set: async () => 'OK',
  };
  const clock = new Clock(redis as unknown as Redis, { movable: true });
  await clock.start();
  t.teardown(() => clock.stop());
  const base_ms = () => clock.now() - performance.now();
  const before_ms = base_ms();
  late_ms = LATE_MS;
  const wanted = answered + 3;
  await until('late answers have come', () => answered >= wanted);
  t.ok(base_ms() > before_ms - LATE_MS / 4);
});

t.test('fault 9: a clock of Redis that jumps by an hour is believed when it stays so, and not before', async (t) => {
  const HOUR_MS = 3_600_000;
  /** Far less than the jump, and far more than two reads of a clock may lie apart. */
  const NEAR_MS = HOUR_MS / 4;
  let ahead_ms = 0;
  let asked = 0;
  const redis = {
    async eval() {
      asked += 1;
      const now_ms = Date.now() + ahead_ms;
      return redisTime(now_ms);
    },
    get: async () => '0',
    set: async () => 'OK',
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
    t.ok(off_ms() < NEAR_MS, `not after three readings at ${jump_ms} ms`);
    ahead_ms = 0;
    await syncs(2);
  }
  ahead_ms = -HOUR_MS;
  await syncs(8);
  t.ok(Math.abs(clock.now() - (Date.now() - HOUR_MS)) < NEAR_MS, 'after eight it is the time');
});

t.test(
  'fault 22: what can not be undone goes by time that two clocks agree on, or that was lived through',
  async (t) => {
    const DAY_MS = 24 * 3_600_000;
    const kept = new Map<string, string>();
    const said: string[] = [];
    const log = { error: (_: unknown, text: string) => said.push(text), info: () => {} };
    /** A process that starts while clocks are so far from the true time. */
    const start = async ({ redis_ms, machine_ms }: { redis_ms: number; machine_ms: number }) => {
      const redis = {
        async eval() {
          const now_ms = Date.now() + redis_ms;
          return redisTime(now_ms);
        },
        get: async (key: string) => kept.get(key) ?? null,
        set: async (key: string, value: number) => kept.set(key, String(value)),
      };
      const machineMs = () => Date.now() + machine_ms;
      const clock = new Clock(redis as unknown as Redis, { movable: false, log: log as never, machineMs });
      await clock.start();
      t.teardown(() => clock.stop());
      return clock;
    };
    const days = (clock: Clock) => Math.round((clock.certain() - Date.now()) / DAY_MS);
    const cases: [string, redis_days: number, machine_days: number, certain_days: number][] = [
      ['both agree', 0, 0, 0],
      ["Redis' is ahead", 8, 0, 0],
      ["this machine's is ahead", 0, 8, 0],
      ["Redis' is behind", -400, 0, 0],
      ["this machine's has begun at zero", 0, -9_000, 0],
      ['both have gone on while nothing ran', 10, 10, 10],
    ];
    for (const [says, redis_days, machine_days, certain_days] of cases) {
      said.length = 0;
      const clock = await start({ redis_ms: redis_days * DAY_MS, machine_ms: machine_days * DAY_MS });
      t.equal(days(clock), certain_days, says);
      t.equal(said.length, redis_days === machine_days ? 0 : 1, 'said once, when they disagree');
      t.equal(clock.apart_ms === 0, redis_days === machine_days);
      const [before_ms, certain_ms, after_ms] = [clock.now(), clock.certain(), clock.now()];
      if (redis_days === machine_days) t.ok(before_ms <= certain_ms && certain_ms <= after_ms, 'it goes by the time');
    }
  },
);
