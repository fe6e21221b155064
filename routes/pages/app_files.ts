import { APP_FILES, type AppFile, OPERATOR_FILES, sendAppFile } from '../../src/edge/pages/app_files.js';
import { openRoute, type Route } from '../rows.js';

/** The bundled scripts and stylesheets of app/. */

const FOR_EVER = 'public, max-age=31536000, immutable';

export const APP_FILE_ROUTES = routesOf(APP_FILES);
export const OPERATOR_FILE_ROUTES = routesOf(OPERATOR_FILES);

function routesOf(files: ReadonlyMap<string, AppFile>): readonly Route[] {
  return [...files].map(([path, file]) =>
    openRoute({
      method: 'GET',
      path,
      credential: 'none',
      dialect: 'page',
      handler: async ({ request, reply }) => sendAppFile({ request, reply }, file, FOR_EVER),
    }),
  );
}
