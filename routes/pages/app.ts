import { APP_ENTRIES, APP_WORKER, sendAppFile } from '../../src/edge/pages/app_files.js';
import { ASSETS, GROUND, ICONS } from '../../src/edge/pages/assets.js';
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
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const SHELLS = ['/app', '/app/*'];
const WORKER = '/app/worker.js';
const MANIFEST = '/app/manifest.webmanifest';
const DOCUMENT_FILES = { icon: ASSETS.icon.path, touch_icon: ICONS.touch.path, manifest: MANIFEST };

/** The manifest by which a browser installs the app. */
const APP_MANIFEST = {
  id: '/app',
  name: 'Spool',
  short_name: 'Spool',
  description: 'Listen to your recordings, read them as text, and find again what was said.',
  lang: 'en',
  start_url: '/app',
  scope: '/app',
  display: 'standalone',
  background_color: GROUND.light,
  theme_color: GROUND.light,
  icons: [
    { src: ASSETS.icon.path, type: ASSETS.icon.type, sizes: 'any', purpose: 'any' },
    { src: ICONS.small.path, type: ICONS.small.type, sizes: '192x192', purpose: 'any' },
    { src: ICONS.large.path, type: ICONS.large.type, sizes: '512x512', purpose: 'any' },
    { src: ICONS.maskable.path, type: ICONS.maskable.type, sizes: '512x512', purpose: 'maskable' },
  ],
};

export const APP_ROUTES: readonly Route[] = [
  ...SHELLS.map((path) =>
    openRoute({
      method: 'GET',
      path,
      credential: 'none',
      dialect: 'page',
      async handler({ services, reply }) {
        const { base_url } = services.addresses();
        const answers = services.recall_answers === null ? 'no' : 'yes';
        const mail = services.settings.smtp_url === null ? 'no' : 'yes';
        return reply
          .header('Content-Security-Policy', POLICY)
          .header('Cross-Origin-Opener-Policy', 'same-origin')
          .header('Permissions-Policy', 'microphone=(self), camera=(), geolocation=()')
          .header('Referrer-Policy', 'no-referrer')
          .header('X-Frame-Options', 'DENY')
          .type('text/html; charset=utf-8')
          .send(renderTemplate('app', { ...APP_ENTRIES, ...DOCUMENT_FILES, theme: GROUND, base_url, answers, mail }));
      },
    }),
  ),

  openRoute({
    method: 'GET',
    path: MANIFEST,
    credential: 'none',
    dialect: 'page',
    handler: async ({ reply }) =>
      reply
        .header('Cache-Control', 'no-cache')
        .header('Content-Security-Policy', POLICY)
        .type('application/manifest+json; charset=utf-8')
        .send(JSON.stringify(APP_MANIFEST)),
  }),

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
