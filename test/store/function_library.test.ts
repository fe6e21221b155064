import { readFileSync } from 'node:fs';
import t from 'tap';
import { encodeStored } from '../../src/store/codec.js';
import { keysOf } from '../../src/store/partitions.js';
import { ledgerOf } from '../fixtures/ledger.js';
import { TestRedis } from '../fixtures/redis.js';
import { ServerProcess } from '../fixtures/server_process.js';

const LIBRARY = readFileSync(new URL('../../src/store/commit.lua', import.meta.url), 'utf8');

t.test('the function library', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const process = await ServerProcess.open(t, { socket_path: server.socket_path });
  const { redis, store } = process;
  const flush = () => redis.call('FUNCTION', 'FLUSH', 'SYNC');

  await t.test('a lost library comes back with the next commits', async (t) => {
    const addresses = Array.from({ length: 20 }, (_, i) => ledgerOf(i));
    await flush();
    const replies = await Promise.all(addresses.map((address) => process.ask(address, { type: 'add', by: 1 })));
    t.same(
      replies,
      addresses.map(() => 1),
    );
  });

  await t.test('a lost library comes back with a lease of mails', async (t) => {
    await redis.zadd(keysOf(1).queue('mails').due, 5, 'mail');
    await redis.hset(keysOf(1).queue('mails').contents, 'mail', encodeStored({ sealed: 1 }));
    await flush();
    const leased = await store.lease({ partition: 1, queue: 'mails' }, { now_ms: 5, again_ms: 10, limit: 3 });
    t.same(
      leased.map(({ id }) => id),
      ['mail'],
    );
    t.same(
      await store.lease({ partition: 1, queue: 'mails' }, { now_ms: 9, again_ms: 10, limit: 3 }),
      [],
      'it is leased',
    );
    t.equal(
      (await store.lease({ partition: 1, queue: 'mails' }, { now_ms: 10, again_ms: 20, limit: 3 })).length,
      1,
      'and comes back',
    );
  });

  await t.test('a lost library comes back with the removal of a reminder', async (t) => {
    await redis.zadd(keysOf(1).reminders, 5, 'member');
    await flush();
    await store.removeReminder(1, { member: 'member', at_ms: 4 });
    t.equal(await redis.zcard(keysOf(1).reminders), 1, 'a moved one stays');
    await store.removeReminder(1, { member: 'member', at_ms: 5 });
    t.equal(await redis.zcard(keysOf(1).reminders), 0);
  });

  await t.test('a second version of the library loads beside the first', async (t) => {
    const second = LIBRARY.replace('#!lua name=spool_commit_v2', '#!lua name=spool_commit_v3').replaceAll(
      /'spool_(\w+)_v2'/g,
      "'spool_$1_v3'",
    );
    t.equal(await redis.call('FUNCTION', 'LOAD', second), 'spool_commit_v3');
    const address = ledgerOf(9);
    t.equal(await process.ask(address, { type: 'add', by: 1 }), 1);
    t.equal(await redis.call('FUNCTION', 'LOAD', 'REPLACE', LIBRARY), 'spool_commit_v2');
    t.equal(await process.ask(address, { type: 'add', by: 1 }), 2);
  });
});
