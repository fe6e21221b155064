import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { SpoolProcess } from '../driver/spool_process.js';
import { until } from '../fixtures/until.js';
import { drawRequest, type FuzzRequest } from './requests.js';
import { type Heard, Wire } from './wire.js';
import { lostIn, makeWorld, type World } from './world.js';

/** Under way at once. */
const AT_ONCE = 12;
/** Slow ones, which wait for a body that never comes, hold up no others. */
const SLOW_MS = 400;
const SLOW_MAX = 64;
/** After so many it is looked at whether credentials still hold. */
const LOOK_EVERY = 400;
const PROBLEMS_MAX = 20;
const SETTLED_MAX_MS = 20_000;
const FILES_LEFT_OPEN_MAX = 24;
/** Of the server: without a bound, what is garbage stays for long, and looks like what is kept. */
const HEAP_MIB_MAX = 256;
const MEMORY = { settled_ms: 1_500, growth_max_mib: 200, factor_max: 1.6 };

/** `files`: those that are open. */
type Memory = { rss_mib: number; heap_mib: number; files: number };
export type FuzzReport = {
  sent: number;
  seconds: number;
  /** By route, how often each status came; 0 where no answer did. */
  statuses: Map<string, Map<number, number>>;
  memory: { what: string; at: Memory }[];
  worlds: number;
  problems: string[];
};

/**
 * Sends malformed and half-right requests to every route of a server process, and looks whether it answers each, keeps
 * its memory and its files, and works afterwards as before. `tell` hears now and then how far it is.
 */
