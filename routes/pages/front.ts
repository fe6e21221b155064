import { openRoute, type Route } from '../../src/http/route.js';
import { frontPage } from '../../src/pages/front_page.js';
import type { Services } from '../../src/services.js';

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const FRONT_ROUTES: readonly Route[] = [
  openRoute({
    method: 'GET',
    path: '/',
    credential: 'none',
    dialect: 'page',
    handler: async ({ services, reply }) =>
      reply
        .header('Content-Security-Policy', POLICY)
        .header('Referrer-Policy', 'no-referrer')
        .header('X-Content-Type-Options', 'nosniff')
        .header('X-Frame-Options', 'DENY')
        .type('text/html; charset=utf-8')
        .send(frontPage({ base_url: services.addresses().base_url, inbox_url: inboxUrl(services) })),
  }),
];

/** In development: mails are files, and whoever looks sits at the same machine. */
function inboxUrl({ settings: { base_url, smtp_url, ops_host, ops_port } }: Services): string | null {
  return base_url === null && smtp_url === null && ops_port !== 0 ? `http://${ops_host}:${ops_port}/mails` : null;
}
