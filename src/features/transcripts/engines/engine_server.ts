import { Agent, buildConnector, type Dispatcher, errors, type FormData } from 'undici';
import { isId, partitionOfId } from '../../../domain/ids.js';
import { sizeInWords } from '../../../domain/limit_text.js';
import { LIMITS } from '../../../domain/limits.js';
import { skippingInterim } from '../../../engine/wire/interim_answers.js';
import { EngineFailed } from './engine.js';
import { failureSaid } from './engine_refusal.js';

/** A server that engines ask over HTTP: bounded answers, deadlines, and a code for every way in which it fails. */

const ENGINE_RETRY_AFTER_MS_MAX = 3_600_000; // ours: a longer Retry-After counts as this

/** Statuses of servers that do not support the requested form. */
const NOT_KNOWN: ReadonlySet<number> = new Set([400, 422]);
/** Refusals of what was sent; any other one refuses whoever asks, whatever comes. */
const OF_CONTENT: ReadonlySet<number> = new Set([...NOT_KNOWN, 413, 415]);
/**
 * A server lacks a form when so many streams in a row needed another: one may have audio that no form is right for. They
 * are of as many accounts, where so many have asked: one account does not decide for others.
 */
const STREAMS_AGREED = 3;
/** Of those that needed another, the last ones are kept. */
const STREAMS_KEPT_MAX = 16;
/** Then the form that they needed is asked for first, for so long. */
const FORM_KEPT_MS = 600_000;
const CONNECT_MS_MAX = 10_000;
const REFUSAL_BYTES_MAX = 65_536;

type EngineServerOptions<Form> = {
  /** Ends where `path` follows. */
  url: string;
  path: string;
  key: string | null;
  /** The forms that may be requested, the most telling one first. */
  forms: readonly Form[];
  answer_ms_max?: number;
  /** Tells by the text of a refusal that there is no room for the question, or no such model (engine_refusal.ts). */
  reads_refusals?: boolean;
  now: () => number;
};

/** `stream_id`: the recording that a question is about; `account_id`: its account, if known. */
export type AskedOf = { account_id?: string; stream_id: string; signal: AbortSignal };

export class EngineServer<Form> {
  readonly #options: EngineServerOptions<Form>;
  readonly #address: URL;
  readonly #agent: Agent;
  readonly #answer_ms_max: number;
  /** Streams in a row that needed another form than the first, with whose they are, and the form that was answered. */
  readonly #fell_back = new Map<string, { account_id: string; at: number }>();
  /** Some of the accounts that have asked. */
  readonly #accounts = new Set<string>();
  #first_again_ms = 0;

  constructor(options: EngineServerOptions<Form>) {
    const { url, path, answer_ms_max = LIMITS.engine_ms_max } = options;
    this.#options = options;
    this.#address = new URL(url);
    this.#address.pathname = `${this.#address.pathname.replace(/\/+$/, '')}${path}`;
    this.#answer_ms_max = answer_ms_max;
    const silence = { headersTimeout: answer_ms_max, bodyTimeout: answer_ms_max };
    const connect = skippingInterim(buildConnector({ timeout: CONNECT_MS_MAX }));
    this.#agent = new Agent({ connect, ...silence });
  }

  get hostname(): string {
    return this.#address.hostname;
  }

