import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Servers } from '../driver/servers.js';
import { until } from '../fixtures/until.js';

const UNFINISHED = '*3\r\n$3\r\nSET\r\n$4\r\nlo';

t.test('what Redis cut off its append-only file is in the log, and operators see it', async (t) => {
  const servers = await Servers.open(t, { storage: 'own' });
  const { folder, first: server } = servers;
  await server.stop();
  const files = join(folder, 'redis', 'appendonlydir');
  appendFileSync(join(files, readdirSync(files).find((name) => name.endsWith('.incr.aof')) as string), UNFINISHED);

  await server.start({ PROCESSES: '2' });
  t.match(server.output, new RegExp(`"bytes":${UNFINISHED.length},[^\n]*Redis cut an unfinished end`));
  await until('the Overview says so', async () => {
    const { health_problems } = await servers.operator.call('GET /ops/overview');
    const problem = health_problems.find(({ name }) => name === 'storage_cut');
    return problem?.text.startsWith(`Redis cut ${UNFINISHED.length} bytes off`) === true;
  });
});
