import t from 'tap';
import { actorKind } from '../../actors/actor.js';
import { encodeStored } from '../../src/store/codec.js';
import { keysOf } from '../../src/store/partitions.js';
import { type Ledger, type LedgerMessage, type LedgerReply, ledger, ledgerOf } from '../fixtures/ledger.js';
import { TestRedis } from '../fixtures/redis.js';
import { ServerProcess } from '../fixtures/server_process.js';

const OUT_OF_SERVICE = { refused: 'INTERNAL', message: 'This entity is out of service.' };
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
      'a snapshot of a newer schema',
      (good) => Buffer.concat([good.subarray(0, HEADER_BYTES), encodeStored({ k: 9, s: { n: 1, trail: [] } })]),
      /schema 9, this server knows 1/,
    ],
    [
      'a state that breaks the invariant',
      (good) => Buffer.concat([good.subarray(0, HEADER_BYTES), encodeStored({ k: 1, s: { n: -5, trail: [] } })]),
      /less than nothing/,
    ],
    ['a key of another type', () => null, /WRONGTYPE/],
  ];
  for (const [title, spoil, reason] of faults) {
    await t.test(`${title} parks the entity, visibly, and only it; repaired and unparked it works again`, async (t) => {
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
      const { parked, kinds } = process.runtime.inspect(9);
      t.match(parked, [{ kind: 'ledger', id: address.id, partition: 1, parked: { reason } }]);
      t.equal(kinds.ledger?.parked, 1);
      t.equal(process.logged.filter(({ text }) => text === 'entity parked').length, 1, 'said once');
      t.equal(await process.ask(other, { type: 'add', by: 1 }), 1, 'another one works');
      if (bad !== null) t.same(await redis.getBuffer(key), bad, 'nothing was written over it');

      await redis.del(key);
      await redis.set(key, good);
      t.match(await process.ask(address, { type: 'view' }), OUT_OF_SERVICE, 'until it is unparked');
      t.equal(process.runtime.unpark(address), true);
      t.equal(process.runtime.unpark(address), false);
      t.equal(await process.ask(address, { type: 'add', by: 1 }), 8);
      t.same(process.runtime.inspect(9).parked, []);
    });
  }

  await t.test('a snapshot of an older schema goes through every upcast, and is saved as the newest', async (t) => {
    const address = ledgerOf(2);
    const old = actorKind<{ sum: string }, LedgerMessage, string>({
      kind: 'ledger',
      home: 'id',
      schema: 1,
      decide: () => ({ reply: 'done', next: { sum: '40' } }),
    });
    const first = await ServerProcess.open(t, { socket_path, kinds: [old] });
    await first.ask(address, { type: 'view' });
    const third = actorKind<Ledger, LedgerMessage, LedgerReply>({
      ...ledger,
      schema: 3,
      upcast: {
        1: (state: { sum: string }) => ({ n: Number(state.sum) }),
        2: (state: { n: number }) => ({ ...state, trail: ['upcast'] }),
      },
    });
    const process = await ServerProcess.open(t, { socket_path, kinds: [third] });
    t.same(await process.view(address), { n: 40, trail: ['upcast'] });
    t.equal(await process.ask(address, { type: 'add', by: 2 }), 42);
    const again = await ServerProcess.open(t, { socket_path, kinds: [third] });
    t.same(await again.view(address), { n: 42, trail: ['upcast'] });
    const late = await ServerProcess.open(t, { socket_path, kinds: [old] });
    t.match(await late.ask(address, { type: 'view' }), OUT_OF_SERVICE, 'the older server parks it');
  });

  await t.test('a schema without a way up parks', async (t) => {
    const address = ledgerOf(3);
    const first = await ServerProcess.open(t, { socket_path });
    await first.ask(address, { type: 'add', by: 1 });
    const gap = await ServerProcess.open(t, { socket_path, kinds: [{ ...ledger, schema: 2 }] });
    t.match(await gap.ask(address, { type: 'view' }), OUT_OF_SERVICE);
    t.match(gap.runtime.inspect(1).parked, [{ parked: { reason: /no way from schema 1 to 2/ } }]);
  });
});
