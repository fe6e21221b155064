import fc from 'fast-check';
import t from 'tap';
import type { Sentence } from '../../../../src/features/insights/engines/sentences.js';
import { SpokenDates } from '../../../../src/features/insights/engines/spoken_dates.js';

/** A Wednesday, at half past four in the afternoon there. */
const SAID_AT = '2026-11-25T16:30:00+01:00';

function sentence(text: string, place: number, said_at = SAID_AT, utc_offset_min = 60): Sentence {
  const said = { text, speaker: 'A', language: 'en', turns: [place + 1], evidence: [], is_punctuated: true };
  return { ...said, place, at_ms: Date.parse(said_at), utc_offset_min };
}

/** When the last of these is due, as a day or as a minute there. */
function dueOf(texts: readonly string[], time_zone: string | null = 'Europe/Berlin'): string | null {
  const dates = new SpokenDates(time_zone);
  const sentences = texts.map((text, place) => sentence(text, place));
  for (const one of sentences) dates.read(one);
  const due = dates.due(sentences.slice(-1));
  return due === null ? null : (due.due_date ?? due.due_at);
}

t.test('K-205 days as English says them', (t) => {
  const rows: [string, string | null][] = [
    ['this afternoon', '2026-11-25'],
    ['tonight', '2026-11-25'],
    ['tomorrow', '2026-11-26'],
    ['the day after tomorrow', '2026-11-27'],
    ['by Friday', '2026-11-27'],
    ['on Wednesday', '2026-12-02'],
    ['Wednesday next week', '2026-12-02'],
    ['next Tuesday', '2026-12-01'],
    ['by the end of the week', '2026-11-27'],
    ['by the end of next week', '2026-12-04'],
    ['early next week', '2026-11-30'],
    ['by the end of the month', '2026-11-30'],
    ['by the end of March', '2027-03-31'],
    ['before the weekend', '2026-11-27'],
    ['in a fortnight', '2026-12-09'],
    ['in three days', '2026-11-28'],
    ['a week on Monday', '2026-12-07'],
    ['on the tenth', '2026-12-10'],
    ['on the twenty second', '2026-12-22'],
    ['December seventh', '2026-12-07'],
    ['the seventh of December', '2026-12-07'],
    ['on 7 December', '2026-12-07'],
    ['the third of January', '2027-01-03'],
    ['Monday the thirtieth', '2026-11-30'],
    ['off from the sixteenth to the twenty third', null],
    ['last Thursday', null],
    ['for the first time', null],
    ['twenty people and four percent', null],
  ];
  for (const [text, due] of rows) t.equal(dueOf([text]), due, text);
  t.end();
});

t.test('K-205 times, of the day that is named or spoken of', (t) => {
  const rows: [string[], string | null][] = [
    [['tomorrow at half past eleven'], '2026-11-26T10:30:00.000Z'],
    [['tomorrow at 5 pm'], '2026-11-26T16:00:00.000Z'],
    [['Friday at ten past nine'], '2026-11-27T08:10:00.000Z'],
    [['Friday at quarter to two'], '2026-11-27T12:45:00.000Z'],
    [['on Friday after lunch, say half past one'], '2026-11-27T12:30:00.000Z'],
    [['at 14:30 on 15 December'], '2026-12-15T13:30:00.000Z'],
    [['by seven'], '2026-11-25T18:00:00.000Z'],
    [['at nine'], '2026-11-25T20:00:00.000Z'],
    [['We meet on the tenth.', 'At half past eleven.'], '2026-12-10T10:30:00.000Z'],
    [['We meet on the tenth.', 'The night before, from ten on.'], '2026-12-09T21:00:00.000Z'],
    [['We meet on the tenth.', 'By the Monday of that week.'], '2026-12-07'],
    [['The fourth of January?', 'Better the eleventh.'], '2027-01-11'],
    [['The flight is at 06:40 on Thursday.'], '2026-11-26T05:40:00.000Z'],
    [['Wake me up at six tomorrow.'], '2026-11-26T05:00:00.000Z'],
    [['The concert is on Friday at eight.'], '2026-11-27T19:00:00.000Z'],
    [['Call the baker tomorrow at nine about the rolls.'], '2026-11-26T08:00:00.000Z'],
    [['at four percent'], null],
  ];
  for (const [texts, due] of rows) t.equal(dueOf(texts), due, texts.join(' '));
  t.end();
});

