import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { findRedisProgram } from '../../dist/src/engine/process/redis_program.js';
import { chartText } from './chart.mjs';
import { can_pin, pinLoad } from './processes.mjs';
import { BUSY_LOAD, groupText, LOOP_STEPS, summaryText, tableText } from './report.mjs';
import * as arrivals from './rows/arrivals.mjs';
import * as chunk from './rows/chunk.mjs';
import * as commits from './rows/commits.mjs';
import * as growth from './rows/growth.mjs';
import * as handshakes from './rows/handshakes.mjs';
import * as idle from './rows/idle.mjs';
import * as insights from './rows/insights.mjs';
import * as meetings from './rows/meetings.mjs';
import * as memory from './rows/memory.mjs';
import * as oauth from './rows/oauth.mjs';
import * as processes from './rows/processes.mjs';
import * as reads from './rows/reads.mjs';
import * as retention from './rows/retention.mjs';
import * as search from './rows/search.mjs';
import * as speech from './rows/speech.mjs';
import * as turns from './rows/turns.mjs';
import * as webhooks from './rows/webhooks.mjs';

const ROWS = {
  arrivals,
  chunk,
  commits,
  reads,
  oauth,
  webhooks,
  handshakes,
  growth,
  memory,
  turns,
  search,
  speech,
  retention,
  insights,
  meetings,
  processes,
  idle,
};
const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const REPORT = pathOf('../../BENCHMARKS.md');
const DETAILS = pathOf('../../docs/benchmarks/');
const CHART = pathOf('../../docs/benchmarks.svg');
/** The last run of each group of rows, so that one group can be measured by itself. */
const RESULTS = pathOf('results.json');

/** Measures the rows with these names, or all. */
export async function runBench(names, options) {
  const { version } = await findRedisProgram({ log: console.log });
  pinLoad();
  const wanted = names.length === 0 ? Object.keys(ROWS) : names;
  // Of others: what later rows would find is the work of those before.
  const [load] = loadavg();
  const loop_ms = loopMs();
  if (load > BUSY_LOAD) console.log(`The machine is busy beforehand, its load is ${load.toFixed(1)}.`);
  const table = [];
  let failed = 0;
  for (const name of wanted) {
    const began = performance.now();
    try {
      const rows = await ROWS[name].run(options);
      table.push(...rows);
      const measured = {
        at: new Date().toISOString().slice(0, 10),
        node: process.version,
        load: Math.round(load * 10) / 10,
        loop_ms: Math.round(loop_ms),
        ...settingsOf(options),
        rows,
      };
      // A profile slows down, and what somebody's model gets right is theirs to publish.
      if (options.profile === undefined && options.engine === undefined)
        keep({ [name]: measured }, { redis_version: version, pinned: can_pin });
      console.log(`${name}: measured in ${((performance.now() - began) / 1000).toFixed(0)} s`);
    } catch (error) {
      failed += 1;
      console.error(`${name}: could not be measured:`, error);
    }
  }
  console.log(`\n${tableText(table)}`);
  process.exitCode = failed === 0 ? 0 : 1;
}

/** How long a fixed loop takes on one core: the least of three. */
function loopMs() {
  const took_ms = Array.from({ length: 3 }, () => {
    const began = performance.now();
    let sum = 0;
    for (let step = 0; step < LOOP_STEPS; step++) sum = (sum * 31 + step) | 0;
    return Number.isInteger(sum) ? performance.now() - began : 0;
  });
  return Math.min(...took_ms);
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
  mkdirSync(DETAILS, { recursive: true });
  writeFileSync(CHART, chartText(Object.values(all).flatMap(({ rows }) => rows)));
  for (const [name, group] of Object.entries(all)) writeFileSync(`${DETAILS}${name}.md`, groupText(name, group));
  writeFileSync(REPORT, summaryText(all, machine));
}
