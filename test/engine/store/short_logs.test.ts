import t from 'tap';
import { keysOf } from '../../../src/engine/store/partitions.js';
import { ledgerOf } from '../../fixtures/ledger.js';
import { TestRedis } from '../../fixtures/redis.js';
import { ServerProcess } from '../../fixtures/server_process.js';

const LOG_BYTES_MAX = 1_200;
const PARTITION = 1;

t.test('C-133 a log of one event takes no more of Redis than that event, and goes on as any other', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const process = await ServerProcess.open(t, { socket_path: server.socket_path });
  const { redis, store } = process;
  const address = ledgerOf(PARTITION);
  const account = { account_id: address.id, partition: PARTITION };
  const append = () =>
    process.ask(address, { type: 'everything', account_id: address.id, to: ledgerOf(2), at_ms: 4_000_000_000_000 });
  await append();
  const log = keysOf(PARTITION).log(address.id);
  const bytes = Number(await redis.call('MEMORY', 'USAGE', log));
  t.ok(bytes <= LOG_BYTES_MAX, `${bytes} bytes`);
  t.same(await redis.keys('*:copy'), [], 'nothing else is left');
  await append();
  await append();
  const events = await store.events(account, { from: '-', to: '+', descending: false, limit: 10 });
  t.same(
    events.map(({ id }) => Number(id.split('-')[1])),
    [1, 2, 3],
  );
  const head = await store.logHead(account, null);
  t.equal(head?.last_id, events.at(-1)?.id);
});
