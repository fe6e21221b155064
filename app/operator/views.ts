import type { ComponentType } from 'preact';
import { Accounts } from './pages/accounts.js';
import { Actors } from './pages/actors.js';
import { Content } from './pages/content.js';
import { Devices } from './pages/devices.js';
import { Endpoints } from './pages/endpoints.js';
import { Entity } from './pages/entity.js';
import { Health } from './pages/health.js';
import { Inbox } from './pages/inbox.js';
import { Overview } from './pages/overview.js';

export type View = { path: string; title: string; page: ComponentType };

const HEALTH: View = { path: '/', title: 'Health', page: Health };

/** Every page, in the order of the navigation; the server knows their paths. */
export const VIEWS: readonly View[] = [
  HEALTH,
  { path: '/overview', title: 'Overview', page: Overview },
  { path: '/actors', title: 'Actors', page: Actors },
  { path: '/accounts', title: 'Accounts', page: Accounts },
  { path: '/devices', title: 'Devices', page: Devices },
  { path: '/endpoints', title: 'Endpoints', page: Endpoints },
  { path: '/content', title: 'Content', page: Content },
  { path: '/mails', title: 'Inbox', page: Inbox },
  { path: '/entity', title: 'Entity', page: Entity },
];

export function viewAt(path: string): View {
  return VIEWS.find((view) => view.path === path) ?? HEALTH;
}
