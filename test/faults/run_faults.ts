import { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { FAULTS, type Fault } from './table.js';
import { runTestFile } from './test_files.js';
import { type Size, Trial } from './trial.js';

type Options = { seed?: number; seconds: number; minutes: number; 'no-tests'?: boolean };

/** Tries the faults of these names or numbers, or all, and prints what came of it, as `npm run spool -- faults` does. */
export async function runFaults(names: readonly string[], options: Options): Promise<void> {
  const { seed = Math.floor(Math.random() * 2 ** 31), seconds, minutes } = options;
  const size: Size = { seconds, away_ms: minutes * 60_000 };
  const isWanted = ({ number, name }: Fault) =>
    names.length === 0 || names.some((one) => one === name || one === String(number));
  for (const one of names) {
    if (FAULTS.some(({ number, name }) => one === name || one === String(number))) continue;
    console.error(`There is no fault ${one}. They are ${FAULTS.map(({ number, name }) => number ?? name).join(', ')}:`);
    for (const { number, name, what } of FAULTS)
      console.error(`  ${String(number ?? '').padStart(2)} ${name.padEnd(14)} ${what}`);
    process.exit(2);
  }

  console.log(`seed ${seed}, ${size.seconds} s of load each`);
  const HEAD = ' #  fault          tries     ok  refused  unknown  checked  survived      s';
  console.log(HEAD);
  const began = performance.now();
  let failed = 0;
  for (const fault of FAULTS.filter(isWanted)) {
    const started = performance.now();
    const trial = new Trial(new SeededRandom(seed + (fault.number ?? 0)), size);
    try {
      await fault.run?.(trial);
      if (!options['no-tests']) for (const name of fault.tests) await runTestFile(trial, name);
      if (trial.tries === 0) trial.problems.push('nothing was tried');
    } catch (error) {
      trial.problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    } finally {
      await trial.end();
    }
    const { tries, invariants, counts, problems, notes } = trial;
    const number = (value: number, width: number) => String(value).padStart(width);
    const row = [
      `${number(fault.number ?? 0, 2).replace(/^ 0$/, '  ')}  ${fault.name.padEnd(13)}`,
      `${number(tries, 6)} ${number(counts.ok, 6)}  ${number(counts.refused, 7)}  ${number(counts.unknown, 7)}`,
      `${number(invariants, 8)}  ${(problems.length === 0 ? 'yes' : 'NO').padEnd(8)}`,
      number(Math.round((performance.now() - started) / 1_000), 6),
    ];
    console.log(row.join(' '));
    for (const note of notes) console.log(`      ${note}`);
    for (const problem of problems.slice(0, 10)) console.log(`    ! ${problem}`);
    if (problems.length > 0) failed += 1;
  }
  console.log(
    `${failed === 0 ? 'all survived' : `${failed} not survived`}, ${Math.round((performance.now() - began) / 1_000)} s`,
  );
  process.exitCode = failed === 0 ? 0 : 1;
}
