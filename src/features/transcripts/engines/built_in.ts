import { codeOf } from '../../../domain/language/text_table.js';
import { NoPlace } from '../../../engine/pools/shared_pool.js';
import { ProcessFailed } from '../../../engine/process/framed_process.js';
import type { SpeechModel } from '../../../engine/speech/speech_model.js';
import type { SpeechProcess } from '../../../engine/speech/speech_process.js';
import { lengthOf } from '../window_audio.js';
import {
  type Engine,
  EngineFailed,
  type EngineFailure,
  type Transcription,
  type TranscriptionRequest,
} from './engine.js';

/** A model of this server, in a process of its own. Audio stays on this machine. */

const CODES: Record<ProcessFailed['code'], EngineFailure['code']> = {
  NOT_DECODED: 'UNSUPPORTED_AUDIO',
  FAILED: 'ENGINE_ERROR',
  EXITED: 'ENGINE_EXITED',
  TIMEOUT: 'ENGINE_TIMEOUT',
  STOPPED: 'ENGINE_STOPPED',
};
/** The seconds by which a file may be longer than its device announced. */
const LONGER_S = 5;

export class BuiltInEngine implements Engine {
  readonly name: string;
  readonly #process: SpeechProcess;
  readonly #languages: SpeechModel['languages'];
  readonly #preview: boolean;

  /** `preview`: for text that is replaced soon. It is decoded only once and before all other audio. */
  constructor(
    speech_process: SpeechProcess,
    { name, languages }: Pick<SpeechModel, 'name' | 'languages'>,
    { preview = false }: { preview?: boolean } = {},
  ) {
    this.name = name;
    this.#process = speech_process;
    this.#languages = languages;
    this.#preview = preview;
  }

  async hear(
    { file, account_id, language, diarize, goes_on, speech_before, vocabulary }: TranscriptionRequest,
    signal: AbortSignal,
  ): Promise<Transcription> {
    const spoken = language === null ? null : codeOf(language);
    if (spoken !== null && this.#languages !== null && !this.#languages.includes(spoken))
      throw new EngineFailed('LANGUAGE_UNKNOWN', `No model here (${this.name}) knows the language ${spoken}.`);
    const length_s_max = lengthOf(file) / 1_000 + LONGER_S;
    const options = { length_s_max, language, diarize, goes_on, preview: this.#preview, speech_before, vocabulary };
    const call = { owner: account_id, signal };
    const heard = await this.#process.recognize(file.bytes, options, call).catch((error: unknown) => {
      if (error instanceof NoPlace) throw new EngineFailed('ENGINE_BUSY', 'Too much speech waits to be recognized.');
      if (!(error instanceof ProcessFailed)) throw error;
      throw new EngineFailed(CODES[error.code], error.message);
    });
    return {
      language: heard.language ?? undefined,
      segments: heard.segments.map(({ confidence, ...segment }) => ({
        ...segment,
        confidence: confidence ?? undefined,
      })),
      not_understood: heard.not_understood,
      whole_until_s: heard.whole_until_s,
    };
  }

  /** Others use the process as well. */
  async close(): Promise<void> {}
}
