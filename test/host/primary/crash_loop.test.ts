import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { isRunning } from '../../../src/engine/process/redis_process.js';
import { SpoolProcess } from '../../driver/spool_process.js';

t.test('processes that end again and again are started no more, and the server ends with the reason', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'spool-crashing-'));
  const server = new SpoolProcess(folder, { PROCESSES: '2' });
  t.teardown(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  await server.ready();
  const { redis_pid } = server;
  while (server.is_running) {
    for (const pid of childrenOf(server)) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  t.equal(await server.exited, 1);
  t.match(server.output, /Process [12] ended 11 times soon after it was started, the last time with SIGKILL/);
  t.notMatch(server.output, /\n\s+at /, 'no stack');
  t.notOk(isRunning(redis_pid));
});

/** None once the server itself has ended. */
function childrenOf(server: SpoolProcess): number[] {
  try {
    return server.childrenNow();
  } catch {
    return [];
  }
}
