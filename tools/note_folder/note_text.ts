import type { Stream, StreamSummary, Suggestion } from '../../kits/typescript/src/api.js';
import { localTime } from '../../kits/typescript/src/file_import.js';
import { clockText } from '../../src/domain/span_text.js';
import { inMarkdown } from '../../src/features/transcripts/transcript_markdown.js';
import { plainTitle } from './note_names.js';

/** A recording as the text of a note. */

/** `text`: its transcript as Markdown; null without one. */
export type NoteContent = {
  stream: Stream;
  summary: StreamSummary;
  text: string | null;
};
/** `address`: of the recording in the app. `links`: whether named speakers become `[[Name]]`. */
export type NoteForm = { address: string; links: boolean };
export type DayEntry = { at: string; note: string; length_ms: number | null };

const HEAD = /^# .*\n\n(?:- .*\n)*\n?/;
/** A turn's time and speaker, as the server writes them. */
const TURN_HEAD = /^\*\*(\d[\d:]*) (.+?):\*\* /gm;

export function noteTitle({ title, title_suggested }: Pick<Stream, 'title' | 'title_suggested'>): string {
  return (title ?? title_suggested ?? '').replaceAll(/\s+/g, ' ').trim() || 'Recording';
}

export function noteText({ stream, summary, text }: NoteContent, { address, links }: NoteForm): string {
  const names = namesOf({ stream, summary });
  const shown = (name: string) => (links ? linkTo(name) : name);
  const facts: [string, string | string[] | null][] = [
    ['title', noteTitle(stream)],
    ['date', dateOf(stream.captured_at)],
    ['tags', (stream.tags ?? []).flatMap((tag) => tagOf(tag) ?? [])],
    ['type', 'recording'],
    ['participants', [...new Set(names.values())].map(shown)],
    ['duration', stream.end_ms === undefined ? null : clockText(stream.end_ms)],
    ['source', address],
    ['spool_id', stream.id],
  ];
  const nameOf = (id: string | null) => {
    const name = id === null ? undefined : names.get(id);
    return name === undefined ? null : links ? linkTo(name) : inMarkdown(name);
  };
  const parts: [string, string[]][] = [
    [
      'Summary',
      summary.summary_sentences
        .map((one) => one.text)
        .filter(isSaid)
        .map(listed),
    ],
    ['Decisions', standing(summary.decisions).map((one) => listed(one.text))],
    ['Tasks', standing(summary.tasks).map((task) => taskLine(task, nameOf(task.roles.owner_contact_id)))],
    ['Open questions', standing(summary.questions).map((one) => listed(one.text))],
  ];
  const spoken = text === null ? '' : text.replace(HEAD, '').trim();
  const said = spoken === '' ? [] : [`## Transcript\n\n${links ? linked(spoken, names) : spoken}\n`];
  const lists = parts.filter(([, lines]) => lines.length > 0);
  return [frontMatter(facts), ...lists.map(([head, lines]) => `## ${head}\n\n${lines.join('\n')}\n`), ...said].join(
    '\n',
  );
}

/** A day's note: its recordings in their order. */
export function dayText(day: string, entries: readonly DayEntry[]): string {
  const lines = [...entries]
    .sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : one.note < other.note ? -1 : 1))
    .map(({ at, note, length_ms }) => {
      const length = length_ms === null ? '' : ` (${clockText(length_ms)})`;
      return `- ${dateOf(at).slice(11, 16)} [[${note.replace(/\.md$/, '')}]]${length}`;
    });
  return `${frontMatter([
    ['date', day],
    ['type', 'day'],
  ])}\n## Recordings\n\n${lines.join('\n')}\n`;
}

/** The day of a time, by the clocks here. */
export function dayOf(at: string): string {
  return dateOf(at).slice(0, 10);
}

/** With the offset of the clocks here, in whole seconds. */
function dateOf(at: string): string {
  return localTime(Date.parse(at)).replace(/\.\d+/, '');
}

/** Each text is quoted as JSON, which YAML reads as it is. */
function frontMatter(facts: readonly [string, string | string[] | null][]): string {
  const lines = facts.map(([name, value]) => `${name}: ${value === null ? 'null' : quoted(value)}`);
  return `---\n${lines.join('\n')}\n---\n`;
}

function quoted(value: string | string[]): string {
  const json = Array.isArray(value) ? `[${value.map(quoted).join(', ')}]` : JSON.stringify(value);
  // Lines end there for YAML, and not for JSON.
  return json.replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A tag of Obsidian has no spaces; null where nothing is left of it. */
function tagOf(tag: string): string | null {
  const plain = tag
    .trim()
    .replaceAll(/\s+/g, '-')
    .replaceAll(/[^\p{L}\p{N}_/-]/gu, '');
  return plain === '' ? null : plain;
}

/** Who is named, by contact. */
function namesOf({ stream, summary }: Pick<NoteContent, 'stream' | 'summary'>): Map<string, string> {
  const speakers = (stream.speakers ?? []).map(({ contact_id, name }) => [contact_id, name] as const);
  const talked = summary.participants.map(({ contact_id, speaker_name }) => [contact_id, speaker_name] as const);
  const named = [...talked, ...speakers].flatMap(([id, name]) => (id === null || !name ? [] : [[id, name] as const]));
  return new Map(named);
}

function linked(text: string, names: ReadonlyMap<string, string>): string {
  const links = new Map([...names.values()].map((name) => [inMarkdown(name), linkTo(name)]));
  return text.replaceAll(TURN_HEAD, (head, time: string, name: string) => {
    const link = links.get(name);
    return link === undefined ? head : `**${time} ${link}:** `;
  });
}

function linkTo(name: string): string {
  return `[[${plainTitle(name)}]]`;
}

function standing(items: readonly Suggestion[]): Suggestion[] {
  return items.filter(({ text, status }) => isSaid(text) && status !== 'dismissed' && status !== 'withdrawn');
}

function isSaid(text: string): boolean {
  return text.trim() !== '';
}

function listed(text: string): string {
  return `- ${inMarkdown(text)}`;
}

/** As the Tasks plugin reads it: `- [ ] Book the room (Ann, 08:30) 📅 2026-12-07`. */
function taskLine({ text, status, due_date, due_at }: Suggestion, owner: string | null): string {
  const day = due_date ?? (due_at === null ? null : dayOf(due_at));
  const parts = [`- [${status === 'completed' ? 'x' : ' '}] ${inMarkdown(text)}`];
  const time = due_at === null || due_date !== null ? null : dateOf(due_at).slice(11, 16);
  const facts = [owner, time].filter((fact) => fact !== null);
  if (facts.length > 0) parts.push(`(${facts.join(', ')})`);
  if (day !== null) parts.push(`📅 ${day}`);
  return parts.join(' ');
}
