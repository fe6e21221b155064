import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import type { Store } from '../../../src/engine/store/store.js';
import { ledgerOf } from '../../fixtures/ledger.js';
import { TestRedis } from '../../fixtures/redis.js';
import { TestRedisCluster } from '../../fixtures/redis_cluster.js';
import { RedisProxy } from '../../fixtures/redis_proxy.js';
import { ServerProcess, type ServerProcessOptions } from '../../fixtures/server_process.js';
import { until } from '../../fixtures/until.js';
import { WatchedStore } from '../../fixtures/watched_store.js';

/** Memory of a process that is told of what others commit. */

type Told = { process: ServerProcess; asked(): Record<'load' | 'probe', number> };

async function open(
  t: { teardown(clean: () => Promise<void>): unknown },
  place: { socket_path: string } | Pick<ServerProcessOptions & { place: unknown }, 'place'>,
): Promise<Told> {
  const watched = new WatchedStore();
  const options = { ...place, is_told: true, wrap: (store: Store) => watched.wrap(store) } as ServerProcessOptions;
  const process = await ServerProcess.open(t, options);
  return { process, asked: () => ({ load: watched.count('load'), probe: watched.count('probe') }) };
}

const look = async ({ process }: Pick<Told, 'process'>, address: ReturnType<typeof ledgerOf>) =>
  ((await process.ask(address, { type: 'look' })) as { n: number }).n;

const isTrusted = ({ process }: Told, partition: number) =>
  until('memory is trusted', () => process.told?.isTrusted(partition) ?? false);

/** Beats are late on a busy machine, and memory is not trusted then: reads that ask are made again. */
const askNothing = (those: Told[], read: () => Promise<unknown>) =>
  until('reads ask nothing', async () => {
    const before = those.map((one) => one.asked());
    await read();
    return isDeepStrictEqual(
      those.map((one) => one.asked()),
      before,
    );
  });

t.test('told memory', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const { socket_path } = server;

  await t.test('answers without a question until another process commits', async (t) => {
    const [one, other] = [await open(t, { socket_path }), await open(t, { socket_path })];
    const address = ledgerOf(1);
    await one.process.ask(address, { type: 'add', by: 1 });
    await isTrusted(one, 1);
    await isTrusted(other, 1);
    t.equal((await one.process.view(address)).n, 1);
    t.equal((await other.process.view(address)).n, 1);
    await askNothing([one, other], async () => {
      for (const { process } of [one, other]) {
        t.equal((await process.view(address)).n, 1);
        t.equal(await look({ process }, address), 1);
      }
    });
    const [loads, loads_of_other] = [one.asked().load, other.asked().load];
    t.equal(await other.process.ask(address, { type: 'add', by: 1 }), 2);
    t.equal((await other.process.view(address)).n, 2, 'a process sees its own commit');
    t.equal(other.asked().load, loads_of_other, 'and does not load it');
    t.equal((await one.process.view(address)).n, 2);
    t.equal(one.asked().load, loads + 1, 'what was told is loaded once');
  });

  await t.test('a read sees what the other process wrote before, also of what did not exist', async (t) => {
    const both = [await open(t, { socket_path }), await open(t, { socket_path })] as const;
    const address = ledgerOf(2);
    for (const one of both) {
      await isTrusted(one, 2);
      t.same(await one.process.view(address), { n: 0, trail: [] });
    }
    for (let n = 1; n <= 200; n++) {
      const [writer, reader] = n % 2 === 0 ? both : both.toReversed();
      t.equal(await writer?.process.ask(address, { type: 'add', by: 1 }), n);
      if ((await look(reader as Told, address)) !== n) t.fail(`a stale read of ${n}`);
    }
    const [one, other] = both;
    await one.process.ask(address, { type: 'end' });
    t.same(await other.process.view(address), { n: 0, trail: [] }, 'an end is told as well');
  });

  await t.test('a line that is cut: storage is asked, and asked again for all that may have been missed', async (t) => {
    const proxy = await RedisProxy.open(t, socket_path);
    const [one, other] = [await open(t, { socket_path: proxy.socket_path }), await open(t, { socket_path })];
    const [address, quiet] = [ledgerOf(3), ledgerOf(3)];
    for (const of of [address, quiet]) await one.process.ask(of, { type: 'add', by: 1 });
    await isTrusted(one, 3);
    await one.process.view(address);
    await one.process.view(quiet);
    proxy.cut();
    t.equal(await other.process.ask(address, { type: 'add', by: 1 }), 2);
    proxy.restore();
    await until('it is connected', () => one.process.redis.status === 'ready');
    t.equal((await one.process.view(address)).n, 2);
    await isTrusted(one, 3);
    const { probe } = one.asked();
    t.equal((await one.process.view(quiet)).n, 1);
    t.equal(one.asked().probe, probe + 1);
  });

  await t.test('while beats do not come back, storage is asked', async (t) => {
    const proxy = await RedisProxy.open(t, socket_path);
    const one = await open(t, { socket_path: proxy.socket_path });
    const address = ledgerOf(4);
    await one.process.ask(address, { type: 'add', by: 1 });
    await isTrusted(one, 4);
    proxy.hold();
    await until('memory is not trusted', () => one.process.told?.isTrusted(4) === false);
    const { probe } = one.asked();
    const asking = one.process.view(address);
    await until('it asks', () => one.asked().probe === probe + 1);
    proxy.release();
    t.equal((await asking).n, 1);
    await isTrusted(one, 4);
  });

  await t.test('what is no version ends the line: nobody knows of what it was to tell', async (t) => {
    const one = await open(t, { socket_path });
    await isTrusted(one, 5);
    const redis = await server.connect();
    const epoch = one.process.runtime.invalidations;
    await redis.spublish('spool:told', 'no version');
    await until('another line is opened', () => one.process.runtime.invalidations > epoch);
  });

  await t.test('functions that are lost come back, and what they tell', async (t) => {
    const [one, other] = [await open(t, { socket_path }), await open(t, { socket_path })];
    const redis = await server.connect();
    const address = ledgerOf(7);
    await isTrusted(other, 7);
    t.equal(await look(other, address), 0);
    await redis.call('FUNCTION', 'FLUSH', 'SYNC');
    t.equal(await one.process.ask(address, { type: 'add', by: 1 }), 1);
    t.equal(await look(other, address), 1);
    await isTrusted(other, 7);
  });

  await t.test('a process that is alone is told nothing', async (t) => {
    const redis = await server.connect();
    const line = await server.connect();
    const alone = await ServerProcess.open(t, { socket_path });
    const heard: string[] = [];
    line.on('smessage', (_: string, text: string) => heard.push(text));
    await line.ssubscribe('spool:told');
    await alone.ask(ledgerOf(6), { type: 'add', by: 1 });
    await redis.spublish('spool:told', 'the last');
    await until('all was heard', () => heard.at(-1) === 'the last');
    t.equal(heard.length, 1);
  });
});

