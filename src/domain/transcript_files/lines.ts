import { plainText } from '../plain_text.js';

/** Lines of transcripts that other programs made: what all forms have in common. */

export type LineWord = { text: string; start_ms: number; end_ms: number };

/** `speaker`: a name, or a label of the program; null where nobody is named. */
export type TranscriptLine = {
  start_ms: number;
  end_ms: number;
  speaker: string | null;
  text: string;
  words?: LineWord[];
};

/** A file that cannot be read. The message completes "The transcript …". */
export class NotATranscript extends Error {
  override name = 'NotATranscript';
}

const LINES_MAX = 20_000;
const LENGTH_MS_MAX = 24 * 3_600_000;
const TEXT_CHARS_MAX = 2_000;
const SPEAKER_CHARS_MAX = 60;
const SPEAKERS_MAX = 64;
/** A line of the same speaker that begins so soon behind the one before goes on with its sentence. */
const JOINED_GAP_MS = 1_500;
const JOINED_CHARS_MAX = 400;
const SENTENCE_END = /[.!?…。！？]["'”’)\]]*$/u;

/** Words that stand before a colon and are no person. */
const NO_NAMES = new Set(
  'a action agenda answer antwort attendees chapter comment date decision example frage from hinweis http https important info location music narrator note notes ps q question re reminder subject summary time tip title todo to topic warning'.split(
    ' ',
  ),
);
const LABEL = /^(?<name>[\p{L}][\p{L}\p{M}\p{N} .'’_-]{0,58}?)\s*:\s+(?=\S)/u;
const WORDS_OF_NAME_MAX = 4;
/** Words of names that begin small. */
const PARTICLES = new Set('al bin da de del den der di du el la le ten van von zu'.split(' '));
/** Labels that stand on so large a part of the lines are names, and one that comes so often is. */
const LABELLED_SHARE = 0.5;
const LABELLED_TIMES = 3;

/** Adds to a list that is bounded, so that a file of a million lines is given up early. */
export function addLine(lines: TranscriptLine[], line: TranscriptLine): void {
  if (lines.length >= LINES_MAX) throw new NotATranscript(`has more than ${LINES_MAX} lines`);
  lines.push(line);
}

/** The lines in order, as plain text within their bounds, and those of one sentence joined. */
export function tidied(lines: readonly TranscriptLine[]): TranscriptLine[] {
  const plain = lines.flatMap((line): TranscriptLine[] => {
    const text = plainText(line.text);
    if (!/[\p{L}\p{N}]/u.test(text)) return [];
    const { start_ms, end_ms } = line;
    if (!(start_ms >= 0 && end_ms <= LENGTH_MS_MAX)) throw new NotATranscript('has times beyond 24 hours');
    const speaker = line.speaker === null ? null : plainText(line.speaker).slice(0, SPEAKER_CHARS_MAX) || null;
    const { words } = line;
    return pieces({ start_ms, end_ms: Math.max(end_ms, start_ms + 1), speaker, text, ...(words && { words }) });
  });
  plain.sort((a, b) => a.start_ms - b.start_ms || a.end_ms - b.end_ms);
  const speakers = new Set(plain.flatMap(({ speaker }) => speaker ?? []));
  if (speakers.size > SPEAKERS_MAX) throw new NotATranscript(`names more than ${SPEAKERS_MAX} speakers`);
  const joined: TranscriptLine[] = [];
  for (const line of plain) {
    const last = joined.at(-1);
    if (last !== undefined && goesOn(last, line)) joined[joined.length - 1] = withMore(last, line);
    else joined.push(line);
  }
  return joined;
}

function goesOn(last: TranscriptLine, line: TranscriptLine): boolean {
  return (
    last.speaker === line.speaker &&
    line.start_ms - last.end_ms <= JOINED_GAP_MS &&
    last.text.length + line.text.length < JOINED_CHARS_MAX &&
    !SENTENCE_END.test(last.text)
  );
}

function withMore(last: TranscriptLine, line: TranscriptLine): TranscriptLine {
  const { words: before, ...known } = last;
  const words = before === undefined || line.words === undefined ? undefined : [...before, ...line.words];
  const end_ms = Math.max(last.end_ms, line.end_ms);
  return { ...known, end_ms, text: `${last.text} ${line.text}`, ...(words && { words }) };
}

/** A line that is longer than a turn may be as several, each with its share of the time. */
function pieces(line: TranscriptLine): TranscriptLine[] {
  const { text, start_ms, end_ms, speaker } = line;
  if (text.length <= TEXT_CHARS_MAX) return [line];
  const parts: string[] = [];
  for (let rest = text; rest !== ''; ) {
    const blank = rest.length <= TEXT_CHARS_MAX ? rest.length : rest.lastIndexOf(' ', TEXT_CHARS_MAX);
    const at = blank <= 0 ? TEXT_CHARS_MAX : blank;
    parts.push(rest.slice(0, at));
    rest = rest.slice(at).trimStart();
  }
  let said = 0;
  const momentOf = (chars: number) => Math.round(start_ms + ((end_ms - start_ms) * chars) / text.length);
  return parts.map((part) => {
    const from = said;
    said += part.length + 1;
    return { start_ms: momentOf(from), end_ms: momentOf(Math.min(said, text.length)), speaker, text: part };
  });
}

/**
 * Takes names that stand before the text, as `Anna: Good morning`, for speakers. A word before a colon that comes seldom, or
 * names a thing, stays in the text.
 */
export function withLabels(lines: readonly TranscriptLine[]): TranscriptLine[] {
  const labels = new Map<string, number>();
  const labelOf = ({ speaker, text }: TranscriptLine) => (speaker === null ? labelIn(text) : null);
  let labelled = 0;
  for (const line of lines) {
    const label = labelOf(line);
    if (label === null) continue;
    labelled += 1;
    labels.set(label, (labels.get(label) ?? 0) + 1);
  }
  const are_most = labelled >= lines.length * LABELLED_SHARE;
  const isSpeaker = (label: string) => are_most || (labels.get(label) ?? 0) >= LABELLED_TIMES;
  return lines.map((line) => {
    const label = labelOf(line);
    if (label === null || !isSpeaker(label)) return line;
    return { ...line, speaker: label, text: line.text.replace(LABEL, '') };
  });
}

function labelIn(text: string): string | null {
  const name = LABEL.exec(text)?.groups?.name?.trim();
  if (name === undefined || NO_NAMES.has(name.toLowerCase())) return null;
  const words = name.split(/\s+/);
  const are_capital = words.every((word) => /^[^\p{Ll}]/u.test(word) || PARTICLES.has(word));
  return words.length <= WORDS_OF_NAME_MAX && are_capital && name.length > 1 ? name : null;
}

/** `[H:]MM:SS[.mmm]` in ms, with a point or a comma; null for anything else. */
export function clockMs(text: string): number | null {
  const found = /^(?:(\d{1,3}):)?(\d{1,3}):(\d{2})(?:[.,](\d{1,3}))?$/.exec(text.trim());
  if (found === null) return null;
  const [, hours = '0', minutes = '', seconds = '', fraction = ''] = found;
  if (Number(seconds) >= 60) return null;
  return (
    Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1_000 + Number(fraction.padEnd(3, '0'))
  );
}
