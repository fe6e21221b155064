import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROUTES } from '../routes/index.js';

/** Says which operations no test has seen answered with success, by what test processes wrote; fails when there are any. */
const [folder = ''] = process.argv.slice(2);
const seen = new Set(readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n')));
const rows = [...ROUTES.public, ...ROUTES.device, ...ROUTES.operator].filter(({ summary }) => summary !== undefined);
const names = rows.map(({ method, path }) => `${method} ${path}`);
const missing = names.filter((name) => !seen.has(name));
console.log(`\n${names.length - missing.length} of ${names.length} operations were answered with success`);
for (const name of missing) console.log(`never answered with success: ${name}`);
process.exitCode = missing.length > 0 ? 1 : 0;
