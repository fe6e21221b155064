import { parseArgs } from 'node:util';
import { SeededRandom } from '../../src/seeded_random.js';
import { FAULTS, type Fault } from './table.js';
import { runTestFile } from './test_files.js';
import { type Size, Trial } from './trial.js';

/**
 * `npm run faults [-- NAME or NUMBER …] [--seed S] [--seconds N] [--minutes M] [--no-tests]`: tries faults at real
 * servers on a real Redis. `--seconds` is the load of each (6); `--minutes` is how long Redis stays away (a third of one).
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    seconds: { type: 'string', default: '6' },
    minutes: { type: 'string', default: '0.33' },
    'no-tests': { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const size: Size = { seconds: Number(values.seconds), away_ms: Number(values.minutes) * 60_000 };
if (![seed, size.seconds, size.away_ms].every((number) => Number.isFinite(number) && number >= 0))
  throw new Error('--seed, --seconds and --minutes must be numbers from 0 on');
const isWanted = ({ number, name }: Fault) =>
  positionals.length === 0 || positionals.some((one) => one === name || one === String(number));
for (const one of positionals) {
  if (FAULTS.some(({ number, name }) => one === name || one === String(number))) continue;
  console.error(`There is no fault ${one}. They are ${FAULTS.map(({ number, name }) => number ?? name).join(', ')}:`);
  for (const { number, name, what } of FAULTS)
    console.error(`  ${String(number ?? '').padStart(2)} ${name.padEnd(14)} ${what}`);
  process.exit(1);
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
    if (!values['no-tests']) for (const name of fault.tests) await runTestFile(trial, name);
    if (trial.tries === 0) trial.problems.push('nothing was tried');
  } catch (error) {
    trial.problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
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
