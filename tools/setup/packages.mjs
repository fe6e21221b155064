/* Installs the packages that package-lock.json names, where they are not there yet. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './build.mjs';

const packages_stamp = join(root, 'node_modules', '.installed_lock');

/** Runs a command; ends this process with its exit code if it fails. What it prints goes to stderr, as all of this does. */
const mustRun = (command, args) => {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['inherit', 2, 2] });
  if (error) console.error(`${command} could not be run: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
};

const readOr = (path, otherwise) => (existsSync(path) ? readFileSync(path, 'utf8') : otherwise);

/** True if what npm noted about node_modules is what the lock asks for, as after an `npm ci` by hand. */
const installedAsLocked = (lock_text, { with_dev }) => {
  const installed = JSON.parse(readOr(join(root, 'node_modules', '.package-lock.json'), '{}')).packages;
  if (!installed) return false;
  return Object.entries(JSON.parse(lock_text).packages).every(([path, wanted]) => {
    if (path === '' || (!installed[path] && wanted.optional)) return true;
    if (wanted.dev && !with_dev && !installed[path]) return true;
    return installed[path]?.version === wanted.version;
  });
};

/**
 * Installs what running and building need; `with_dev` also what tests and checks need. What is there already stays, as a
 * server may run from it. No package needs its install script: their compiled parts are packages of their own.
 */
export const ensurePackages = ({ with_dev }) => {
  const lock_text = readFileSync(join(root, 'package-lock.json'), 'utf8');
  const hash = createHash('sha256').update(lock_text).update(`${process.platform} ${process.arch}`).digest('hex');
  const all = `${hash} with dev`;
  const stamp = with_dev ? all : hash;
  if ([stamp, all].includes(readOr(packages_stamp, ''))) return;
  if (!installedAsLocked(lock_text, { with_dev })) {
    console.error(with_dev ? 'installing packages, those for tests as well' : 'installing packages');
    const how = existsSync(join(root, 'node_modules')) ? ['install', '--no-save'] : ['ci'];
    const flags = [with_dev ? '--include=dev' : '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
    mustRun('npm', [...how, ...flags, '--loglevel=error']);
  }
  ensureEsbuild(lock_text, { with_dev });
  writeFileSync(packages_stamp, stamp);
};

/** The build needs esbuild's program, which is an optional package: `npm ci --omit=optional` leaves it out. */
const ensureEsbuild = (lock_text, { with_dev }) => {
  const name = `@esbuild/${process.platform}-${process.arch}`;
  const wanted = JSON.parse(lock_text).packages[`node_modules/${name}`];
  if (wanted === undefined || existsSync(join(root, 'node_modules', name))) return;
  console.error(`installing ${name}, which the build needs`);
  const flags = ['--omit=optional', with_dev ? '--include=dev' : '--omit=dev', '--ignore-scripts', '--no-audit'];
  mustRun('npm', ['install', '--no-save', ...flags, '--no-fund', '--loglevel=error', `${name}@${wanted.version}`]);
};
