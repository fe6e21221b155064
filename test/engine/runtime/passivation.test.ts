import t from 'tap';
import { ledgerOf } from '../../fixtures/ledger.js';
import { TestRedis } from '../../fixtures/redis.js';
import { ServerProcess } from '../../fixtures/server_process.js';
import { WatchedStore } from '../../fixtures/watched_store.js';

t.test('entities in memory', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const { socket_path } = server;

  await t.test('with room for few, every one of many works and nothing is lost', async (t) => {
    const process = await ServerProcess.open(t, { socket_path, active_max: 4, ask_deadline_ms: 3_000 });
    const addresses = Array.from({ length: 40 }, (_, i) => ledgerOf(i));
    for (let round = 1; round <= 3; round++) {
      const replies = await Promise.all(
        addresses
          .flatMap((address) => [address, address])
          .map((address) => process.ask(address, { type: 'add', by: 1 })),
      );
      t.same(
        replies,
        addresses.flatMap(() => [round * 2 - 1, round * 2]),
        `all at once, round ${round}`,
      );
    }
    for (const address of addresses) {
      const reply = await process.ask(address, { type: 'add', by: 1 });
      if (reply !== 7) t.fail(`${JSON.stringify(reply)} one after the other`);
    }
    const active = process.runtime.inspect(99).kinds.ledger?.active ?? 0;
    t.ok(active <= 4, `${active} are left`);
  });

  await t.test('the one used least recently goes first', async (t) => {
    const watched = new WatchedStore();
    const process = await ServerProcess.open(t, { socket_path, active_max: 3, wrap: watched.wrap });
    const [a, b, c, d] = [ledgerOf(1), ledgerOf(2), ledgerOf(3), ledgerOf(4)];
    for (const address of [a, b, c, a, d]) await process.ask(address, { type: 'add', by: 1 });
    t.same(new Set(process.runtime.inspect(9).busiest.map(({ id }) => id)), new Set([a.id, c.id, d.id]));
    const loads = watched.count('load');
    for (const address of [a, c, d]) await process.view(address);
    t.equal(watched.count('load'), loads, 'what stayed needs no load');
    t.equal((await process.view(b)).n, 1);
    t.equal(watched.count('load'), loads + 1);
  });

  await t.test('many asks of a cold entity load it once', async (t) => {
    const address = ledgerOf(5);
    const writer = await ServerProcess.open(t, { socket_path });
    await writer.ask(address, { type: 'add', by: 5 });
    const watched = new WatchedStore();
    const process = await ServerProcess.open(t, { socket_path, wrap: watched.wrap });
    const views = await Promise.all(Array.from({ length: 500 }, () => process.view(address)));
    t.ok(views.every(({ n }) => n === 5));
    t.equal(watched.count('load'), 1);
    t.equal(watched.count('commit'), 0, 'reads commit nothing');
  });

  await t.test('an address of no kind is refused by a throw, and leaves nothing behind', async (t) => {
    const process = await ServerProcess.open(t, { socket_path });
    await t.rejects(process.ask({ kind: 'nobody', id: ledgerOf(1).id }, { type: 'view' }), /no actor of kind nobody/);
  });
});
