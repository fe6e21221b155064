import t, { type Test } from 'tap';
import type { Address } from '../../../actors/actor.js';
import { listDeadLetters } from '../../../src/edge/operations/dead_letters.js';
import { keysOf } from '../../../src/engine/store/partitions.js';
import { type LedgerMessage, ledgerOf } from '../../fixtures/ledger.js';
import { TestRedis } from '../../fixtures/redis.js';
import { ServerProcess } from '../../fixtures/server_process.js';
import { until } from '../../fixtures/until.js';
import { WatchedStore } from '../../fixtures/watched_store.js';

/** After so long `askDownstream` answers all the same. */
const DOWNSTREAM_MAX_MS = 2_000;

/** From now to the end of a test that limit does not come: what is answered, was settled. */
function withoutDownstreamLimit(t: Test): void {
  const { setTimeout } = globalThis;
  t.teardown(() => Object.assign(globalThis, { setTimeout }));
  const others = (run: () => void, ms?: number) =>
    ms === DOWNSTREAM_MAX_MS ? setTimeout(() => {}, 0) : setTimeout(run, ms);
  Object.assign(globalThis, { setTimeout: others });
}

t.test('outbox', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const { socket_path } = server;
  const redis = await server.connect();
  const open = (of: Test, watched = new WatchedStore()) =>
    ServerProcess.open(of, { socket_path, trust_memory: false, wrap: watched.wrap });
  const tell = (process: ServerProcess, from: Address, to: Address[], message: LedgerMessage) =>
    process.ask(from, { type: 'tell', to, message });
  const note = (text: string): LedgerMessage => ({ type: 'note', text });
  const names = Array.from({ length: 60 }, (_, i) => `n${i}`);

  await t.test('each is applied once and in order per receiver while two processes relay', async (t) => {
    const both = [await open(t), await open(t)] as const;
    const from = [ledgerOf(1), ledgerOf(1), ledgerOf(1)];
    const to = [ledgerOf(2), ledgerOf(3)];
    for (const { relay } of both) relay.start();
    await Promise.all(
      from.map(async (sender, which) => {
        for (const [i, name] of names.entries())
          await tell(both[i % 2] as ServerProcess, sender, to, note(`${which} ${name}`));
      }),
    );
    await until('the outbox is empty', async () => (await redis.xlen(keysOf(1).outbox)) === 0);
    for (const receiver of to) {
      const { trail } = await both[0].view(receiver);
      t.equal(trail.length, from.length * names.length);
      for (const which of from.keys())
        t.same(
          trail.filter((text) => text.startsWith(`${which} `)),
          names.map((name) => `${which} ${name}`),
        );
    }
    const [one, other] = await Promise.all(to.map((receiver) => both[0].view(receiver)));
    t.same(one, other, 'both in the order of the outbox');
  });

  await t.test('one that is handed over again is known', async (t) => {
    const [from, to] = [ledgerOf(4), ledgerOf(5)];
    const again = await open(t);
    const watched = new WatchedStore();
    const [process, stuck] = [await open(t, watched), await open(t, watched)]; // whoever is first
    watched.before.set('removeFromOutbox', () => Promise.reject(new Error('not now')));
    await tell(process, from, [to], { type: 'add', by: 1 });
    stuck.relay.start();
    await until('it was applied and not removed', () => watched.count('removeFromOutbox') > 0);
    t.equal((await process.view(to)).n, 1);
    again.relay.start();
    await until('it is removed', async () => (await redis.xlen(keysOf(4).outbox)) === 0);
    watched.before.clear();
    t.equal((await process.view(to)).n, 1);
  });

  await t.test('several that reach a receiver in one batch are each applied once', async (t) => {
    const process = await open(t);
    const to = ledgerOf(6);
    const deliver = (number: number) =>
      process.runtime.deliver(to, { message: note(`${number}`), source: { from: 'outbox', partition: 9, number } });
    const outcomes = await Promise.all([1, 2, 2, 1, 3].map(deliver));
    t.same(
      outcomes.map(({ outcome }) => outcome),
      ['decided', 'decided', 'already', 'already', 'decided'],
    );
    t.same((await process.view(to)).trail, ['1', '2', '3']);
    t.equal((await deliver(3)).outcome, 'already');
  });

  await t.test('an ended entity remembers what it has taken', async (t) => {
    const process = await open(t);
    const to = ledgerOf(7);
    const deliver = (number: number, message: LedgerMessage) =>
      process.runtime.deliver(to, { message, source: { from: 'outbox', partition: 9, number } });
    await deliver(1, { type: 'add', by: 1 });
    await deliver(2, { type: 'end' });
    const other = await open(t);
    t.equal(
      (await other.runtime.deliver(to, { message: note('1'), source: { from: 'outbox', partition: 9, number: 1 } }))
        .outcome,
      'already',
    );
    t.same(await other.view(to), { n: 0, trail: [] });
  });

  await t.test('a quarantined receiver holds up nobody else, and gets its own when it is repaired', async (t) => {
    const process = await open(t);
    const [from, broken, well] = [ledgerOf(10), ledgerOf(11), ledgerOf(11)];
    await redis.set(keysOf(11).entity(broken), 'garbage');
    process.relay.start();
    for (const name of names) await tell(process, from, [broken, well], note(name));
    await until('the others are applied', async () => (await process.view(well)).trail.length === names.length);
    t.same((await process.view(well)).trail, names);
    t.equal(await redis.xlen(keysOf(10).outbox), names.length, 'its own wait');
    await process.relay.drain();
    await redis.del(keysOf(11).entity(broken));
    process.runtime.releaseQuarantine(broken);
    await until('its own are applied', async () => (await process.view(broken)).trail.length === names.length);
    t.same((await process.view(broken)).trail, names);
    await until('the outbox is empty', async () => (await redis.xlen(keysOf(10).outbox)) === 0);
  });

  await t.test(
    'thousands for quarantined receivers hold up nobody else, and come in order when they can',
    async (t) => {
      const process = await open(t);
      const [from, broken, also_broken, well] = [ledgerOf(14), ledgerOf(15), ledgerOf(15), ledgerOf(15)];
      for (const one of [broken, also_broken]) await redis.set(keysOf(15).entity(one), 'garbage');
      const numbers = Array.from({ length: 1_200 }, (_, n) => `${n}`);
      process.relay.start();
      for (let at = 0; at < numbers.length; at += 600) {
        const some = numbers.slice(at, at + 600);
        await Promise.all(some.map((n) => tell(process, from, [broken, also_broken], note(n))));
      }
      await tell(process, from, [well], note('well'));
      await until('the other one has its own', async () => (await process.view(well)).trail.length === 1);
      for (const one of [broken, also_broken]) {
        await redis.del(keysOf(15).entity(one));
        process.runtime.releaseQuarantine(one);
        await until('its own are applied', async () => (await process.view(one)).trail.length === numbers.length);
        t.same((await process.view(one)).trail, numbers, 'each once, in order');
      }
      await until('the outbox is empty', async () => (await redis.xlen(keysOf(14).outbox)) === 0);
    },
  );

  for (const type of ['throw', 'overdraw', 'misorder'] as const) {
    await t.test(`one that throws five times becomes a dead letter, and the next one follows (${type})`, async (t) => {
      const process = await open(t);
      const [from, to] = [ledgerOf(12), ledgerOf(13)];
      await redis.del(keysOf(12).deadLetters);
      await process.ask(from, { type: 'tell', to: [to], message: { type } });
      await tell(process, from, [to], note('next'));
      process.relay.start();
      await until('the next one is applied', async () => (await process.view(to)).trail.length === 1);
      t.match(
        (await process.store.listDeadLetters(12)).map(({ name }) => name),
        [/^outbox:\d+$/],
      );
      await until('the outbox is empty', async () => (await redis.xlen(keysOf(12).outbox)) === 0);
      t.equal(process.logged.filter(({ text }) => text === 'a decision threw').length, 5);
      t.same(await process.view(to), { n: 0, trail: ['next'] });
    });
  }

  await t.test('one that nobody can read becomes a dead letter, and the next one follows', async (t) => {
    const process = await open(t);
    const [from, to] = [ledgerOf(16), ledgerOf(17)];
    await redis.del(keysOf(16).deadLetters);
    const outbox = process.store.outbox.bind(process.store);
    process.store.outbox = async (...asked) => {
      const [first, ...rest] = await outbox(...asked);
      if (first === undefined) return rest;
      return [asked[1] === 0 ? { ...first, body: Buffer.from([0xff, 0xff]) } : first, ...rest];
    };
    await tell(process, from, [to], note('first'));
    await tell(process, from, [to], note('next'));
    process.relay.start();
    await until('the next one is applied', async () => (await process.view(to)).trail.length === 1);
    t.same((await process.view(to)).trail, ['next']);
    await until('the outbox is empty', async () => (await redis.xlen(keysOf(16).outbox)) === 0);
    t.match(
      (await process.store.listDeadLetters(16)).map(({ name }) => name),
      [/^outbox:\d+$/],
    );
    const listed = (await listDeadLetters(process.store, 100)).find(({ partition }) => partition === 16);
    t.match(listed, { type: null, to: { kind: 'unknown' } });
  });

  await t.test('who asks to be answered when all is settled, is, through every step', async (t) => {
    withoutDownstreamLimit(t);
    const process = await open(t);
    const [a, b, c] = [ledgerOf(20), ledgerOf(21), ledgerOf(22)];
    process.relay.start();
    const onward: LedgerMessage = { type: 'tell', to: [c], message: { type: 'add', by: 1 } };
    for (let n = 1; n <= 20; n++) {
      t.equal(
        await process.counted(process.runtime.askDownstream(a, { type: 'tell', to: [b], message: onward })),
        'done',
      );
      if ((await process.view(c)).n !== n) t.fail(`answered before ${n} was applied`);
    }
  });

  await t.test('who waits for an outbox message that another process applied is answered, too', async (t) => {
    withoutDownstreamLimit(t);
    const watched = new WatchedStore();
    const asker = await open(t, watched);
    const other = await open(t);
    const [a, b] = [ledgerOf(23), ledgerOf(24)];
    watched.before.set('outbox', () =>
      until('the other one relayed it', async () => (await redis.xlen(keysOf(23).outbox)) === 0),
    );
    other.relay.start();
    t.equal(await asker.runtime.askDownstream(a, { type: 'tell', to: [b], message: { type: 'add', by: 1 } }), 'done');
    t.equal((await asker.view(b)).n, 1);
    watched.before.clear();
  });

  await t.test('a receiver that is told again by what it set off does not wait for itself', async (t) => {
    withoutDownstreamLimit(t);
    const process = await open(t);
    const [a, b, c] = [ledgerOf(25), ledgerOf(25), ledgerOf(25)];
    process.relay.start();
    const back: LedgerMessage = { type: 'tell', to: [b], message: note('back') };
    const message: LedgerMessage = { type: 'tell', to: [c], message: back };
    t.equal(await process.counted(process.runtime.askDownstream(a, { type: 'tell', to: [b], message })), 'done');
    t.same((await process.view(b)).trail, ['back']);
  });

  await t.test('draining waits for what outbox messages set off in turn', async (t) => {
    const process = await open(t);
    const chain = Array.from({ length: 6 }, (_, i) => ledgerOf(30 + i));
    const message = chain
      .slice(1)
      .reduceRight<LedgerMessage>((message, to) => ({ type: 'tell', to: [to], message }), note('end'));
    // The last of the chain sends nothing on: its message is the note.
    await process.ask(chain[0] as Address, message);
    await process.relay.drain();
    t.same((await process.view(chain[chain.length - 1] as Address)).trail, ['end']);
    t.equal(await redis.xlen(keysOf(34).outbox), 0);
  });
});
