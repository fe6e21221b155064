/*
 * `npm test [-- --slowest N] [part of a file name …]`: makes a checkout ready, runs the tests, then the counts of rules
 * and operations that tests cover; with `--slowest` it says which files take the most CPU. Its last line is `N passed, N failed`: tests,
 * not single comparisons.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
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

const { values, positionals } = parseArgs({ allowPositionals: true, options: { slowest: { type: 'string' } } });
const slowest = Number(values.slowest ?? 0);
const wanted = positionals.map((part) => part.replace(/^.*\bdist\//, '').replace(/\.ts$/, '.js'));
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
/** From the end of its last file to the end of a process: what holds it for longer, a test has left open. */
const END_MAX_MS = 15_000;

/** A process ends after so many files, so that what one leaves behind reaches few others. */
const FILES_PER_PROCESS_MAX = 16;
/**
 * Where tests have their folders. Every Redis of a test writes to disk before each answer; in memory, where there is
 * enough, nobody waits for that. What a test leaves there goes with the run.
 */
const MEMORY_FOLDER = '/dev/shm';
const MEMORY_BYTES_MIN = 2 ** 31;
const hasMemoryFolder = () => {
  if (process.env.TMPDIR !== undefined || !existsSync(MEMORY_FOLDER)) return false;
  const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
  return bavail * bsize >= MEMORY_BYTES_MIN;
};
const folder = mkdtempSync(join(hasMemoryFolder() ? MEMORY_FOLDER : tmpdir(), 'spool-tests-'));
/** Where test processes write which operations they saw answered. */
const succeeded = join(folder, 'succeeded');
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

/** Have a process to themselves: they measure it or change it. */
const ALONE = [/[\\/]simulation[\\/]/, /misbehaving/, /bad_input/, /in_s3/, /s3_blob_store/];
const isAlone = (path) => ALONE.some((pattern) => pattern.test(path));

/** CPU seconds of a process and of those of its children that have ended; null where there is no telling. */
const cpuSeconds = (pid) => {
  const stat = `/proc/${pid}/stat`;
  if (!existsSync(stat)) return null;
  // proc(5): the 14th field to the 17th; the second is in parentheses and may have spaces.
  const ticks = readFileSync(stat, 'utf8').split(') ')[1].split(' ').slice(11, 15);
  const TICKS_PER_S = 100;
  return ticks.reduce((sum, part) => sum + Number(part), 0) / TICKS_PER_S;
};

/** The line that bin/test_files.mjs leaves after the results of a file, and what it hears after the last. */
const END_OF_FILE = /^(not )?ok \d+ - end of dist.*\n/m;
const END_OF_FILE_CHARACTERS_MAX = 500;
const END = 'end';

/**
 * Runs a file in a new process, and then those that `next` gives, and tells the TAP of each. Not by way of `tap run`:
 * that loads hooks for coverage and mocks, which nobody uses here, into every process that a test starts, a second of
 * CPU each.
 */
const runFiles = (first, next, tell) =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, ['--enable-source-maps', join('bin', 'test_files.mjs')], {
      cwd: root,
      env: { ...process.env, TMPDIR: folder, TAP_TIMEOUT: String(FILE_TIMEOUT_S), SPOOL_SUCCEEDED: succeeded },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    let path = first;
    const chunks = [];
    let tail = '';
    let errors = '';
    let timer;
    let began = { ms: performance.now(), cpu_s: 0 };
    let has_ended = false;

    const killAfter = (ms) => {
      clearTimeout(timer);
      timer = setTimeout(() => child.kill('SIGKILL'), ms);
    };
    const tellOf = (text, is_good) => {
      const now = { ms: performance.now(), cpu_s: cpuSeconds(child.pid) ?? began.cpu_s };
      const file = { path, tap: text, errors, ...countTests(text, is_good) };
      tell({ ...file, ms: now.ms - began.ms, cpu_s: now.cpu_s - began.cpu_s });
      began = now;
      errors = '';
      return file.failed.length === 0;
    };

    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      errors += chunk;
    });
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      chunks.push(chunk);
      tail = (tail + chunk).slice(-END_OF_FILE_CHARACTERS_MAX);
      if (!END_OF_FILE.test(tail)) return;
      const text = chunks
        .splice(0)
        .join('')
        .replace(END_OF_FILE, (line, not) => (not ? line : ''));
      tail = '';
      // After a failure the process is not what others expect.
      const following = tellOf(text, true) ? next() : undefined;
      has_ended = following === undefined;
      path = following ?? path;
      killAfter(has_ended ? END_MAX_MS : FILE_KILLED_MS);
      child.send(has_ended ? END : path);
    });
    child.on('error', () => {}); // it has ended, and 'close' tells so
    child.on('close', (_, signal) => {
      clearTimeout(timer);
      const tap = chunks.join('');
      if (!has_ended) tellOf(tap, false);
      else if (signal !== null) tellOf(`not ok 1 - was still held ${END_MAX_MS / 1000} s after its tests\n`, false);
      else if (/^not ok/m.test(tap)) tellOf(tap, false);
      resolve();
    });
    killAfter(FILE_KILLED_MS);
    child.send(path);
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

const count = { passed: 0, failed: 0, names: [] };
/** What files say that this machine lacks for some of their tests. */
const not_run = new Set();
const ran = [];
const tell = (file) => {
  count.passed += file.passed;
  count.failed += file.failed.length;
  for (const line of file.tap.split('\n')) if (line.startsWith('not run: ')) not_run.add(line);
  count.names.push(...file.failed.map((name) => `${file.path}: ${name}`));
  ran.push(file);
  if (file.failed.length > 0) showFailure(file);
  else if (process.stdout.isTTY) console.log(`ok   ${file.path} (${(file.ms / 1000).toFixed(1)} s)`);
};

const to_run = files.filter((path) => !left_out.includes(path));
const alone = to_run.filter(isAlone);
const together = to_run.filter((path) => !isAlone(path));
const work = async () => {
  for (let path = alone.shift(); path !== undefined; path = alone.shift()) await runFiles(path, () => undefined, tell);
  for (let path = together.shift(); path !== undefined; path = together.shift()) {
    let files_left = FILES_PER_PROCESS_MAX - 1;
    await runFiles(path, () => (files_left-- > 0 ? together.shift() : undefined), tell);
  }
};
await Promise.all(Array.from({ length: JOBS }, work));

if (slowest > 0) {
  const seconds = (number) => number.toFixed(1).padStart(8);
  const sum = (part) => ran.reduce((all, file) => all + part(file), 0);
  ran.sort((a, b) => b.cpu_s - a.cpu_s || b.ms - a.ms);
  console.log('   CPU s  wall s');
  for (const { path, cpu_s, ms } of ran.slice(0, slowest))
    console.log(`${seconds(cpu_s)}${seconds(ms / 1000)}  ${path}`);
  console.log(`${seconds(sum(({ cpu_s }) => cpu_s))}${seconds(sum(({ ms }) => ms) / 1000)}  all ${ran.length} files`);
}

for (const coverage of ['coverage_of_rules.js', 'coverage_of_operations.js']) {
  if (wanted.length > 0) break;
  const program = join(root, 'dist', 'test', coverage);
  const { status } = spawnSync(process.execPath, [program, succeeded], { cwd: root, stdio: 'inherit' });
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
