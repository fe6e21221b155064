/** Processes on cores of their own, and the CPU time they use. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Servers, with their Redis, share the first core; the load generator has the second to itself. */
const SERVER_CORE = 0;
export const LOAD_CORE = 1;
export const can_pin = availableParallelism() >= 2 && spawnSync('taskset', ['--version']).status === 0;
const TICK_MS = 1000 / Number(execFileSync('getconf', ['CLK_TCK']).toString());

const pinned = (core, command) => (can_pin ? ['taskset', '-c', String(core), ...command] : command);

/** A command that runs on the servers' core. */
export const pinnedCommand = (command) => pinned(SERVER_CORE, command);

/** Puts this process, with all its threads, on the load generator's core. */
export function pinLoad() {
  if (can_pin) execFileSync('taskset', ['-a', '-c', '-p', String(LOAD_CORE), String(process.pid)], { stdio: 'ignore' });
}

/** CPU time that processes have used since their start, ms. */
export function cpuMs(pids) {
  let ticks = 0;
  for (const pid of pids) {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * TICK_MS;
}

/** The same to the ns, of their threads that run now. */
export function exactCpuMs(pids) {
  let ns = 0;
  for (const pid of pids)
    for (const thread of readdirSync(`/proc/${pid}/task`))
      ns += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return ns / 1e6;
}

/** Time that the servers' core has spent in the kernel, whoever it was for, ms. */
export function kernelMs() {
  const [, line = ''] = new RegExp(`^cpu${SERVER_CORE} (.*)$`, 'm').exec(readFileSync('/proc/stat', 'utf8')) ?? [];
  const [, , system = 0, , , irq = 0, softirq = 0] = line.split(' ').map(Number);
  return (system + irq + softirq) * TICK_MS;
}

export function rssBytes(pid) {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
}

/** As `npm start` has it, of peers too: so much may be allocated before what is short-lived is collected, so many threads wait for files. */
export const NODE_ARGS = ['--max-semi-space-size=64'];
process.env.UV_THREADPOOL_SIZE ??= '16';

/** A folder of a row's own; `remove` takes it away with all that was stored. */
export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'spool-bench-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

/**
 * Starts `programs/<name>.mjs` with `settings` and waits until it is ready; `ask` sends it a question and resolves with
 * the answer. `ready` is what it said first.
 */
export async function startProgram(name, settings, { core = SERVER_CORE, node_args = [] } = {}) {
  const file = fileURLToPath(new URL(`./programs/${name}.mjs`, import.meta.url));
  const [command, ...args] = pinned(core, [
    process.execPath,
    ...NODE_ARGS,
    ...node_args,
    file,
    JSON.stringify(settings),
  ]);
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], serialization: 'advanced' });
  const waiting = new Map();
  let count = 0;
  const gone = once(child, 'exit').then(([code]) => {
    const error = new Error(`${name} ended with code ${code}`);
    for (const { reject } of waiting.values()) reject(error);
    return code;
  });
  child.on('message', ({ id, value, error }) => {
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) asked?.resolve(value);
    else asked?.reject(new Error(`${name}: ${error}`));
  });
  const expect = (id) => new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
  const ready = await expect(0);
  return {
    pid: child.pid,
    ready,
    ask(question, details = {}) {
      count += 1;
      const answer = expect(count);
      child.send({ id: count, question, details });
      return answer;
    },
    async stop() {
      if (child.exitCode !== null) return;
      child.send({ id: -1, question: 'stop', details: {} });
      await gone;
    },
  };
}

/** A redis-server of a row's own, as durable as Spool's. */
export async function startRedis(folder, core) {
  const { findRedisProgram } = await import('../../dist/src/engine/process/redis_program.js');
  const { program } = await findRedisProgram({ log: console.log });
  const socket_path = join(folder, 'r');
  const [command, ...args] = pinned(core, [
    program,
    ...['--port', '0', '--unixsocket', socket_path, '--dir', folder, '--save', '', '--appendonly', 'yes'],
    ...['--appendfsync', 'always', '--maxmemory-policy', 'noeviction', '--stream-node-max-bytes', '2048'],
  ]);
  const child = spawn(command, args, { stdio: 'ignore' });
  const end = () => child.kill('SIGTERM');
  process.once('exit', end);
  const gone = once(child, 'exit').then(() => process.off('exit', end));
  return {
    socket_path,
    pid: child.pid,
    async stop() {
      end();
      await gone;
    },
  };
}
