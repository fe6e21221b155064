import { readFileSync } from 'node:fs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

/**
 * The files that the build makes of app/, read when the server starts. tools/setup/app_bundle.mjs says how it is made.
 */

const ASSETS_PATH = '/assets/app';
const FOLDER = new URL('../../../app_bundle/', import.meta.url);

const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

const name = z.string().regex(/^[\w.-]+\.(?:css|js)$/);
const manifestForm = z.strictObject({
  script: name,
  style: name,
  worker: name,
  operator_script: name,
  operator_style: name,
  preloads: z.array(name),
  pages: z.array(name),
  files: z.array(name).min(1),
});

/** A file as it is, and as it was compressed when it was built. */
export type AppFile = { type: string; plain: Buffer; br: Buffer; gzip: Buffer };

const manifest = manifestForm.parse(JSON.parse(readFileSync(new URL('manifest.json', FOLDER), 'utf8')));

const OPERATOR_NAMES = [manifest.operator_script, manifest.operator_style];

/** The account's own pages, by address. Each holds a hash of the content: what lies there never changes. */
export const APP_FILES = filesByAddress(manifest.files.filter((file) => !OPERATOR_NAMES.includes(file)));

/** The operators' pages, alike. */
export const OPERATOR_FILES = filesByAddress(OPERATOR_NAMES);

/** The files that the account's document names. */
export const APP_ENTRIES = {
  script: `${ASSETS_PATH}/${manifest.script}`,
  style: `${ASSETS_PATH}/${manifest.style}`,
  /** Scripts that the first one imports at once. */
  preloads: manifest.preloads.map((file) => `${ASSETS_PATH}/${file}`),
  /** Scripts that pages import when they are shown. */
  pages: manifest.pages.map((file) => `${ASSETS_PATH}/${file}`),
};

/** The files that the operators' document names. */
export const OPERATOR_ENTRIES = {
  script: `${ASSETS_PATH}/${manifest.operator_script}`,
  style: `${ASSETS_PATH}/${manifest.operator_style}`,
};

/** The service worker, which has one address for all versions: browsers look there for the next one. */
export const APP_WORKER: AppFile = readFile(manifest.worker);

function filesByAddress(files: readonly string[]): ReadonlyMap<string, AppFile> {
  return new Map(files.map((file) => [`${ASSETS_PATH}/${file}`, readFile(file)]));
}

function readFile(file: string): AppFile {
  const read = (behind: string) => readFileSync(new URL(file + behind, FOLDER));
  return {
    type: TYPES[file.slice(file.lastIndexOf('.') + 1)] as string,
    plain: read(''),
    br: read('.br'),
    gzip: read('.gz'),
  };
}

/** Sends a file as it was compressed, where the client takes that. */
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

/** The encodings that a client accepts; one that is refused by `q=0` is not among them. */
function encodingsOf(header: string | string[] | undefined): Set<string> {
  const given = (Array.isArray(header) ? header.join() : (header ?? '')).toLowerCase().split(',');
  const rows = given.map((one) => one.trim().split(/\s*;\s*/));
  return new Set(rows.filter(([, q]) => q === undefined || Number(q.slice(2)) > 0).map(([name = '']) => name));
}
