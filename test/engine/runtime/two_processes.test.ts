import t from 'tap';
import { ledgerOf } from '../../fixtures/ledger.js';
import { TestRedis } from '../../fixtures/redis.js';
import { ServerProcess } from '../../fixtures/server_process.js';

const EACH = 300;

t.test('two processes on one entity', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const options = { socket_path: server.socket_path, trust_memory: false };
  const both = [await ServerProcess.open(t, options), await ServerProcess.open(t, options)] as const;

  await t.test('no increment is lost, none is doubled', async (t) => {
    const address = ledgerOf(1);
    const heard: number[] = [];
    const refused: unknown[] = [];
    await Promise.all(
      both.map(async (process, which) => {
        for (let i = 0; i < EACH; i += 10) {
          const replies = await Promise.all(
            Array.from({ length: 10 }, (_, k) =>
              process.ask(address, { type: 'add', by: 1, ref: `${which}-${i + k}` }),
            ),
          );
          for (const reply of replies) {
            if (typeof reply === 'number') heard.push(reply);
            else refused.push(reply);
          }
        }
      }),
    );
    t.same(refused, []);
    t.same(
      heard.toSorted((a, b) => a - b),
      Array.from({ length: 2 * EACH }, (_, i) => i + 1),
      'each sum was heard once',
    );
    for (const process of both) {
      t.equal((await process.view(address)).n, 2 * EACH);
      t.equal(((await process.ask(address, { type: 'list_refs' })) as string[]).length, 2 * EACH);
    }
  });

  await t.test('a read sees what the other process wrote before', async (t) => {
    const address = ledgerOf(2);
    for (let n = 1; n <= 50; n++) {
      const [writer, reader] = n % 2 === 0 ? both : both.toReversed();
      t.equal(await writer?.ask(address, { type: 'add', by: 1 }), n);
      if ((await reader?.view(address))?.n !== n) t.fail(`a stale read of ${n}`);
    }
  });

  await t.test('an entity that the other process ended is gone, and begins anew', async (t) => {
    const address = ledgerOf(3);
    const [one, other] = both;
    await one.ask(address, { type: 'add', by: 7, ref: 'r' });
    t.equal((await other.view(address)).n, 7);
    await one.ask(address, { type: 'end' });
    t.same(await other.view(address), { n: 0, trail: [] });
    t.equal(await other.ask(address, { type: 'add', by: 2, ref: 'r' }), 2, 'its records went with it');
    t.equal((await one.view(address)).n, 2);
  });
});
