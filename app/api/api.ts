import type { PublicApi } from '../../kits/typescript/src/api.js';
import { type AnswerOf, type Given, requestOf } from '../../kits/typescript/src/typed_call.js';
import { errorText, fieldErrorText } from '../language/error_text.js';
import { locale } from '../language/language.js';
import { say } from '../language/say.js';
import { accessToken, accessTokenAfter, SignedOut } from '../session/session.js';
import { ApiError } from './api_error.js';

/** The public REST API, typed by the reference. Anything that is not a success is an `ApiError`. */

type ApiName = keyof PublicApi & string;
export type Answer<Of extends ApiName> = AnswerOf<PublicApi[Of]>;
/** The type of an item of a list's page. */
export type ItemOf<Of extends ApiName> = Answer<Of> extends { items: (infer Item)[] } ? Item : never;

type Sending = {
  body?: BodyInit;
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

/** `api('GET /audio/streams/{id}', { path: { id } })` */
export async function api<Of extends ApiName>(name: Of, ...[given]: Given<PublicApi[Of]>): Promise<Answer<Of>> {
  const { method, path, body } = requestOf(name, given);
  const sending: Sending =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
  return payloadOf<Answer<Of>>(await send(method, path, sending));
}

/** The same for a request without a body that may be given up: it throws an AbortError then. */
export async function apiUntil<Of extends ApiName>(
  signal: AbortSignal,
  name: Of,
  ...[given]: Given<PublicApi[Of]>
): Promise<Answer<Of>> {
  const { method, path } = requestOf(name, given);
  return payloadOf<Answer<Of>>(await send(method, path, { signal }));
}

/** A request with our token; one that is refused as too old is sent again with the next. Throws ApiError. */
export async function send(method: string, path: string, sending: Sending = {}): Promise<Response> {
  const token = await tokenOr(accessToken());
  const answer = await ask(method, path, sending, token);
  if (answer.status !== 401) return answer;
  return ask(method, path, sending, await tokenOr(accessTokenAfter(token)));
}

/** The payload of a success. */
export async function payloadOf<T>(answer: Response): Promise<T> {
  if (answer.status === 204) return undefined as T;
  const envelope = (await answer.json().catch(() => ({}))) as {
    success?: boolean;
    data?: T;
    error?: { code?: string; message?: string; details?: { path: string; message: string }[] };
  };
  if (envelope.success === true) return envelope.data as T;
  throw errorOf(answer, envelope.error);
}

function errorOf(
  answer: Response,
  error: { code?: string; message?: string; details?: { path: string; message: string }[] } = {},
): ApiError {
  const {
    code = 'UNKNOWN',
    message = say('The server answered {status}.', { status: answer.status }),
    details = [],
    ...extra
  } = error;
  const wait = Number(answer.headers.get('Retry-After'));
  const fields = new Map(details.map(({ path, message }) => [path, fieldErrorText(message)]));
  return new ApiError(code, errorText(code, message), fields, wait > 0 ? wait : null, extra);
}

function ask(method: string, path: string, { headers, ...sending }: Sending, token: string): Promise<Response> {
  return fetch(path, {
    ...sending,
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      'X-API-Version': '1',
      'Accept-Language': locale.peek(), // the language of mails
      ...headers,
    },
    credentials: 'omit',
    cache: 'no-store',
  }).catch(unreachable);
}

function tokenOr(token: Promise<string>): Promise<string> {
  return token.catch((error: unknown) => {
    if (error instanceof SignedOut) throw new ApiError('UNAUTHORIZED', error.message);
    if (error instanceof TypeError) unreachable(error);
    throw error;
  });
}

function unreachable(error: unknown): never {
  if (error instanceof DOMException && error.name === 'AbortError') throw error;
  throw new ApiError('NETWORK', say('Spool can’t be reached. Check your connection.'));
}
