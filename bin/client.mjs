/*
 * `npm run client`: writes src/tools/client/api.ts, the types of our own clients, from the tables of routes. It compiles by
 * itself, whether or not all types fit: what does not may be for the old api.ts.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, ensurePackages, root } from './setup.mjs';

ensurePackages();
if (existsSync(join(root, 'dist', 'routes'))) {
  spawnSync(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', root], {
    stdio: 'ignore',
  });
} else ensureBuilt();
const { ROUTES } = await import('../dist/routes/index.js');
const { documentsOf } = await import('../dist/src/http/openapi/documents.js');
const { clientTypes } = await import('../dist/src/http/openapi/typescript.js');
writeFileSync(join(root, 'src', 'client', 'api.ts'), clientTypes(documentsOf(ROUTES, () => '')));
