/* What a run has come to, in counts and words. */

/**
 * Counts the tests of a file, which are not indented. A file that failed without a failed test (its process crashed, or it
 * has no test) counts as one, which says why. `ending`: how its process ended before the file did.
 */
export const countTests = (tap, ending = null) => {
  const count = { passed: 0, failed: [] };
  for (const line of tap.split('\n')) {
    const [, not, rest] = /^(not )?ok \d+(?: - )?(.*)$/.exec(line) ?? [];
    if (rest === undefined || / # (SKIP|TODO)\b/i.test(rest)) continue;
    if (not) count.failed.push(rest.replace(/ # time=.*$/, ''));
    else count.passed++;
  }
  if (count.failed.length > 0) return count;
  if (ending !== null) count.failed.push(`(the file itself: ${ending})`);
  else if (count.passed === 0) count.failed.push('(the file itself: no test ran)');
  return count;
};

/** On a terminal one line shows how far a run is; elsewhere a line comes now and then. */
const PROGRESS_EVERY_MS = process.stdout.isTTY ? 1_000 : 30_000;
const CLEAR_LINE = '\r\x1b[K';

export class Report {
  /** Failures that are not of a file. */
  problems = 0;
  /** By path, as each ran last. */
  #files = new Map();
  #passed_alone = [];
  #files_of_all;
  #began_ms = performance.now();
  #ticking;

  /** `files`: how many will run. */
  constructor(files) {
    this.#files_of_all = files;
    this.#ticking = setInterval(() => this.#printProgress(), PROGRESS_EVERY_MS).unref();
  }

  #printProgress() {
    const s = Math.floor((performance.now() - this.#began_ms) / 1000);
    const elapsed = `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`;
    const text = `${this.#files.size} of ${this.#files_of_all} files, ${elapsed}, ${this.failed} failed`;
    if (process.stdout.isTTY) process.stdout.write(`${CLEAR_LINE}${text}`);
    else console.log(text);
  }

  /** Prints in place of the line that shows how far the run is. */
  #print(text) {
    console.log(process.stdout.isTTY ? CLEAR_LINE + text : text);
  }

  get passed() {
    return this.#sum(({ passed }) => passed);
  }

  get failed() {
    return this.#sum(({ failed }) => failed.length) + this.problems;
  }

  get failed_files() {
    return [...this.#files.values()].filter(({ failed }) => failed.length > 0).map(({ path }) => path);
  }

  #sum(part) {
    return [...this.#files.values()].reduce((all, file) => all + part(file), 0);
  }

  /** Takes in a file that has run; once more where it ran again. What went wrong in it is printed at once. */
  add(file) {
    const before = this.#files.get(file.path);
    if (file.failed.length > 0) this.#print(failureText(file));
    else if (before !== undefined && before.failed.length > 0) this.#passed_alone.push(file.path);
    this.#files.set(file.path, file);
    if (process.stdout.isTTY) this.#printProgress();
  }

  #endProgress() {
    clearInterval(this.#ticking);
    if (process.stdout.isTTY) process.stdout.write(CLEAR_LINE);
  }

  /** The files that took the most CPU. */
  printSlowest(count) {
    this.#endProgress();
    const seconds = (number) => number.toFixed(1).padStart(8);
    console.log('   CPU s  wall s');
    const slowest = [...this.#files.values()].sort((a, b) => b.cpu_s - a.cpu_s || b.ms - a.ms).slice(0, count);
    for (const { path, cpu_s, ms } of slowest) console.log(`${seconds(cpu_s)}${seconds(ms / 1000)}  ${path}`);
    const all = seconds(this.#sum(({ cpu_s }) => cpu_s)) + seconds(this.#sum(({ ms }) => ms) / 1000);
    console.log(`${all}  all ${this.#files.size} files`);
  }

  /** Prints failures, what did not run, and the counts. The last line is `N passed, N failed`. */
  printEnd({ without_browser, no_chromium }) {
    this.#endProgress();
    for (const path of this.#passed_alone) console.log(`failed beside others and passed alone: ${path}`);
    const files = [...this.#files.values()];
    for (const { path, failed } of files) for (const name of failed) console.log(`failed: ${path}: ${name}`);
    // The parts that this machine lacks for some tests, as files report them.
    const lines = files.flatMap(({ tap }) => tap.split('\n')).filter((line) => line.startsWith('not run: '));
    for (const line of new Set(lines)) console.log(line);
    if (without_browser > 0) {
      const left_out = `The tests in a browser (${without_browser} files) did not run.`;
      const text = `${left_out} ${no_chromium} Or: npm run test:browser`;
      console.log(process.stdout.isTTY ? `\x1b[31m${text}\x1b[0m` : text);
    }
    console.log(`\n${this.passed} passed, ${this.failed} failed`);
  }
}

/** The failure of a file: its TAP without what went well, its stderr, and how its process ended. */
const failureText = ({ path, tap, errors, ending, failed }) => {
  const lines = tap.split('\n').filter((line) => !/^\s*(ok \d|# Subtest|\d+\.\.\d+|$)/.test(line));
  const begun = tap.match(/(?<=# Subtest: ).*/g)?.at(-1);
  const end =
    ending === null ? [] : [`${path}: ${ending}${begun === undefined ? '' : `; the last test that began: ${begun}`}`];
  return [`FAIL ${path}`, ...lines, errors.trim(), ...end, ...failed.map((name) => `failed: ${name}`)].join('\n');
};
