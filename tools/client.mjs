/*
 * `npm run spool -- client`: writes kits/typescript/src/api.ts, the types of all clients, from the tables of routes. What was
 * transpiled needs no types, so that an old api.ts is not in the way.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeReady, readCommandLine, root } from './setup.mjs';

readCommandLine({
  form: 'npm run spool -- client',
  says: 'Writes kits/typescript/src/api.ts, the types of all clients, from the tables of routes.',
});
makeReady();
const { ROUTES } = await import('../dist/routes/index.js');
const { documentsOf } = await import('../dist/src/edge/http/openapi/documents.js');
const { clientTypes } = await import('../dist/src/edge/http/openapi/typescript.js');
writeFileSync(join(root, 'kits', 'typescript', 'src', 'api.ts'), clientTypes(documentsOf(ROUTES, () => '')));
