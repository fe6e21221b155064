import { MCP_PATH } from '../domain/audiences.js';
import { ASSETS, REFERENCE_ASSETS } from './assets.js';
import { GUIDES } from './guide_names.js';
import { renderTemplate } from './page.js';
import { guidePath } from './page_parts.js';

/** What this is and where it goes on. `development`: what is named only to whoever runs the server on this machine. */
export function startPage(
  base_url: string,
  development: { operators_url: string; inbox_url: string | null } | null,
): string {
  return renderTemplate('start', {
    title: 'Welcome · Spool',
    stylesheets: [ASSETS.basics.path, ASSETS.stylesheet.path],
    scripts: [REFERENCE_ASSETS.copying.path],
    icon: ASSETS.icon.path,
    guides: GUIDES.map(({ name, title, about }) => ({ path: guidePath(name), title, about })),
    mcp_url: base_url + MCP_PATH,
    development,
  });
}