export async function fuzz({
  requests,
  seed,
  tell = () => {},
}: {
  requests: number;
  seed: number;
  tell?: (line: string) => void;
}): Promise<FuzzReport> {
  const folder = mkdtempSync(join(tmpdir(), 'spool-fuzz-'));
  const server = new SpoolProcess(folder, {
    TEST_CLOCK: '0',
    CHUNK_WORKER: '1',
    CONTENT_WORKER: '0',
    WEBHOOK_BLOCK_PRIVATE: '0',
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB_MAX}`,
  });
  const report: FuzzReport = { sent: 0, seconds: 0, statuses: new Map(), memory: [], worlds: 0, problems: [] };
  try {
    await server.ready();
    await run(server, folder, report, { requests, seed, tell });
    return report;
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function run(
  server: SpoolProcess,
  folder: string,
  report: FuzzReport,
  { requests, seed, tell }: { requests: number; seed: number; tell: (line: string) => void },
): Promise<void> {
  const random = new SeededRandom(seed);
  let exit: number | null | undefined;
  void server.exited.then((code) => {
    exit = code;
  });
  const problem = (text: string) => {
    if (report.problems.length < PROBLEMS_MAX) report.problems.push(text);
  };
  let world: World = await makeWorld(server, folder);
  report.worlds = 1;
  report.memory.push({ what: 'before', at: await memoryOf(server) });
  const operator_url = /operators +(http:\/\/\S+)/.exec(server.output)?.[1] ?? '';
  const wire = new Wire({ public: server.base_url, device: server.device_url, operator: operator_url });
  const began = performance.now();
  const slow = new Set<Promise<void>>();
  let looking: Promise<void> | null = null;

  const look = async () => {
    if ((await lostIn(server, world)).length === 0) return;
    world = await makeWorld(server, folder);
    report.worlds += 1;
  };
  const one = async (request: FuzzRequest) => {
    const heard = await wire.send(request, world);
    const statuses = report.statuses.get(request.route) ?? new Map<number, number>();
    report.statuses.set(request.route, statuses.set(heard.status, (statuses.get(heard.status) ?? 0) + 1));
    const wrong = wrongWith(request, heard);
    if (wrong !== null) problem(`${wrong}: ${describe(request)}\n      ${heard.body.slice(0, 300)}`);
  };
  const working = Array.from({ length: AT_ONCE }, async () => {
    while (report.sent < requests && exit === undefined) {
      report.sent += 1;
      const nth = report.sent;
      if (nth % LOOK_EVERY === 0) {
        looking ??= look()
          .catch(look) // a kept connection may have been closed meanwhile
          .catch((error: Error) => problem(`it does not work any more: ${error.message}`))
          .finally(() => {
            looking = null;
          });
      }
      if (looking !== null) await looking; // nothing is half right with credentials that ended
      if (nth === Math.floor(requests / 2)) report.memory.push({ what: 'half way', at: await memoryOf(server) });
      if (nth % 20_000 === 0) tell(`${nth} requests, ${Math.round((performance.now() - began) / 1_000)} s`);
      const sent = one(drawRequest(random, world));
      const is_slow = await Promise.race([sent.then(() => false), pause(SLOW_MS, true)]);
      if (!is_slow) continue;
      slow.add(sent);
      void sent.finally(() => slow.delete(sent));
      while (slow.size >= SLOW_MAX) await Promise.race(slow);
    }
  });
  await Promise.all(working);
  await Promise.all(slow);
  report.seconds = (performance.now() - began) / 1_000;
  wire.close();
  if (exit !== undefined) {
    problem(`the server ended with ${exit}:\n${server.output.slice(-2_000)}`);
    return;
  }
  await afterwards(server, folder, report, problem);
}

/** The server works as before, has let go of everything, and has said nothing of errors. */
async function afterwards(
  server: SpoolProcess,
  folder: string,
  report: FuzzReport,
  problem: (text: string) => void,
): Promise<void> {
  const [before, half] = report.memory.map(({ at }) => at) as [Memory, Memory];
  const anew = await makeWorld(server, folder).catch((error: Error) =>
    problem(`it does not work as before: ${error.message}`),
  );
  const lost = anew ? await lostIn(server, anew) : [];
  if (lost.length > 0) problem(`what was made after it does not hold: ${lost.join('; ')}`);
  let after = await memoryOf(server);
  await until(
    'connections and files are let go',
    async () => {
      after = await memoryOf(server);
      return after.files <= before.files + FILES_LEFT_OPEN_MAX;
    },
    SETTLED_MAX_MS,
  ).catch(() => problem(`${after.files} open files, ${before.files} before`));
  await pause(MEMORY.settled_ms);
  after = await memoryOf(server);
  report.memory.push({ what: 'after', at: after });
  const grown_mib = after.heap_mib - half.heap_mib;
  if (grown_mib > MEMORY.growth_max_mib || (after.heap_mib > half.heap_mib * MEMORY.factor_max && grown_mib > 60))
    problem(`the heap grew from ${Math.round(half.heap_mib)} MiB half way to ${Math.round(after.heap_mib)}`);
  const left = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tmp'));
  if (left.length > 0) problem(`temporary files are left: ${left.slice(0, 5).join()}`);
  for (const line of server.output.split('\n')) {
    if (!line.startsWith('{')) continue;
    const { level, msg, err } = JSON.parse(line) as { level: number; msg?: string; err?: { stack?: string } };
    if (level >= 50) problem(`it logged an error: ${msg} ${err?.stack?.split('\n').slice(0, 4).join(' ') ?? ''}`);
  }
  if (/unhandled|UnhandledPromise/i.test(server.output)) problem('a rejection was not handled');
}

/** What no answer may be; null when it is one as it should be. */
function wrongWith({ way, method }: FuzzRequest, { status, retry_after, type, body, why }: Heard): string | null {
  if (why === 'no answer in time') return why;
  if (status === 503 && retry_after === undefined) return '503 without Retry-After';
  if (status >= 500 && status !== 503) return String(status);
  if (way !== 'whole') return null;
  // A connection may be closed on what is too long to read; then the answer can get lost.
  if (status === 0) return why === 'ECONNREFUSED' ? why : null;
  if (/^\s+at .+:\d+:\d+\)?$/m.test(body)) return 'a stack trace';
  if (method === 'HEAD' || !type.startsWith('application/json') || body === '') return null;
  try {
    JSON.parse(body);
    return null;
  } catch {
    return 'JSON that is none';
  }
}

function describe({ listener, route, method, path, headers, body, way }: FuzzRequest): string {
  const shown = headers.map(([name, value]) => `${name}: ${value.slice(0, 60)}`).join(', ');
  const text = body === null ? '' : ` ${body.length} bytes ${JSON.stringify(body.toString('latin1').slice(0, 300))}`;
  return `${listener}, ${route}, ${way}: ${method} ${path.slice(0, 200)} {${shown}}${text}`;
}

async function memoryOf(server: SpoolProcess): Promise<Memory> {
  const operator = server.operator();
  const text = (await operator.send('GET', '/metrics').finally(() => operator.close())).body.toString();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]);
  return {
    rss_mib: Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1_024,
    heap_mib: value('spool_nodejs_heap_size_used_bytes') / 2 ** 20,
    files: openFilesOf(server),
  };
}

function openFilesOf({ pid }: SpoolProcess): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).length;
}
