import { keptPage, sendKept, sendKeptPage } from '../../src/edge/pages/kept_page.js';
import { startPage, startText } from '../../src/edge/pages/start_page.js';
import { wantsPage } from '../../src/engine/wire/media_types.js';
import { openRoute, type Route } from '../rows.js';

/** Where somebody arrives who types the service's address: a page in a browser, the same addresses as text otherwise. */
export const START_PAGE_ROUTES: readonly Route[] = [
  openRoute({
    method: 'GET',
    path: '/',
    credential: 'none',
    dialect: 'page',
    async handler({ services, request, reply }) {
      reply.header('Vary', 'Accept');
      const base_url = services.addresses().base_url;
      const development = services.development();
      if (wantsPage(request.headers.accept))
        return sendKeptPage({ request, reply }, keptPage(startPage(base_url, development)));
      return sendKept({ request, reply }, keptPage(startText(base_url, development)), 'text/plain; charset=utf-8');
    },
  }),
];
