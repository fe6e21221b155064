import {
  FORM_NAMES,
  fitsPages,
  NotATranscript,
  readTranscriptFile,
  textOfBytes,
} from '../../src/domain/transcript_files/transcript_file.js';
import { say } from '../language/say.js';

/** Reads a transcript as the server will. Loaded when somebody chooses one. */

/** The contents of a file. `form`: by its name. */
export type TranscriptPreview = {
  form: string;
  lines: number;
  speakers: readonly string[];
  length_ms: number;
  recorded_ms: number | null;
};

/** Reasons as the reader words them. */
const REASONS: readonly (readonly [reason: RegExp, words: (n: string) => string])[] = [
  [/^says nothing$/, () => say('There is no text in it.')],
  [
    /form that is not known$/,
    () =>
      say(
        'It has a form that is not known. WebVTT, SubRip, Otter’s text, and JSON of Whisper and Fireflies can be read.',
      ),
  ],
  [/^is no JSON$/, () => say('Its JSON can’t be read.')],
  [/^has more than (\d+) (?:lines|cues)$/, (n) => say('It has more than {n} lines.', { n })],
  [/^names more than (\d+) speakers$/, (n) => say('It names more than {n} speakers.', { n })],
  [/^has times beyond (\d+) hours$/, (n) => say('It has times beyond {n} hours.', { n })],
  [/^has a (?:time that is none|segment|sentence)/, () => say('It has a line whose time can’t be read.')],
];

/** Throws an error in words for people where it cannot be read. */
export function previewOf(bytes: Uint8Array): TranscriptPreview {
  try {
    const found = readTranscriptFile(textOfBytes(bytes));
    if (!fitsPages(found)) throw new Error(say('It has too many lines within ten minutes.'));
    const { form, lines, speakers, length_ms, recorded_ms } = found;
    const is_known = recorded_ms !== null && recorded_ms > 0;
    return {
      form: FORM_NAMES[form],
      lines: lines.length,
      speakers,
      length_ms,
      recorded_ms: is_known ? recorded_ms : null,
    };
  } catch (error) {
    throw error instanceof NotATranscript ? new Error(inWords(error.message)) : error;
  }
}

function inWords(reason: string): string {
  for (const [pattern, words] of REASONS) {
    const [found, n = ''] = pattern.exec(reason) ?? [];
    if (found !== undefined) return words(n);
  }
  return reason;
}
