import t from 'tap';
import { keysOf } from '../../../src/engine/store/partitions.js';
import { ledgerOf } from '../../fixtures/ledger.js';
import { TestRedis } from '../../fixtures/redis.js';
import { ServerProcess } from '../../fixtures/server_process.js';
import { until } from '../../fixtures/until.js';
import { WatchedStore } from '../../fixtures/watched_store.js';

const REPORT = 'storage went back in time; memory is dropped';

t.test('storage that went back in time', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const redis = await server.connect();

  for (const trust_memory of [true, false]) {
    for (const rolled_back of [true, false]) {
      const how = `${rolled_back ? 'an older value is restored' : 'the key is lost'}, memory is ${trust_memory ? '' : 'not '}trusted`;
      await t.test(`is detected and reported, and memory dropped: ${how}`, async (t) => {
        const watched = new WatchedStore();
        const process = await ServerProcess.open(t, {
          socket_path: server.socket_path,
          trust_memory,
          wrap: watched.wrap,
        });
        const [address, other] = [ledgerOf(1), ledgerOf(2)];
        const key = keysOf(1).entity(address);
        await process.ask(other, { type: 'add', by: 1 });
        await process.ask(address, { type: 'add', by: 1 });
        const older = await redis.getBuffer(key);
        if (older === null) throw new Error('nothing is stored');
        await process.ask(address, { type: 'add', by: 1 });
        await process.ask(address, { type: 'add', by: 1 });
        if (rolled_back) await redis.set(key, older);
        else await redis.del(key);
        const truth = rolled_back ? 1 : 0;
        if (!trust_memory) t.equal((await process.view(address)).n, truth, 'a read sees what is stored');
        t.equal(await process.ask(address, { type: 'add', by: 10 }), truth + 10, 'a write builds on what is stored');
        t.equal((await process.view(address)).n, truth + 10);
        t.equal(process.logged.filter(({ text }) => text === REPORT).length, 1, 'it is reported once');
        const probes = watched.count('probe');
        await process.view(other);
        t.equal(watched.count('probe'), probes + 1, 'another entity is held against storage');
      });
    }
  }

  await t.test('outbox messages that are numbered anew are applied', async (t) => {
    const process = await ServerProcess.open(t, { socket_path: server.socket_path });
    const [from, to] = [ledgerOf(5), ledgerOf(6)];
    process.relay.start();
    const tell = () => process.ask(from, { type: 'tell', to: [to], message: { type: 'add', by: 1 } });
    for (let i = 0; i < 3; i++) await tell();
    await until('they are applied', async () => (await process.view(to)).n === 3);
    await until('they are removed', async () => (await process.store.outbox(5, 0, 9)).length === 0);
    await redis.flushall();
    await redis.call('FUNCTION', 'FLUSH');
    await tell();
    await until('it is applied', async () => (await process.view(to)).n === 1);
  });
});