t.test('K-205 the zone of the profile counts, and else the clocks of the recording', (t) => {
  t.equal(dueOf(['tomorrow at noon'], 'America/New_York'), '2026-11-26T17:00:00.000Z');
  t.equal(dueOf(['tomorrow at noon'], null), '2026-11-26T11:00:00.000Z');
  // In Auckland it is Thursday already; clocks there are moved in April.
  t.equal(dueOf(['tomorrow'], 'Pacific/Auckland'), '2026-11-27');
  t.equal(dueOf(['on the tenth of May at noon'], 'Pacific/Auckland'), '2027-05-10T00:00:00.000Z');
  t.end();
});

t.test('K-205 the end of a day is that of the day beside it', (t) => {
  const rows: [string, string | null][] = [
    ['by end of day tomorrow', '2026-11-26'],
    ['by end of day', '2026-11-25'],
    ['by the end of the day', '2026-11-25'],
    ['by the end of the working day on Friday', '2026-11-27'],
    ['by close of business tomorrow', '2026-11-26'],
    ['by EOD Monday', '2026-11-30'],
    ['by COB on Tuesday', '2026-12-01'],
    ['tomorrow by end of day', '2026-11-26'],
    ['on Friday, by close of play', '2026-11-27'],
    ['by end of day on the tenth of December', '2026-12-10'],
    ['by the end of tomorrow', '2026-11-26'],
  ];
  for (const [text, due] of rows) t.equal(dueOf([`I will do it ${text}.`]), due, text);
  t.end();
});

t.test('K-205 so long before or after another day', (t) => {
  const rows: [string, string | null][] = [
    ['by end of business the day after tomorrow', '2026-11-27'],
    ['the day before Monday', '2026-11-29'],
    ['two days before Monday', '2026-11-28'],
    ['a week before the tenth', '2026-12-03'],
    ['a week after Friday', '2026-12-04'],
    ['a week from tomorrow', '2026-12-03'],
    ['a week from Monday', '2026-12-07'],
    ['the evening before the tenth', '2026-12-09'],
    ['three days before the end of the month', '2026-11-27'],
    ['the Friday before the tenth', '2026-12-04'],
    ['the Monday after the tenth', '2026-12-14'],
    ['the day after the third of December', '2026-12-04'],
    ['a fortnight after December first', '2026-12-15'],
    ['the day before yesterday', null],
    ['the day after tomorrow', '2026-11-27'],
    ['the week after next', '2026-12-11'],
    ['on Tuesday of the week after next', '2026-12-08'],
  ];
  for (const [text, due] of rows) t.equal(dueOf([`I will do it ${text}.`]), due, text);
  t.end();
});

t.test('K-205 which weekday or day of a month', (t) => {
  const rows: [string, string | null][] = [
    ['on the third Thursday of January', '2027-01-21'],
    ['the last Friday of the month', '2026-11-27'],
    ['on the last Friday of December', '2026-12-25'],
    ['the first Monday of next month', '2026-12-07'],
    ['the second Tuesday in March', '2027-03-09'],
    ['on the first Monday of November', '2027-11-01'],
    ['the first working day of January', '2027-01-01'],
    ['on the last day of November', '2026-11-30'],
    ['the last day of the year', '2026-12-31'],
    ['the first Tuesday of the month', '2026-12-01'],
    ['the fifth Monday of December', null],
    ['the first of the month', '2026-12-01'],
    ['on the fifteenth of next month', '2026-12-15'],
    ['by the thirty first of next month', '2026-12-31'],
    ['the first thing of the day', null],
    ['the first half of the game', null],
    ['in the second quarter of the game', null],
  ];
  for (const [text, due] of rows) t.equal(dueOf([`I will do it ${text}.`]), due, text);
  t.end();
});

