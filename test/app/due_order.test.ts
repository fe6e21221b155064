import t from 'tap';
import { byDue, isOverdue } from '../../app/insights/due_order.js';

const made = (due_at: string | null, due_date: string | null, created_at = '2026-11-01T00:00:00.000Z') => {
  return { due_at, due_date, status: 'open' as const, created_at };
};
const at = (text: string) => new Date(text).getTime();

t.test('what is due first comes first, then the newest of what is due at no time', async (t) => {
  const old = made(null, null, '2026-10-01T00:00:00.000Z');
  const recent = made(null, null, '2026-10-02T00:00:00.000Z');
  const noon = made('2026-11-03T12:00:00', null);
  const day = made('2026-11-03T12:00:00', '2026-11-03');
  const later = made('2026-11-04T08:00:00', null);
  t.same([old, later, recent, day, noon].sort(byDue), [noon, day, later, recent, old]);
});

t.test('a day is overdue when it is over, a time when it has passed, and what is settled never', async (t) => {
  const day = made('2026-11-03T12:00:00', '2026-11-03');
  t.notOk(isOverdue(day, at('2026-11-03T23:00:00')));
  t.ok(isOverdue(day, at('2026-11-04T00:00:00')));
  const time = made('2026-11-03T12:00:00', null);
  t.ok(isOverdue(time, at('2026-11-03T12:00:01')));
  for (const status of ['completed', 'dismissed', 'withdrawn'] as const)
    t.notOk(isOverdue({ ...time, status }, at('2027-01-01T00:00:00')), status);
  t.notOk(isOverdue(made(null, null), at('2027-01-01T00:00:00')));
});
