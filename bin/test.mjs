/*
 * `npm test [part of a file name …]`: makes a checkout ready, runs the tests, then the count of rules that tests cover.
 * Its last line is `N passed, N failed`: tests, not single comparisons.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
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

/** Longer than a file may take by itself; one that hangs beyond is ended. */
const FILE_TIMEOUT_S = 120;
const FILE_KILLED_MS = (FILE_TIMEOUT_S + 30) * 1000;

/**
 * Runs one file and reads its TAP. Not by way of `tap run`: that loads hooks for coverage and mocks, which nobody uses
 * here, into every process that a test starts, a second of CPU each.
 */
const runFile = (path) =>
  new Promise((resolve) => {
    const began = performance.now();
    const child = spawn(process.execPath, ['--enable-source-maps', path], {
      cwd: root,
      env: { ...process.env, TAP_TIMEOUT: String(FILE_TIMEOUT_S) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let tap = '';
    let errors = '';
    child.stdout.on('data', (chunk) => (tap += chunk));
    child.stderr.on('data', (chunk) => (errors += chunk));
    const timer = setTimeout(() => child.kill('SIGKILL'), FILE_KILLED_MS);
    child.on('close', (status) => {
      clearTimeout(timer);
      resolve({ path, tap, errors, ...countTests(tap, status === 0), ms: performance.now() - began });
    });
  });

/** Counts the tests of a file, which are not indented. A file that failed without a failed test (it crashed) counts as one. */
const countTests = (tap, is_good) => {
  const count = { passed: 0, failed: [] };
  for (const line of tap.split('\n')) {
    const [, not, rest] = /^(not )?ok \d+(?: - )?(.*)$/.exec(line) ?? [];
    if (rest === undefined || / # (SKIP|TODO)\b/i.test(rest)) continue;
    if (not) count.failed.push(rest);
    else count.passed++;
  }
  if (count.failed.length === 0 && (!is_good || count.passed === 0)) count.failed.push('(the file itself)');
  return count;
};

/** What went wrong in a file: its TAP without what went well. */
const showFailure = ({ path, tap, errors }) => {
  const lines = tap.split('\n').filter((line) => !/^\s*(ok \d|# Subtest|\d+\.\.\d+|$)/.test(line));
  console.log([`FAIL ${path}`, ...lines, errors.trim()].join('\n'));
};

const waiting = files.filter((path) => !left_out.includes(path));
const count = { passed: 0, failed: 0, names: [] };
/** What files say that this machine lacks for some of their tests. */
const not_run = new Set();
const work = async () => {
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const file = await runFile(path);
    count.passed += file.passed;
    count.failed += file.failed.length;
    for (const line of file.tap.split('\n')) if (line.startsWith('not run: ')) not_run.add(line);
    count.names.push(...file.failed.map((name) => `${path}: ${name}`));
    if (file.failed.length > 0) showFailure(file);
    else if (process.stdout.isTTY) console.log(`ok   ${path} (${(file.ms / 1000).toFixed(1)} s)`);
  }
};
await Promise.all(Array.from({ length: JOBS }, work));

const coverage = join(root, 'dist', 'test', 'coverage_of_rules.js');
if (wanted.length === 0 && existsSync(coverage)) {
  const { status } = spawnSync(process.execPath, [coverage], { cwd: root, stdio: 'inherit' });
  if (status !== 0) count.failed++;
}
for (const name of count.names) console.log(`failed: ${name}`);
for (const line of not_run) console.log(line);
if (left_out.length > 0) {
  const text = `The tests in a browser (${left_out.length} files) did not run. ${NO_CHROMIUM} Or: npm run test:browser`;
  console.log(process.stdout.isTTY ? `\x1b[31m${text}\x1b[0m` : text);
}
console.log(`\n${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed === 0 ? 0 : 1;
