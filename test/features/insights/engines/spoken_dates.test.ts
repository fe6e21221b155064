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
