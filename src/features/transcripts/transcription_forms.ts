import { textOf } from './transcript_text.js';
import type { TranscribedTurn } from './transcription.js';

/** A transcription as OpenAI's clients read it. */

export const TRANSCRIPTION_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const;
export type TranscriptionFormat = (typeof TRANSCRIPTION_FORMATS)[number];

/** `words`: whether they are asked for. */
export type TranscriptionMade = {
  turns: readonly TranscribedTurn[];
  length_ms: number;
  language: string | null;
  words: boolean;
};

const ENGLISH_NAMES = new Intl.DisplayNames('en', { type: 'language', fallback: 'code' });

/** The body: a text, or an object to be written as JSON. */
export function transcriptionAs(format: TranscriptionFormat, made: TranscriptionMade): string | object {
  switch (format) {
    case 'json':
      return { text: plainOf(made.turns) };
    case 'text':
      return `${plainOf(made.turns)}\n`;
    case 'srt':
    case 'vtt':
      return textOf(
        format,
        made.turns.map((turn, index) => ({ number: index + 1, turn, name: null })),
      );
    case 'verbose_json':
      return verbose(made);
    case 'diarized_json':
      return diarized(made);
  }
}

export function plainOf(turns: readonly TranscribedTurn[]): string {
  return turns.map(({ text }) => text.trim()).join(' ');
}

/** Clients expect all ten members of a segment: one that the engine did not tell has a value that stands for nothing. */
function verbose({ turns, length_ms, language, words }: TranscriptionMade) {
  const spoken = turns.find((turn) => turn.language !== undefined)?.language ?? language;
  return {
    task: 'transcribe',
    language: spoken === null ? 'unknown' : (ENGLISH_NAMES.of(spoken) ?? spoken).toLowerCase(),
    duration: length_ms / 1_000,
    text: plainOf(turns),
    segments: turns.map(({ start_ms, end_ms, text, confidence }, id) => ({
      ...{ id, seek: 0, start: start_ms / 1_000, end: end_ms / 1_000, text, tokens: [], temperature: 0 },
      avg_logprob: confidence === undefined ? 0 : Math.log(Math.max(confidence, 0.01)),
      ...{ compression_ratio: 1, no_speech_prob: 0 },
    })),
    ...(words && { words: turns.flatMap(wordsOf) }),
  };
}

function wordsOf({ words = [] }: TranscribedTurn) {
  return words.map(([word, start_ms, end_ms]) => ({
    word: word.trim(),
    start: start_ms / 1_000,
    end: end_ms / 1_000,
  }));
}

/** Speakers are letters, in the order in which they begin to speak. */
function diarized({ turns, length_ms }: TranscriptionMade) {
  const labels = [...new Set(turns.map(({ speaker = '' }) => speaker))];
  return {
    task: 'transcribe',
    duration: length_ms / 1_000,
    text: plainOf(turns),
    segments: turns.map(({ start_ms, end_ms, text, speaker = '' }, index) => ({
      ...{ type: 'transcript.text.segment', id: `seg_${index}`, start: start_ms / 1_000, end: end_ms / 1_000, text },
      speaker: letterOf(labels.indexOf(speaker)),
    })),
  };
}

function letterOf(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : `${letterOf(Math.floor(index / 26) - 1)}${letter}`;
}
