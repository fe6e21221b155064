/* What a run has come to, in counts and words. */

/** Counts the tests of a file, which are not indented. A file that failed without a failed test (it crashed) counts as one. */
export const countTests = (tap, is_good) => {
  const count = { passed: 0, failed: [] };
  for (const line of tap.split('\n')) {
    const [, not, rest] = /^(not )?ok \d+(?: - )?(.*)$/.exec(line) ?? [];
    if (rest === undefined || / # (SKIP|TODO)\b/i.test(rest)) continue;
    if (not) count.failed.push(rest.replace(/ # time=.*$/, ''));
    else count.passed++;
  }
  if (count.failed.length === 0 && (!is_good || count.passed === 0)) count.failed.push('(the file itself)');
  return count;
};

export class Report {
  passed = 0;
  failed = 0;
  #names = [];
  /** What files say that this machine lacks for some of their tests. */
  #not_run = new Set();
  #files = [];

  /** Takes in a file that has run. What went wrong in it is printed at once. */
  add(file) {
    this.passed += file.passed;
    this.failed += file.failed.length;
    for (const line of file.tap.split('\n')) if (line.startsWith('not run: ')) this.#not_run.add(line);
    this.#names.push(...file.failed.map((name) => `${file.path}: ${name}`));
    this.#files.push(file);
    if (file.failed.length > 0) console.log(failureText(file));
    else if (process.stdout.isTTY) console.log(`ok   ${file.path} (${(file.ms / 1000).toFixed(1)} s)`);
  }

  /** The files that took the most CPU. */
  printSlowest(count) {
    const seconds = (number) => number.toFixed(1).padStart(8);
    const sum = (part) => this.#files.reduce((all, file) => all + part(file), 0);
    console.log('   CPU s  wall s');
    const slowest = this.#files.toSorted((a, b) => b.cpu_s - a.cpu_s || b.ms - a.ms).slice(0, count);
    for (const { path, cpu_s, ms } of slowest) console.log(`${seconds(cpu_s)}${seconds(ms / 1000)}  ${path}`);
    const all = seconds(sum(({ cpu_s }) => cpu_s)) + seconds(sum(({ ms }) => ms) / 1000);
    console.log(`${all}  all ${this.#files.length} files`);
  }

  /** What failed, what did not run, and the counts. The last line is `N passed, N failed`. */
  printEnd({ without_browser, no_chromium }) {
    for (const name of this.#names) console.log(`failed: ${name}`);
    for (const line of this.#not_run) console.log(line);
    if (without_browser > 0) {
      const files = `The tests in a browser (${without_browser} files) did not run.`;
      const text = `${files} ${no_chromium} Or: npm run test:browser`;
      console.log(process.stdout.isTTY ? `\x1b[31m${text}\x1b[0m` : text);
    }
    console.log(`\n${this.passed} passed, ${this.failed} failed`);
  }
}

/** What went wrong in a file: its TAP without what went well. */
const failureText = ({ path, tap, errors }) => {
  const lines = tap.split('\n').filter((line) => !/^\s*(ok \d|# Subtest|\d+\.\.\d+|$)/.test(line));
  return [`FAIL ${path}`, ...lines, errors.trim()].join('\n');
};
