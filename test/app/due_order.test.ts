import t from 'tap';
import { byDue, dueGroup, dueWords, isOverdue } from '../../app/insights/due_order.js';

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

t.test('tasks are told by how far their day is', async (t) => {
  const now = at('2026-11-04T10:00:00'); // a Wednesday
  for (const [due_at, due_date, group, words] of [
    [null, null, 'No date', /^$/],
    ['2026-11-04T12:00:00', '2026-11-04', 'Today', /^Today$/],
    ['2026-11-04T18:00:00', null, 'Today', /^Today, \D*\d/],
    ['2026-11-04T09:00:00', null, 'Overdue', /^Late today$/],
    ['2026-11-03T12:00:00', '2026-11-03', 'Overdue', /^1 day late$/],
    ['2026-10-14T12:00:00', '2026-10-14', 'Overdue', /^3 weeks late$/],
    ['2026-06-04T12:00:00', '2026-06-04', 'Overdue', /^5 months late$/],
    ['2026-11-05T12:00:00', '2026-11-05', 'This week', /^Tomorrow$/],
    ['2026-11-10T12:00:00', '2026-11-10', 'This week', /^Tuesday$/],
    ['2026-11-11T12:00:00', '2026-11-11', 'Later', /11/],
    ['2026-11-12T08:30:00', null, 'Later', /12.*8:30/],
    ['2027-03-01T12:00:00', '2027-03-01', 'Later', /2027/],
  ] as const) {
    const one = made(due_at, due_date);
    t.equal(dueGroup(one, now), group, `${due_at}`);
    t.match(dueWords(one, now), words, `${due_at}`);
  }
});