t.test('K-205 what is taken back is not due, and what takes its place is', (t) => {
  const rows: [string, string | null][] = [
    ['not tomorrow but on Friday', '2026-11-27'],
    ['not on Friday but on Monday', '2026-11-30'],
    ['on Friday, not on Monday', '2026-11-27'],
    ['on Friday instead of Thursday', '2026-11-27'],
    ['instead of Thursday on Friday', '2026-11-27'],
    ['on Monday, sorry, on Tuesday', '2026-12-01'],
    ['on Monday, I mean Tuesday', '2026-12-01'],
    ['Monday, or rather Tuesday', '2026-12-01'],
    ['Monday, no wait, Friday', '2026-11-27'],
    ['no later than Friday', '2026-11-27'],
    ['not later than Friday', '2026-11-27'],
    ['not before Friday', '2026-11-27'],
    ['why not on Friday', '2026-11-27'],
    ['not this week but next week', '2026-12-04'],
    ['not tomorrow', null],
    ['tomorrow at nine, no, at ten', '2026-11-26T09:00:00.000Z'],
    ['tomorrow, not at nine but at ten', '2026-11-26T09:00:00.000Z'],
    ['rather than Thursday, on Saturday', '2026-11-28'],
    ['at three, make that four, tomorrow', '2026-11-26T15:00:00.000Z'],
    ['no, tomorrow', '2026-11-26'],
    ['I am not in today but tomorrow', '2026-11-26'],
  ];
  for (const [text, due] of rows) t.equal(dueOf([`I will do it ${text}.`]), due, text);
  t.end();
});

t.test('K-205 further forms, and what only sounds like a day', (t) => {
  const rows: [string, string | null][] = [
    ['on Monday or on Tuesday', '2026-11-30'],
    ['two weeks from Friday', '2026-12-11'],
    ['within ten working days', '2026-12-09'],
    ['in five business days', '2026-12-02'],
    ['a week tomorrow', '2026-12-03'],
    ['may be on the third day', null],
    ['I may second that', null],
    ['the last time we met', null],
  ];
  for (const [text, due] of rows) t.equal(dueOf([`I will do it ${text}.`]), due, text);
  t.end();
});

t.test('K-205 days and times as they are said in Britain, Ireland and elsewhere', (t) => {
  const rows: [string, string | null][] = [
    ['Wednesday week', '2026-12-09'],
    ['Friday week at half ten', '2026-12-04T09:30:00.000Z'],
    ['Monday fortnight', '2026-12-14'],
    ['tomorrow week', '2026-12-03'],
    ['today week', '2026-12-02'],
    ['three weeks on Friday', '2026-12-18'],
    ['the morra', '2026-11-26'],
    ['this arvo', '2026-11-25'],
    ['the second Tuesday of May', '2027-05-11'],
    ['first thing Monday', '2026-11-30'],
    ['first thing in the morning', '2026-11-26'],
    ['first thing', '2026-11-26'],
    ['before we lock up', '2026-11-25'],
    ['in the morning', '2026-11-26'],
    ['by the, um, nineteenth', '2026-12-19'],
    ['from Monday', '2026-11-30'],
    ['half three on Friday', '2026-11-27T14:30:00.000Z'],
    ['half eight in the morning on Friday', '2026-11-27T07:30:00.000Z'],
    ['quarter past eight tomorrow morning', '2026-11-26T07:15:00.000Z'],
    ['Monday at 5:30', '2026-11-30T16:30:00.000Z'],
    ['at five thirty pm tomorrow', '2026-11-26T16:30:00.000Z'],
    ['at nine oh five tomorrow', '2026-11-26T08:05:00.000Z'],
    ['between nine and ten tomorrow', '2026-11-26T08:00:00.000Z'],
    ['on Friday, ten to two', '2026-11-27T09:00:00.000Z'],
    ['on Friday at ten to two', '2026-11-27T12:50:00.000Z'],
    ['12/7/2026 at 5pm', '2026-12-07T16:00:00.000Z'],
    ['not on a Friday, on Monday', '2026-11-30'],
    ['we had six in January two and no more', null],
  ];
  for (const [text, due] of rows) t.equal(dueOf([`I will do it ${text}.`]), due, text);
  t.equal(dueOf(['The samples are not here today, so the shoot is on Friday.']), '2026-11-27');
  t.equal(dueOf(['We meet on the tenth.', 'The tenth is fine.']), '2026-12-10');
  t.equal(dueOf(['The shop is shut on Friday.', 'The till is down till nine.']), '2026-11-25T20:00:00.000Z');
  t.end();
});

