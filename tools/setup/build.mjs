/*
 * Transpiles the sources to dist/, file by file, without a look at types: `npm run check` has that look. The account's own
 * pages are bundled to dist/app_bundle. Only what changed since the last build is made anew. No output is ever half there: each
 * is written aside, then renamed.
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleApp, isOfApp } from './app_bundle.mjs';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = fileURLToPath(import.meta.url);

const SOURCE_FOLDERS = ['src', 'actors', 'routes', 'certs', 'app', 'tools', 'kits/typescript/src', 'docs', 'test'];
/** All outputs follow from these, too. */
const SETTINGS = [
  'tools/setup/build.mjs',
  'tools/setup/app_bundle.mjs',
  'tsconfig.json',
  'tsconfig.app.json',
  'package-lock.json',
];
const DIST = join(root, 'dist');
const APP = join(DIST, 'app_bundle');
const APP_MANIFEST = join(APP, 'manifest.json');
/** The programs of tools/ that make a checkout ready run as they are. */
const isSource = (path) => !path.startsWith('tools/') || path.endsWith('.ts');
/** The app's parts without a document are transpiled as well, for tests of them. */
const isBundledAlone = (path) => path.startsWith('app/') && !path.endsWith('.ts');
/** A line for each file that the outputs were made of; absent while a build runs, and after one that broke off. */
const STAMP = join(DIST, '.built_from');
const LOCK = join(DIST, '.building');
const LOCK_POLL_MS = 50;
/** A build takes seconds: a lock of this age was left behind, whoever has the process id in it by now. */
const LOCK_AGE_MAX_MS = 120_000;

/**
 * Makes dist/ what the sources say. Ends this process when a source can't be read as TypeScript. A build is a process of its
 * own: the compiler's process and memory end with it, not with a server that was started behind it.
 */
export const ensureBuilt = () => {
  if (isUpToDate(scan())) return;
  const { status } = spawnSync(process.execPath, [PROGRAM], { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(1);
};

/** Gives what is wrong, in words. */
const buildOnce = () => {
  mkdirSync(DIST, { recursive: true });
  takeLock();
  try {
    // Another process may have built meanwhile.
    const sources = scan();
    return isUpToDate(sources) ? [] : build(sources);
  } finally {
    rmSync(LOCK, { force: true });
  }
};

/** Lists the sources of the outputs, each with the text by which a change is seen. */
const scan = () => {
  const sources = SOURCE_FOLDERS.flatMap((folder) => filesIn(join(root, folder))).filter(isSource);
  return new Map(
    [...SETTINGS, ...sources.sort()].map((path) => {
      const { mtimeMs, size } = statSync(join(root, path));
      return [path, `${mtimeMs} ${size}`];
    }),
  );
};

const filesIn = (folder) => {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)));
};

const stampOf = (sources) => [...sources].map(([path, words]) => `${path} ${words}\n`).join('');

const readStamp = () => (existsSync(STAMP) ? readFileSync(STAMP, 'utf8') : '');

const isUpToDate = (sources) =>
  readStamp() === stampOf(sources) && [...sources.keys()].every(hasOutput) && existsSync(APP_MANIFEST);

const hasOutput = (path) => !isEmitted(path) || existsSync(outputOf(path));

const isEmitted = (path) => !SETTINGS.includes(path) && !path.endsWith('.d.ts') && !isBundledAlone(path);

const outputOf = (path) => join(DIST, path.replace(/\.ts$/, '.js'));

/** Gives what esbuild finds wrong, in words. */
const build = (sources) => {
  const began_ms = performance.now();
  // On stderr, as what a command prints on stdout may be for a program.
  process.stderr.write('building');
  const known = new Set(readStamp().split('\n'));
  rmSync(STAMP, { force: true });
  const isKnown = (path) => known.has(`${path} ${sources.get(path)}`);
  const is_whole = !SETTINGS.every(isKnown);
  const emitted = [...sources.keys()].filter(isEmitted);
  const changed = emitted.filter((path) => is_whole || !isKnown(path) || !hasOutput(path));
  const faults = transpile(changed.filter((path) => path.endsWith('.ts')));
  const of_app = [...sources.keys()].filter(isOfApp);
  // What is gone changed it as well.
  const is_app_known =
    of_app.every(isKnown) && [...known].filter((line) => isOfApp(line.split(' ', 1)[0])).length === of_app.length;
  if (faults.length === 0 && (is_whole || !is_app_known || !existsSync(APP_MANIFEST))) faults.push(...bundle());
  if (faults.length === 0) {
    for (const path of changed)
      if (!path.endsWith('.ts')) put(outputOf(path), (at) => copyFileSync(join(root, path), at));
    removeOrphans(new Set(emitted.map(outputOf)));
    put(STAMP, (at) => writeFileSync(at, stampOf(sources)));
  }
  process.stderr.write(` (${((performance.now() - began_ms) / 1000).toFixed(1)} s)\n`);
  return faults;
};

const transpile = (paths) => {
  if (paths.length === 0) return [];
  return faultsOf(({ buildSync }) => {
    const { outputFiles } = buildSync({
      absWorkingDir: root,
      entryPoints: paths,
      outbase: root,
      outdir: DIST,
      format: 'esm',
      target: 'es2023',
      sourcemap: true,
      sourcesContent: false,
      write: false,
      logLevel: 'silent',
    });
    for (const { path, contents } of outputFiles) put(path, (at) => writeFileSync(at, contents));
  });
};

/** The manifest last: it names only what is there. Earlier files go, as nothing names them any more. */
const bundle = () =>
  faultsOf((esbuild) => {
    const files = bundleApp(root, esbuild);
    for (const { name, contents } of files) put(join(APP, name), (at) => writeFileSync(at, contents));
    const names = new Set(files.map(({ name }) => name));
    for (const name of readdirSync(APP)) if (!names.has(name)) rmSync(join(APP, name));
  });

/** The faults that esbuild finds, in words. */
const faultsOf = (work) => {
  // Here, as other programs import this file before packages are installed.
  const esbuild = createRequire(import.meta.url)('esbuild');
  try {
    work(esbuild);
    return [];
  } catch (error) {
    if (error.errors === undefined) throw error;
    return esbuild.formatMessagesSync(error.errors, { kind: 'error', color: process.stderr.isTTY === true });
  }
};

/** Whoever reads `path` meanwhile gets all of the old file or all of the new one. */
const put = (path, write) => {
  mkdirSync(dirname(path), { recursive: true });
  const aside = `${path}.${process.pid}.tmp`;
  write(aside);
  renameSync(aside, path);
};

/** Removes outputs of sources that are gone: they would still be run as tests, or imported. */
const removeOrphans = (outputs) => {
  for (const path of SOURCE_FOLDERS.flatMap((folder) => filesIn(join(DIST, folder)))) {
    const file = join(root, path);
    if (!outputs.has(file.replace(/\.js\.map$/, '.js'))) rmSync(file);
  }
};

/** Waits while another process builds. */
const takeLock = () => {
  for (;;) {
    try {
      writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (isAbandoned()) rmSync(LOCK, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_POLL_MS);
  }
};

const isAbandoned = () => {
  try {
    const pid = Number(readFileSync(LOCK, 'utf8'));
    if (Date.now() - statSync(LOCK).mtimeMs > LOCK_AGE_MAX_MS) return true;
    if (pid > 0) process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
};

if (process.argv[1] === PROGRAM) {
  const faults = buildOnce();
  if (faults.length > 0) console.error(faults.join('\n'));
  process.exit(faults.length === 0 ? 0 : 1);
}
