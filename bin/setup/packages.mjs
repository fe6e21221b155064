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
    console.error('installing packages');
    mustRun('npm', ['ci', '--include=dev', '--no-audit', '--no-fund']);
  }
  writeFileSync(packages_stamp, stamp);
};
