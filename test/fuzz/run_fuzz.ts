import { fuzz } from './fuzz.js';
import { ROUTE_COUNT } from './requests.js';

/** Fuzzes a server with so many requests and prints what came of it, as `npm run spool -- fuzz` does. */
export async function runFuzz({ requests, seed = drawSeed() }: { requests: number; seed?: number }): Promise<void> {
  console.log(`seed ${seed}, ${requests} requests`);
  const { sent, seconds, statuses, memory, worlds, problems } = await fuzz({ requests, seed, tell: console.log });
  const columns = [...new Set([...statuses.values()].flatMap((counts) => [...counts.keys()]))].toSorted(
    (a, b) => a - b,
  );
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
}

function drawSeed(): number {
  return Math.floor(Math.random() * 2 ** 31);
}
