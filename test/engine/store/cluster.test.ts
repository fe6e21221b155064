import calculateSlot from 'cluster-key-slot';
import type { Cluster } from 'ioredis';
import t from 'tap';
import { healthProblemsOf } from '../../../src/edge/operations/health_problems.js';
import { randomId } from '../../../src/engine/random/random.js';
import { EntityScan } from '../../../src/engine/store/entity_scan.js';
import { keysOf, tagOf } from '../../../src/engine/store/partitions.js';
import { mastersOf } from '../../../src/engine/store/redis_connection.js';
import { streamIds } from '../../../src/engine/store/stream_ids.js';
import { TestAccount } from '../../fixtures/account.js';
import { ledgerOf } from '../../fixtures/ledger.js';
import { OauthApp } from '../../fixtures/oauth.js';
import { type ClusterNode, TestRedisCluster } from '../../fixtures/redis_cluster.js';
import { ServerProcess } from '../../fixtures/server_process.js';
import { TestSpool } from '../../fixtures/spool.js';
import { until } from '../../fixtures/until.js';

/** Redis Cluster, in its smallest form: three masters. More: `npm run spool -- faults cluster`. */

const PARTITION = 3;
const WRITERS = 6;
const EACH = 40;

t.test('on a cluster of three', async (t) => {
  const cluster = await new TestRedisCluster().start();
  t.teardown(() => cluster.stop());
  const { place } = cluster;
  const redis = await cluster.connect();

  await t.test('partitions of all masters commit, tell each other and are found', async (t) => {
    const process = await ServerProcess.open(t, { place, trust_memory: false });
    const addresses = [0, 50, 100, 150, 200, 255].map(ledgerOf);
    const homes = await Promise.all([0, 50, 100, 150, 200, 255].map((partition) => cluster.masterOf(partition * 64)));
    t.equal(new Set(homes.map(({ id }) => id)).size, 3);
    process.relay.start();
    const [first] = addresses as [(typeof addresses)[0]];
    const told = { type: 'add' as const, by: 1 };
    await process.ask(first as never, { type: 'tell', to: addresses.slice(1), message: told });
    for (const address of addresses.slice(1))
      await until('it is told', async () => (await process.view(address)).n === 1);
    const scan = new EntityScan(redis);
    const found: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await scan.page({ kind: 'ledger' }, { cursor, limit: 1 }, async (ids) => ids);
      found.push(...page.rows);
      cursor = page.cursor;
    }
    t.same(found.sort(), addresses.map(({ id }) => id).sort(), 'staff find those of every master, each once');
  });

  await t.test('a slot that moves while it is written to: each is applied once, nobody notices', async (t) => {
    const both = [
      await ServerProcess.open(t, { place, trust_memory: false }),
      await ServerProcess.open(t, { place, trust_memory: false }),
    ];
    const address = ledgerOf(PARTITION);
    const slot = calculateSlot(`{${tagOf(PARTITION)}}`);
    const heard: unknown[] = [];
    let written = 0;
    const writing = Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        for (let n = 0; n < EACH; n++) {
          const process = both[(writer + n) % 2] as ServerProcess;
          heard.push(await process.ask(address, { type: 'add', by: 1, ref: `${writer} ${n}` }));
          written += 1;
        }
      }),
    );
    for (const at of [0.2, 0.5]) {
      await until('there is load', () => written >= WRITERS * EACH * at);
      const from = await cluster.masterOf(slot);
      const to = cluster.masters.find(({ id }) => id !== from.id) as ClusterNode;
      const before = written;
      await cluster.move(slot, to, () => until('some come meanwhile', () => written > before, 300).catch(() => {}));
    }
    await writing;
    const all = WRITERS * EACH;
    t.same(
      heard.map(Number).toSorted((a, b) => a - b),
      Array.from({ length: all }, (_, n) => n + 1),
    );
    for (const process of both) t.equal((await process.view(address)).n, all);
  });

  await t.test('functions that one master lost are there again with its next commit', async (t) => {
    const process = await ServerProcess.open(t, { place, trust_memory: false });
    await Promise.all(mastersOf(redis).map((master) => master.call('FUNCTION', 'FLUSH', 'SYNC')));
    for (const partition of [1, 100, 200]) t.equal(await process.ask(ledgerOf(partition), { type: 'add', by: 1 }), 1);
  });

  await t.test('streams of all masters are swept', async (t) => {
    const ids = [1, 100, 200].map((partition) => randomId({ partition, now_ms: Date.now() }));
    for (const [index, id] of ids.entries())
      await redis.set(keysOf([1, 100, 200][index] as number).entity({ kind: 'stream', id }), 'x');
    const found = new Set<string>();
    for await (const id of streamIds(redis)) found.add(id);
    t.same([...found].toSorted(), ids.toSorted());
    for (const [index, id] of ids.entries())
      await redis.del(keysOf([1, 100, 200][index] as number).entity({ kind: 'stream', id }));
  });

  await t.test('a connection that is closed while it asks who has which slot asks no more', async (t) => {
    type Asking = { getInfoFromNode(node: unknown, answered: (...answer: unknown[]) => void): void };
    const closing = (await cluster.connect()) as unknown as Omit<Cluster, keyof Asking> & Asking;
    const ask = closing.getInfoFromNode.bind(closing);
    let answers = 0;
    closing.getInfoFromNode = (node, answered) =>
      ask(node, (...answer) => {
        answered(...answer);
        answers += 1;
      });
    let goes_on = false;
    closing.refreshSlotsCache(() => {
      goes_on = true; // here the client sets its timer for the next time, which would hold the process
    });
    closing.disconnect();
    await until('it was answered', () => answers > 0);
    t.notOk(goes_on);
  });

  const spool = await TestSpool.start({ RATE_LIMITS: 'off', REDIS_URL: cluster.url });
  t.teardown(() => spool.end());

  await t.test('J-017 a whole server: people, devices, clients, revocations', async (t) => {
    const ann = await TestAccount.open(spool, 'ann@x.test');
    const bob = await TestAccount.open(spool, 'bob@x.test');
    const { id } = await ann.workspace('Team');
    await ann.bring(id, [bob]);
    t.same(await bob.members(id), ['ann@x.test owner', 'bob@x.test member']);
    const app = await OauthApp.registered(spool);
    t.match(await app.signIn('ann@x.test'), { token_type: 'Bearer' }, 'a client that was written once is found');
    const { device, device_id } = await spool.boundDevice(ann.app);
    await device.ask('POST', '/device/heartbeat');
    await spool.operator.ask('DELETE', `/ops/devices/${device_id}/certificate`);
    await t.rejects(device.ask('POST', '/device/heartbeat'), 'a revoked certificate');
    await spool.operator.ask('PUT', '/ops/accounts/ann@x.test/entitlements/developer.tools', { enabled: true });
    t.match(await ann.newEvents(), [/workspaces/, /.*/]);
  });

  // The last: nothing is mended.
  await t.test('a master that is away: ready as long as others serve, and it is told what is away', async (t) => {
    const { operator, server } = spool;
    const readiness = async () => (await operator.send('GET', '/readyz')).status;
    const healthProblems = async () => {
      await server.services.watch.sample();
      return healthProblemsOf(server.services.watch.standing(), Date.now()).map(({ name }) => name);
    };
    t.equal(await readiness(), 200);
    t.same(await healthProblems(), []);
    const [first, second, third] = cluster.masters as [ClusterNode, ClusterNode, ClusterNode];
    for (const { redis } of cluster.masters) await redis.config('SET', 'cluster-require-full-coverage', 'no');
    await cluster.kill(first);
    await until('a part is away', async () => (await healthProblems()).includes('storage_part_away'));
    const { partitions_away } = server.services.watch.standing().storage;
    t.ok(partitions_away >= 85 && partitions_away <= 86, `${partitions_away} partitions are away`);
    t.equal(await readiness(), 200, 'the others are served');
    for (const { redis } of [second, third]) await redis.config('SET', 'cluster-require-full-coverage', 'yes');
    await until('nothing is served', async () => (await readiness()) === 503);
    await until('that is told as well', async () => (await healthProblems()).includes('storage_away'));
  });
});
