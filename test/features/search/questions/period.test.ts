import t from 'tap';
import { LIMITS } from '../../../../src/domain/limits.js';
import { periodIn } from '../../../../src/features/search/questions/period.js';

/** A Wednesday; in Auckland it is Thursday already. */
const NOW_MS = Date.parse('2026-11-25T12:30:00.000Z');
const OFFSETS: Record<string, string> = { UTC: 'Z', 'Europe/Vienna': '+01:00', 'Pacific/Auckland': '+13:00' };

/** First and last day, of the calendar there. */
const CASES: [text: string, days: [string, string] | null, rest?: string, zone?: string][] = [
  ['what did I promise last week', ['2026-11-16', '2026-11-22'], 'what did I promise'],
  ['last week', ['2026-11-16', '2026-11-22'], '', 'Pacific/Auckland'],
  ['this week', ['2026-11-23', '2026-11-29']],
  ['two weeks ago', ['2026-11-09', '2026-11-15']],
  ['yesterday', ['2026-11-24', '2026-11-24'], ''],
  ['yesterday', ['2026-11-25', '2026-11-25'], '', 'Pacific/Auckland'],
  ['yesterday at 5pm', ['2026-11-24', '2026-11-24'], ''],
  ['this morning', ['2026-11-25', '2026-11-25'], '', 'Europe/Vienna'],
  ['plans on Monday', ['2026-11-23', '2026-11-23'], 'plans'],
  ['plans on Saturday', ['2026-11-21', '2026-11-21']],
  ['last tuesday', ['2026-11-24', '2026-11-24']],
  ['last weekend', ['2026-11-21', '2026-11-22']],
  ['from monday to tuesday', ['2026-11-23', '2026-11-24']],
  ['what Anna said in March', ['2026-03-01', '2026-03-31'], 'what Anna said in'],
  ['in may', ['2026-05-01', '2026-05-31']],
  ['may 2025', ['2025-05-01', '2025-05-31']],
  ['last month', ['2026-10-01', '2026-10-31']],
  ['last year', ['2025-01-01', '2025-12-31'], '', 'Europe/Vienna'],
  ['budget in 2024', ['2024-01-01', '2024-12-31'], 'budget'],
  ['on november 3', ['2026-11-03', '2026-11-03']],
  ['december 3rd', ['2025-12-03', '2025-12-03']],
  ['2026-11-01', ['2026-11-01', '2026-11-01']],
  ['may', ['2026-05-01', '2026-05-31'], ''],
  ['may I have a second', null],
  ['where he sat in the sun', null],
  ['what did April say', null],
  ['the march of time', null],
  ['monday standup', null],
  ['before last week', null],
  ['next week', null],
  ['tomorrow', null],
  ['now', null],
  ['five minutes ago', null],
  ['5pm', null],
  ['room 12/11', null],
  ['in 2099', null],
  ['budget', null],
];

const UP_TO_NOW: [text: string, day: string, rest: string][] = [
  ['since last friday', '2026-11-20', 'since'],
  ['past 3 days', '2026-11-22', ''],
  ['the last two weeks', '2026-11-11', 'the'],
  ['since 2025', '2025-01-01', ''],
];

t.test('K-108 periods of a query', async (t) => {
  for (const [text, days, rest, time_zone = 'UTC'] of CASES) {
    const found = periodIn(text, { now_ms: NOW_MS, time_zone });
    const at = (day: string, time: string) => Date.parse(`${day}T${time}${OFFSETS[time_zone]}`);
    const expected =
      days === null ? null : { from_ms: at(days[0], '00:00:00.000'), to_ms: at(days[1] as string, '23:59:59.999') };
    t.same(found?.period ?? null, expected, `${text}, ${time_zone}`);
    if (rest !== undefined) t.equal(found?.rest.trim(), rest);
  }
  for (const [text, day, rest] of UP_TO_NOW) {
    const found = periodIn(text, { now_ms: NOW_MS, time_zone: 'UTC' });
    t.same(found?.period, { from_ms: Date.parse(`${day}T00:00:00Z`), to_ms: NOW_MS }, text);
    t.equal(found?.rest.trim(), rest);
  }
  const summer = periodIn('in July', { now_ms: NOW_MS, time_zone: 'Europe/Vienna' })?.period;
  t.same(summer, { from_ms: Date.parse('2026-06-30T22:00:00Z'), to_ms: Date.parse('2026-07-31T21:59:59.999Z') });
});

t.test('K-108 a day begins when it does there, also where clocks skip midnight or have it twice', async (t) => {
  const rows: [day: string, time_zone: string, from: string, to: string][] = [
    ['2026-09-06', 'America/Santiago', '2026-09-06T04:00:00Z', '2026-09-07T03:00:00Z'],
    ['2026-09-05', 'America/Santiago', '2026-09-05T04:00:00Z', '2026-09-06T04:00:00Z'],
    ['2026-04-04', 'America/Santiago', '2026-04-04T03:00:00Z', '2026-04-05T04:00:00Z'],
    ['2025-11-02', 'America/Havana', '2025-11-02T04:00:00Z', '2025-11-03T05:00:00Z'],
    ['2026-10-25', 'Europe/Vienna', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
    ['2011-12-31', 'Pacific/Apia', '2011-12-30T10:00:00Z', '2011-12-31T10:00:00Z'],
  ];
  for (const [day, time_zone, from, to] of rows) {
    const found = periodIn(day, { now_ms: NOW_MS, time_zone })?.period;
    t.same(found, { from_ms: Date.parse(from), to_ms: Date.parse(to) - 1 }, `${day} in ${time_zone}`);
  }
});

t.test('K-108 last night is the one that ends, as long as it does', async (t) => {
  const rows: [now: string, from: string, to: string][] = [
    ['2026-11-25T02:00:00', '2026-11-24', '2026-11-25'],
    ['2026-11-25T05:59:59', '2026-11-24', '2026-11-25'],
    ['2026-11-25T06:00:00', '2026-11-24', '2026-11-24'],
    ['2026-11-25T23:00:00', '2026-11-24', '2026-11-24'],
  ];
  for (const [now, from, to] of rows) {
    for (const text of ['last night', 'what was said last night at 11pm']) {
      const asked = { now_ms: Date.parse(`${now}+01:00`), time_zone: 'Europe/Vienna' };
      const days = { from_ms: Date.parse(`${from}T00:00:00+01:00`), to_ms: Date.parse(`${to}T23:59:59.999+01:00`) };
      t.same(periodIn(text, asked)?.period, days, `${text}, ${now}`);
    }
  }
});

t.test('K-108 a time is looked for in the first characters alone', async (t) => {
  const asked = { now_ms: NOW_MS, time_zone: 'UTC' };
  const beyond = 'x'.repeat(LIMITS.recall_period_chars_max);
  t.equal(periodIn(`${beyond} last week`, asked), null);
  const found = periodIn(`yesterday ${beyond} last week`, asked);
  t.equal(found?.period.from_ms, Date.parse('2026-11-24T00:00:00Z'));
  t.equal(found?.rest.trim(), `${beyond} last week`);
});
