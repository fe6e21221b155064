import { parseArgs } from 'node:util';
import { fuzz } from './fuzz.js';
import { ROUTE_COUNT } from './requests.js';

/** `npm run fuzz [-- --requests 20000] [--seed S]`: malformed and half-right requests to every route of a real server. */
const { values } = parseArgs({ options: { requests: { type: 'string', default: '20000' }, seed: { type: 'string' } } });
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const requests = Number(values.requests);
if (!Number.isSafeInteger(requests) || requests < 1 || !Number.isSafeInteger(seed))
  throw new Error('--requests and --seed must be whole numbers');

console.log(`seed ${seed}, ${requests} requests`);
const { sent, seconds, statuses, memory, worlds, problems } = await fuzz({ requests, seed, tell: console.log });
const columns = [...new Set([...statuses.values()].flatMap((counts) => [...counts.keys()]))].toSorted((a, b) => a - b);
console.log(
  `${'route'.padEnd(58)}${columns.map((status) => String(status === 0 ? 'none' : status).padStart(6)).join('')}`,
);
for (const [route, counts] of [...statuses].toSorted())
  console.log(`${route.padEnd(58)}${columns.map((status) => String(counts.get(status) ?? '').padStart(6)).join('')}`);
console.log(
  `${sent} requests in ${seconds.toFixed(1)} s, ${Math.round(sent / seconds)} a second; ${statuses.size} of ${ROUTE_COUNT} routes; accounts made anew ${worlds - 1} times`,
);
for (const { what, at } of memory)
  console.log(
    `memory ${what.padEnd(9)} RSS ${Math.round(at.rss_mib)} MiB, heap ${Math.round(at.heap_mib)} MiB, ${at.files} open files`,
  );
for (const problem of problems) console.log(`  ! ${problem}`);
console.log(problems.length === 0 ? 'nothing broke' : `${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
