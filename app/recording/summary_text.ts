import type { StreamSummary, Suggestion } from '../../kits/typescript/src/api.js';
import { say } from '../language/say.js';

/** The summary of a recording as text: a heading and a list for each part that has something. */

type Form = 'txt' | 'md';
type Owner = (task: Suggestion) => string | null;

/** Empty without any part. */
export function summaryText(summary: StreamSummary, form: Form, ownerOf: Owner): string {
  const textsOf = (items: readonly { text: string }[]) =>
    items.flatMap(({ text }) => (text === '' ? [] : [written(text, form)]));
  const tasks = summary.tasks.filter(({ text }) => text !== '');
  const parts: [title: string, lines: string[]][] = [
    [say('Summary'), textsOf(summary.summary_sentences)],
    [say('To do'), tasks.map((task) => taskLine(task, form, ownerOf(task)))],
    [say('Decisions'), textsOf(summary.decisions)],
    [say('Open questions'), textsOf(summary.questions)],
  ];
  return parts
    .filter(([, lines]) => lines.length > 0)
    .map(
      ([title, lines]) => `${form === 'md' ? `## ${title}\n` : title}\n${lines.map((one) => `- ${one}\n`).join('')}\n`,
    )
    .join('');
}

/** Markdown of a transcript, with the summary between its head and its turns. */
export function withSummary(markdown: string, summary: string): string {
  const head = /^# .*\n\n(?:- .*\n)*\n?/.exec(markdown)?.[0] ?? '';
  if (summary === '') return markdown;
  return `${head}${summary}## ${say('Transcript')}\n\n${markdown.slice(head.length)}`;
}

/** Such as "[ ] Book the room (Ann, 2026-11-30)". */
function taskLine({ text, status, due_date, due_at }: Suggestion, form: Form, owner: string | null): string {
  const facts = [owner, due_date ?? due_at].flatMap((fact) => (fact === null ? [] : [written(fact, form)]));
  const is_done = status === 'completed';
  const box = form === 'md' ? (is_done ? '[x] ' : '[ ] ') : is_done ? `${say('Done')}: ` : '';
  return `${box}${written(text, form)}${facts.length > 0 ? ` (${facts.join(', ')})` : ''}`;
}

/** On one line; in Markdown without what that would take for a mark. */
function written(text: string, form: Form): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return form === 'md' ? line.replaceAll(/[\\`*_[\]<>#|~&]/g, '\\$&') : line;
}
