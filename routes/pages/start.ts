import { openRoute, type Route } from '../../src/http/route.js';
import { keptPage, sendKeptPage } from '../../src/pages/kept_page.js';
import { startPage } from '../../src/pages/start_page.js';

/** Where somebody arrives who types the service's address. Programs find nothing there. */
export const START_PAGE_ROUTES: readonly Route[] = [
  openRoute({
    method: 'GET',
    path: '/',
    credential: 'none',
    dialect: 'page',
    browsers_only: true,
    async handler({ services, request, reply }) {
      reply.header('Vary', 'Accept');
      const page = keptPage(startPage(services.addresses().base_url, services.development()));
      return sendKeptPage({ request, reply }, page);
    },
  }),
];
