/*
 * `npm run prove -- NAME [--option value …]`: a scenario in its full size; `npm test` runs it in its smoke size.
 * Without a name it lists them.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, ensurePackages, root } from './setup.mjs';

ensurePackages();
ensureBuilt();

const folder = join(root, 'dist', 'test', 'scenarios');
const files = new Map(
  readdirSync(folder).flatMap((file) => (file.endsWith('.js') ? [[file.replace(/(\.test)?\.js$/, ''), file]] : [])),
);
const [name] = process.argv.slice(2);
if (!files.has(name)) {
  console.log(`npm run prove -- NAME, where NAME is one of: ${[...files.keys()].join(', ')}`);
  process.exit(name === undefined ? 0 : 1);
}
process.env.SPOOL_PROVE = name;
await import(join(folder, files.get(name)));
