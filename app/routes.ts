import { Recordings } from './pages/recordings.js';
import type { AppRoute } from './router.js';
import { pagesLater } from './shell/pages_later.js';

const content = pagesLater(() => import('./pages/content.js'));
const setup = pagesLater(() => import('./pages/setup.js'));

const SETTINGS = ['/retention', '/connections', '/tokens', '/webhooks', '/export'];

/** Every page, in the order of the navigation. A file in pages/, its name in content.ts or setup.ts there, and one row make another. */
export const ROUTES: readonly AppRoute[] = [
  { path: '/', page: Recordings },
  { path: '/recordings', page: Recordings, nav: 'Recordings', also: ['/', '/record'], needs: 'audio:read' },
  { path: '/recordings/:id', page: content('Recording') },
  { path: '/record', page: setup('Record') },
  { path: '/search', page: content('Search'), nav: 'Ask', needs: 'turns:read' },
  { path: '/insights', page: content('Insights'), nav: 'To do', needs: 'insights:read' },
  { path: '/people', page: content('People'), nav: 'People', needs: 'turns:read' },
  { path: '/people/:id', page: content('Person') },
  { path: '/today', page: content('Today'), nav: 'Today', needs: 'insights:read' },
  { path: '/devices', page: setup('Devices'), nav: 'Devices', is_setup: true },
  { path: '/workspaces', page: setup('Workspaces'), nav: 'Sharing', also: ['/sessions'], is_setup: true },
  { path: '/workspaces/:id', page: setup('WorkspacePage') },
  { path: '/sessions', page: setup('Sessions') },
  { path: '/sessions/new', page: setup('NewSession') },
  { path: '/sessions/:id', page: setup('Session') },
  { path: '/sessions/:id/summary', page: setup('SessionSummary') },
  { path: '/account', page: setup('AccountPage'), nav: 'Settings', also: SETTINGS, is_setup: true },
  { path: '/retention', page: setup('RetentionPage') },
  { path: '/connections', page: setup('Connections') },
  { path: '/tokens', page: setup('TokensPage') },
  { path: '/export', page: setup('ExportPage') },
  { path: '/webhooks', page: setup('Webhooks') },
  { path: '/webhooks/:id', page: setup('Webhook') },
  { path: '/webhooks/:id/deliveries/:delivery_id', page: setup('DeliveryPage') },
];
