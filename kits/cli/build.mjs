/*
 * Bundles `spool` with everything that it needs into one file: dist/bin/spool.mjs. It lies as deep as in the repository, so
 * that it finds its version in the package.json two folders above. The licences of what is in it lie beside it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
const dist = fileURLToPath(new URL('dist', import.meta.url));

/** Packages of the older form ask for others by `require`. */
const REQUIRE =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);";

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
const { metafile } = buildSync({
  absWorkingDir: root,
  entryPoints: ['tools/cli/main.ts'],
  outfile: join(dist, 'bin', 'spool.mjs'),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  banner: { js: REQUIRE },
  metafile: true,
  logLevel: 'warning',
});
writeFileSync(join(dist, 'LICENSES.txt'), licencesOf(Object.keys(metafile.inputs)));

/** The texts that licences ask to be kept with copies. */
function licencesOf(inputs) {
  const folders = new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []));
  return [...folders]
    .sort()
    .map((folder) => textOf(join(root, folder)))
    .join('\n\n');
}

function textOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  const text =
    file !== undefined && existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8') : license;
  return `${name} ${version} (${license})\n\n${text.trim()}`;
}
