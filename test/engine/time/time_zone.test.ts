import t from 'tap';
import { dateAfter, isDate } from '../../../src/domain/dates.js';
import { aheadMs, dateAt, dayBounds, isTimeZone, mayBeAhead, noonOf } from '../../../src/engine/time/time_zone.js';

const iso = (at_ms: number) => new Date(at_ms).toISOString();
const in_zone = (time_zone: string) => ({ time_zone, utc_offset_min: 0 });

t.test('K-108 time zones', async (t) => {
  for (const name of ['UTC', 'Europe/Vienna', 'America/Argentina/Buenos_Aires']) t.ok(isTimeZone(name), name);
  for (const name of ['', 'Nowhere/Town', '+01:00', 'x'.repeat(300)]) t.notOk(isTimeZone(name), name);
});

t.test('K-180 days of the calendar', async (t) => {
  for (const day of ['2026-12-07', '2028-02-29']) t.ok(isDate(day), day);
  for (const day of ['2026-02-29', '2026-13-01', '2026-1-1', '2026-12-07T00:00:00Z', 'today', ''])
    t.notOk(isDate(day), day);
  t.equal(dateAfter('2026-12-31', 1), '2027-01-01');
  t.equal(dateAfter('2028-03-01', -1), '2028-02-29');
});

t.test('K-180 noon of a day is by the clocks of the zone, or of an offset', async (t) => {
  t.equal(iso(noonOf('2026-12-07', in_zone('Europe/Vienna'))), '2026-12-07T11:00:00.000Z');
  t.equal(iso(noonOf('2026-07-07', in_zone('Europe/Vienna'))), '2026-07-07T10:00:00.000Z');
  t.equal(iso(noonOf('2026-12-07', { time_zone: null, utc_offset_min: -210 })), '2026-12-07T15:30:00.000Z');
});

t.test('K-180 clocks of a zone have its offset of summer or winter', async (t) => {
  for (const [time_zone, utc_offset_min, may] of [
    ['Europe/Vienna', 60, true],
    ['Europe/Vienna', 120, true],
    ['Europe/Vienna', 0, false],
    ['UTC', 60, false],
    ['Asia/Kathmandu', 345, true],
  ] as const)
    for (const at of ['2026-01-05T12:00:00Z', '2026-07-05T12:00:00Z'])
      t.equal(mayBeAhead(Date.parse(at), { time_zone, utc_offset_min }), may, `${time_zone} ${utc_offset_min} ${at}`);
});

t.test('K-180 a day may have 23 or 25 hours, and begins where clocks skip midnight', async (t) => {
  const hoursOf = (date: string, zone: string) => {
    const { from_ms, until_ms } = dayBounds(date, in_zone(zone));
    return (until_ms - from_ms) / 3_600_000;
  };
  t.equal(hoursOf('2026-03-29', 'Europe/Vienna'), 23);
  t.equal(hoursOf('2026-10-25', 'Europe/Vienna'), 25);
  t.equal(iso(dayBounds('2026-09-06', in_zone('America/Santiago')).from_ms), '2026-09-06T04:00:00.000Z');
  t.equal(dateAt(Date.parse('2026-12-06T23:30:00Z'), in_zone('Europe/Vienna')), '2026-12-07');
  t.equal(dateAt(Date.parse('2026-12-07T01:00:00Z'), { time_zone: null, utc_offset_min: -120 }), '2026-12-06');
  t.equal(aheadMs(Date.parse('2026-07-01T00:00:00Z'), in_zone('Asia/Kolkata')), 5.5 * 3_600_000);
});
