import type { OperatorApi } from '../../kits/typescript/src/api.js';
import { type AnswerOf, type Given, requestOf } from '../../kits/typescript/src/typed_call.js';
import { ApiError } from '../api/api_error.js';
import { followClock } from './format.js';

/** Calls of the operator port with the cookie of the sign-in. Anything that is not a success is an `ApiError`. */

const TIMEOUT_MS = 15_000;

type OperatorCallName = keyof OperatorApi & string;
export type Answer<Of extends OperatorCallName> = AnswerOf<OperatorApi[Of]>;
export type ItemOf<Of extends OperatorCallName> = Answer<Of> extends { items: (infer Item)[] } ? Item : never;

/** `ask('GET /ops/entity', { query: { kind, id } })` */
export async function ask<Of extends OperatorCallName>(
  name: Of,
  ...[given]: Given<OperatorApi[Of]>
): Promise<Answer<Of>> {
  const { method, path, body } = requestOf(name, given);
  const sending: RequestInit =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
  const answer = await fetch(path, {
    ...sending,
    method,
    cache: 'no-store',
    credentials: 'same-origin',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(() => {
    throw new ApiError('NETWORK', 'The server does not answer.');
  });
  if (answer.status === 204) return undefined as Answer<Of>;
  const parsed = (await answer.json().catch(() => ({}))) as {
    now?: string;
    error?: { code?: string; message?: string };
  };
  if (!answer.ok) {
    const { code = 'UNKNOWN', message = `The server answered ${answer.status}.` } = parsed.error ?? {};
    throw new ApiError(code, message);
  }
  if (parsed.now !== undefined) followClock(parsed.now);
  return parsed as Answer<Of>;
}

/** The answer, or the refusal where there is nothing of this id. */
export async function orNotFound<T>(answer: Promise<T>): Promise<T | ApiError> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'NOT_FOUND') return error;
    throw error;
  }
}
