/*
 * `npm test`: makes a checkout ready, runs the quick tests, then counts the rules and operations that they cover.
 * `npm run test:all` runs every test. The last line is `N passed, N failed`: tests, not single comparisons.
 */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { ensureMeaningModel } from './setup/meaning_model.mjs';
import { ensureSpeechModels } from './setup/speech_models.mjs';
import { makeReady, readCommandLine, root } from './setup.mjs';
import { runFiles } from './testing/file_process.mjs';
import { makeRunFolder } from './testing/folder.mjs';
import { bundlePrograms } from './testing/program_bundles.mjs';
import { Report } from './testing/report.mjs';
import { isAlone, mixed, needsBrowser, selectFiles } from './testing/select.mjs';

const { values, positionals } = readCommandLine({
  form: 'npm test -- [PART OF A FILE NAME ...] [options]',
  says: 'Runs the tests whose path contains one of the parts, or without parts the quick ones, which cover every rule and operation. The last line is `N passed, N failed`; the exit code is 1 when a test failed.',
  options: {
    all: { says: 'without parts: run every test, as npm run test:all does' },
    slowest: { value: 'N', default: '0', whole: true, says: 'list the N files that took the most CPU' },
  },
  notes: [
    'npm test -- clock.test\nnpm test -- test/engine/wire/ routes/me',
    'Tests keep their data in /dev/shm where that has 2 GB, or in TMPDIR when it is set. Tests in a browser run where a Chromium is installed, or at CHROMIUM_PATH.',
  ],
  words_max: Number.POSITIVE_INFINITY,
});
makeReady({ with_dev: true });
await ensureSpeechModels();
await ensureMeaningModel();

const fail = (problem) => {
  console.error(problem);
  process.exit(1);
};

const { findRedisProgram } = await import('../dist/src/engine/process/redis_program.js');
await findRedisProgram({ log: console.log }).catch((error) => fail(error.message));

const files = selectFiles(positionals, { all: values.all });
if (files.length === 0) fail(`no test file matches ${positionals.join(' ')}`);
const { findChromium, NO_CHROMIUM } = await import('../dist/test/fixtures/chromium_program.js');
const left_out = findChromium() === null ? files.filter(needsBrowser) : [];
if (left_out.length === files.length) fail(NO_CHROMIUM);

/** Two more than cores: a good part of the tests waits for servers to start, or for time to pass. */
const JOBS = availableParallelism() + 2;
/** A process ends after so many files, so that what one leaves behind reaches few others. */
const FILES_PER_PROCESS_MAX = 40;

/** So many failed files of a run of all run once more, one at a time; the end of the report names those that pass then. */
const AGAIN_MAX = 3;

const folder = makeRunFolder();
/** Where test processes write which operations they saw answered. */
const succeeded = join(folder, 'succeeded');
const env = { TMPDIR: folder, SPOOL_SUCCEEDED: succeeded };
if (values.all) Object.assign(env, await bundlePrograms(folder));
else if (positionals.length === 0) env.SPOOL_QUICK = '1';
const report = new Report(files.length - left_out.length);
const tell = (file) => report.add(file);

const to_run = files.filter((path) => !left_out.includes(path));
const alone = to_run.filter(isAlone);
const together = mixed(to_run.filter((path) => !isAlone(path)));
const work = async () => {
  for (let path = alone.shift(); path !== undefined; path = alone.shift()) {
    await runFiles(path, { next: () => undefined, tell, env });
  }
  for (let path = together.shift(); path !== undefined; path = together.shift()) {
    let files_left = FILES_PER_PROCESS_MAX - 1;
    await runFiles(path, { next: () => (files_left-- > 0 ? together.shift() : undefined), tell, env });
  }
};
await Promise.all(Array.from({ length: JOBS }, work));

// A few may have failed because the machine was busy.
const again = values.all && report.failed_files.length <= AGAIN_MAX ? report.failed_files : [];
for (const path of again) await runFiles(path, { next: () => undefined, tell, env });

if (values.slowest > 0) report.printSlowest(values.slowest);
for (const coverage of ['coverage_of_rules.js', 'coverage_of_operations.js']) {
  if (positionals.length > 0) break;
  const program = join(root, 'dist', 'test', coverage);
  const { status } = spawnSync(process.execPath, [program, succeeded, ...files], { cwd: root, stdio: 'inherit' });
  if (status !== 0) report.problems++;
}
report.printEnd({ without_browser: left_out.length, no_chromium: NO_CHROMIUM });
process.exitCode = report.failed === 0 ? 0 : 1;
