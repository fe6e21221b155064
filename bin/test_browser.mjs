/*
 * `npm run test:browser [part of a file name …]`: the tests in a real browser. Finds a Chromium (CHROMIUM_PATH, or one
 * that is installed), or installs Debian's where it may.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt, ensurePackages, root } from './setup.mjs';

ensurePackages();
ensureBuilt();

const { findChromium, installChromium, NO_CHROMIUM } = await import('../dist/test/fixtures/chromium_program.js');
// One that was named and is not there is for whoever named it to put right.
const program = findChromium() ?? (process.env.CHROMIUM_PATH ? null : installChromium(console.log));
if (program === null) {
  console.error(NO_CHROMIUM);
  process.exit(1);
}
const parts = process.argv.slice(2);
const wanted = parts.length === 0 ? ['test/browser/'] : parts.map((part) => `test/browser/${part}`);
const { status } = spawnSync(process.execPath, [join(root, 'bin', 'test.mjs'), ...wanted], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, CHROMIUM_PATH: program },
});
process.exitCode = status ?? 1;
