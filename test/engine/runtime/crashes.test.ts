import t from 'tap';
import { crash } from '../../fixtures/crash.js';
import { ledgerOf } from '../../fixtures/ledger.js';
import { TestRedis } from '../../fixtures/redis.js';
import { ServerProcess } from '../../fixtures/server_process.js';
import { until } from '../../fixtures/until.js';

t.test('crashes', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const { socket_path } = server;
  const AT_MS = 4_000_000_000_000;

  for (const [point, applied] of [
    ['before_commit', 0],
    ['after_commit', 1],
  ] as const) {
    await t.test(
      `J-017 killed ${point.replace('_', ' a ')}: the state is as a whole ${applied ? 'new' : 'old'}`,
      async (t) => {
        const partition = 10 + applied;
        const address = ledgerOf(partition);
        const to = ledgerOf(20);
        const account_id = address.id;
        await crash({
          socket_path,
          point,
          relay: false,
          asks: [{ to: address, message: { type: 'everything', account_id, to, at_ms: AT_MS } }],
        });
        const after = await ServerProcess.open(t, { socket_path });
        const { store } = after;
        t.same(await after.view(address), { n: applied, trail: [] }, 'snapshot');
        t.equal(((await after.ask(address, { type: 'list_refs' })) as string[]).length, applied, 'record');
        t.equal(
          (await store.events({ account_id, partition }, { from: '-', to: '+', descending: false, limit: 9 })).length,
          applied,
          'event',
        );
        t.equal((await store.dueReminders(partition, AT_MS, 9)).length, applied, 'reminder');
        t.equal((await store.outbox(partition, 0, 9)).length, applied, 'outbox');
        t.equal(await after.ask(address, { type: 'add', by: 1 }), applied + 1, 'and it works on');
      },
    );
  }

  await t.test('an outbox message whose sender was killed before it could relay it is applied once', async (t) => {
    const [from, to] = [ledgerOf(30), ledgerOf(31)];
    const message = { type: 'tell' as const, to: [to], message: { type: 'add' as const, by: 1 } };
    await crash({ socket_path, point: 'after_commit', relay: true, asks: [{ to: from, message }] });
    const after = await ServerProcess.open(t, { socket_path });
    t.equal((await after.view(to)).n, 0);
    after.relay.start();
    await until('the message is applied', async () => (await after.view(to)).n === 1);
    await until('the outbox is empty', async () => (await after.store.outbox(30, 0, 9)).length === 0);
    t.equal((await after.view(to)).n, 1);
  });

  await t.test(
    'outbox messages whose receiver was killed before they were removed are applied once, in order',
    async (t) => {
      const [from, to] = [ledgerOf(40), ledgerOf(41)];
      const messages = ['a', 'b', 'c'].map((text) => ({
        to: from,
        message: { type: 'tell' as const, to: [to], message: { type: 'note' as const, text } },
      }));
      await crash({ socket_path, point: 'before_tell_is_removed', relay: true, asks: messages });
      const after = await ServerProcess.open(t, { socket_path });
      t.equal((await after.view(to)).trail[0], 'a', 'it was applied');
      t.ok((await after.store.outbox(40, 0, 9)).length > 0, 'and not removed');
      after.relay.start();
      await until('the outbox is empty', async () => (await after.store.outbox(40, 0, 9)).length === 0);
      const { trail } = await after.view(to);
      t.same(trail, trail.length === 3 ? ['a', 'b', 'c'] : trail.slice().sort(), 'in order');
      t.equal(new Set(trail).size, trail.length, 'none twice');
    },
  );
});
