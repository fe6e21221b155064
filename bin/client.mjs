/*
 * `npm run client`: writes src/tools/client/api.ts, the types of our own clients, from the tables of routes. What was
 * transpiled needs no types, so that an old api.ts is not in the way.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeReady, readCommandLine, root } from './setup.mjs';

readCommandLine({
  form: 'npm run client',
  says: 'Writes src/tools/client/api.ts, the types of our own clients, from the tables of routes.',
});
makeReady();
const { ROUTES } = await import('../dist/routes/index.js');
const { documentsOf } = await import('../dist/src/http/openapi/documents.js');
const { clientTypes } = await import('../dist/src/http/openapi/typescript.js');
writeFileSync(join(root, 'src', 'tools', 'client', 'api.ts'), clientTypes(documentsOf(ROUTES, () => '')));
