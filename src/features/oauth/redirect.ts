import type { FastifyReply } from 'fastify';
import { issuerUrl } from '../../access/issuer.js';
import type { OauthError } from '../../domain/oauth_errors.js';
import type { FeatureServices as Services } from '../services.js';

/** Where an answer to an authorization request goes. */
export type ReturnAddress = { redirect_uri: string; state: string | null };

/** Sends the browser back to the client with its code, or with what went wrong. */
export function sendBack(
  services: Services,
  reply: FastifyReply,
  { redirect_uri, state }: ReturnAddress,
  answer: { code: string } | OauthError,
): FastifyReply {
  const parameters = new URLSearchParams(
    'code' in answer ? { code: answer.code } : { error: answer.error, error_description: answer.error_description },
  );
  if (state !== null) parameters.set('state', state);
  parameters.set('iss', issuerUrl(services, 'base')); // RFC 9207, with errors too
  // As registered, letter by letter: a query of its own is kept.
  const joint = redirect_uri.includes('?') ? '&' : '?';
  return leave(reply, `${redirect_uri}${joint}${parameters}`);
}

/** A redirect that no cache keeps and that a browser follows with GET (RFC 9700, 4.12). */
export function leave(reply: FastifyReply, address: string): FastifyReply {
  return reply.header('Cache-Control', 'no-store').header('Referrer-Policy', 'no-referrer').redirect(address, 303);
}
