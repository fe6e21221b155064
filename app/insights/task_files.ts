import type { Suggestion } from '../../kits/typescript/src/api.js';
import { calendarDate, calendarText, calendarTime, escapedText } from '../../src/domain/calendar_text.js';
import { say } from '../language/say.js';

/** Tasks as files for other programs: a table (RFC 4180) and a calendar (RFC 5545). */

type Named = { suggestion: Suggestion; owner: string | null };

/** A cell that begins so would be a formula. */
const FORMULA = /^[=+\-@\t\r]/;

export function tasksAsTable(tasks: readonly Named[]): string {
  const rows = tasks.map(({ suggestion: { text, kind, status, due_at, due_date }, owner }) => [
    ...[text, kind, owner ?? '', due_date ?? due_at ?? '', status],
  ]);
  return [[say('Text'), say('Kind'), say('Owner|of a task'), say('Due'), say('Status')], ...rows]
    .map((row) => `${row.map(cell).join(',')}\r\n`)
    .join('');
}

function cell(text: string): string {
  const plain = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

export function tasksAsCalendar(tasks: readonly Named[], now_ms: number): string {
  const lines = tasks.flatMap(({ suggestion, owner }) => {
    const { id, text, due_at, due_date, status } = suggestion;
    const due =
      due_date !== null
        ? [`DUE;VALUE=DATE:${calendarDate(due_date)}`]
        : due_at !== null
          ? [`DUE:${calendarTime(Date.parse(due_at))}`]
          : [];
    return [
      ...['BEGIN:VTODO', `UID:${id}@spool`, `DTSTAMP:${calendarTime(now_ms)}`, `SUMMARY:${escapedText(text)}`],
      ...due,
      ...(owner === null ? [] : [`COMMENT:${escapedText(owner)}`]),
      ...[`STATUS:${status === 'completed' ? 'COMPLETED' : 'NEEDS-ACTION'}`, 'END:VTODO'],
    ];
  });
  return calendarText(say('Tasks'), lines);
}
