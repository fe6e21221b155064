import t from 'tap';
import { keysOf } from '../../../src/engine/store/partitions.js';
import { mastersOf } from '../../../src/engine/store/redis_connection.js';
import { RedisStore } from '../../../src/engine/store/redis_store.js';
import type { StoredEffect } from '../../../src/engine/store/store.js';
import { ledgerOf } from '../../fixtures/ledger.js';
import { commitId, commitOf, drawWriter } from '../../fixtures/raw_commit.js';
import { TestRedis } from '../../fixtures/redis.js';

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

  const faults: { title: string; spoil?: () => Promise<unknown>; write: StoredEffect }[] = [
    {
      title: 'an order that is no number',
      write: { effect: 'put_record', collection: 'c', id: 'r', value: VALUE, order: Number.NaN },
    },
    {
      title: 'a time that is no number',
      write: { effect: 'schedule_reminder', member: 'm', at_ms: Number.NaN, body: VALUE },
    },
    {
      title: 'a log of another type',
      spoil: () => redis.set(keys.log(account_id), 'x'),
      write: { effect: 'append_event', account_id, type: 'account.updated', body: Buffer.from('{}'), delivered: true },
    },
    {
      title: 'a head of a log of another type',
      spoil: () => redis.set(keys.logHead(account_id), 'x'),
      write: { effect: 'append_event', account_id, type: 'account.updated', body: Buffer.from('{}'), delivered: true },
    },
    {
      title: 'a head of a log that has no number',
      spoil: () => redis.hset(keys.logHead(account_id), 'sequence', 'x'),
      write: { effect: 'append_event', account_id, type: 'account.updated', body: Buffer.from('{}'), delivered: true },
    },
    {
      title: 'a count of the outbox with a fraction',
      spoil: () => redis.set(keys.outboxCount, '1.5'),
      write: { effect: 'notify', body: VALUE },
    },
    {
      title: 'a life that is no whole number',
      spoil: () => redis.hset(keys.epochs(account_id), 'account', '1.5'),
      write: { effect: 'bump_epoch', account_id, epoch: 'account' },
    },
    {
      title: 'a closing that is no whole number',
      spoil: () => redis.hset(keys.epochs(account_id), 'closed', 'x'),
      write: { effect: 'close_fence', id: account_id },
    },
    {
      title: 'reminders of another type',
      spoil: () => redis.set(keys.reminders, 'x'),
      write: { effect: 'schedule_reminder', member: 'm', at_ms: 1, body: VALUE },
    },
  ];
  for (const { title, spoil, write } of faults) {
    await t.test(title, async (t) => {
      await flush();
      await spoil?.();
      const before = await names();
      const address = ledgerOf(1);
      const first: StoredEffect = { effect: 'put_record', collection: 'before', id: 'r', value: VALUE, order: 1 };
      const commit = commitOf(address, 1, { commit_id: commitId(drawWriter(), 1), effects: [first, write] });
      await t.rejects(store.commit(commit));
      t.same(await names(), before, 'nothing was written');
    });
  }

  await t.test('a log or an outbox that is ahead of its count is written on behind its end', async (t) => {
    await flush();
    await redis.xadd(keys.log(account_id), '99999999999999-7', 't', 'x', 'b', 'x');
    await redis.xadd(keys.outbox, '99-0', 'b', 'x');
    const effects: StoredEffect[] = [
      { effect: 'append_event', account_id, type: 'account.updated', body: Buffer.from('{}'), delivered: true },
      { effect: 'notify', body: VALUE },
    ];
    for (const version of [1, 2]) {
      const commit = commitOf(ledgerOf(1), 1, { commit_id: commitId(drawWriter(), version), effects });
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
