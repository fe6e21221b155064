import t from 'tap';
import { encodeStored } from '../../../src/engine/store/codec.js';
import { keysOf } from '../../../src/engine/store/partitions.js';
import { ledgerOf } from '../../fixtures/ledger.js';
import { TestRedis } from '../../fixtures/redis.js';
import { ServerProcess } from '../../fixtures/server_process.js';

t.test('reminders', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const { socket_path } = server;
  let now_ms = Date.now();
  const now = () => now_ms;
  const open = (trust_memory = false) => ServerProcess.open(t, { socket_path, trust_memory, now });
  const one = await open();
  const note = (text: string) => ({ type: 'note' as const, text });
  const trail = async (of: ReturnType<typeof ledgerOf>) => (await one.view(of)).trail;

  await t.test('J-017 one fires at its time and not before, once, across a restart', async (t) => {
    const address = ledgerOf(1);
    const before = await open();
    await before.ask(address, { type: 'remind', name: 'x', at_ms: now_ms + 1_000, message: note('fired') });
    await before.close();
    now_ms += 999;
    t.equal(await one.reminders.look(), 0);
    t.same(await trail(address), []);
    now_ms += 1;
    t.equal(await one.reminders.look(), 1);
    t.same(await trail(address), ['fired']);
    const after = await open();
    t.equal(await after.reminders.look(), 0);
    t.same(await trail(address), ['fired']);
    t.equal(await after.redis.hlen(keysOf(1).reminderMessages), 0, 'nothing of it is left');
  });

  await t.test('100 fire once each while two processes look at once', async (t) => {
    const other = await open();
    const addresses = Array.from({ length: 100 }, (_, i) => ledgerOf(i % 7));
    for (const address of addresses)
      await one.ask(address, { type: 'remind', name: 'x', at_ms: now_ms, message: note('fired') });
    await Promise.all([one, other, one, other].map((process) => process.reminders.look()));
    t.equal((await one.reminders.look()) + (await other.reminders.look()), 0, 'none is left');
    for (const address of addresses) t.same(await trail(address), ['fired']);
  });

  await t.test('one delivered twice into one batch fires once', async (t) => {
    const address = ledgerOf(2);
    const at_ms = now_ms;
    await one.ask(address, { type: 'remind', name: 'x', at_ms, message: note('fired') });
    const source = { from: 'reminder' as const, member: `ledger:${address.id}:x`, at_ms };
    const deliver = () => one.runtime.deliver(address, { message: note('fired'), source });
    t.same(
      (await Promise.all([deliver(), deliver(), deliver()])).map(({ outcome }) => outcome),
      ['decided', 'already', 'already'],
    );
    t.same(await trail(address), ['fired']);
  });

  await t.test(
    'a moved one fires at its new time only, also when it is moved in the batch in which it would fire',
    async (t) => {
      const address = ledgerOf(3);
      const move = (at_ms: number) =>
        one.ask(address, { type: 'remind', name: 'x', at_ms, message: note(`for ${at_ms}`) });
      const first = now_ms + 10;
      const second = now_ms + 20;
      await move(first);
      now_ms = first;
      const source = { from: 'reminder' as const, member: `ledger:${address.id}:x`, at_ms: first };
      const [, late] = await Promise.all([
        move(second),
        one.runtime.deliver(address, { message: note(`for ${first}`), source }),
      ]);
      t.equal(late.outcome, 'already');
      t.equal(await one.reminders.look(), 0);
      t.same(await trail(address), []);
      now_ms = second;
      t.equal(await one.reminders.look(), 1);
      t.same(await trail(address), [`for ${second}`]);
    },
  );

  await t.test('a forgotten one does not fire', async (t) => {
    const address = ledgerOf(4);
    await one.ask(address, { type: 'remind', name: 'x', at_ms: now_ms, message: note('fired') });
    await one.ask(address, { type: 'forget', name: 'x' });
    t.equal(await one.reminders.look(), 0);
    t.same(await trail(address), []);
  });

  await t.test('one that sets itself again goes on', async (t) => {
    const address = ledgerOf(5);
    const again = { type: 'remind' as const, name: 'x', at_ms: now_ms + 5, message: note('second') };
    await one.ask(address, { type: 'remind', name: 'x', at_ms: now_ms, message: again });
    t.equal(await one.reminders.look(), 1);
    now_ms += 5;
    t.equal(await one.reminders.look(), 1);
    t.same(await trail(address), ['second']);
  });

  for (const type of ['throw', 'overdraw', 'misorder'] as const) {
    await t.test(`one that throws five times becomes a dead letter, others fire (${type})`, async (t) => {
      const [address, other] = [ledgerOf(6), ledgerOf(6)];
      await one.redis.del(keysOf(6).deadLetters);
      await one.ask(address, { type: 'remind', name: 'x', at_ms: now_ms, message: { type } });
      await one.ask(other, { type: 'remind', name: 'x', at_ms: now_ms, message: note('fired') });
      const lookLater = async () => {
        now_ms += 60_000;
        return one.reminders.look();
      };
      for (let runs = 1; runs <= 4; runs++) await lookLater();
      t.same(await trail(other), ['fired']);
      t.same(await one.store.listDeadLetters(6), [], 'not yet');
      await lookLater();
      t.same(
        (await one.store.listDeadLetters(6)).map(({ name }) => name),
        [`reminder:ledger:${address.id}:x`],
      );
      t.equal(await lookLater(), 0);
      t.equal(await one.redis.zcard(keysOf(6).reminders), 0);
      t.equal(await one.ask(address, { type: 'add', by: 1 }), 1, 'the entity works');
    });
  }

  await t.test('one that is moved has as many tries as a new one', async (t) => {
    const address = ledgerOf(7);
    await one.redis.del(keysOf(7).deadLetters);
    const throwing = (at_ms: number) =>
      one.ask(address, { type: 'remind', name: 'x', at_ms, message: { type: 'throw' } });
    for (let moved = 0; moved < 3; moved++) {
      now_ms += 1;
      await throwing(now_ms);
      for (let runs = 0; runs < 3; runs++) {
        now_ms += 60_000;
        await one.reminders.look();
      }
    }
    t.same(await one.store.listDeadLetters(7), []);
    await one.ask(address, { type: 'forget', name: 'x' });
  });

  await t.test(
    'those of quarantined entities keep no other from firing, and fire when these can be read',
    async (t) => {
      const quarantined = Array.from({ length: 150 }, () => ledgerOf(8));
      const [stored, well] = [keysOf(8), ledgerOf(8)];
      const remind = (address: typeof well) =>
        one.ask(address, { type: 'remind', name: 'x', at_ms: now_ms, message: note('fired') });
      await Promise.all(quarantined.map(remind));
      const other = await open();
      const good = new Map<string, Buffer>();
      for (const address of quarantined) {
        good.set(address.id, (await one.redis.getBuffer(stored.entity(address))) as Buffer);
        await one.redis.set(stored.entity(address), 'garbage');
      }
      now_ms += 1;
      await remind(well);
      t.equal(await other.reminders.look(), 1);
      t.same(await trail(well), ['fired']);
      const tried = () => other.batchesOf(quarantined[0] as typeof well);
      const turns = tried();
      now_ms += 1_000;
      await remind(well);
      t.equal(await other.reminders.look(), 1);
      t.equal(tried(), turns, 'they are left alone for a while');
      for (const address of quarantined) await one.redis.set(stored.entity(address), good.get(address.id) as Buffer);
      now_ms += 60_000;
      t.equal((await other.reminders.look()) + (await other.reminders.look()), quarantined.length);
      for (const address of quarantined) t.same((await other.view(address)).trail, ['fired']);
    },
  );

  await t.test('one that can not be read or has no receiver keeps no other from firing', async (t) => {
    const address = ledgerOf(7);
    const keys = keysOf(7);
    await one.redis.zadd(keys.reminders, 1, 'garbage', 2, 'nobody');
    await one.redis.hset(keys.reminderMessages, 'garbage', Buffer.from([0xff, 0xff]));
    await one.redis.hset(
      keys.reminderMessages,
      'nobody',
      encodeStored({ to: { kind: 'nobody', id: 'x' }, message: {} }),
    );
    await one.ask(address, { type: 'remind', name: 'x', at_ms: now_ms, message: note('fired') });
    t.equal(await one.reminders.look(), 1);
    t.same(await trail(address), ['fired']);
  });
});
