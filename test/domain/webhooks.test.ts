import fc from 'fast-check';
import t from 'tap';
import { LIMITS } from '../../src/domain/limits.js';
import { type AttemptVerdict, backoffMs, probeMs, retryAfterMs, verdictOf } from '../../src/domain/webhooks.js';
import { checkPlays, START_MS } from '../fixtures/decisions.js';

const HOUR_MS = 3_600_000;
const JITTERS = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

t.test('F-025 F-026 F-028 what a status says about a delivery', async (t) => {
  const table: Record<AttemptVerdict, number[]> = {
    accepted: [200, 201, 202, 204, 226, 299],
    retryable: [408, 429, 500, 501, 502, 503, 504, 599],
    refused: [300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 409, 410, 422, 425, 451, 499],
    discarded: [],
  };
  for (const [verdict, statuses] of Object.entries(table))
    for (const status of statuses) t.equal(verdictOf(status), verdict, `${status}`);
});

t.test('F-027 Retry-After in seconds or as a date, up to twelve hours', async (t) => {
  const date = (ms: number) => new Date(START_MS + ms).toUTCString();
  const table: [header: string | undefined, ms: number | null][] = [
    [undefined, null],
    ['', null],
    ['  ', null],
    ['0', null],
    ['5', 5_000],
    [' 5 ', 5_000],
    ['005', 5_000],
    ['43199', 43_199_000],
    ['43200', 43_200_000],
    ['43201', 43_200_000],
    ['46800', 43_200_000],
    ['999999999999999', 43_200_000],
    ['-5', null],
    ['+5', null],
    ['5.5', null],
    ['1e99', null],
    ['0x10', null],
    ['5, 10', null],
    ['abc', null],
    ['Infinity', null],
    [date(60_000), 60_000],
    [date(11 * HOUR_MS), 11 * HOUR_MS],
    [date(13 * HOUR_MS), 12 * HOUR_MS],
    [date(0), null],
    [date(-1_000), null],
    ['Mon, 99 Foo 2026 99:99:99 GMT', null],
    [new Date(START_MS + 60_000).toISOString(), null],
    ['2026', 2_026_000],
    // The table begins on Saturday, 31 January 2026, 08:30.
    ['Saturday, 31-Jan-26 08:31:00 GMT', 60_000],
    ['Sunday, 01-Feb-26 08:30:00 GMT', 12 * HOUR_MS],
    ['Friday, 31-Jan-76 08:30:00 GMT', 12 * HOUR_MS],
    ['Sunday, 01-Feb-76 08:30:01 GMT', null], // of 1976
    ['Sat, 31-Jan-26 08:31:00 GMT', null],
    ['Sat Jan 31 08:31:00 2026', 60_000],
    ['Sun Feb  1 08:30:00 2026', 12 * HOUR_MS],
    ['Sun Feb  1 08:30:00 2026 GMT', null],
    ['Sat Jan 31 08:30:60 2026', 60_000],
    ['Sun, 30 Feb 2026 08:30:00 GMT', null],
  ];
  for (const [header, ms] of table) t.equal(retryAfterMs(header, START_MS), ms, `${header}`);

  checkPlays(t, { plays: fc.string({ maxLength: 40 }), runs: 500 }, (header) => {
    const ms = retryAfterMs(header, START_MS);
    if (ms !== null && !(ms > 0 && ms <= LIMITS.retry_after_ms_max)) throw new Error(`${header} waits ${ms} ms`);
  });
});

t.test('F-026 F-029 attempts wait longer and longer, and eight have room within 24 hours', async (t) => {
  const table: [attempt: number, least: number, middle: number, most: number][] = [
    [1, 6_000, 10_000, 14_000],
    [2, 24_000, 40_000, 56_000],
    [3, 96_000, 160_000, 224_000],
    [4, 384_000, 640_000, 896_000],
    [5, 1_536_000, 2_560_000, 3_584_000],
    [6, 6_144_000, 10_240_000, 14_336_000],
    [7, 24_576_000, 40_960_000, 57_344_000],
  ];
  for (const [attempt, ...expected] of table)
    t.strictSame(
      [0, 0.5, 1].map((jitter) => backoffMs(attempt, jitter)),
      expected,
      `after attempt ${attempt}`,
    );
  const { delivery_attempts_max, delivery_lease_ms, delivery_life_ms } = LIMITS;
  t.equal(table.length, delivery_attempts_max - 1);
  // Each attempt lasts until its lease ends, nobody looks for a minute, and the jitter is the worst.
  const longest_ms = table.reduce((sum, [, , , most]) => sum + most + delivery_lease_ms + 60_000, 0);
  t.ok(longest_ms < delivery_life_ms, `${longest_ms / HOUR_MS} hours`);

  const plays = fc.array(JITTERS, { minLength: 7, maxLength: 7 });
  checkPlays(t, { plays, runs: 500 }, (jitters) => {
    const waits = jitters.map((jitter, index) => backoffMs(index + 1, jitter));
    const sum = waits.reduce((total, wait) => total + wait + delivery_lease_ms, 0);
    if (sum >= delivery_life_ms) throw new Error('no room for the eighth attempt');
    if (waits.some((wait, index) => index > 0 && wait <= (waits[index - 1] as number))) throw new Error('shorter');
    if (!waits.every(Number.isSafeInteger)) throw new Error('not whole milliseconds');
  });
});

t.test('F-026 a failing endpoint is probed 30 seconds to 10 minutes apart', async (t) => {
  const table: [failures: number, least: number, middle: number, most: number][] = [
    [5, 30_000, 30_000, 37_500],
    [6, 45_000, 60_000, 75_000],
    [7, 90_000, 120_000, 150_000],
    [8, 180_000, 240_000, 300_000],
    [9, 360_000, 480_000, 600_000],
    [10, 600_000, 600_000, 600_000],
    [1_000_000, 600_000, 600_000, 600_000],
  ];
  for (const [failures, ...expected] of table)
    t.strictSame(
      [0, 0.5, 1].map((jitter) => probeMs(failures, jitter)),
      expected,
      `after ${failures} failures`,
    );
  const plays = fc.record({
    failures: fc.integer({ min: LIMITS.circuit_opens_after, max: 10_000 }),
    jitter: JITTERS,
  });
  checkPlays(t, { plays, runs: 500 }, ({ failures, jitter }) => {
    const ms = probeMs(failures, jitter);
    if (!Number.isSafeInteger(ms) || ms < LIMITS.probe_ms_min || ms > LIMITS.probe_ms_max)
      throw new Error(`${failures} failures wait ${ms} ms`);
  });
});
