import type { SpeechBefore } from '../../../domain/speech_before.js';
import type { WindowFile } from '../window_audio.js';

/** An engine that turns audio into text: a server over HTTP, or a program of this machine. */
export interface Engine {
  /** The engine's name in debug answers and runs. */
  readonly name: string;
  /** Throws EngineFailed. The text is untrusted; times are those of the file. */
  hear(asked: TranscriptionRequest, signal: AbortSignal): Promise<Transcription>;
  close(): Promise<void>;
}

/** One file of a window, with hints for understanding it. */
export type TranscriptionRequest = {
  file: WindowFile;
  account_id: string;
  /** The recording of the file. */
  stream_id: string;
  /** A BCP 47 tag. */
  language: string | null;
  /** Whether to distinguish speakers; an engine may always do so, or never. */
  diarize: boolean;
  /** Expected words, and the text before. */
  prompt: string;
  /** Names and words that the account wants spelt so. */
  vocabulary: readonly string[];
  /** Whether audio follows in the next window. */
  goes_on: boolean;
  /** Of what was said shortly before. */
  speech_before: SpeechBefore;
};

/**
 * `not_understood`: speech of which the engine has no text that can be trusted. `whole_until_s`: from there on it heard
 * nothing, as an utterance may go on behind the end of the file; null where it heard all, absent where it cannot tell.
 */
export type Transcription = {
  language?: string | undefined;
  segments: HeardSegment[];
  not_understood?: { start_s: number; end_s: number }[];
  whole_until_s?: number | null;
};

/** Times are seconds of the file. A segment without words has no times within; words come in the order of the text. */
export type HeardSegment = {
  start_s: number;
  end_s: number;
  text: string;
  words: HeardWord[];
  /** Nothing said when it begins: no window is cut there. */
  guessed?: boolean | undefined;
  speaker?: string | undefined;
  /** `speaker` is one of the stream's, such as S1. */
  is_known?: boolean | undefined;
  confidence?: number | undefined;
  /** Whisper's figures, by which text that nobody said is found. */
  no_speech_prob?: number | undefined;
  avg_logprob?: number | undefined;
  compression_ratio?: number | undefined;
};

export type HeardWord = {
  text: string;
  start_s: number;
  end_s: number;
  confidence?: number | undefined;
  speaker?: string | undefined;
  is_known?: boolean | undefined;
};

/** Every way in which an engine fails, and whether it is worth another try. */
const FAILURES = {
  ENGINE_UNREACHABLE: true,
  ENGINE_TIMEOUT: true,
  ENGINE_BUSY: true,
  ENGINE_ERROR: true,
  ENGINE_REFUSED: false,
  ENGINE_MODEL_MISSING: false,
  ENGINE_CONTEXT_TOO_SMALL: false,
  ENGINE_NOT_JSON: true,
  ENGINE_BAD_ANSWER: true,
  ENGINE_ANSWER_TOO_LARGE: true,
  ENGINE_EXITED: true,
  ENGINE_MISSING: true,
  ENGINE_STOPPED: true,
  AUDIO_UNAVAILABLE: true,
  UNSUPPORTED_AUDIO: false,
  LANGUAGE_UNKNOWN: false,
} as const;

/** Failures that may lie in the file: others may be heard. */
const OF_FILE: ReadonlySet<EngineFailure['code']> = new Set([
  ...(['ENGINE_ERROR', 'ENGINE_REFUSED', 'ENGINE_NOT_JSON', 'ENGINE_BAD_ANSWER', 'ENGINE_ANSWER_TOO_LARGE'] as const),
  ...(['ENGINE_EXITED', 'UNSUPPORTED_AUDIO'] as const),
]);

export type EngineFailure = {
  code: keyof typeof FAILURES;
  message: string;
  retry: boolean;
  /** Whether the fault may be in the file alone. */
  of_file: boolean;
  /** The time that the engine asked to wait. */
  retry_after_ms?: number;
  /** Of a question for which there is no room: the share of it that there may be room for. */
  share?: number;
};

/** The message is a sentence for operators. It contains no spoken text, no key, and no part of the answer. */
export class EngineFailed extends Error {
  override name = 'EngineFailed';
  readonly failure: EngineFailure;

  constructor(
    code: EngineFailure['code'],
    message: string,
    { of_file = OF_FILE.has(code), ...more }: { retry_after_ms?: number; of_file?: boolean; share?: number } = {},
  ) {
    super(message);
    this.failure = { code, message, retry: FAILURES[code], of_file, ...more };
  }
}