t.test('K-205 a sentence takes back the day of the one before', (t) => {
  const rows: [string[], string][] = [
    [['I can do Friday.', 'No, wait, Friday I am away.', 'Monday.'], '2026-11-30'],
    [['I can do Friday.', 'Actually, make it Monday.'], '2026-11-30'],
    [['I can do Friday.', 'Then Monday is free for the rest.'], '2026-11-27'],
    [['Friday.', 'At nine.'], '2026-11-27T08:00:00.000Z'],
  ];
  for (const [texts, due] of rows) {
    const dates = new SpokenDates('Europe/Berlin');
    const sentences = texts.map((text, place) => sentence(text, place));
    for (const one of sentences) dates.read(one);
    const found = dates.due(sentences);
    t.equal(found?.due_date ?? found?.due_at, due, texts.join(' '));
  }
  t.end();
});

t.test('K-205 spans of hours and minutes', (t) => {
  const rows: [string, string | null][] = [
    ['in two hours', '2026-11-25T17:30:00.000Z'],
    ['in half an hour', '2026-11-25T16:00:00.000Z'],
    ['in an hour', '2026-11-25T16:30:00.000Z'],
    ['in an hour and a half', '2026-11-25T17:00:00.000Z'],
    ['in two and a half hours', '2026-11-25T18:00:00.000Z'],
    ['in twenty minutes', '2026-11-25T15:50:00.000Z'],
    ['in a quarter of an hour', '2026-11-25T15:45:00.000Z'],
    ['in three quarters of an hour', '2026-11-25T16:15:00.000Z'],
    ['within the hour', '2026-11-25T16:30:00.000Z'],
    ['an hour from now', '2026-11-25T16:30:00.000Z'],
    ['within the next two hours', '2026-11-25T17:30:00.000Z'],
    ['in a couple of hours', '2026-11-25T17:30:00.000Z'],
    ['in about ten minutes', '2026-11-25T15:40:00.000Z'],
    ['in ten hours', '2026-11-26T01:30:00.000Z'],
    ['in 45 minutes', '2026-11-25T16:15:00.000Z'],
    ['for two hours', null],
    ['two hours ago', null],
    ['it takes half an hour', null],
    ['half an hour of rest', null],
    ['every two hours', null],
    ['in two hours from now', '2026-11-25T17:30:00.000Z'],
    ['in 2 hrs', '2026-11-25T17:30:00.000Z'],
  ];
  for (const [text, due] of rows) t.equal(dueOf([`I will do it ${text}.`]), due, text);
  t.end();
});

t.test('K-205 beginning, middle and end of a period', (t) => {
  const rows: [string, string | null][] = [
    ['by the end of the quarter', '2026-12-31'],
    ['by the end of next quarter', '2027-03-31'],
    ['by the end of Q1', '2027-03-31'],
    ['at the end of the first quarter', '2027-03-31'],
    ['by the end of the year', '2026-12-31'],
    ['by the end of next year', '2027-12-31'],
    ['by year end', '2026-12-31'],
    ["by the month's end", '2026-11-30'],
    ['at the beginning of next month', '2026-12-01'],
    ['at the beginning of March', '2027-03-01'],
    ['in the middle of January', '2027-01-15'],
    ['by the middle of the month', '2026-12-15'],
    ['by mid December', '2026-12-15'],
    ['at the start of next week', '2026-11-30'],
    ['at the start of the week', '2026-11-30'],
    ['by the end of the weekend', '2026-11-29'],
    ['by the end of Q4', '2026-12-31'],
    ['by the end of November', '2026-11-30'],
    ['in the middle of next week', '2026-12-02'],
    ['in the next two weeks', '2026-12-09'],
    ['in two months', '2027-01-25'],
    ['in a year', '2027-11-25'],
    ['on the Tuesday of next week', '2026-12-01'],
    ['the end of the road', null],
    ['middle of nowhere', null],
  ];
  for (const [text, due] of rows) t.equal(dueOf([`I will do it ${text}.`]), due, text);
  t.end();
});

