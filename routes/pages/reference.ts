import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type ApiDocuments, documentsOf } from '../../src/http/openapi/documents.js';
import type { Listener } from '../../src/http/openapi/refusals.js';
import { openRoute, type Route } from '../../src/http/route.js';
import { guidePage } from '../../src/pages/guides.js';
import { referencePage } from '../../src/pages/reference_page.js';
import { SCOPE_WORDS } from '../../src/pages/scope_words.js';

/** The reference, as documents for programs and as pages for people. Made of the tables of routes, when first asked for. */

const DOCUMENTS: Record<Listener, { path: string; summary: string }> = {
  public: { path: '/openapi.json', summary: 'The API of apps.' },
  device: { path: '/openapi/device.json', summary: 'What recording devices call.' },
  operator: { path: '/openapi/operator.json', summary: 'The operator port.' },
};

const documentShape = z.looseObject({ openapi: z.string().describe('The version of OpenAPI that it is written in.') });

/** The tables, with the rows that serve what is made of them: these are in it as well. */
export function withReference(tables: Record<Listener, readonly Route[]>): Record<Listener, readonly Route[]> {
  let documents: ApiDocuments | null = null;
  const made = () => {
    documents ??= documentsOf(all, scopeWords);
    return documents;
  };
  const all: Record<Listener, readonly Route[]> = {
    public: [
      ...tables.public,
      documentRoute('public', made),
      documentRoute('device', made),
      pageRoute('/reference', () => referencePage(made().public, 'app')),
      pageRoute('/reference/devices', () => referencePage(made().device, 'device')),
      pageRoute('/guides/devices', (base_url) => guidePage('devices', base_url)),
      pageRoute('/guides/webhooks', (base_url) => guidePage('webhooks', base_url)),
      pageRoute('/guides/transcription', (base_url) => guidePage('transcription', base_url)),
      pageRoute('/guides/insights', (base_url) => guidePage('insights', base_url)),
      pageRoute('/guides/search', (base_url) => guidePage('search', base_url)),
      pageRoute('/guides/assistants', (base_url) => guidePage('assistants', base_url)),
    ],
    device: tables.device,
    operator: [...tables.operator, documentRoute('operator', made)],
  };
  return all;
}

function scopeWords(scope: string): string {
  return (SCOPE_WORDS[scope] ?? []).map(({ words }) => `${words}.`).join(' ');
}

function documentRoute(listener: Listener, made: () => ApiDocuments): Route {
  const { path, summary } = DOCUMENTS[listener];
  const text = kept(() => JSON.stringify(made()[listener]));
  return openRoute({
    method: 'GET',
    path,
    summary,
    credential: 'none',
    dialect: 'page',
    // Tools that run in a browser read it as well.
    cors: { origin: '*', methods: ['GET'] },
    answer: documentShape,
    handler: async ({ services, request, reply }) =>
      sendKept({ request, reply }, text(services.addresses().base_url), 'application/json; charset=utf-8'),
  });
}

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function pageRoute(path: string, write: (base_url: string) => string): Route {
  const page = kept(write);
  return openRoute({
    method: 'GET',
    path,
    credential: 'none',
    dialect: 'page',
    async handler({ services, request, reply }) {
      reply
        .header('Content-Security-Policy', POLICY)
        .header('Referrer-Policy', 'no-referrer')
        .header('X-Frame-Options', 'DENY');
      return sendKept({ request, reply }, page(services.addresses().base_url), 'text/html; charset=utf-8');
    },
  });
}

type Kept = { text: string; etag: string };

/** Written once: but for the server's address, nothing that it is made of changes while the process runs. */
function kept(write: (base_url: string) => string): (base_url: string) => Kept {
  let found: (Kept & { base_url: string }) | null = null;
  return (base_url) => {
    if (found?.base_url !== base_url) {
      const text = write(base_url);
      found = { base_url, text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` };
    }
    return found;
  };
}

function sendKept(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { text, etag }: Kept,
  type: string,
): FastifyReply {
  reply.header('ETag', etag).header('Cache-Control', 'no-cache').header('X-Content-Type-Options', 'nosniff');
  const known = request.headers['if-none-match']?.split(',').map((one) => one.trim().replace(/^W\//, ''));
  if (known?.includes(etag)) return reply.code(304).send();
  return reply.type(type).send(text);
}
