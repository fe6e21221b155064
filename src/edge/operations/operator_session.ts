import { createHmac } from 'node:crypto';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { LRUCache } from 'lru-cache';
import { Refused, refuse, throwRefusal } from '../../domain/refusals.js';
import { networkOf, type RateLimits } from '../../engine/limits/rate_limits.js';
import { equalBytes } from '../../engine/secrets/server_keys.js';
import type { Clock } from '../../engine/time/clock.js';

/**
 * Who may use the operator port: whoever shows the operator token as a bearer token, or a browser with the cookie that it
 * got for the token; of some routes, whoever shows the worker token. The cookie says when it ends, under a key made of the
 * operator token: nothing is kept here, and a new token ends all of them.
 *
 * A page whose name is bound to this address anew (DNS rebinding) gains nothing: the browser keeps the cookie to the host
 * that it was made under, and does not send it there.
 */
const LIFE_MS = 12 * 60 * 60_000;
const PURPOSE = 'spool operator page';
const COOKIE = 'spool_operator';
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD'];

const NO_TOKEN = refuse('UNAUTHORIZED', 'This needs the operator token as a bearer token.');
const NOT_FOR_WORKERS = refuse(
  'FORBIDDEN',
  'The worker token opens /ops/jobs and the audio of claimed windows; this needs the operator token.',
);
const FOREIGN = refuse('FORBIDDEN', 'Only a page of this operator port may do this with its cookie.');

/** Who calls the operator port: one of staff, or a content worker. */
export type OperatorCaller = 'staff' | 'worker';

/** The services that identify operators. */
export type OperatorSessionDeps = {
  clock: Clock;
  /** Bearer token of the operator port. */
  ops_token: string;
  /** Bearer token of content workers, which opens little of that port. */
  worker_token: string;
  /** Connections on which a token was shown: they keep their place. */
  operator_connections: WeakSet<Socket>;
  /** Wrong operator tokens; those at the operators' page are counted also where RATE_LIMITS is off. */
  operator_tries: RateLimits<'operator_sign_ins' | 'operator_tokens'>;
  /** Wrong operator tokens that were counted already, as hashes. */
  operator_guesses: LRUCache<string, true>;
};

/** The caller, where allowed; `worker_too`: the route serves workers as well. */
export function operatorCallerOf(
  services: OperatorSessionDeps,
  request: FastifyRequest,
  { worker_too }: { worker_too: boolean },
): OperatorCaller {
  const caller = callerOf(services, request, { worker_too });
  services.operator_connections.add(request.raw.socket);
  return caller;
}

function callerOf(
  services: OperatorSessionDeps,
  request: FastifyRequest,
  { worker_too }: { worker_too: boolean },
): OperatorCaller {
  const { authorization } = request.headers;
  if (authorization !== undefined) {
    const caller = bearerOf(services, authorization, networkOf(request.ip));
    return caller === 'worker' && !worker_too ? throwRefusal(NOT_FOR_WORKERS) : caller;
  }
  if (!isSignedIn(services, request)) throw new Refused(NO_TOKEN);
  return SAFE_METHODS.includes(request.method) || isOwnPage(request) ? 'staff' : throwRefusal(FOREIGN);
}

/**
 * Wrong tokens are counted, and too many of them wait. Right ones never do: whoever shares their network could stop the
 * operators otherwise. The same wrong token again is no other guess.
 */
function bearerOf(
  { operator_guesses, operator_tries, ops_token, worker_token }: OperatorSessionDeps,
  given: string,
  network: string,
): OperatorCaller {
  if (isText(given, `Bearer ${ops_token}`)) return 'staff';
  if (isText(given, `Bearer ${worker_token}`)) return 'worker';
  const wait_s = operator_tries.waitFor('operator_tokens', network);
  if (wait_s !== null) {
    throw new Refused(
      refuse('TOO_MANY_REQUESTS', `Too many wrong operator tokens from this network; wait ${wait_s} seconds.`, {
        retry_after_s: wait_s,
      }),
    );
  }
  const guess = `${network} ${macOf(ops_token, given)}`;
  if (!operator_guesses.has(guess)) void operator_tries.take('operator_tokens', network);
  operator_guesses.set(guess, true);
  throw new Refused(NO_TOKEN);
}

/** Counts a wrong token at the operators' page; seconds to wait after too many of a network, else null. */
export async function countSignInTry(
  { operator_tries }: OperatorSessionDeps,
  { ip }: FastifyRequest,
): Promise<number | null> {
  return operator_tries.take('operator_sign_ins', networkOf(ip));
}

/** Whether the cookie is good. */
export function isSignedIn(
  { clock, ops_token }: Pick<OperatorSessionDeps, 'clock' | 'ops_token'>,
  { headers }: FastifyRequest,
): boolean {
  const [ends = '', mac = ''] = (parseCookie(headers.cookie ?? '')[COOKIE] ?? '').split('.');
  if (!/^\d{1,15}$/.test(ends) || !isText(mac, macOf(ops_token, ends))) return false;
  return clock.unmoved() < Number(ends);
}

/** Whether this is the operator token; takes as long for a wrong one as for the right one. */
export function isOperatorToken({ ops_token }: Pick<OperatorSessionDeps, 'ops_token'>, given: string): boolean {
  return isText(macOf(given, PURPOSE), macOf(ops_token, PURPOSE));
}

export function setOperatorCookie(
  { clock, ops_token }: Pick<OperatorSessionDeps, 'clock' | 'ops_token'>,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const ends = String(clock.unmoved() + LIFE_MS);
  writeCookie(request, reply, { value: `${ends}.${macOf(ops_token, ends)}`, max_age_s: LIFE_MS / 1000 });
}

export function clearOperatorCookie(request: FastifyRequest, reply: FastifyReply): void {
  writeCookie(request, reply, { value: '', max_age_s: 0 });
}

/** Whether a request was made by a page of this very host and port, as browsers say of what changes something. */
export function isOwnPage({ headers }: FastifyRequest): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (site !== undefined) return site === 'same-origin';
  // Without TLS, and not on this machine, browsers say only where the page came from.
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
}

function writeCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  { value, max_age_s }: { value: string; max_age_s: number },
): void {
  // Where something before us ends TLS, its word costs nothing: without TLS the browser would drop the cookie.
  const secure =
    (request.raw.socket as TLSSocket).encrypted === true || request.headers['x-forwarded-proto'] === 'https';
  reply.header(
    'Set-Cookie',
    stringifySetCookie({
      name: COOKIE,
      value,
      path: '/',
      httpOnly: true,
      sameSite: 'strict',
      secure,
      maxAge: max_age_s,
    }),
  );
}

function macOf(key: string, text: string): string {
  return createHmac('sha256', createHmac('sha256', key).update(PURPOSE).digest()).update(text).digest('base64url');
}

function isText(given: string, wanted: string): boolean {
  return equalBytes(Buffer.from(given), Buffer.from(wanted));
}