t.test('K-205 what comes again is due the next time', (t) => {
  const rows: [string, string | null][] = [
    ['every morning at seven', '2026-11-26T06:00:00.000Z'],
    ['each evening at eight', '2026-11-25T19:00:00.000Z'],
    ['every day at seven', '2026-11-26T06:00:00.000Z'],
    ['every Monday at nine', '2026-11-30T08:00:00.000Z'],
    ['every evening at four', '2026-11-26T15:00:00.000Z'],
    ['daily at eight', '2026-11-26T07:00:00.000Z'],
    ['tomorrow morning at seven', '2026-11-26T06:00:00.000Z'],
  ];
  for (const [text, due] of rows) t.equal(dueOf([`I will do it ${text}.`]), due, text);
  t.end();
});

t.test('K-205 dates that no calendar has, and years', (t) => {
  const rows: [string, string | null][] = [
    ['on February 30th', null],
    ['the thirty-first of November', null],
    ['on 30 February', null],
    ['on the thirty second of May', null],
    ['on April 31', null],
    ['on 31/11/2026', null],
    ['on 2026-02-30', null],
    ['February 29th', null],
    ['on February 29th 2028', '2028-02-29'],
    ['on the thirty first', '2026-12-31'],
    ['on March 5th, 2028', '2028-03-05'],
    ['the third of December 2027', '2027-12-03'],
    ['on December 1', '2026-12-01'],
  ];
  for (const [text, due] of rows) t.equal(dueOf([`I will do it ${text}.`]), due, text);
  t.end();
});

const DAY_MS = 86_400_000;
const dayText = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10);
const NAMES = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth'];
/** The day on which it is said, and what is due then, read at noon there. */
const today = fc.integer({ min: Date.UTC(2026, 0, 1) / DAY_MS, max: Date.UTC(2031, 0, 1) / DAY_MS });
function dueOn(day: number, text: string): string | null {
  const dates = new SpokenDates('UTC');
  const said = sentence(`I will do it ${text}.`, 0, `${dayText(day)}T12:00:00Z`, 0);
  dates.read(said);
  const due = dates.due([said]);
  return due === null ? null : (due.due_date ?? due.due_at);
}
function holds(property: fc.IProperty<unknown>): void {
  fc.assert(property as fc.IProperty<[unknown]>, { numRuns: 400 });
}

t.test('K-205 a date is that day of that year or the next, and none where there is none', (t) => {
  const date = fc.record({ today, month: fc.nat({ max: 11 }), date: fc.integer({ min: 1, max: 31 }) });
  holds(
    fc.property(date, fc.nat({ max: 2 }), ({ today, month, date }, form) => {
      const name = MONTHS[month] as string;
      const text = [`on ${name} ${date}`, `on the ${date}${suffixOf(date)} of ${name}`, `on ${date} ${name}`][
        form
      ] as string;
      const year = new Date(today * DAY_MS).getUTCFullYear();
      const is_past = today - Date.UTC(year, month, date) / DAY_MS > 60;
      const at = new Date(Date.UTC(is_past ? year + 1 : year, month, date));
      const is_there = at.getUTCDate() === date && at.getTime() >= today * DAY_MS;
      assertEqual(dueOn(today, text), is_there ? at.toISOString().slice(0, 10) : null, text);
    }),
  );
  t.end();
});

t.test('K-205 the first to fifth and last of a weekday in a month', (t) => {
  const asked = fc.record({ today, month: fc.nat({ max: 11 }), nth: fc.nat({ max: 5 }), weekday: fc.nat({ max: 6 }) });
  holds(
    fc.property(asked, ({ today, month, nth, weekday }) => {
      const which = ORDINALS[nth] ?? 'last';
      const text = `on the ${which} ${NAMES[weekday]} of ${MONTHS[month]}`;
      const now = new Date(today * DAY_MS);
      const first_year = now.getUTCFullYear() + (month < now.getUTCMonth() ? 1 : 0);
      const found = [first_year, first_year + 1].map((year) => {
        const days = Array.from({ length: 31 }, (_, at) => Date.UTC(year, month, at + 1))
          .filter(
            (at_ms) => new Date(at_ms).getUTCMonth() === month && (new Date(at_ms).getUTCDay() + 6) % 7 === weekday,
          )
          .map((at_ms) => at_ms / DAY_MS);
        return which === 'last' ? days.at(-1) : days[nth];
      });
      const wanted = found[0] === undefined || found[0] >= today ? found[0] : found[1];
      assertEqual(dueOn(today, text), wanted === undefined ? null : dayText(wanted), text);
    }),
  );
  t.end();
});

