/*
 * Brings a checkout to where it can run: packages installed as package-lock.json says, sources compiled to dist/. Does
 * nothing when nothing changed. Runs before any package is there, so it imports only what Node has.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

const source_folders = ['src', 'actors', 'routes', 'certs', 'docs', 'test'];
const packages_stamp = join(root, 'node_modules', '.installed_lock');
const build_stamp = join(root, 'dist', '.built_from');

/** Runs a command with our own input and output; ends this process with its exit code if it fails. */
const mustRun = (command, args) => {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (error) console.error(`${command} could not be run: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
};

const readOr = (path, otherwise) => (existsSync(path) ? readFileSync(path, 'utf8') : otherwise);

/** True if what npm noted about node_modules is what the lock asks for, as after an `npm ci` by hand. */
const installedAsLocked = (lock_text) => {
  const installed = JSON.parse(readOr(join(root, 'node_modules', '.package-lock.json'), '{}')).packages;
  if (!installed) return false;
  return Object.entries(JSON.parse(lock_text).packages).every(([path, wanted]) => {
    if (path === '' || (!installed[path] && wanted.optional)) return true;
    return installed[path]?.version === wanted.version;
  });
};

export const ensurePackages = () => {
  const lock_text = readFileSync(join(root, 'package-lock.json'), 'utf8');
  const stamp = createHash('sha256').update(lock_text).update(`${process.platform} ${process.arch}`).digest('hex');
  if (readOr(packages_stamp, '') === stamp) return;
  if (!installedAsLocked(lock_text)) {
    console.log('installing packages');
    mustRun('npm', ['ci', '--include=dev', '--no-audit', '--no-fund']);
  }
  writeFileSync(packages_stamp, stamp);
};

const filesIn = (folder) => {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)));
};

const outputOf = (source) => join(root, 'dist', source.replace(/\.ts$/, '.js'));

export const ensureBuilt = () => {
  const sources = source_folders.flatMap((folder) => filesIn(join(root, folder))).sort();
  const stamp = [...sources, 'tsconfig.json', 'package-lock.json']
    .map((path) => {
      const { mtimeMs, size } = statSync(join(root, path));
      return `${path} ${mtimeMs} ${size}\n`;
    })
    .join('');
  const emits = sources.filter((path) => !path.endsWith('.d.ts'));
  const is_complete = emits.every((path) => existsSync(outputOf(path)));
  if (is_complete && readOr(build_stamp, '') === stamp) return;

  // The compiler notes what it has written, and would not write a file again that was removed from dist/ by hand.
  if (!is_complete) rmSync(join(root, 'dist', '.tsbuildinfo'), { force: true });
  rmSync(build_stamp, { force: true });
  mustRun(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', root]);
  for (const asset of sources.filter((path) => !path.endsWith('.ts'))) {
    mkdirSync(dirname(outputOf(asset)), { recursive: true });
    copyFileSync(join(root, asset), outputOf(asset));
  }
  removeOrphans(new Set(emits.map(outputOf)));
  writeFileSync(build_stamp, stamp);
};

/** What was compiled from a source that is gone would still be run as a test, or imported. */
const removeOrphans = (outputs) => {
  for (const folder of source_folders) {
    for (const path of filesIn(join(root, 'dist', folder))) {
      const file = join(root, path);
      if (!outputs.has(file.replace(/\.js\.map$/, '.js'))) rmSync(file);
    }
  }
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  ensurePackages();
  ensureBuilt();
}
