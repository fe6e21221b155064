import { parseArgs } from 'node:util';
import { type Outcome, simulate } from './simulation.js';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    operations: { type: 'string', default: '150' },
  },
});
const [seeds, first_seed, operations] = [Number(values.seeds), Number(values.seed), Number(values.operations)];
if (![seeds, first_seed, operations].every((number) => Number.isSafeInteger(number) && number > 0)) {
  console.error('usage: npm run simulate -- --seeds N [--seed S] [--operations K]');
  process.exit(2);
}

const acknowledged: Record<string, number> = {};
const failed: Outcome[] = [];
let crashes = 0;
let undecided = 0;
const began = performance.now();
for (let seed = first_seed; seed < first_seed + seeds; seed++) {
  const outcome = await simulate(seed, { operations });
  for (const [what, count] of Object.entries(outcome.acknowledged))
    acknowledged[what] = (acknowledged[what] ?? 0) + count;
  crashes += outcome.crashes;
  undecided += outcome.undecided;
  if (outcome.violations.length > 0) {
    failed.push(outcome);
    tell(outcome);
  }
  if (process.stderr.isTTY)
    process.stderr.write(`\r${seed - first_seed + 1} of ${seeds} seeds, ${failed.length} failed `);
}
const minutes = (performance.now() - began) / 60_000;
if (process.stderr.isTTY) process.stderr.write('\r');
console.log(
  `seeds ${first_seed} to ${first_seed + seeds - 1}: ${seeds - failed.length} passed, ${failed.length} failed, ${Math.round(seeds / minutes)} a minute`,
);
console.log(
  `${crashes} crashes, ${undecided} histories of names undecided; acknowledged: ${JSON.stringify(acknowledged)}`,
);
if (failed.length > 0) console.log(`failed seeds: ${failed.map(({ seed }) => seed).join(' ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;

function tell({ seed, violations, last_lines }: Outcome): void {
  console.log(`\nseed ${seed} failed:`);
  for (const text of violations.slice(0, 10)) console.log(`  ${text.slice(0, 1_500)}`);
  if (failed.length === 1) {
    console.log(
      `the last of its history (all of it: SIMULATION_HISTORY=1 npm run simulate -- --seeds 1 --seed ${seed}):`,
    );
    for (const line of last_lines.slice(-60)) console.log(`    ${line}`);
  }
}
