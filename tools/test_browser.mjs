/*
 * `npm run test:browser`: the tests in a real browser. Finds a Chromium (CHROMIUM_PATH, or one that is installed), or
 * installs Debian's where it may.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { makeReady, readCommandLine, root } from './setup.mjs';

const { positionals } = readCommandLine({
  form: 'npm run test:browser -- [PART OF A FILE NAME ...]',
  says: 'Runs the tests in test/browser/, with the Chromium at CHROMIUM_PATH or one that is installed. Without one it installs a package of it where apt-get may run as root.',
  words_max: Number.POSITIVE_INFINITY,
});
makeReady({ with_dev: true });

const { findChromium, installChromium, NO_CHROMIUM } = await import('../dist/test/fixtures/chromium_program.js');
// One that was named and is not there is for whoever named it to put right.
const program = findChromium() ?? (process.env.CHROMIUM_PATH ? null : installChromium(console.log));
if (program === null) {
  console.error(NO_CHROMIUM);
  process.exit(1);
}
const wanted = positionals.length === 0 ? ['test/browser/'] : positionals.map((part) => `test/browser/${part}`);
const { status } = spawnSync(process.execPath, [join(root, 'tools', 'test.mjs'), ...wanted], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, CHROMIUM_PATH: program },
});
process.exitCode = status ?? 1;
