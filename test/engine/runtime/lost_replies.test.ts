import t from 'tap';
import type { Fence } from '../../../src/engine/store/store.js';
import { ledgerOf } from '../../fixtures/ledger.js';
import { commitId, commitOf, drawWriter } from '../../fixtures/raw_commit.js';
import { TestRedis } from '../../fixtures/redis.js';
import { RedisProxy } from '../../fixtures/redis_proxy.js';
import { ServerProcess } from '../../fixtures/server_process.js';
import { until } from '../../fixtures/until.js';
import { WatchedStore } from '../../fixtures/watched_store.js';

t.test('lost replies', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const proxy = await RedisProxy.open(t, server.socket_path);
  const direct = await ServerProcess.open(t, { socket_path: server.socket_path, trust_memory: false });
  const watched = new WatchedStore();
  const behind = await ServerProcess.open(t, { socket_path: proxy.socket_path, wrap: watched.wrap });

  for (const [title, lose] of [
    ['a reply that is lost after the commit was applied', () => proxy.swallowReplyTo('spool_commit_v1')],
    ['a request that is lost before the commit', () => proxy.dropRequest('spool_commit_v1')],
  ] as const) {
    await t.test(`${title}: applied once, and the asker hears the true answer`, async (t) => {
      const address = ledgerOf(1);
      const to = ledgerOf(2);
      t.equal(await behind.ask(address, { type: 'add', by: 5 }), 5);
      const lost = proxy.swallowed + proxy.dropped;
      lose();
      const replies = await Promise.all([
        behind.ask(address, { type: 'add', by: 1 }),
        behind.ask(address, { type: 'tell', to: [to], message: { type: 'add', by: 1 } }),
        behind.ask(address, { type: 'add', by: 10, ref: 'r' }),
      ]);
      t.equal(proxy.swallowed + proxy.dropped, lost + 1, 'it was lost');
      t.same(replies, [6, 'done', 16]);
      t.equal((await direct.view(address)).n, 16);
      t.equal(
        (await direct.store.outbox(1, 0, 99)).filter(({ body }) => Buffer.from(body).includes(to.id)).length,
        1,
        'told once',
      );
      t.equal(await behind.ask(address, { type: 'add', by: 1 }), 17);
    });
  }

  await t.test('a lost reply is resolved although others have written since', async (t) => {
    const address = ledgerOf(3);
    await behind.ask(address, { type: 'add', by: 1 });
    proxy.swallowReplyTo('spool_commit_v1');
    const reply = behind.ask(address, { type: 'add', by: 1 });
    await until('the commit is applied', async () => (await direct.view(address)).n === 2);
    t.equal(await direct.ask(address, { type: 'add', by: 1 }), 3);
    t.equal(await reply, 2);
    t.equal(await behind.ask(address, { type: 'add', by: 1 }), 4);
  });

  await t.test('a commit that may have been forgotten is not decided again: its outcome is unknown', async (t) => {
    const address = ledgerOf(4);
    await behind.ask(address, { type: 'add', by: 1 });
    proxy.swallowReplyTo('spool_commit_v1');
    let sent = 0;
    watched.before.set('commit', async () => {
      if (++sent !== 2) return;
      for (let i = 0; i < 8; i++) {
        const place = direct.runtime.locate(address);
        const [expected] = await direct.store.load([place]);
        if (!expected) throw new Error('nothing is stored');
        await direct.store.commit(commitOf(address, 100 + i, { commit_id: commitId(drawWriter(), 1), expected }));
      }
    });
    t.match(await behind.ask(address, { type: 'add', by: 1 }), { refused: 'UNAVAILABLE', retry_after_s: Number });
    watched.before.clear();
    t.equal((await direct.view(address)).n, 107, 'it was not applied twice');
    t.equal(await behind.ask(address, { type: 'add', by: 1 }), 108);
  });

  await t.test('a resolved commit passes its fences although what they name has moved since', async (t) => {
    const address = ledgerOf(5);
    const account_id = address.id;
    const fence: Fence = { fence: 'epoch', account_id, epoch: 'tokens', value: 0 };
    proxy.swallowReplyTo('spool_commit_v1');
    const reply = behind.ask(address, { type: 'add', by: 1 }, [fence]);
    await until('the commit is applied', async () => (await direct.view(address)).n === 1);
    await direct.ask(ledgerOf(5), { type: 'bump', account_id, epoch: 'tokens' });
    t.equal(await reply, 1);
    t.match(await behind.ask(address, { type: 'add', by: 1 }, [fence]), { refused: 'UNAUTHORIZED' });
  });
});
