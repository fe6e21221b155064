import t from 'tap';
import type { Fence } from '../../../src/engine/store/store.js';
import { ledgerOf } from '../../fixtures/ledger.js';
import { TestRedis } from '../../fixtures/redis.js';
import { ServerProcess } from '../../fixtures/server_process.js';

t.test('what was authorised under a credential epoch that has passed', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const process = await ServerProcess.open(t, { socket_path: server.socket_path });
  const epochOf = (account_id: string, value: number): Fence => ({
    fence: 'epoch',
    account_id,
    epoch: 'tokens',
    value,
  });
  const refused = { refused: 'UNAUTHORIZED' };

  await t.test('is refused, and the rest of its batch goes through in order', async (t) => {
    const account = ledgerOf(1);
    const address = ledgerOf(1);
    await process.ask(account, { type: 'bump', account_id: account.id, epoch: 'tokens' });
    t.same(await process.store.epochs({ account_id: account.id, partition: 1 }), { tokens: 1 });
    const batches = process.batchesOf(address);
    const replies = await Promise.all([
      process.ask(address, { type: 'add', by: 1 }, [epochOf(account.id, 1)]),
      process.ask(address, { type: 'add', by: 10, ref: 'old' }, [epochOf(account.id, 0)]),
      process.ask(address, { type: 'add', by: 100 }),
      process.ask(address, { type: 'add', by: 1_000 }, [epochOf(account.id, 0)]),
      process.ask(address, { type: 'add', by: 10_000 }, [epochOf(account.id, 1)]),
    ]);
    t.match(replies, [1, refused, 101, refused, 10_101]);
    t.equal(process.batchesOf(address), batches + 1, 'in one batch');
    t.same(await process.ask(address, { type: 'list_refs' }), [], 'nothing of it is left');
    t.same(await process.view(address), { n: 10_101, trail: [] });
  });

  await t.test('is refused when the epoch is bumped earlier in the same batch', async (t) => {
    const account = ledgerOf(2);
    const replies = await Promise.all([
      process.ask(account, { type: 'add', by: 1 }, [epochOf(account.id, 0)]),
      process.ask(account, { type: 'bump', account_id: account.id, epoch: 'tokens' }, [epochOf(account.id, 0)]),
      process.ask(account, { type: 'add', by: 10 }, [epochOf(account.id, 0)]),
      process.ask(account, { type: 'add', by: 100 }, [epochOf(account.id, 1)]),
    ]);
    t.match(replies, [1, 'done', refused, 101]);
    t.equal((await process.view(account)).n, 101);
  });
});
