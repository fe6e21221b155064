import { AccountPage } from './pages/account.js';
import { Connections } from './pages/connections.js';
import { DeliveryPage } from './pages/delivery.js';
import { Devices } from './pages/devices.js';
import { ExportPage } from './pages/export.js';
import { Insights } from './pages/insights.js';
import { NewSession } from './pages/new_session.js';
import { Record } from './pages/record.js';
import { Recording } from './pages/recording.js';
import { Recordings } from './pages/recordings.js';
import { RetentionPage } from './pages/retention.js';
import { Search } from './pages/search.js';
import { Session } from './pages/session.js';
import { SessionSummary } from './pages/session_summary.js';
import { Sessions } from './pages/sessions.js';
import { Today } from './pages/today.js';
import { TokensPage } from './pages/tokens.js';
import { Webhook } from './pages/webhook.js';
import { Webhooks } from './pages/webhooks.js';
import { WorkspacePage } from './pages/workspace.js';
import { Workspaces } from './pages/workspaces.js';
import type { AppRoute } from './router.js';

const SETTINGS = ['/retention', '/connections', '/tokens', '/webhooks', '/export'];

/** Every page, in the order of the navigation. One row and one file in pages/ make another. */
export const ROUTES: readonly AppRoute[] = [
  { path: '/', page: Recordings },
  { path: '/recordings', page: Recordings, nav: 'Recordings', also: ['/record'], needs: 'audio:read' },
  { path: '/recordings/:id', page: Recording },
  { path: '/record', page: Record },
  { path: '/search', page: Search, nav: 'Ask', needs: 'turns:read' },
  { path: '/insights', page: Insights, nav: 'To do', needs: 'insights:read' },
  { path: '/today', page: Today, nav: 'Today', needs: 'insights:read' },
  { path: '/devices', page: Devices, nav: 'Devices', is_setup: true },
  { path: '/workspaces', page: Workspaces, nav: 'Sharing', also: ['/sessions'], is_setup: true },
  { path: '/workspaces/:id', page: WorkspacePage },
  { path: '/sessions', page: Sessions },
  { path: '/sessions/new', page: NewSession },
  { path: '/sessions/:id', page: Session },
  { path: '/sessions/:id/summary', page: SessionSummary },
  { path: '/account', page: AccountPage, nav: 'Settings', also: SETTINGS, is_setup: true },
  { path: '/retention', page: RetentionPage },
  { path: '/connections', page: Connections },
  { path: '/tokens', page: TokensPage },
  { path: '/export', page: ExportPage },
  { path: '/webhooks', page: Webhooks },
  { path: '/webhooks/:id', page: Webhook },
  { path: '/webhooks/:id/deliveries/:delivery_id', page: DeliveryPage },
];
