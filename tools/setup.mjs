/*
 * `npm run build`: brings a checkout to where it can run: packages installed as package-lock.json says, sources
 * transpiled to dist/. Does nothing when nothing changed. Runs before any package is there, so it imports only what
 * Node has.
 */
import { fileURLToPath } from 'node:url';
import { ensureBuilt, root } from './setup/build.mjs';
import { readCommandLine } from './setup/command_line.mjs';
import { ensurePackages } from './setup/packages.mjs';

export { ensureBuilt, ensurePackages, readCommandLine, root };

/** Brings a checkout to where it can run; `with_dev` with the packages that tests and checks need. */
export const makeReady = ({ with_dev = false } = {}) => {
  ensurePackages({ with_dev });
  ensureBuilt();
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  readCommandLine({
    form: 'npm run build',
    says: 'Installs packages and transpiles sources, where either is not up to date.',
  });
  makeReady();
}
