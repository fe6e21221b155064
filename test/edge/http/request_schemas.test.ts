import t from 'tap';
import { capturedAt, trimmedLines, trimmedQuery, trimmedText } from '../../../src/access/request_schemas.js';

t.test('a timestamp of a place says its local time', async (t) => {
  const offsetOf = (text: string) => capturedAt.parse(text);
  t.same(offsetOf('2026-11-20T20:00:00+01:00'), { captured_at: '2026-11-20T19:00:00.000Z', utc_offset_min: 60 });
  t.same(offsetOf('2026-11-20T20:00:00-09:30'), { captured_at: '2026-11-21T05:30:00.000Z', utc_offset_min: -570 });
  t.same(offsetOf('2026-11-20T20:00:00Z'), { captured_at: '2026-11-20T20:00:00.000Z', utc_offset_min: 0 });
  t.same(offsetOf('2026-11-20T20:00:00-00:00'), { captured_at: '2026-11-20T20:00:00.000Z', utc_offset_min: 0 });
});

t.test('J-012 text that people see holds nothing that turns its direction or can not be seen', async (t) => {
  const [line, lines] = [trimmedText(40), trimmedLines(40)];
  for (const text of [
    'Hello \u202ethere',
    'Hello \u2066there',
    'To\u200bday',
    '\u200b',
    ' \u200b ',
    '\u2060',
    '\u3164',
    '\u0301',
  ]) {
    for (const schema of [line, lines]) t.notOk(schema.safeParse(text).success, JSON.stringify(text));
    t.ok(trimmedQuery(40).safeParse(text).success, 'one may search by it');
  }
  t.notOk(line.safeParse('one\u2028two').success);
  for (const text of ['The 👩\u200d👧 say می\u200cخواهم', 'אמרתי שלום']) t.equal(lines.parse(text), text);
  t.equal(lines.parse(' one\n\ttwo '), 'one\n\ttwo');
});
