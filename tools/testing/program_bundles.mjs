/*
 * Bundles the programs that tests start most, with all packages that they need and with V8's code cache: a server starts
 * in a third of the CPU of 1,900 files, and a run of all tests starts some 150. What is served is the same.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../setup/build.mjs';

/** The server, or one of its processes, whose answers are held to the reference. */
const SERVER = `
import cluster from 'node:cluster';
import './test/fixtures/documented_answers.ts';
import { KeptSignals } from './src/host/signals.ts';
if (cluster.isPrimary) {
  const signals = new KeptSignals();
  void import('./src/host/run.ts').then(({ run }) => run(signals));
} else {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2']) process.on(signal, () => {});
  void import('./src/host/primary/child_run.ts');
}`;
const CLI = `import './tools/cli/main.ts';`;

/** Writes the bundles into a folder; the environment by which tests find them. */
export const bundlePrograms = async (folder) => {
  const esbuild = createRequire(import.meta.url)('esbuild');
  const made = Promise.all([
    bundle(esbuild, { folder, name: 'server', entry: SERVER }),
    bundle(esbuild, { folder, name: 'cli', entry: CLI }),
  ]);
  const [server, cli] = await made.finally(() => esbuild.stop());
  const data = mkdtempSync(join(folder, 'data-'));
  const any_port = { PORT: '0', DEVICE_PORT: '0', OPS_PORT: '0' };
  await Promise.all([keepCode(server, [], { ...any_port, DATA_DIR: data }), keepCode(cli, ['--help'], {})]);
  rmSync(data, { recursive: true, force: true });
  return { SPOOL_SERVER_BUNDLE: server, SPOOL_CLI_BUNDLE: cli };
};

async function bundle(esbuild, { folder, name, entry }) {
  const program = join(folder, `${name}.cjs`);
  const outfile = join(folder, 'bundles', `${name}.cjs`);
  mkdirSync(join(folder, 'bundles'), { recursive: true });
  await esbuild.build({
    absWorkingDir: root,
    stdin: { contents: entry, resolveDir: root, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'es2023',
    // It finds its compiled part beside itself.
    external: ['cbor-extract'],
    plugins: [keepsPlaces(program)],
    logLevel: 'error',
  });
  writeFileSync(program, loaderOf(outfile));
  return program;
}

/** Gives each module the URL of its built file, so that it finds the files beside that; a process of the server is `program`. */
const keepsPlaces = (program) => ({
  name: 'keeps places',
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (path.includes('node_modules')) return undefined;
      const output = join('dist', relative(root, path).replace(/\.ts$/, '.js'));
      const contents = readFileSync(path, 'utf8')
        .replaceAll('import.meta.url', urlOf(output))
        .replaceAll("'./child_main.js'", JSON.stringify(pathToFileURL(program).href));
      return { contents, loader: 'ts' };
    });
  },
});

/** Runs a bundle with its code cache; with KEEP_CODE=1 it writes that cache as it ends. */
const loaderOf = (path) => `
const { readFileSync, writeFileSync, existsSync } = require('node:fs');
const { Script } = require('node:vm');
const path = ${JSON.stringify(path)};
const kept = path + '.code';
const script = new Script(
  '(function (exports, require, module, __filename, __dirname) {' + readFileSync(path, 'utf8') + '\\n})',
  { filename: path, cachedData: existsSync(kept) ? readFileSync(kept) : undefined },
);
if (process.env.KEEP_CODE === '1') process.on('exit', () => writeFileSync(kept, script.createCachedData()));
const its = require('node:module').createRequire(${urlOf('package.json')});
script.runInThisContext()({}, its, { exports: {} }, ${JSON.stringify(root)}, ${JSON.stringify(root)});
`;

/** Runs a program once for its code cache: to its end, or until it is ready. */
function keepCode(program, args, more) {
  const env = { PATH: process.env.PATH, KEEP_CODE: '1', ...more };
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  child.stdout.on('data', (text) => /is ready/.test(text) && child.kill('SIGTERM'));
  return new Promise((resolve) => child.once('close', resolve));
}

function urlOf(path) {
  return JSON.stringify(pathToFileURL(join(root, path)).href);
}
