import { Record } from './pages/record.js';
import { Recording } from './pages/recording.js';
import { Recordings } from './pages/recordings.js';
import type { AppRoute } from './router.js';

/** Every page, in the order of the navigation. One row and one file in pages/ make another. */
export const ROUTES: readonly AppRoute[] = [
  { path: '/', page: Recordings },
  { path: '/recordings', page: Recordings, nav: 'Recordings', also: ['/record'], needs: 'audio:read' },
  { path: '/recordings/:id', page: Recording },
  { path: '/record', page: Record },
];
