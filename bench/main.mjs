import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findRedisProgram } from '../dist/src/process/redis_program.js';
import { chartText } from './chart.mjs';
import { can_pin, pinLoad } from './processes.mjs';
import { reportText, tableText } from './report.mjs';
import * as chunk from './rows/chunk.mjs';
import * as commits from './rows/commits.mjs';
import * as growth from './rows/growth.mjs';
import * as handshakes from './rows/handshakes.mjs';
import * as memory from './rows/memory.mjs';
import * as oauth from './rows/oauth.mjs';
import * as reads from './rows/reads.mjs';
import * as webhooks from './rows/webhooks.mjs';

const ROWS = { chunk, commits, reads, oauth, webhooks, handshakes, growth, memory };
const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const REPORT = pathOf('../BENCHMARKS.md');
const CHART = pathOf('../docs/benchmarks.svg');
/** The last run of each group of rows, so that one group can be measured by itself. */
const RESULTS = pathOf('results.json');
const USAGE = `npm run bench -- [ROW …] [--rounds N] [--seconds S] [--accounts N] [--chunks N] [--profile FOLDER]

${Object.entries(ROWS)
  .map(([name, { title }]) => `  ${name.padEnd(12)} ${title}`)
  .join('\n')}

  --rounds N        how often each variant is measured; 5
  --seconds S       how long each time; 2
  --accounts N      accounts among which sign-ins are measured; 1000000
  --chunks N        chunks of the long stream; 100000
  --profile FOLDER  also writes CPU profiles of the measured servers there (they then run slower)

BENCHMARKS.md and its chart are written anew from the last run of each.`;

const number = (text, name) => {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${name} must be a number above 0`);
  return value;
};

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '2' },
      accounts: { type: 'string', default: '1000000' },
      chunks: { type: 'string', default: '100000' },
      profile: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  const unknown = positionals.find((name) => !Object.hasOwn(ROWS, name));
  if (unknown !== undefined) throw new Error(`There is no row ${unknown}.\n\n${USAGE}`);
  const options = {
    rounds: number(values.rounds, '--rounds'),
    seconds: number(values.seconds, '--seconds'),
    accounts: number(values.accounts, '--accounts'),
    chunks: number(values.chunks, '--chunks'),
    profile: values.profile,
  };
  const { version } = await findRedisProgram({ log: console.log });
  pinLoad();
  const wanted = positionals.length === 0 ? Object.keys(ROWS) : positionals;
  const measured = {};
  let failed = 0;
  for (const name of wanted) {
    const began = performance.now();
    try {
      const rows = await ROWS[name].run(options);
      measured[name] = { at: new Date().toISOString().slice(0, 10), ...settingsOf(options), rows };
      console.log(`${name}: measured in ${((performance.now() - began) / 1000).toFixed(0)} s`);
    } catch (error) {
      failed += 1;
      console.error(`${name}: could not be measured:`, error);
    }
  }
  console.log(`\n${tableText(Object.values(measured).flatMap(({ rows }) => rows))}`);
  if (options.profile === undefined) keep(measured, { redis_version: version, pinned: can_pin });
  process.exitCode = failed === 0 ? 0 : 1;
}

function settingsOf({ rounds, seconds }) {
  return { rounds, seconds };
}

function keep(measured, machine) {
  const known = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : {};
  const all = Object.fromEntries(
    Object.keys(ROWS).flatMap((name) => {
      const found = measured[name] ?? known[name];
      return found === undefined ? [] : [[name, found]];
    }),
  );
  writeFileSync(RESULTS, `${JSON.stringify(all, null, 2)}\n`);
  mkdirSync(pathOf('../docs/'), { recursive: true });
  writeFileSync(CHART, chartText(Object.values(all).flatMap(({ rows }) => rows)));
  writeFileSync(REPORT, reportText(all, machine));
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
