import { Successes } from '../driver/successes.js';
import { ABOUTS } from './clients.js';
import { MEMBER_OPERATIONS } from './membership_clients.js';
import { SESSION_OPERATIONS } from './session_hosts.js';
import { type Outcome, simulate, TRIES_EACH_MAX } from './simulation.js';
import { WEBHOOK_OPERATIONS } from './webhook_owners.js';

/** Of every kind of operation on workspaces and endpoints at least one must be acknowledged in so many seeds. */
const SEEDS_PER_ACKNOWLEDGED = 5;
const SAY_EVERY_MS = 60_000;

export type Wanted = { seeds: number; seed: number; operations: number; about?: (typeof ABOUTS)[number] | undefined };

/** Simulates with so many seeds and prints what came of it, as `npm run spool -- simulate` does. */
export async function runSeeds({ seeds, seed: first_seed, operations, about: wanted }: Wanted): Promise<void> {
  const acknowledged = new Successes();
  const failed: Outcome[] = [];
  let crashes = 0;
  let undecided = 0;
  let [reminders, tries] = [0, 0];
  const began = performance.now();
  let said_at = began;
  const abouts = ABOUTS.filter((about) => about === (wanted ?? about));
  for (let seed = first_seed; seed < first_seed + seeds; seed++) {
    for (const about of abouts) await run(seed, about);
    sayProgress(seed - first_seed + 1);
  }
  const minutes = (performance.now() - began) / 60_000;
  if (process.stderr.isTTY) process.stderr.write('\r');
  console.log(
    `seeds ${first_seed} to ${first_seed + seeds - 1}, ${abouts.join(' and ')}: ${seeds * abouts.length - failed.length} passed, ${failed.length} failed, ${Math.round(seeds / minutes)} a minute`,
  );
  console.log(
    `${crashes} crashes, ${undecided} histories of names undecided; acknowledged: ${JSON.stringify(acknowledged.by_kind)}`,
  );
  const each = reminders === 0 ? 0 : tries / reminders;
  console.log(`${each.toFixed(3)} tries of each of ${reminders} reminders, once all agreed who looks where`);
  if (failed.length > 0) console.log(`failed seeds: ${failed.map(({ seed }) => seed).join(' ')}`);
  const expected = [
    ...(abouts.includes('workspaces') ? MEMBER_OPERATIONS : []),
    ...(abouts.includes('endpoints') ? WEBHOOK_OPERATIONS : []),
    ...(abouts.includes('sessions') ? SESSION_OPERATIONS : []),
  ];
  const rare = acknowledged.rare(expected, Math.floor(seeds / SEEDS_PER_ACKNOWLEDGED));
  if (rare.length > 0) console.log(`hardly ever acknowledged: ${rare.join(', ')}`);
  process.exitCode = rare.length > 0 || failed.length > 0 || each > TRIES_EACH_MAX ? 1 : 0;

  /** In a terminal after each seed, elsewhere once a minute. */
  function sayProgress(done: number): void {
    const { isTTY } = process.stderr;
    if (!isTTY && performance.now() - said_at < SAY_EVERY_MS) return;
    said_at = performance.now();
    process.stderr.write(`${isTTY ? '\r' : ''}${done} of ${seeds} seeds, ${failed.length} failed${isTTY ? ' ' : '\n'}`);
  }

  async function run(seed: number, about: (typeof ABOUTS)[number]): Promise<void> {
    const outcome = await simulate(seed, { operations, about });
    acknowledged.addAll(outcome.acknowledged);
    crashes += outcome.crashes;
    undecided += outcome.undecided;
    reminders += outcome.reminders;
    tries += outcome.reminder_tries;
    if (outcome.violations.length === 0) return;
    failed.push(outcome);
    tell(outcome, about);
  }

  function tell({ seed, violations, last_lines }: Outcome, about: string): void {
    console.log(`\nseed ${seed} about ${about} failed:`);
    for (const text of violations.slice(0, 10)) console.log(`  ${text.slice(0, 1_500)}`);
    if (failed.length === 1) {
      console.log(
        `the last of its history (all of it: SIMULATION_HISTORY=1 npm run spool -- simulate --seeds 1 --seed ${seed} --about ${about}):`,
      );
      for (const line of last_lines.slice(-60)) console.log(`    ${line}`);
    }
  }
}
