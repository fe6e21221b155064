import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AppFile } from '../../src/edge/pages/app_files.js';
import { openRoute, type Route } from '../rows.js';

/** The bundled scripts and stylesheets of app/. */

const FOR_EVER = 'public, max-age=31536000, immutable';

export function appFileRoutes(files: ReadonlyMap<string, AppFile>): Route[] {
  return [...files].map(([path, file]) =>
    openRoute({
      method: 'GET',
      path,
      credential: 'none',
      dialect: 'page',
      handler: async ({ request, reply }) => sendAppFile({ request, reply }, file, FOR_EVER),
    }),
  );
}

export function sendAppFile(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { type, plain, br, gzip }: AppFile,
  caching: string,
): FastifyReply {
  reply.header('Cache-Control', caching).header('Vary', 'Origin, Accept-Encoding').type(type);
  const accepted = encodingsOf(request.headers['accept-encoding']);
  if (accepted.has('br')) return reply.header('Content-Encoding', 'br').send(br);
  if (accepted.has('gzip')) return reply.header('Content-Encoding', 'gzip').send(gzip);
  return reply.send(plain);
}

/** Those that a client takes; one that is refused by `q=0` is none. */
function encodingsOf(header: string | string[] | undefined): Set<string> {
  const given = (Array.isArray(header) ? header.join() : (header ?? '')).toLowerCase().split(',');
  const rows = given.map((one) => one.trim().split(/\s*;\s*/));
  return new Set(rows.filter(([, q]) => q === undefined || Number(q.slice(2)) > 0).map(([name = '']) => name));
}
