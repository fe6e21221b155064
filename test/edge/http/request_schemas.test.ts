import t from 'tap';
import { capturedAt } from '../../../src/access/request_schemas.js';

t.test('a timestamp of a place says its local time', async (t) => {
  const offsetOf = (text: string) => capturedAt.parse(text);
  t.same(offsetOf('2026-11-20T20:00:00+01:00'), { captured_at: '2026-11-20T19:00:00.000Z', utc_offset_min: 60 });
  t.same(offsetOf('2026-11-20T20:00:00-09:30'), { captured_at: '2026-11-21T05:30:00.000Z', utc_offset_min: -570 });
  t.same(offsetOf('2026-11-20T20:00:00Z'), { captured_at: '2026-11-20T20:00:00.000Z', utc_offset_min: 0 });
  t.same(offsetOf('2026-11-20T20:00:00-00:00'), { captured_at: '2026-11-20T20:00:00.000Z', utc_offset_min: 0 });
});
