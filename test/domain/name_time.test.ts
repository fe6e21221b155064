import t from 'tap';
import { nameTime } from '../../src/domain/name_time.js';

t.test('K-420 the time in a name of a file', async (t) => {
  const rows: [name: string, expected: string | null, is_day?: boolean][] = [
    ['2026-11-29 10-15-00.m4a', '2026-11-29T09:15:00.000Z'],
    ['2026-11-29T10:15:30.wav', '2026-11-29T09:15:30.000Z'],
    ['20261129_101500.wav', '2026-11-29T09:15:00.000Z'],
    ['REC-20261129-1015.mp3', '2026-11-29T09:15:00.000Z'],
    ['20261129101500.wav', null],
    ['2026_11_29_10_15_00 talk.ogg', '2026-11-29T09:15:00.000Z'],
    ['Screen Recording 2026-11-29 at 10.15.00 PM.mov', '2026-11-29T21:15:00.000Z'],
    ['20261129T101500Z.flac', '2026-11-29T10:15:00.000Z'],
    ['New Recording 2026-11-29.m4a', '2026-11-29T11:00:00.000Z', true],
    ['2026-11-29 99-15-00.m4a', '2026-11-29T11:00:00.000Z', true],
    ['2026-11-29 13.15 PM.m4a', '2026-11-29T11:00:00.000Z', true],
    ['2026-02-30 10-15-00.m4a', null],
    ['2026-13-01.m4a', null],
    ['2026-11_29.m4a', null],
    ['call 120261129.m4a', null],
    ['1999-11-29.m4a', null],
    ['talk.m4a', null],
  ];
  for (const [name, expected, is_day = false] of rows) {
    const found = nameTime(name, 60);
    t.same(
      found && { at: new Date(found.ms).toISOString(), is_day: found.is_day },
      expected && { at: expected, is_day },
      name,
    );
  }
});
