import { APP_ENTRIES, APP_WORKER, sendAppFile } from '../../src/edge/pages/app_files.js';
import { ASSETS } from '../../src/edge/pages/assets.js';
import { renderTemplate } from '../../src/edge/pages/page.js';
import { openRoute, type Route } from '../rows.js';

/**
 * The account's own pages: one document for all addresses under /app, which a script fills from the public API. The
 * document knows nobody; who looks at it proves that by OAuth, as any client does.
 */

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "worker-src 'self'",
  "manifest-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const SHELLS = ['/app', '/app/*'];
const WORKER = '/app/worker.js';

export const APP_ROUTES: readonly Route[] = [
  ...SHELLS.map((path) =>
    openRoute({
      method: 'GET',
      path,
      credential: 'none',
      dialect: 'page',
      async handler({ services, reply }) {
        const { base_url } = services.addresses();
        return reply
          .header('Content-Security-Policy', POLICY)
          .header('Cross-Origin-Opener-Policy', 'same-origin')
          .header('Permissions-Policy', 'microphone=(self), camera=(), geolocation=()')
          .header('Referrer-Policy', 'no-referrer')
          .header('X-Frame-Options', 'DENY')
          .type('text/html; charset=utf-8')
          .send(renderTemplate('app', { ...APP_ENTRIES, icon: ASSETS.icon.path, base_url }));
      },
    }),
  ),

  openRoute({
    method: 'GET',
    path: WORKER,
    credential: 'none',
    dialect: 'page',
    async handler({ request, reply }) {
      // `/app` itself lies outside of `/app/`, the scope that its address gives it.
      reply.header('Service-Worker-Allowed', '/app').header('Content-Security-Policy', POLICY);
      return sendAppFile({ request, reply }, APP_WORKER, 'no-store');
    },
  }),
];
