import { Agent, type Dispatcher, errors, FormData } from 'undici';
import { LIMITS } from '../../domain/limits.js';
import { lengthOf } from '../window_audio.js';
import { type Asked, type Engine, EngineFailed, type Heard } from './engine.js';
import { readTranscription } from './transcription_json.js';

/** What the address must serve: `POST {url}/audio/transcriptions`, as OpenAI has it and many others. */

type Options = {
  url: string;
  key: string | null;
  model: string | null;
  diarize: boolean;
  answer_ms_max?: number;
  now?: () => number;
};

/** What is asked for, the most telling form first. Servers that do not know it say 400 or 422. */
const FORMS = {
  diarized: { response_format: 'diarized_json', chunking_strategy: 'auto' },
  timed: { response_format: 'verbose_json', 'timestamp_granularities[]': ['segment', 'word'] },
  segmented: { response_format: 'verbose_json' },
  plain: { response_format: 'json' },
} as const;
type Form = keyof typeof FORMS;

const NOT_KNOWN: ReadonlySet<number> = new Set([400, 422]);
/** A form that was taken after others were not is asked for first, for so long. */
const FORM_KEPT_MS = 3_600_000;
const CONNECT_MS_MAX = 10_000;
const REFUSAL_BYTES_MAX = 65_536;

export class OpenAiCompatible implements Engine {
  readonly name: string;
  readonly #options: Options;
  readonly #address: URL;
  readonly #agent: Agent;
  readonly #answer_ms_max: number;
  #known: { form: Form; until: number } | null = null;

  constructor(options: Options) {
    const { url, model, answer_ms_max = LIMITS.engine_ms_max } = options;
    this.#options = options;
    this.#address = new URL(url);
    this.#address.pathname = `${this.#address.pathname.replace(/\/+$/, '')}/audio/transcriptions`;
    this.name = model ?? this.#address.hostname;
    this.#answer_ms_max = answer_ms_max;
    const silence = { headersTimeout: answer_ms_max, bodyTimeout: answer_ms_max };
    this.#agent = new Agent({ connect: { timeout: CONNECT_MS_MAX }, ...silence });
  }

  async hear(asked: Asked, signal: AbortSignal): Promise<Heard> {
    const deadline = AbortSignal.timeout(this.#answer_ms_max);
    const forms = this.#forms();
    try {
      for (const [index, form] of forms.entries()) {
        const { status, text } = await this.#post(asked, { form, signal: AbortSignal.any([signal, deadline]) });
        if (NOT_KNOWN.has(status) && index < forms.length - 1) continue;
        if (status !== 200) throw new EngineFailed('ENGINE_REFUSED', `The engine answered ${status}.`);
        if (index > 0) this.#known = { form, until: this.#now() + FORM_KEPT_MS };
        return readTranscription(text, lengthOf(asked.file) / 1_000);
      }
    } catch (error) {
      throw error instanceof EngineFailed
        ? error
        : failureOf(error, { stopped: signal.aborted, late: deadline.aborted });
    }
    throw new Error('there is no form to ask in');
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }

  #forms(): Form[] {
    const all: Form[] = this.#options.diarize
      ? ['diarized', 'timed', 'segmented', 'plain']
      : ['timed', 'segmented', 'plain'];
    const known = this.#known !== null && this.#known.until > this.#now() ? all.indexOf(this.#known.form) : 0;
    return all.slice(known);
  }

  async #post(
    asked: Asked,
    { form, signal }: { form: Form; signal: AbortSignal },
  ): Promise<{ status: number; text: string }> {
    const { key } = this.#options;
    const answer = await this.#agent.request({
      origin: this.#address.origin,
      path: this.#address.pathname + this.#address.search,
      method: 'POST',
      headers: { accept: 'application/json', ...(key !== null && { authorization: `Bearer ${key}` }) },
      body: this.#body(asked, form),
      signal,
    });
    const { statusCode: status } = answer;
    if (status === 200) return { status, text: await textOf(answer) };
    await answer.body.dump({ limit: REFUSAL_BYTES_MAX }).catch(() => {});
    if (NOT_KNOWN.has(status)) return { status, text: '' };
    throw refusalOf(status, answer.headers['retry-after']);
  }

  #body({ file, language, prompt }: Asked, form: Form): FormData {
    const { model } = this.#options;
    const body = new FormData();
    const fields = {
      ...FORMS[form],
      ...{ temperature: '0', ...(model !== null && { model }) },
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

async function textOf({ body }: Dispatcher.ResponseData): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > LIMITS.engine_answer_bytes_max)
      throw new EngineFailed('ENGINE_ANSWER_TOO_LARGE', 'The answer is larger than 4 MiB.');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

function refusalOf(status: number, retry_after: string | string[] | undefined): EngineFailed {
  const message = `The engine answered ${status}.`;
  const retry_after_ms = retryAfter(retry_after);
  const asked = retry_after_ms === undefined ? {} : { retry_after_ms };
  if (status === 429) return new EngineFailed('ENGINE_BUSY', message, asked);
  if (status === 408 || status >= 500) return new EngineFailed('ENGINE_ERROR', message, asked);
  return new EngineFailed('ENGINE_REFUSED', message);
}

/** Seconds, or a date (RFC 9110, 10.2.3). */
function retryAfter(said: string | string[] | undefined): number | undefined {
  const text = [said].flat()[0]?.trim() ?? '';
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) && ms >= 0 ? Math.min(ms, LIMITS.engine_retry_after_ms_max) : undefined;
}

/** What broke on the way. The words of errors are not passed on: they may hold what was sent. */
function failureOf(error: unknown, { stopped, late }: { stopped: boolean; late: boolean }): EngineFailed {
  if (stopped) return new EngineFailed('ENGINE_STOPPED', 'The server stopped meanwhile.');
  const code = (error as NodeJS.ErrnoException).code;
  const timed_out = error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError;
  if (late || timed_out) return new EngineFailed('ENGINE_TIMEOUT', 'The engine did not answer in time.');
  const known = typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? ` (${code})` : '';
  return new EngineFailed('ENGINE_UNREACHABLE', `The engine could not be reached${known}.`);
}
