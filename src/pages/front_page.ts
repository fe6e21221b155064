import { MCP_PATH } from '../domain/audiences.js';
import { ASSETS } from './assets.js';
import { renderTemplate } from './page.js';
import { PLACES } from './page_parts.js';

/** What stands at the address of the server itself: what this is, and where it leads on. */
export function frontPage({ base_url, inbox_url }: { base_url: string; inbox_url: string | null }): string {
  return renderTemplate('front', {
    title: 'Spool',
    stylesheets: [ASSETS.basics.path, ASSETS.stylesheet.path],
    icon: ASSETS.icon.path,
    mcp_url: base_url + MCP_PATH,
    places: PLACES,
    inbox_url,
  });
}
