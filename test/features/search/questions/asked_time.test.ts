import t from 'tap';
import { askedTime } from '../../../../src/features/search/questions/asked_time.js';

/** A Wednesday. */
const ASKED = { now_ms: Date.parse('2026-11-25T12:30:00.000Z'), time_zone: 'UTC' };

/** Questions about when something was said, with the days that bind. */
const BOUND: [text: string, first: string, last: string][] = [
  ['what did we say last week', '2026-11-16', '2026-11-22'],
  ['what did I record yesterday', '2026-11-24', '2026-11-24'],
  ['What did Ben promise on Monday?', '2026-11-23', '2026-11-23'],
  ['what Anna said in March', '2026-03-01', '2026-03-31'],
  ['Last week, what did we discuss about bread?', '2026-11-16', '2026-11-22'],
  ['What did Anna say about the budget last Tuesday?', '2026-11-24', '2026-11-24'],
  ['What was decided in the meeting on Monday?', '2026-11-23', '2026-11-23'],
  ['what happened last week', '2026-11-16', '2026-11-22'],
  ['last week', '2026-11-16', '2026-11-22'],
  ['today', '2026-11-25', '2026-11-25'],
  ['2026-11-01', '2026-11-01', '2026-11-01'],
];
/** Times that were talked about. */
const WORDS = [
  'code freeze december seventh',
  'launch in December',
  'lunch on Thursday',
  'Who is on call this weekend?',
  'What is on 30 November?',
  'december 3rd',
  'may',
  'what is on today',
  'When did we say that we launch in December?',
  'what do I have to tell Anna on Thursday',
  'did we agree to launch on December 10',
  'What did we say about the trip in March?',
  'the outage last Thursday',
  'budget in 2024',
];

t.test('K-108 a time binds a question about when something was said', async (t) => {
  for (const [text, first, last] of BOUND) {
    const { period } = askedTime(text, ASKED);
    const days = { from_ms: Date.parse(`${first}T00:00:00.000Z`), to_ms: Date.parse(`${last}T23:59:59.999Z`) };
    t.same(period, days, text);
  }
});

t.test('K-190 a time that was talked about binds nothing and stays in the question', async (t) => {
  for (const text of WORDS) t.match(askedTime(text, ASKED), { period: null, rest: text }, text);
  t.equal(askedTime('lunch on Thursday', ASKED).near, null, 'it may be to come');
  t.equal(askedTime('the outage last Thursday', ASKED).near?.from_ms, Date.parse('2026-11-19T00:00:00Z'));
});

t.test('K-190 days that were talked about', async (t) => {
  const rows: [text: string, days: [year: number | null, month: number, day: number][]][] = [
    ['code freeze december seventh', [[null, 12, 7]]],
    ['what is due on the 7.12.?', [[null, 12, 7]]],
    ['what is due on 7. 12. 2027', [[2027, 12, 7]]],
    ['from 3 February to 2 March', [[null, 2, 3]]],
    ['version 1.2.3', []],
    ['on 45.13.', []],
    ['on Monday', []],
  ];
  for (const [text, days] of rows) {
    const found = askedTime(text, ASKED).days.map(({ year, month, day }) => [year, month, day]);
    t.same(found.slice(0, days.length || 1), days, text);
  }
});
