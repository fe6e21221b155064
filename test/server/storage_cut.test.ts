import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { SpoolProcess } from '../driver/spool_process.js';
import { until } from '../fixtures/until.js';

const UNFINISHED = '*3\r\n$3\r\nSET\r\n$4\r\nlo';

t.test('what Redis cut off its append-only file is in the log, and operators see it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'spool-cut-'));
  const servers: SpoolProcess[] = [];
  const start = async (env: Record<string, string> = {}) => {
    const server = new SpoolProcess(folder, env);
    servers.push(server);
    return server.ready();
  };
  t.teardown(async () => {
    for (const server of servers) await server.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  await (await start()).stop();
  const files = join(folder, 'redis', 'appendonlydir');
  appendFileSync(join(files, readdirSync(files).find((name) => name.endsWith('.incr.aof')) as string), UNFINISHED);

  const server = await start({ PROCESSES: '2' });
  t.match(server.output, new RegExp(`"bytes":${UNFINISHED.length},[^\n]*Redis cut an unfinished end`));
  const operator = server.operator();
  t.teardown(() => operator.close());
  await until('the Overview says so', async () => {
    const { health_problems } = await operator.call('GET /ops/overview');
    const problem = health_problems.find(({ name }) => name === 'storage_cut');
    return problem?.text.startsWith(`Redis cut ${UNFINISHED.length} bytes off`) === true;
  });
});
