import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { judgeConditions } from '../http/preconditions.js';
import type { Exchange } from '../http/request_state.js';

/** Pages that are the same for everybody: made once, and sent again only where the browser has another one. */

type CachedPage = { text: string; etag: string };
const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Written once: but for the server's address, nothing that it is made of changes while the process runs. */
export function cachePage(write: (base_url: string) => string): (base_url: string) => CachedPage {
  let found: (CachedPage & { base_url: string }) | null = null;
  return (base_url) => {
    if (found?.base_url !== base_url) {
      found = { base_url, ...withEtag(write(base_url)) };
    }
    return found;
  };
}

export function withEtag(text: string): CachedPage {
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` };
}

export function sendCached({ request, reply }: Exchange, { text, etag }: CachedPage, type: string): FastifyReply {
  reply.header('ETag', etag).header('Cache-Control', 'no-cache');
  const judged = judgeConditions(request.headers, etag);
  if (judged !== 'send') return reply.code(judged === 'failed' ? 412 : 304).send();
  return reply.type(type).send(text);
}

/** A page that loads our own files alone, and holds no form. */
export function sendCachedPage(ends: Exchange, page: CachedPage): FastifyReply {
  ends.reply
    .header('Content-Security-Policy', POLICY)
    .header('Referrer-Policy', 'no-referrer')
    .header('X-Frame-Options', 'DENY');
  return sendCached(ends, page, 'text/html; charset=utf-8');
}
