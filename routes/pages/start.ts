import { sendStart } from '../../src/edge/reference/start_page.js';
import { openRoute, type Route } from '../rows.js';

/** Where somebody arrives who types the service's address: a page in a browser, the same addresses as text otherwise. */
export const START_PAGE_ROUTES: readonly Route[] = [
  openRoute({
    method: 'GET',
    path: '/',
    credential: 'none',
    dialect: 'page',
    handler: async ({ services, request, reply }) =>
      sendStart({ request, reply }, services.addresses().base_url, services.development()),
  }),
];
