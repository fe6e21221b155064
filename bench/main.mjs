import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findRedisProgram } from '../dist/src/process/redis_program.js';
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
const REPORT = fileURLToPath(new URL('../BENCHMARKS.md', import.meta.url));
const USAGE = `npm run bench -- [ROW …] [--rounds N] [--seconds S] [--accounts N] [--chunks N] [--profile FOLDER]

${Object.entries(ROWS)
  .map(([name, { title }]) => `  ${name.padEnd(12)} ${title}`)
  .join('\n')}

  --rounds N        how often each variant is measured; 5
  --seconds S       how long each time; 2
  --accounts N      accounts among which sign-ins are measured; 1000000
  --chunks N        chunks of the long stream; 100000
  --profile FOLDER  also writes CPU profiles of the measured servers there (they then run slower)

A run of all rows writes BENCHMARKS.md.`;

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
  const rows = [];
  let failed = 0;
  for (const name of wanted) {
    const began = performance.now();
    try {
      rows.push(...(await ROWS[name].run(options)));
      console.log(`${name}: measured in ${((performance.now() - began) / 1000).toFixed(0)} s`);
    } catch (error) {
      failed += 1;
      console.error(`${name}: could not be measured:`, error);
    }
  }
  console.log(`\n${tableText(rows)}`);
  if (failed === 0 && positionals.length === 0 && options.profile === undefined) {
    writeFileSync(REPORT, reportText(rows, { options, redis_version: version, pinned: can_pin }));
  }
  process.exitCode = failed === 0 ? 0 : 1;
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
