/*
 * `npm run prove -- NAME [--option value …]`: a proof in its full size; `npm test` holds it in its smallest.
 * Without a name it lists them.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, ensurePackages, root } from './setup.mjs';

ensurePackages();
ensureBuilt();

const folder = join(root, 'dist', 'test', 'proofs');
const names = readdirSync(folder).flatMap((file) => (file.endsWith('.js') ? [file.slice(0, -3)] : []));
const [name] = process.argv.slice(2);
if (!names.includes(name)) {
  console.log(`npm run prove -- NAME, where NAME is one of: ${names.join(', ')}`);
  process.exit(name === undefined ? 0 : 1);
}
await import(join(folder, `${name}.js`));
