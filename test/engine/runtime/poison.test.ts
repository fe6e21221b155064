import t from 'tap';
import { keysOf } from '../../../src/engine/store/partitions.js';
import { type LedgerMessage, ledgerOf } from '../../fixtures/ledger.js';
import { TestRedis } from '../../fixtures/redis.js';
import { RedisProxy } from '../../fixtures/redis_proxy.js';
import { ServerProcess } from '../../fixtures/server_process.js';
import { until } from '../../fixtures/until.js';

t.test('poisonous messages', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const process = await ServerProcess.open(t, { socket_path: server.socket_path });

  const poisons: [string, LedgerMessage][] = [
    ['decide throws', { type: 'throw' }],
    ['the next state breaks the invariant', { type: 'overdraw' }],
    ['the store refuses an effect as malformed', { type: 'misorder' }],
    ['a record it asks for can not be read', { type: 'add', by: 1, ref: 'garbage' }],
  ];
  for (const [title, poison] of poisons) {
    await t.test(`J-016 ${title}: INTERNAL that shows nothing, and the rest of the batch is decided`, async (t) => {
      const address = ledgerOf(1);
      await process.ask(address, { type: 'add', by: 1 });
      await process.redis.hset(keysOf(1).records(address, 'refs'), 'garbage', Buffer.from([0xff, 0xff]));
      const replies = await Promise.all([
        process.ask(address, { type: 'add', by: 10 }),
        process.ask(address, poison),
        process.ask(address, { type: 'add', by: 100 }),
        process.ask(address, poison),
        process.ask(address, { type: 'note', text: 'noted' }),
      ]);
      t.match(replies, [11, { refused: 'INTERNAL' }, 111, { refused: 'INTERNAL' }, 'done']);
      t.notMatch(JSON.stringify(replies), /4711|invariant|malformed|score|Error|\bat /);
      t.same(await process.view(address), { n: 111, trail: ['noted'] }, 'it left no trace');
      t.same(await process.runtime.inspect(9).quarantined, [], 'nothing is quarantined');
    });
  }

  await t.test('what waits behind a failed batch is decided once, and hears its own answer', async (t) => {
    const address = ledgerOf(2);
    const replies = await Promise.all([
      process.ask(address, { type: 'add', by: 1, ref: 'a' }),
      process.ask(address, { type: 'misorder' }),
      process.ask(address, { type: 'list_refs' }),
      process.ask(address, { type: 'add', by: 1, ref: 'b' }),
    ]);
    t.match(replies, [1, { refused: 'INTERNAL' }, ['a'], 2]);
    t.equal((await process.view(address)).n, 2);
  });

  await t.test('what waits behind a batch that storage failed hears its own answer', async (t) => {
    const proxy = await RedisProxy.open(t, server.socket_path);
    const behind = await ServerProcess.open(t, { socket_path: proxy.socket_path });
    const address = ledgerOf(3);
    await behind.ask(address, { type: 'add', by: 1 });
    proxy.cut();
    await until('the connection is gone', () => behind.redis.status !== 'ready');
    const replies = await Promise.all([
      behind.ask(address, { type: 'add', by: 10, ref: 'a' }),
      behind.ask(address, { type: 'list_refs' }),
      behind.ask(address, { type: 'add', by: 100, ref: 'b' }),
    ]);
    t.match(replies, new Array(3).fill({ refused: 'UNAVAILABLE' }));
    proxy.restore();
    await until('it works again', async () => typeof (await behind.ask(address, { type: 'add', by: 0 })) === 'number');
    t.equal((await behind.view(address)).n, 1, 'nothing that was refused was applied');
  });
});