  /**
   * The answer to the first form that the server knows, for a question about a stream. Throws EngineFailed for whatever
   * breaks on the way.
   */
  async ask(
    bodyOf: (form: Form) => FormData | string,
    { stream_id, account_id = ownerOf(stream_id), signal }: AskedOf,
  ): Promise<string> {
    const deadline = AbortSignal.timeout(this.#answer_ms_max);
    const either = AbortSignal.any([signal, deadline]);
    const { forms } = this.#options;
    const first = this.#firstForm();
    try {
      for (const [at, form] of forms.entries()) {
        if (at < first) continue;
        const { status, text } = await this.#post(bodyOf(form), either);
        if (NOT_KNOWN.has(status) && at < forms.length - 1) continue;
        if (status !== 200) throw refusalOf(status, undefined);
        this.#answered({ account_id, stream_id }, { first, at });
        return text;
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

  #firstForm(): number {
    const found = [...this.#fell_back.values()];
    const accounts = new Set(found.map(({ account_id }) => account_id));
    const agree = found.length >= STREAMS_AGREED && accounts.size >= this.#accounts.size;
    return agree && this.#options.now() < this.#first_again_ms ? Math.min(...found.map(({ at }) => at)) : 0;
  }

  #answered(
    { account_id, stream_id }: { account_id: string; stream_id: string },
    { first, at }: { first: number; at: number },
  ): void {
    if (this.#accounts.size < STREAMS_AGREED) this.#accounts.add(account_id);
    if (first > 0) return;
    if (at === 0) {
      this.#fell_back.clear();
      return;
    }
    this.#fell_back.delete(stream_id);
    this.#fell_back.set(stream_id, { account_id, at });
    const [oldest] = this.#fell_back.keys();
    if (this.#fell_back.size > STREAMS_KEPT_MAX) this.#fell_back.delete(oldest as string);
    this.#first_again_ms = this.#options.now() + FORM_KEPT_MS;
  }

  /** A text is JSON. */
  async #post(body: FormData | string, signal: AbortSignal): Promise<{ status: number; text: string }> {
    const { key, reads_refusals = false } = this.#options;
    const answer = await this.#agent.request({
      origin: this.#address.origin,
      path: this.#address.pathname + this.#address.search,
      method: 'POST',
      headers: {
        accept: 'application/json',
        ...(typeof body === 'string' && { 'content-type': 'application/json' }),
        ...(key !== null && { authorization: `Bearer ${key}` }),
      },
      body,
      signal,
    });
    const { statusCode: status } = answer;
    if (status === 200) return { status, text: await textOf(answer) };
    if (reads_refusals) {
      const failure = failureSaid(status, await beginningOf(answer));
      if (failure !== null) throw failure;
    } else await answer.body.dump({ limit: REFUSAL_BYTES_MAX }).catch(() => {});
    if (NOT_KNOWN.has(status)) return { status, text: '' };
    throw refusalOf(status, answer.headers['retry-after']);
  }
}

/** All that an account has lies in one partition. */
function ownerOf(stream_id: string): string {
  return isId(stream_id) ? String(partitionOfId(stream_id)) : stream_id;
}

async function textOf({ body }: Dispatcher.ResponseData): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > LIMITS.engine_answer_bytes_max)
      throw new EngineFailed(
        'ENGINE_ANSWER_TOO_LARGE',
        `The answer is larger than ${sizeInWords(LIMITS.engine_answer_bytes_max)}.`,
      );
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

/** Empty where it breaks off. */
async function beginningOf({ body }: Dispatcher.ResponseData): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > REFUSAL_BYTES_MAX) break;
    }
  } catch {
    return '';
  }
  return Buffer.concat(pieces).subarray(0, REFUSAL_BYTES_MAX).toString();
}

function refusalOf(status: number, retry_after: string | string[] | undefined): EngineFailed {
  const message = `The engine answered ${status}.`;
  const retry_after_ms = retryAfter(retry_after);
  const asked = retry_after_ms === undefined ? {} : { retry_after_ms };
  if (status === 429) return new EngineFailed('ENGINE_BUSY', message, asked);
  if (status === 408 || status >= 500) return new EngineFailed('ENGINE_ERROR', message, asked);
  return new EngineFailed('ENGINE_REFUSED', message, { of_file: OF_CONTENT.has(status) });
}

/** Seconds, or a date (RFC 9110, 10.2.3). */
function retryAfter(said: string | string[] | undefined): number | undefined {
  const text = [said].flat()[0]?.trim() ?? '';
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) && ms >= 0 ? Math.min(ms, ENGINE_RETRY_AFTER_MS_MAX) : undefined;
}

/** The failure of a request. The words of errors are not passed on: they may hold what was sent. */
function failureOf(error: unknown, { stopped, late }: { stopped: boolean; late: boolean }): EngineFailed {
  if (stopped) return new EngineFailed('ENGINE_STOPPED', 'The server stopped meanwhile.');
  const code = (error as NodeJS.ErrnoException).code;
  const timed_out = error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError;
  if (late || timed_out) return new EngineFailed('ENGINE_TIMEOUT', 'The engine did not answer in time.');
  const known = typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? ` (${code})` : '';
  return new EngineFailed('ENGINE_UNREACHABLE', `The engine could not be reached${known}.`);
}
