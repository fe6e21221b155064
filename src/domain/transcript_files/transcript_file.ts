import { LIMITS } from '../limits.js';
import { linesIn, readCues } from './cues.js';
import { readJson } from './json_forms.js';
import { addLine, clockMs, NotATranscript, type TranscriptLine, tidied } from './lines.js';

export { NotATranscript, type TranscriptLine } from './lines.js';

/** Transcripts that other programs made, as files. Pure, so that the page shows what the server will make of a file. */

/** A form by the name that people know. */
export const FORM_NAMES = {
  vtt: 'WebVTT',
  srt: 'SubRip',
  otter: 'Otter',
  whisper: 'Whisper',
  whisperx: 'WhisperX',
  'whisper.cpp': 'whisper.cpp',
  fireflies: 'Fireflies',
  omi: 'omi',
} as const;

export type TranscriptFile = {
  form: keyof typeof FORM_NAMES;
  lines: TranscriptLine[];
  /** The names of who speaks, in the order in which they begin. */
  speakers: string[];
  length_ms: number;
  /** As the file says it: a tag, or a name. */
  language: string | null;
  recorded_ms: number | null;
};

/** Reads a file by what is in it; its name says nothing for certain. Throws NotATranscript. */
export function readTranscriptFile(text: string): TranscriptFile {
  const plain = text.replace(/^\ufeff/, '');
  const { form, lines, language = null, recorded_ms = null } = readForm(plain);
  const found = tidied(lines);
  if (found.length === 0) throw new NotATranscript('says nothing');
  const speakers = [...new Set(found.flatMap(({ speaker }) => speaker ?? []))];
  const length_ms = Math.max(...found.map(({ end_ms }) => end_ms));
  return { form, lines: found, speakers, length_ms, language, recorded_ms };
}

type Read = Pick<TranscriptFile, 'form' | 'lines'> & Partial<Pick<TranscriptFile, 'language' | 'recorded_ms'>>;

function readForm(text: string): Read {
  if (/^WEBVTT(\s|$)/.test(text)) return { form: 'vtt', lines: readCues(text) };
  if (/^\s*[{[]/.test(text)) return readJson(text);
  if (/^[ \t]*[\d:.,]+[ \t]*-->/m.test(text.slice(0, HEAD_CHARS))) return { form: 'srt', lines: readCues(text) };
  const lines = readOtter(text);
  if (lines !== null) return { form: 'otter', lines };
  throw new NotATranscript('has a form that is not known');
}

const HEAD_CHARS = 16_384;
/** A name, two blanks, and when it begins: `Anna  1:02:03`. */
const OTTER_HEAD = /^(?<name>\S.{0,58}?)[ \t]{2,}(?<at>(?:\d{1,2}:)?\d{1,3}:\d{2})\s*$/;
const LAST_LINE_MS = 2_000;

/** Otter's text: each line ends where the next begins. Null where it is none. */
function readOtter(text: string): TranscriptLine[] | null {
  const lines: TranscriptLine[] = [];
  let last: TranscriptLine | null = null;
  for (const line of linesIn(text)) {
    const head = OTTER_HEAD.exec(line)?.groups;
    const start_ms = head === undefined ? null : clockMs(head.at as string);
    if (head !== undefined && start_ms !== null) {
      if (last !== null) last.end_ms = Math.max(last.start_ms + 1, start_ms);
      last = { start_ms, end_ms: start_ms + LAST_LINE_MS, speaker: head.name as string, text: '' };
      addLine(lines, last);
    } else if (last !== null && line.trim() !== '') last.text += `${last.text === '' ? '' : ' '}${line.trim()}`;
  }
  return lines.length === 0 ? null : lines;
}

/** Completes "The transcript …" where `fitsPages` says no. */
export const TOO_DENSE = `has more than ${LIMITS.page_turns_max} lines in ten minutes`;

/** Whether no ten minutes of a file hold more than can be read. */
export function fitsPages({ lines }: Pick<TranscriptFile, 'lines'>): boolean {
  const counts = new Map<number, number>();
  return lines.every(({ start_ms }) => {
    const page = Math.floor(start_ms / LIMITS.transcript_page_ms);
    const count = (counts.get(page) ?? 0) + 1;
    counts.set(page, count);
    return count <= LIMITS.page_turns_max;
  });
}

/** The text of a file in UTF-8 or UTF-16; in what Windows used before, where it is neither. */
export function textOfBytes(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
