import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { SpoolProcess } from '../../driver/spool_process.js';
import { until } from '../../fixtures/until.js';

const SIGHUP_BIT = 0;
/** For two processes that are started one after the other, on a machine that is busy with other things. */
const REPLACED_MAX_MS = 60_000;

function start(t: Test, env: Record<string, string>): SpoolProcess {
  const folder = mkdtempSync(join(tmpdir(), 'spool-signals-'));
  const server = new SpoolProcess(folder, env);
  t.teardown(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return server;
}

/** Whether the program handles the signal; before that Node is not there yet. */
function isHandled(pid: number, bit: number): boolean {
  const mask = /^SigCgt:\s*([0-9a-f]+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  return ((BigInt(`0x${mask}`) >> BigInt(bit)) & 1n) === 1n;
}

t.test('a reload that comes during the start waits for its end', async (t) => {
  const server = start(t, { PROCESSES: '2' });
  await until('signals are handled', () => isHandled(server.pid, SIGHUP_BIT));
  t.notMatch(server.output, /is ready/);
  server.signal('SIGHUP');
  server.signal('SIGUSR2');
  await server.ready();
  await until('all were replaced', () => server.output.includes('All processes were replaced.'), REPLACED_MAX_MS);
  t.match(server.output, /SIGUSR2: nothing is done/);
  const pids = server.childrenNow();
  t.notOk(server.pids.some((pid) => pids.includes(pid)));
});

t.test('one process alone: a reload is answered by a line, and no signal opens a debugger', async (t) => {
  const server = start(t, {});
  await until('signals are handled', () => isHandled(server.pid, SIGHUP_BIT));
  for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) server.signal(signal);
  await server.ready();
  for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) server.signal(signal);
  await until('all were answered', () => server.output.match(/nothing is (?:done|replaced)/g)?.length === 6);
  await until('it serves', async () => (await fetch(`${server.operator_url}/readyz`)).status === 200);
  t.notMatch(server.output, /Debugger/);
});

t.test('signals while the server stops change nothing of that', async (t) => {
  const server = start(t, { PROCESSES: '2', DRAIN_S: '1' });
  await server.ready();
  const stopped = server.stop();
  await until('it stops', () => server.output.includes('SIGTERM: answering'));
  for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) server.signal(signal);
  t.equal(await stopped, 0);
  t.match(server.output, /nothing is replaced, since the server stops/);
  t.notMatch(server.output, /All processes were replaced/);
});
