import { FormData } from 'undici';
import { lengthOf } from '../window_audio.js';
import type { Engine, Transcription, TranscriptionRequest } from './engine.js';
import { EngineServer } from './engine_server.js';
import { readTranscription } from './transcription_json.js';

/** The options of a server with `POST {url}/audio/transcriptions`, as OpenAI has it and many others. */

type OpenAiOptions = {
  url: string;
  key: string | null;
  model: string | null;
  /** Speakers are told apart, whoever asks. */
  diarize: boolean;
  answer_ms_max?: number;
  now: () => number;
};

/** The forms that are requested, the most telling one first. Servers that do not support one answer 400 or 422. */
const FORMS = {
  diarized: { response_format: 'diarized_json', chunking_strategy: 'auto' },
  timed: { response_format: 'verbose_json', 'timestamp_granularities[]': ['segment', 'word'] },
  segmented: { response_format: 'verbose_json' },
  plain: { response_format: 'json' },
} as const;
type AnswerForm = keyof typeof FORMS;

export class OpenAiCompatible implements Engine {
  readonly name: string;
  readonly #options: OpenAiOptions;
  /** Which forms a server knows is found out apart for both. */
  readonly #servers: Record<'timed' | 'diarized', EngineServer<AnswerForm>>;

  constructor(options: OpenAiOptions) {
    this.#options = options;
    const timed: AnswerForm[] = ['timed', 'segmented', 'plain'];
    const server = (forms: AnswerForm[]) => new EngineServer({ ...options, path: '/audio/transcriptions', forms });
    this.#servers = { timed: server(timed), diarized: server(['diarized', ...timed]) };
    this.name = options.model ?? this.#servers.timed.hostname;
  }

  async hear(asked: TranscriptionRequest, signal: AbortSignal): Promise<Transcription> {
    const server = this.#servers[asked.diarize || this.#options.diarize ? 'diarized' : 'timed'];
    const text = await server.ask((form) => this.#body(asked, form), { ...asked, signal });
    return readTranscription(text, lengthOf(asked.file) / 1_000);
  }

  async close(): Promise<void> {
    await Promise.all([this.#servers.timed.close(), this.#servers.diarized.close()]);
  }

  #body({ file, language, prompt }: TranscriptionRequest, form: AnswerForm): FormData {
    const { model } = this.#options;
    const body = new FormData();
    const fields = {
      ...FORMS[form],
      temperature: '0',
      ...(model !== null && { model }),
      // Models that tell speakers apart take no prompt.
      ...(prompt !== '' && form !== 'diarized' && { prompt }),
      // Most know languages, and not the regions of a tag.
      ...(language !== null && { language: language.split('-', 1)[0] }),
    };
    for (const [name, values] of Object.entries(fields)) for (const value of [values].flat()) body.append(name, value);
    body.append('file', new Blob([file.bytes], { type: file.content_type }), `audio.${file.extension}`);
    return body;
  }
}
