import { setImmediate } from 'node:timers/promises';
import { contactOf, speakerShown } from '../../../actors/transcripts/transcript_attribution.js';
import type { PageTurn } from '../../../actors/transcripts/transcript_page.js';
import type { Principal } from '../../access/principal.js';
import { Refused, refuse } from '../../domain/refusals.js';
import { clockOf } from '../accounts/account_clock.js';
import type { FeatureServices } from '../services.js';
import { transcriptHead, transcriptMarkdown } from './transcript_markdown.js';
import { type Contacts, namesOf, pagesFrom, type ReadableTranscript } from './transcript_pages.js';
import { requestedTranscript, type TranscriptQuery } from './transcript_reading.js';

const TRANSCRIPT_TEXT_TURNS_MAX = 100_000; // ours: turns of one transcript as text

/** A transcript as one text: plain, Markdown, or subtitles (SubRip, WebVTT). */
export const TEXT_FORMATS = ['txt', 'md', 'srt', 'vtt'] as const;
type TextFormat = (typeof TEXT_FORMATS)[number];

export const TEXT_TYPES: Record<TextFormat, string> = {
  txt: 'text/plain; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
};

const TOO_LONG = refuse(
  'CONFLICT',
  `A transcript of more than ${TRANSCRIPT_TEXT_TURNS_MAX} turns is read in pages, by GET /turns.`,
);

/** A turn, and the name of who says it. */
export type Line = { number: number; turn: PageTurn; name: string | null };
type TextLine = Omit<Line, 'turn'> & { turn: Pick<PageTurn, 'start_ms' | 'end_ms' | 'text'> };

const LINES: Record<Exclude<TextFormat, 'md'>, (line: TextLine) => string> = {
  txt: ({ turn, name }) => `${transcriptLine({ ...turn, name })}\n`,
  srt: ({ number, turn, name }) =>
    `${number}\n${clock(turn.start_ms, ',')} --> ${clock(endOf(turn), ',')}\n${oneCue(`${name === null ? '' : `${name}: `}${turn.text}`)}\n\n`,
  vtt: ({ turn, name }) =>
    `${clock(turn.start_ms, '.')} --> ${clock(endOf(turn), '.')}\n${name === null ? '' : `<v ${escaped(oneCue(name))}>`}${escaped(oneCue(turn.text))}\n\n`,
};

/** A stream's transcript as a file to save. CONFLICT where it is too long for one. */
export async function readTranscriptText(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  { format, ...query }: TranscriptQuery & { format: TextFormat },
): Promise<{ file_name: string; text: string }> {
  const readable = await requestedTranscript(services, who, query);
  const lines = await linesOf(services, readable);
  const file_name = `${readable.stream.id}.${format}`;
  if (format === 'md') return { file_name, text: await markdownOf(services, who, { readable, lines }) };
  return { file_name, text: textOf(format, lines) };
}

/** The lines as plain text or subtitles. */
export function textOf(format: Exclude<TextFormat, 'md'>, lines: readonly TextLine[]): string {
  return (format === 'vtt' ? 'WEBVTT\n\n' : '') + lines.map(LINES[format]).join('');
}

async function markdownOf(
  services: Pick<FeatureServices, 'actors'>,
  { account_id }: Principal,
  { readable: { stream }, lines }: { readable: ReadableTranscript; lines: readonly Line[] },
): Promise<string> {
  const head = transcriptHead(stream, await clockOf(services, account_id, stream.id));
  const speakers = new Set(lines.flatMap(({ name }) => name ?? []));
  const turns = lines.map(({ turn: { start_ms, text }, name }) => ({ start_ms, name, text }));
  const pieces: string[] = [];
  for await (const piece of transcriptMarkdown(head, speakers, turns)) pieces.push(piece);
  return pieces.join('');
}

/** The turns of a transcript in their order. CONFLICT where there are too many. */
export async function linesOf(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  readable: ReadableTranscript,
): Promise<Line[]> {
  const { transcript, speakers } = readable;
  if ((transcript?.turns ?? 0) > TRANSCRIPT_TEXT_TURNS_MAX) throw new Refused(TOO_LONG);
  const lines: Line[] = [];
  for await (const page of pagesFrom(services, readable, { page: 0 })) {
    const contacts = await namesOf(services, readable, page.turns);
    for (const turn of page.turns)
      lines.push({ number: lines.length + 1, turn, name: nameOf(speakers, contacts, turn) });
    await setImmediate(); // a long recording holds nobody up
  }
  return lines;
}

/** A turn on one line, with its moment on the timeline: `[01:02:03] Anna: Hello.` */
export function transcriptLine({
  start_ms,
  name,
  text,
}: {
  start_ms: number;
  name: string | null;
  text: string;
}): string {
  return `[${shortClock(start_ms)}] ${name === null ? '' : `${name}: `}${oneLine(text)}`;
}

/** A contact's name, or else the speaker's. */
function nameOf(speakers: ReadableTranscript['speakers'], contacts: Contacts, turn: PageTurn): string | null {
  const held = contactOf(speakers, turn);
  const name = held === null ? null : contacts[held]?.name;
  return name ?? speakerShown(speakers, turn);
}

/** `01:02:03.004`, with a point or a comma. */
function clock(ms: number, point: '.' | ','): string {
  const part = (value: number, digits = 2) => String(Math.floor(value)).padStart(digits, '0');
  const rest = `${part((ms / 60_000) % 60)}:${part((ms / 1_000) % 60)}${point}${part(ms % 1_000, 3)}`;
  return `${part(ms / 3_600_000)}:${rest}`;
}

/** `01:02:03`. */
function shortClock(ms: number): string {
  return clock(ms, '.').slice(0, -4);
}

/** Puts a turn on one line: a line of its own would look like another person's turn. */
function oneLine(text: string): string {
  return text.replaceAll(/\s*[\r\n\u2028\u2029]+\s*/g, ' ');
}

/** An empty line would end a subtitle, an arrow begin one. */
function oneCue(text: string): string {
  return oneLine(text).replaceAll('-->', '→');
}

/** A subtitle is shown for some time. */
function endOf({ start_ms, end_ms }: TextLine['turn']): number {
  return Math.max(end_ms, start_ms + 1);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
