import { ALL_ASSETS, type Asset } from '../../src/edge/pages/assets.js';
import { openRoute, type Route } from '../rows.js';

export const ASSET_ROUTES: readonly Route[] = ALL_ASSETS.map(assetRoute);

/** The route of a file whose address holds a hash of what lies there. */
function assetRoute({ path, type, bytes }: Asset): Route {
  return openRoute({
    method: 'GET',
    path,
    credential: 'none',
    dialect: 'page',
    handler: async ({ reply }) =>
      reply
        .header('Cache-Control', 'public, max-age=31536000, immutable')
        // Opened by itself, the drawing is a document.
        .header('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'")
        .type(type)
        .send(bytes),
  });
}
