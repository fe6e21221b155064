import t from 'tap';
import { keysOf } from '../../src/store/partitions.js';
import { mastersOf } from '../../src/store/redis_connection.js';
import { RedisStore } from '../../src/store/redis_store.js';
import type { Write } from '../../src/store/store.js';
import { ledgerOf } from '../fixtures/ledger.js';
import { commitId, commitOf, drawWriter } from '../fixtures/raw_commit.js';
import { TestRedis } from '../fixtures/redis.js';

const VALUE = Buffer.from('value');
const keys = keysOf(1);
const account_id = 'account';

t.test('a commit is refused as a whole', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const redis = await server.connect();
  const store = new RedisStore(redis, () => 'epoch');
  const flush = () => Promise.all(mastersOf(redis).map((master) => master.flushdb()));
  const names = async () => (await Promise.all(mastersOf(redis).map((master) => master.keys('*')))).flat().sort();

  const faults: { title: string; spoil?: () => Promise<unknown>; write: Write }[] = [
    {
      title: 'an order that is no number',
      write: { write: 'put_record', collection: 'c', id: 'r', value: VALUE, order: Number.NaN },
    },
    { title: 'a time that is no number', write: { write: 'remind', member: 'm', at_ms: Number.NaN, body: VALUE } },
    {
      title: 'a log of another type',
      spoil: () => redis.set(keys.log(account_id), 'x'),
      write: { write: 'event', account_id, type: 'account.updated', body: '{}', delivered: true },
    },
    {
      title: 'a head of a log of another type',
      spoil: () => redis.set(keys.logHead(account_id), 'x'),
      write: { write: 'event', account_id, type: 'account.updated', body: '{}', delivered: true },
    },
    {
      title: 'a head of a log that has no number',
      spoil: () => redis.hset(keys.logHead(account_id), 'sequence', 'x'),
      write: { write: 'event', account_id, type: 'account.updated', body: '{}', delivered: true },
    },
    {
      title: 'a count of the outbox with a fraction',
      spoil: () => redis.set(keys.outboxCount, '1.5'),
      write: { write: 'tell', body: VALUE },
    },
    {
      title: 'a life that is no whole number',
      spoil: () => redis.hset(keys.lives(account_id), 'account', '1.5'),
      write: { write: 'raise', account_id, life: 'account' },
    },
    {
      title: 'a closing that is no whole number',
      spoil: () => redis.hset(keys.lives(account_id), 'closed', 'x'),
      write: { write: 'close', id: account_id },
    },
    {
      title: 'reminders of another type',
      spoil: () => redis.set(keys.reminders, 'x'),
      write: { write: 'remind', member: 'm', at_ms: 1, body: VALUE },
    },
  ];
  for (const { title, spoil, write } of faults) {
    await t.test(title, async (t) => {
      await flush();
      await spoil?.();
      const before = await names();
      const address = ledgerOf(1);
      const first: Write = { write: 'put_record', collection: 'before', id: 'r', value: VALUE, order: 1 };
      const commit = commitOf(address, 1, { commit_id: commitId(drawWriter(), 1), writes: [first, write] });
      await t.rejects(store.commit(commit));
      t.same(await names(), before, 'nothing was written');
    });
  }

  await t.test('a log or an outbox that is ahead of its count is written on behind its end', async (t) => {
    await flush();
    await redis.xadd(keys.log(account_id), '99999999999999-7', 't', 'x', 'b', 'x');
    await redis.xadd(keys.outbox, '99-0', 'b', 'x');
    const writes: Write[] = [
      { write: 'event', account_id, type: 'account.updated', body: '{}', delivered: true },
      { write: 'tell', body: VALUE },
    ];
    for (const version of [1, 2]) {
      const commit = commitOf(ledgerOf(1), 1, { commit_id: commitId(drawWriter(), version), writes });
      t.same(await store.commit(commit), { verdict: 'applied', version: 1 });
    }
    const head = await store.logHead({ account_id, partition: 1 }, null);
    t.equal(head?.last_id, '99999999999999-9');
    t.same((await redis.xrange(keys.log(account_id), '-', '+')).map(([id]) => id).slice(1), [
      '99999999999999-8',
      '99999999999999-9',
    ]);
    t.same(
      (await store.outbox(1, 0, 9)).map(({ number }) => number),
      [99, 100, 101],
    );
  });
});
