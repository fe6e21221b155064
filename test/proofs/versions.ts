import { parseArgs } from 'node:util';
import { SeededRandom } from '../../src/seeded_random.js';
import { Trial } from '../faults/trial.js';
import { OtherBuild, PREVIOUS_REVISION, versionsSideBySide } from '../faults/versions.js';

/**
 * Another revision and this checkout side by side, on one Redis, keys and audio: the older one first and the newer
 * beside it, and the other way round. No 500, nothing lost, and what one wrote the other reads or says 503 to.
 * `npm run prove -- versions [--revision ed0a964] [--seconds 10] [--seed N]`
 */
const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    revision: { type: 'string', default: PREVIOUS_REVISION },
    seconds: { type: 'string', default: '10' },
    seed: { type: 'string' },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
console.log(`building ${values.revision}; seed ${seed}`);
const other = new OtherBuild(values.revision);
const removed = () => other.remove();
process.once('exit', removed);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const rows: [string, (string | null)[]][] = [
  [`${values.revision}, then this one`, [other.main, null]],
  [`this one, then ${values.revision}`, [null, other.main]],
];
console.log(`${'started'.padEnd(28)}    ok  refused  unknown  checked  holds      s`);
for (const [name, mains] of rows) {
  const began = performance.now();
  const trial = new Trial(new SeededRandom(seed), { seconds: Number(values.seconds), away_ms: 0 });
  try {
    await versionsSideBySide(trial, mains);
  } catch (error) {
    trial.problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  const { counts, invariants, problems } = trial;
  const number = (value: number, width: number) => String(value).padStart(width);
  const holds = problems.length === 0 ? 'yes' : 'NO';
  const taken_s = Math.round((performance.now() - began) / 1_000);
  console.log(
    `${name.padEnd(28)}${number(counts.ok, 6)}  ${number(counts.refused, 7)}  ${number(counts.unknown, 7)}  ${number(invariants, 7)}  ${holds.padEnd(5)}${number(taken_s, 7)}`,
  );
  for (const problem of problems.slice(0, 12)) console.log(`  ! ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}
