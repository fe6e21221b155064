/*
 * `npm test [part of a file name …]`: makes a checkout ready, runs the tests, then the count of rules that tests cover.
 * Its last line is `N passed, N failed`: tests, not single comparisons.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, ensurePackages, root } from './setup.mjs';

ensurePackages();
ensureBuilt();

const { findRedisProgram } = await import('../dist/src/process/redis_program.js');
try {
  await findRedisProgram({ log: console.log });
} catch (error) {
  console.error(error.message);
  process.exit(1);
}

const wanted = process.argv.slice(2).map((part) => part.replace(/^.*\bdist\//, '').replace(/\.ts$/, '.js'));
const files = readdirSync(join(root, 'dist', 'test'), { recursive: true })
  .map((path) => join('dist', 'test', path))
  .filter((path) => path.endsWith('.test.js') && (wanted.length === 0 || wanted.some((part) => path.includes(part))))
  .sort();
const { findChromium, NO_CHROMIUM } = await import('../dist/test/fixtures/chromium_program.js');
const is_browser_test = (path) => path.startsWith(join('dist', 'test', 'browser'));
const left_out = findChromium() === null ? files.filter(is_browser_test) : [];
if (left_out.length > 0 && left_out.length === files.length) {
  console.error(NO_CHROMIUM);
  process.exit(1);
}
if (files.length === 0) {
  console.error(`no test file matches ${wanted.join(' ')}`);
  process.exit(1);
}

/** One more than cores: a good part of the tests waits for servers to start, or for time to pass. */
const JOBS = availableParallelism() + 1;

const runNode = (args) => spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status === 0;

/**
 * Counts the tests of a TAP text: indented once is a test, not indented is a file. A file that failed without a failed
 * test (it crashed, or took too long) counts as one.
 */
const countTests = (tap) => {
  const count = { passed: 0, failed: 0, names: [] };
  let failed_in_file = 0;
  for (const line of tap.split('\n')) {
    const [, indent, not, rest] = /^( {4})?(not )?ok \d+(.*)$/.exec(line) ?? [];
    if (rest === undefined || / # (SKIP|TODO)\b/i.test(rest)) continue;
    if (not) count.names.push(rest.replace(/^ - /, ''));
    if (indent) {
      count[not ? 'failed' : 'passed']++;
      if (not) failed_in_file++;
    } else {
      if (not && failed_in_file === 0) count.failed++;
      failed_in_file = 0;
    }
  }
  return count;
};

const folder = mkdtempSync(join(tmpdir(), 'spool-tap-'));
let count = { passed: 0, failed: 0, names: [] };
let is_good = false;
try {
  const tap_file = join(folder, 'out.tap');
  const tap = join(root, 'node_modules', 'tap', 'dist', 'esm', 'run.mjs');
  // Without a terminal the other reporters print their cursor movements as text; this one prints failures alone.
  const reporter = process.stdout.isTTY ? 'terse' : 'min';
  const run = files.filter((path) => !left_out.includes(path));
  is_good = runNode([tap, `--jobs=${JOBS}`, `--output-file=${tap_file}`, `--reporter=${reporter}`, ...run]);
  count = countTests(existsSync(tap_file) ? readFileSync(tap_file, 'utf8') : '');
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const coverage = join(root, 'dist', 'test', 'coverage_of_rules.js');
if (wanted.length === 0 && existsSync(coverage) && !runNode([coverage])) {
  is_good = false;
  count.failed++;
}
if (!is_good && count.failed === 0) count.failed = 1;
for (const name of count.names) console.log(`failed: ${name}`);
if (left_out.length > 0) {
  const text = `The tests in a browser (${left_out.length} files) did not run. ${NO_CHROMIUM} Or: npm run test:browser`;
  console.log(process.stdout.isTTY ? `\x1b[31m${text}\x1b[0m` : text);
}
// tap may leave a cursor movement on the line before.
console.log(`\n${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed === 0 ? 0 : 1;
