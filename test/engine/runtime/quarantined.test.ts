import t from 'tap';
import { defineActor } from '../../../actors/actor.js';
import { encodeStored } from '../../../src/engine/store/codec.js';
import { keysOf } from '../../../src/engine/store/partitions.js';
import { type Ledger, type LedgerMessage, ledger, ledgerOf } from '../../fixtures/ledger.js';
import { TestRedis } from '../../fixtures/redis.js';
import { ServerProcess } from '../../fixtures/server_process.js';
import { until } from '../../fixtures/until.js';

const OUT_OF_SERVICE = { refused: 'INTERNAL', message: 'This entity is out of service.' };
const NEWER = { refused: 'UNAVAILABLE', retry_after_s: 2 };
const HEADER_BYTES = 21;

t.test('stored states', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const { socket_path } = server;
  const redis = await server.connect();

  const faults: [string, (good: Buffer) => Buffer | null, RegExp][] = [
    [
      'a snapshot that is no CBOR',
      (good) => Buffer.concat([good.subarray(0, HEADER_BYTES), Buffer.from([0xff, 0x01])]),
      /./,
    ],
    [
      'a snapshot that is something else',
      (good) => Buffer.concat([good.subarray(0, HEADER_BYTES), encodeStored('text')]),
      /not a snapshot/,
    ],
    ['a snapshot that is cut short', (good) => good.subarray(0, good.length - 3), /./],
    ['a header that is cut short', (good) => good.subarray(0, 9), /./],
    [
      'a state that breaks the invariant',
      (good) => Buffer.concat([good.subarray(0, HEADER_BYTES), encodeStored({ k: 1, s: { n: -5, trail: [] } })]),
      /less than nothing/,
    ],
    ['a key of another type', () => null, /WRONGTYPE/],
  ];
  for (const [title, spoil, reason] of faults) {
    await t.test(
      `${title} quarantines the entity, visibly, and only it; repaired and released it works again`,
      async (t) => {
        const address = ledgerOf(1);
        const other = ledgerOf(1);
        const before = await ServerProcess.open(t, { socket_path });
        await before.ask(address, { type: 'add', by: 7 });
        const key = keysOf(1).entity(address);
        const good = await redis.getBuffer(key);
        if (good === null) throw new Error('nothing is stored');
        const bad = spoil(good);
        if (bad === null) {
          await redis.del(key);
          await redis.hset(key, 'field', 'value');
        } else await redis.set(key, bad);

        const process = await ServerProcess.open(t, { socket_path });
        const replies = await Promise.all([process.ask(address, { type: 'add', by: 1 }), process.view(address)]);
        t.match(replies, [OUT_OF_SERVICE, OUT_OF_SERVICE]);
        const { quarantined, kinds } = process.runtime.inspect(9);
        t.match(quarantined, [{ kind: 'ledger', id: address.id, partition: 1, quarantined: { reason } }]);
        t.equal(kinds.ledger?.quarantined, 1);
        t.equal(process.logged.filter(({ text }) => text === 'entity quarantined').length, 1, 'said once');
        t.equal(await process.ask(other, { type: 'add', by: 1 }), 1, 'another one works');
        if (bad !== null) t.same(await redis.getBuffer(key), bad, 'nothing was written over it');

        await redis.del(key);
        await redis.set(key, good);
        t.match(await process.ask(address, { type: 'view' }), OUT_OF_SERVICE, 'until it is released');
        t.equal(process.runtime.releaseQuarantine(address), true);
        t.equal(process.runtime.releaseQuarantine(address), false);
        t.equal(await process.ask(address, { type: 'add', by: 1 }), 8);
        t.same(process.runtime.inspect(9).quarantined, []);
      },
    );
  }

  await t.test('a snapshot of an older schema goes through every upcast, and is saved as the newest', async (t) => {
    const address = ledgerOf(2);
    const old = defineActor<{ sum: string }>()({
      kind: 'ledger',
      home: 'id',
      schema: 1,
      messages: { view: () => ({ reply: 'done', next: { sum: '40' } }) },
    });
    const first = await ServerProcess.open(t, { socket_path, kinds: [old] });
    await first.ask(address, { type: 'view' });
    const third = {
      ...ledger,
      schema: 3,
      upcast: {
        1: (state: { sum: string }) => ({ n: Number(state.sum) }),
        2: (state: { n: number }) => ({ ...state, trail: ['upcast'] }),
      },
    };
    const process = await ServerProcess.open(t, { socket_path, kinds: [third] });
    t.same(await process.view(address), { n: 40, trail: ['upcast'] });
    t.equal(await process.ask(address, { type: 'add', by: 2 }), 42);
    const again = await ServerProcess.open(t, { socket_path, kinds: [third] });
    t.same(await again.view(address), { n: 42, trail: ['upcast'] });
    const late = await ServerProcess.open(t, { socket_path, kinds: [old] });
    t.match(await late.ask(address, { type: 'view' }), NEWER, 'the older server leaves it to the newer one');
  });

  await t.test('a schema without a way up quarantines', async (t) => {
    const address = ledgerOf(3);
    const first = await ServerProcess.open(t, { socket_path });
    await first.ask(address, { type: 'add', by: 1 });
    const gap = await ServerProcess.open(t, { socket_path, kinds: [{ ...ledger, schema: 2 }] });
    t.match(await gap.ask(address, { type: 'view' }), OUT_OF_SERVICE);
    t.match(gap.runtime.inspect(1).quarantined, [{ quarantined: { reason: /no way from schema 1 to 2/ } }]);
  });

  await t.test(
    'fault 21: what a newer server wrote is 503 and not quarantined, and its messages wait for that one',
    async (t) => {
      const [address, told] = [ledgerOf(4), ledgerOf(4)];
      let now_ms = Date.now();
      const now = () => now_ms;
      const newest = defineActor<Ledger>()({
        ...{ kind: ledger.kind, home: ledger.home, schema: 2 },
        upcast: { 1: (state: Ledger) => state },
        messages: { ...ledger.messages, newest: () => ({ reply: 'done', next: { n: 0, trail: ['newest'] } }) },
      });
      const open = (kinds = [ledger]) => ServerProcess.open(t, { socket_path, kinds, trust_memory: false, now });
      const [older, newer] = [await open(), await open([newest as unknown as typeof ledger])];
      await older.ask(address, { type: 'add', by: 1 });
      t.equal(await newer.ask(address, { type: 'add', by: 1 }), 2);
      for (let asks = 0; asks < 3; asks++) t.match(await older.ask(address, { type: 'add', by: 1 }), NEWER);
      t.same(older.runtime.inspect(9).quarantined, []);
      t.equal(older.logged.length, 1, 'said once');
      t.equal(await newer.ask(address, { type: 'add', by: 1 }), 3);

      const message = { type: 'newest' } as unknown as LedgerMessage;
      older.relay.start();
      // By the older: who sends a message delivers it as well.
      await older.ask(ledgerOf(4), { type: 'tell', to: [told], message });
      await newer.ask(told, { type: 'remind', name: 'x', at_ms: now_ms, message });
      await redis.del(keysOf(4).entity(told)); // as if only its messages were new
      for (let runs = 0; runs < 7; runs++) {
        now_ms += 60_000;
        t.equal(await older.reminders.look(), 0);
      }
      t.same(await older.store.listDeadLetters(4), [], 'there is no dead letter');
      newer.relay.start();
      await until('it is told', async () => (await newer.view(told)).trail.length === 1);
      t.equal(await newer.reminders.look(), 1);
    },
  );

  await t.test('a schema that is read a release before it is written', async (t) => {
    type Wide = Ledger & { note: string };
    const wide = (writes?: number) =>
      ({
        ...ledger,
        schema: 2,
        upcast: { 1: (state: Ledger): Wide => ({ ...state, note: '' }) },
        downcast: { 2: ({ note: _, ...state }: Wide): Ledger => state },
        ...(writes === undefined ? {} : { writes }),
      }) as typeof ledger;
    const open = (kind: typeof ledger) => ServerProcess.open(t, { socket_path, kinds: [kind], trust_memory: false });
    const [first, second, third] = [await open(ledger), await open(wide(1)), await open(wide())];
    const address = ledgerOf(5);
    t.equal(await second.ask(address, { type: 'add', by: 1 }), 1);
    t.equal(await first.ask(address, { type: 'add', by: 1 }), 2, 'the release before reads what it writes');
    t.equal(await second.ask(address, { type: 'add', by: 1 }), 3);
    t.equal(await third.ask(address, { type: 'add', by: 1 }), 4);
    t.equal(await second.ask(address, { type: 'add', by: 1 }), 5, 'it reads what the release behind writes');
    t.match(await second.view(address), { n: 5, note: '' });
    t.match(await first.ask(address, { type: 'view' }), NEWER, 'and keeps it in that schema');
  });
});
