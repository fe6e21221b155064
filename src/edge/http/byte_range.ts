/**
 * The one range that a Range header asks for; null for the whole: no header, another unit, several ranges or a
 * malformed one are all answered with everything (RFC 9110, 14.2).
 */
export function readRange(
  header: string | undefined,
  size_bytes: number,
): { start: number; end: number } | null | 'unsatisfiable' {
  const parts = header === undefined ? null : /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header.trim());
  const [, first = '', last = ''] = parts ?? [];
  if (first === '' && last === '') return null;
  if (first === '') {
    const length = Math.min(Number(last), size_bytes);
    return length === 0 ? 'unsatisfiable' : { start: size_bytes - length, end: size_bytes - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size_bytes - 1 : Math.min(Number(last), size_bytes - 1);
  if (last !== '' && Number(last) < start) return null;
  return start >= size_bytes ? 'unsatisfiable' : { start, end };
}
