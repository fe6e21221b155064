import { AUDIO_WORD } from './command_words.js';
import type { Heard } from './engine.js';
import { POCKETSPHINX } from './pocketsphinx.js';

/** A program whose output has a form of its own. */
export type KnownProgram = {
  /** One of them holds `{audio}`. */
  words: readonly string[];
  /** Of the only audio that it takes: 16 bit samples of one channel in a WAV. Null when it takes any. */
  frames_per_second: number | null;
  read: (output: string, length_s: number) => Heard;
};

/** Programs that TRANSCRIBE_COMMAND may name alone. */
export const KNOWN_PROGRAMS = new Map<string, KnownProgram>([['pocketsphinx', POCKETSPHINX]]);

const NAMES = [...KNOWN_PROGRAMS.keys()].join(' or ');

/** What TRANSCRIBE_COMMAND is, and what it must be. */
export const COMMAND_MEANING = `${NAMES}, or a program of this machine that makes text of the file ${AUDIO_WORD}`;
export const COMMAND_RULE = `must be ${NAMES}, or a program and its arguments, one of which holds ${AUDIO_WORD}`;

/** Whether these are the name of a known program, or a program with an argument for the audio. */
export function isTranscriptionCommand([program = '', ...args]: readonly string[]): boolean {
  return args.length === 0 ? KNOWN_PROGRAMS.has(program) : args.some((word) => word.includes(AUDIO_WORD));
}
