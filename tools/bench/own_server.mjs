/** The server as `npm start` runs it, on the servers' core. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuMs, exactCpuMs, NODE_ARGS, pinnedCommand, temporaryFolder } from './processes.mjs';

const MAIN = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));
const READY = /ready after[\s\S]*redis +\S/;

/** Starts so many processes with a Redis of their own. */
export async function startServer(processes, settings = {}) {
  const { folder, remove } = temporaryFolder();
  const ports = { PORT: '0', DEVICE_PORT: '0', OPS_PORT: '0' };
  const { PATH, UV_THREADPOOL_SIZE } = process.env;
  const env = {
    PATH,
    UV_THREADPOOL_SIZE,
    ...ports,
    DATA_DIR: folder,
    PROCESSES: String(processes),
    TRANSCRIBE_BUILT_IN: '0',
    EMBED_BUILT_IN: '0',
    ...settings,
  };
  const [command, ...args] = pinnedCommand([process.execPath, ...NODE_ARGS, MAIN]);
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  while (!READY.test(output)) output += String(await once(child.stdout, 'data'));
  child.stdout.resume();
  const urlOf = (row) => `http://127.0.0.1:${new RegExp(`${row} +https?://[^:]+:(\\d+)`).exec(output)[1]}`;
  const pids = [child.pid, ...childrenOf(child.pid)];
  return {
    url: urlOf('start page'),
    operator_url: urlOf('operators'),
    token: readFileSync(join(folder, 'ops_token'), 'utf8').trim(),
    cpuMs: () => cpuMs(pids),
    exactCpuMs: () => exactCpuMs(pids),
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      remove();
    },
  };
}

function childrenOf(pid) {
  const tasks = readdirSync(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}/children`);
  return tasks.flatMap((file) => readFileSync(file, 'utf8').trim().split(' ').filter(Boolean).map(Number));
}
