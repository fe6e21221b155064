/** Calendars as text (RFC 5545). */

const LINE_BYTES_MAX = 75;
const ENCODER = new TextEncoder();

/** A calendar of these components, each a list of lines. */
export function calendarText(product: string, lines: readonly string[]): string {
  const all = ['BEGIN:VCALENDAR', 'VERSION:2.0', `PRODID:-//Spool//${product}//EN`, ...lines, 'END:VCALENDAR'];
  return all.map((line) => `${folded(line)}\r\n`).join('');
}

/** Such as 20261207T090000Z. */
export function calendarTime(ms: number): string {
  return `${new Date(ms).toISOString().replaceAll(/[-:]/g, '').slice(0, 15)}Z`;
}

/** A day such as 2026-12-07 as 20261207. */
export function calendarDate(day: string): string {
  return day.replaceAll('-', '');
}

export function escapedText(text: string): string {
  return text
    .replaceAll(/[\\;,]/g, (mark) => `\\${mark}`)
    .replaceAll(/\r\n|[\n\r\u2028\u2029]/g, '\\n')
    .replaceAll(/\p{Cc}/gu, '');
}

/** Lines of 75 bytes at most; what follows begins with a space. No character is cut. */
function folded(line: string): string {
  const parts: string[] = [];
  let [part, bytes] = ['', 0];
  for (const character of line) {
    const size = ENCODER.encode(character).length;
    if (bytes + size > LINE_BYTES_MAX - (parts.length > 0 ? 1 : 0)) {
      parts.push(part);
      [part, bytes] = ['', 0];
    }
    part += character;
    bytes += size;
  }
  return [...parts, part].join('\r\n ');
}
