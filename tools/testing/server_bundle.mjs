/*
 * Bundles the server as tests start it, with all packages that it needs, into one file: that starts in two thirds of the
 * CPU of 1,900 files, and a run of all tests starts some seventy servers. What is served is the same.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../setup/build.mjs';

const ENTRY = 'test/fixtures/held_server.ts';
/** The names that packages use which are not modules. */
const NEEDS = `import { createRequire as requireFor } from 'node:module';
const require = requireFor(${urlOf('package.json')});
const __dirname = ${JSON.stringify(root)};
const __filename = __dirname;`;

/** Writes the bundle into a folder; its path. */
export const bundleServer = (folder) => {
  const outfile = join(folder, 'held_server.mjs');
  const esbuild = createRequire(import.meta.url)('esbuild');
  return esbuild
    .build({
      absWorkingDir: root,
      entryPoints: [ENTRY],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'es2023',
      // It finds its compiled part beside itself.
      external: ['cbor-extract'],
      banner: { js: NEEDS },
      plugins: [KEEPS_PLACES],
      logLevel: 'error',
    })
    .then(() => outfile)
    .finally(() => esbuild.stop());
};

/** Gives each module the URL of its built file, so that it finds the files beside that. */
const KEEPS_PLACES = {
  name: 'keeps places',
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (path.includes('node_modules')) return undefined;
      const output = join('dist', relative(root, path).replace(/\.ts$/, '.js'));
      return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', urlOf(output)), loader: 'ts' };
    });
  },
};

function urlOf(path) {
  return JSON.stringify(pathToFileURL(join(root, path)).href);
}
