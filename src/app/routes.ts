import { Insights } from './pages/insights.js';
import { Record } from './pages/record.js';
import { Recording } from './pages/recording.js';
import { Recordings } from './pages/recordings.js';
import { Search } from './pages/search.js';
import { SessionSummary } from './pages/session_summary.js';
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
];
