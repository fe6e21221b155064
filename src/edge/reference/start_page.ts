import type { FastifyReply, FastifyRequest } from 'fastify';
import { MCP_PATH } from '../../domain/audiences.js';
import { wantsPage } from '../../engine/wire/media_types.js';
import { ASSETS, REFERENCE_ASSETS } from '../pages/assets.js';
import { renderTemplate } from '../pages/page.js';
import { sendCached, sendCachedPage, withEtag } from './cached_page.js';
import { GUIDES } from './guide_names.js';
import { guidePath } from './page_parts.js';

/** Addresses that are named only to whoever runs the server on this machine. */
type Development = { operators_url: string; inbox_url: string | null } | null;

/** Sends the start page to a browser, and the same addresses as text to anything else. */
export function sendStart(
  ends: { request: FastifyRequest; reply: FastifyReply },
  base_url: string,
  development: Development,
): FastifyReply {
  ends.reply.header('Vary', 'Accept');
  if (wantsPage(ends.request.headers.accept)) return sendCachedPage(ends, withEtag(startPage(base_url, development)));
  return sendCached(ends, withEtag(startText(base_url, development)), 'text/plain; charset=utf-8');
}

/** The start page as HTML. */
function startPage(base_url: string, development: Development): string {
  return renderTemplate('start', {
    title: 'Welcome · Spool',
    stylesheets: [ASSETS.basics.path, ASSETS.stylesheet.path],
    scripts: [REFERENCE_ASSETS.copying.path],
    icon: ASSETS.icon.path,
    guides: GUIDES.map(({ name, title, about }) => ({ path: guidePath(name), title, about })),
    mcp_url: base_url + MCP_PATH,
    development,
  });
}

/** The addresses of the start page as lines of text: what each is, and where. */
function startText(base_url: string, development: Development): string {
  const rows: [string, string][] = [
    ['app', `${base_url}/app`],
    ['MCP', base_url + MCP_PATH],
    ['API reference', `${base_url}/reference`],
    ['OpenAPI', `${base_url}/openapi.json`],
    ...GUIDES.map(({ name, title }): [string, string] => [title, base_url + guidePath(name)]),
  ];
  if (development !== null) rows.push(['operators', development.operators_url]);
  if (development?.inbox_url) rows.push(['inbox', development.inbox_url]);
  return `Spool\n\n${rows.map(([title, url]) => `${title.padEnd(20)} ${url}\n`).join('')}`;
}
