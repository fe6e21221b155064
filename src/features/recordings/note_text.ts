/** The text of a note at most so long, in characters; null for a payload that has none. */
export function noteText(payload: string | null, chars_max: number): string | null {
  const { text } = JSON.parse(payload ?? '{}') as { text?: unknown };
  return typeof text === 'string' && text !== '' ? [...text].slice(0, chars_max).join('') : null;
}
