import { LIMITS } from '../../domain/limits.js';

/** A tool's result as text, for clients that read nothing else: all of a small one, and of a larger one the main things. */

/** Members that say the most, in this order. */
const TELLING = [
  'title',
  'title_suggested',
  'name',
  'kind',
  'status',
  'speaker',
  'text',
  'summary',
  'quote',
  'at',
  'started_at',
];
const TELLING_ALSO = ['captured_at', 'due_date', 'due_at', 'occurred_at', 'type'];
const MEMBER_CHARS_MAX = 160;

export function resultText(result: Record<string, unknown>): string {
  const json = JSON.stringify(result);
  if (json.length <= LIMITS.tool_text_chars_max) return json;
  const lines: string[] = ['In short; all of it is in structuredContent.'];
  for (const [name, value] of Object.entries(result)) {
    if (Array.isArray(value)) {
      lines.push(`${name}: ${value.length}`);
      lines.push(...value.map((item) => `- ${lineOf(item)}`));
    } else if (value !== null && typeof value !== 'object') lines.push(`${name}: ${shortened(String(value))}`);
  }
  let text = '';
  for (const line of lines) {
    if (text.length + line.length + 1 > LIMITS.tool_text_chars_max) return `${text}…`;
    text += `${line}\n`;
  }
  return text;
}

function lineOf(item: unknown): string {
  if (typeof item !== 'object' || item === null) return shortened(String(item));
  const members = item as Record<string, unknown>;
  const id = Object.keys(members).find((name) => name === 'id' || name.endsWith('_id'));
  const told = [...TELLING, ...TELLING_ALSO]
    .map((name) => members[name])
    .filter((value): value is string => typeof value === 'string' && value !== '');
  return [...told.map(shortened), ...(id === undefined ? [] : [`${id} ${String(members[id])}`])].join(' · ');
}

function shortened(text: string): string {
  const characters = [...text.replaceAll(/\s+/g, ' ')];
  if (characters.length <= MEMBER_CHARS_MAX) return characters.join('');
  return `${characters.slice(0, MEMBER_CHARS_MAX - 1).join('')}…`;
}
