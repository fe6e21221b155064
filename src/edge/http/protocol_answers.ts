import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import { refuse } from '../../domain/refusals.js';
import { refuseUnread } from './body_arrival.js';
import type { Exchange } from './request_state.js';
import type { Answering } from './responses.js';

/** Answers that follow from HTTP alone, before any row of a table is asked. */

export const NOT_FOUND = refuse('NOT_FOUND', 'There is nothing at this address.');
export const TWO_HOSTS = refuse('BAD_REQUEST', 'The header Host must be sent once.', {
  details: [{ path: 'Host', message: 'must be sent once' }],
});

/** RFC 9112, 3.2: two of them mean that whoever passed the request on read another one. */
export function hasTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

/**
 * Answers OPTIONS with the methods of an address (RFC 9110, 9.3.7); false where a page asks, which is for CORS to
 * answer.
 */
export function answerOptions(as: Answering, ends: Exchange, allowed: readonly string[]): boolean {
  const { request, reply } = ends;
  if (allowed.length > 0) reply.header('Allow', allowed.join(', '));
  if (as.listener === 'public' && request.headers.origin !== undefined) return false;
  if (allowed.length === 0) refuseUnread(as, ends, NOT_FOUND);
  else void reply.code(204).send();
  return true;
}

/** Where no row is, or none of this method. */
export function answerNoRoute(as: Answering, ends: Exchange, allowed: readonly string[]): FastifyReply {
  if (allowed.length === 0) return refuseUnread(as, ends, NOT_FOUND);
  ends.reply.header('Allow', allowed.join(', '));
  return refuseUnread(as, ends, refuse('METHOD_NOT_ALLOWED', `${ends.request.method} is not possible here.`));
}
