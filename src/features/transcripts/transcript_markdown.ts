import { clockText } from '../../domain/span_text.js';
import { aheadMs, dateAt, type LocalClock } from '../../engine/time/time_zone.js';

/** A transcript as Markdown: title, day, length and speakers, then each turn as a paragraph with its time and speaker. */

/** The title of a recording without one. */
export const UNTITLED = 'Recording';

/** `day` and `time` are by the clocks of whoever reads. */
export type TranscriptHead = { title: string; day: string; time: string; length: string | null };

/** `name`: of the speaker. */
export type SpokenTurn = { start_ms: number; name: string | null; text: string };

export function transcriptHead(
  { title, captured_at, end_ms }: { title: string | null; captured_at: string; end_ms: number | null },
  clock: LocalClock,
): TranscriptHead {
  const at_ms = Date.parse(captured_at);
  return {
    title: (title ?? '').trim() || UNTITLED,
    day: dateAt(at_ms, clock),
    time: `${new Date(at_ms + aheadMs(at_ms, clock)).toISOString().slice(11, 16)} ${zoneName(clock)}`,
    length: end_ms === null ? null : clockText(end_ms),
  };
}

/** No text of it can add a mark or a line. */
export async function* transcriptMarkdown(
  { title, day, time, length }: TranscriptHead,
  speakers: ReadonlySet<string>,
  turns: AsyncIterable<SpokenTurn> | Iterable<SpokenTurn>,
): AsyncGenerator<string> {
  const facts = [
    `- Day: ${day}, ${time}`,
    ...(length === null ? [] : [`- Length: ${length}`]),
    ...(speakers.size === 0 ? [] : [`- Speakers: ${[...speakers].map(inMarkdown).join(', ')}`]),
  ];
  yield `# ${inMarkdown(title)}\n\n${facts.join('\n')}\n`;
  for await (const { start_ms, name, text } of turns)
    yield `\n**${clockText(start_ms)}${name === null ? '' : ` ${inMarkdown(name)}:`}** ${inMarkdown(text)}\n`;
}

/** On one line, and without what Markdown or HTML would take for a mark. */
export function inMarkdown(text: string): string {
  return visible(text.replaceAll(/\s+/g, ' ').trim()).replaceAll(/[\\`*_[\]<>#|~&]/g, '\\$&');
}

/** Characters that nobody sees, or that turn round the order of others, are replaced. */
export function visible(text: string): string {
  return text.replaceAll(/[\p{Bidi_Control}\p{Cc}]/gu, '\ufffd');
}

function zoneName({ time_zone, utc_offset_min }: LocalClock): string {
  if (time_zone !== null) return `(${time_zone})`;
  if (utc_offset_min === 0) return '(UTC)';
  const two = (value: number) => String(value).padStart(2, '0');
  const ahead_min = Math.abs(utc_offset_min);
  return `(UTC${utc_offset_min < 0 ? '-' : '+'}${two(Math.floor(ahead_min / 60))}:${two(ahead_min % 60)})`;
}