const BASES: [string, (today: number) => number][] = [
  ['tomorrow', (day) => day + 1],
  ...NAMES.map((name, weekday): [string, (day: number) => number] => [
    name,
    (day) => day + ((((weekday - ((day + 3) % 7) + 6) % 7) + 7) % 7) + 1,
  ]),
  ['next Tuesday', (day) => day - ((day + 3) % 7) + 8],
];
const base = fc.constantFrom(...BASES);

t.test('K-205 so many days or weeks before or after a day', (t) => {
  const asked = fc.record({
    today,
    count: fc.integer({ min: 2, max: 9 }),
    is_week: fc.boolean(),
    is_before: fc.boolean(),
  });
  holds(
    fc.property(asked, base, ({ today, count, is_week, is_before }, [name, dayOf]) => {
      const text = `${count} ${is_week ? 'weeks' : 'days'} ${is_before ? 'before' : 'after'} ${name}`;
      const day = dayOf(today) + count * (is_week ? 7 : 1) * (is_before ? -1 : 1);
      assertEqual(dueOn(today, text), day >= today ? dayText(day) : null, text);
    }),
  );
  t.end();
});

t.test('K-205 whatever is taken back, the day that takes its place is due', (t) => {
  const forms: ((one: string, other: string) => string)[] = [
    (one, other) => `not ${one} but ${other}`,
    (one, other) => `not on ${one} but on ${other}`,
    (one, other) => `${one}, no, ${other}`,
    (one, other) => `on ${one}, sorry, on ${other}`,
    (one, other) => `by ${one}, I mean by ${other}`,
    (one, other) => `${one}, or rather ${other}`,
    (one, other) => `on ${other}, not on ${one}`,
    (one, other) => `${other} instead of ${one}`,
    (one, other) => `by end of day ${one}, no, by end of day ${other}`,
  ];
  holds(
    fc.property(today, fc.tuple(base, base), fc.constantFrom(...forms), (today, [one, other], form) => {
      const text = form(one[0], other[0]);
      assertEqual(dueOn(today, text), dayText(other[1](today)), text);
    }),
  );
  t.end();
});

t.test('K-205 the end of a day is that of the day beside it', (t) => {
  const ends = [
    'end of day',
    'the end of the day',
    'end of business',
    'close of business',
    'EOD',
    'the end of the working day',
  ];
  holds(
    fc.property(today, base, fc.constantFrom(...ends), fc.nat({ max: 2 }), (today, [name, dayOf], end, form) => {
      const text = [`by ${end} ${name}`, `by ${end} on ${name}`, `on ${name} by ${end}`][form] as string;
      assertEqual(dueOn(today, text), dayText(dayOf(today)), text);
    }),
  );
  t.end();
});

t.test('K-205 whatever words come together, a due time is none or one ahead', (t) => {
  const words =
    `the a first second third last next this every before after from not but no in on by at of end middle day days week weeks month quarter
    year hour hours half an two three thirty 30 31 seven Monday Friday tomorrow today morning May February December noon past to , . EOD`.split(
      /\s+/,
    );
  holds(
    fc.property(today, fc.array(fc.constantFrom(...words), { maxLength: 12 }), (today, said) => {
      const due = dueOn(today, said.join(' '));
      if (due !== null && !(Date.parse(due) >= today * DAY_MS)) throw new Error(`${said.join(' ')}: ${due}`);
    }),
  );
  t.end();
});

function suffixOf(date: number): string {
  return date % 10 === 1 && date !== 11
    ? 'st'
    : date % 10 === 2 && date !== 12
      ? 'nd'
      : date % 10 === 3 && date !== 13
        ? 'rd'
        : 'th';
}

function assertEqual(is: string | null, wanted: string | null, text: string): void {
  if (is !== wanted) throw new Error(`${text}: ${is}, not ${wanted}`);
}
