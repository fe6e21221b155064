import { AccountPage } from './pages/account.js';
import { Connections } from './pages/connections.js';
import { DeliveryPage } from './pages/delivery.js';
import { Devices } from './pages/devices.js';
import { Insights } from './pages/insights.js';
import { NewSession } from './pages/new_session.js';
import { Record } from './pages/record.js';
import { Recording } from './pages/recording.js';
import { Recordings } from './pages/recordings.js';
import { Search } from './pages/search.js';
import { Session } from './pages/session.js';
import { SessionSummary } from './pages/session_summary.js';
import { Sessions } from './pages/sessions.js';
import { Webhook } from './pages/webhook.js';
import { Webhooks } from './pages/webhooks.js';
import { WorkspacePage } from './pages/workspace.js';
import { Workspaces } from './pages/workspaces.js';
import type { AppRoute } from './router.js';

/** Every page, in the order of the navigation. One row and one file in pages/ make another. */
export const ROUTES: readonly AppRoute[] = [
  { path: '/', page: Recordings },
  { path: '/recordings', page: Recordings, nav: 'Recordings', also: ['/record'], needs: 'audio:read' },
  { path: '/recordings/:id', page: Recording },
  { path: '/record', page: Record },
  { path: '/search', page: Search, nav: 'Search', needs: 'turns:read' },
  { path: '/insights', page: Insights, nav: 'Insights', needs: 'insights:read' },
  { path: '/sessions/:id/summary', page: SessionSummary },
  { path: '/devices', page: Devices, nav: 'Devices' },
  { path: '/sessions', page: Sessions, nav: 'Sessions' },
  { path: '/sessions/new', page: NewSession },
  { path: '/sessions/:id', page: Session },
  { path: '/webhooks', page: Webhooks, nav: 'Webhooks' },
  { path: '/webhooks/:id', page: Webhook },
  { path: '/webhooks/:id/deliveries/:delivery_id', page: DeliveryPage },
  { path: '/connections', page: Connections, nav: 'Connections' },
  { path: '/workspaces', page: Workspaces, nav: 'Workspaces' },
  { path: '/workspaces/:id', page: WorkspacePage },
  { path: '/account', page: AccountPage, nav: 'Account' },
];
