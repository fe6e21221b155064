import { pause } from '../../../kits/typescript/src/retries.js';
import { UserError, WRONG_USAGE } from '../../user_error.js';
import type { AskService, ImportService } from './service.js';

const TRIES_MAX = 6;
const ANSWER_MS_MAX = 60_000;
const REST_MS = 1_000;
const REST_MS_MAX = 120_000;
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** Makes requests to a service with the person's key, which goes nowhere else. What may pass is tried again. */
export function askerOf(service: ImportService, { url, key }: { url: URL; key: string }): AskService {
  return async ({ path, headers, query = {}, body }) => {
    const address = new URL(path, url);
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
    const init: RequestInit = {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        Accept: 'application/json',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers(key),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // The key would go along.
      redirect: 'manual',
    };
    for (let tries = 1; ; tries++) {
      const failed = await attempt(address, init);
      if ('json' in failed) return failed.json;
      const { status, retry_after_ms } = failed;
      if (status === 401 || status === 403)
        throw new UserError(`${service.title} does not accept the key in ${service.key_env} (${status}).`);
      const passes = status === null || status === 429 || status >= 500;
      if (!passes || tries >= TRIES_MAX)
        throw new UserError(
          status === null
            ? `${service.title} could not be reached at ${url.origin}.`
            : `${service.title} answers ${status}.`,
        );
      await pause(Math.min(REST_MS_MAX, Math.max(retry_after_ms, REST_MS * 2 ** (tries - 1))));
    }
  };
}

/** `status`: null where nobody answered. */
type ServiceAttempt = { json: unknown } | { status: number | null; retry_after_ms: number };

async function attempt(address: URL, init: RequestInit): Promise<ServiceAttempt> {
  try {
    const answer = await fetch(address, { ...init, signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    const text = await textOf(answer);
    if (answer.ok) return { json: JSON.parse(text) };
    const retry_after_ms = Number(answer.headers.get('retry-after') ?? 0) * 1_000;
    return { status: answer.status, retry_after_ms: Number.isFinite(retry_after_ms) ? retry_after_ms : 0 };
  } catch (error) {
    if (error instanceof UserError) throw error;
    return { status: null, retry_after_ms: 0 };
  }
}

async function textOf(answer: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer.body ?? []) {
    bytes += piece.length;
    if (bytes > ANSWER_BYTES_MAX) throw new UserError('The service answers with more than 64 MiB at once.');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Where the service is: its own address, or that in the environment. */
export function serviceUrl({ url, url_env }: ImportService, env: Readonly<Record<string, string | undefined>>): URL {
  const text = env[url_env]?.trim() || url;
  const found = URL.canParse(text) ? new URL(text) : null;
  if (found === null || !/^https?:$/.test(found.protocol))
    throw new UserError(`${url_env} must be an http or https address.`, WRONG_USAGE);
  return found;
}