t.test('told memory on a cluster', async (t) => {
  const cluster = await new TestRedisCluster().start();
  t.teardown(() => cluster.stop());
  const { place } = cluster;
  const both = [await open(t, { place }), await open(t, { place })] as const;
  const partitions = [0, 100, 255];

  await t.test('partitions of all masters are told', async (t) => {
    for (const partition of partitions) {
      const address = ledgerOf(partition);
      for (const one of both) await isTrusted(one, partition);
      for (let n = 1; n <= 60; n++) {
        const [writer, reader] = n % 2 === 0 ? both : both.toReversed();
        t.equal(await writer?.process.ask(address, { type: 'add', by: 1 }), n);
        if ((await look(reader as Told, address)) !== n) t.fail(`a stale read of ${n}`);
      }
      const [one] = both;
      await askNothing([one], () => one.process.view(address));
    }
  });

  await t.test('while a slot moves storage is asked, and afterwards its new node tells', async (t) => {
    const [one, other] = both;
    const address = ledgerOf(100);
    const slot = 100 * 64;
    await one.process.ask(address, { type: 'add', by: 1 });
    await other.process.view(address);
    const from = await cluster.masterOf(slot);
    const to = cluster.masters.find(({ id }) => id !== from.id);
    if (to === undefined) throw new Error('no other master');
    await cluster.move(slot, to, async () => {
      await until('it is not trusted', () => other.process.told?.isTrusted(100) === false);
      t.equal(await one.process.ask(address, { type: 'add', by: 1 }), 2);
      t.equal((await other.process.view(address)).n, 2);
    });
    for (const told of both) await isTrusted(told, 100);
    for (let n = 3; n <= 40; n++) {
      const [writer, reader] = n % 2 === 0 ? both : both.toReversed();
      t.equal(await writer?.process.ask(address, { type: 'add', by: 1 }), n);
      if ((await look(reader as Told, address)) !== n) t.fail(`a stale read of ${n}`);
    }
  });
});
