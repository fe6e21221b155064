import { hostname } from 'node:os';
import t from 'tap';
import { PARTITIONS } from '../../../src/domain/ids.js';
import { ClusterProcesses } from '../../../src/engine/cluster/cluster_processes.js';
import { TestRedis } from '../../fixtures/redis.js';
import { until } from '../../fixtures/until.js';

/** Long enough for a machine that is busy with other tests. */
const TIMES = { renew_every_ms: 50, expire_ms: 1_000 };
const log = { info() {}, error: (...said: unknown[]) => void t.fail(String(said[1])) };

t.test('the processes on one Redis', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const ends: (() => unknown)[] = [];
  t.teardown(() => Promise.all(ends.map((end) => end())));

  /** A process with a connection for commands and one that listens; `end` closes both, as the system does. */
  const join = async (since_ms: number, { listens = true } = {}) => {
    const [redis, listening] = [await server.connect(), await server.connect()];
    const members = new ClusterProcesses({ redis, log, since_ms, times: TIMES });
    await members.start();
    if (listens) await listening.subscribe(members.channel);
    ends.push(() => members.leave());
    const silence = () => {
      redis.disconnect();
    };
    const end = () => {
      silence();
      listening.disconnect();
    };
    return { members, redis, silence, end };
  };
  const partitionsOf = ({ members }: { members: ClusterProcesses }) =>
    Array.from({ length: PARTITIONS }, (_, partition) => partition).filter((partition) => members.owns(partition));
  const idsIn = ({ members }: { members: ClusterProcesses }) => members.living.map(({ id }) => id);

  const one = await join(1);
  await t.test('one alone has all partitions, and is told of by what it said', async (t) => {
    t.equal(partitionsOf(one).length, PARTITIONS);
    t.same(one.members.living, [{ id: one.members.id, host: hostname(), pid: process.pid, since_ms: 1 }]);
    t.same([...one.members.shares()], [[one.members.id, PARTITIONS]]);
  });

  await t.test('views agree soon: each partition has one owner; one that leaves gives its own back', async (t) => {
    const [two, three] = [await join(2), await join(3)];
    const all = [one, two, three];
    const ids = all.map(({ members }) => members.id);
    await until('all see all', () => all.every((each) => idsIn(each).join() === ids.join()));
    t.same(
      all.flatMap(partitionsOf).sort((a, b) => a - b),
      Array.from({ length: PARTITIONS }, (_, partition) => partition),
    );
    await two.members.leave();
    t.same(partitionsOf(two), [], 'it owns nothing');
    await one.members.renew();
    t.notOk(idsIn(one).includes(two.members.id), 'it is gone from the next view on');
    await until('the others share all', () => partitionsOf(one).length + partitionsOf(three).length === PARTITIONS);
    t.notOk(one.members.gone.has(two.members.id), 'who leaves has ended in order');
    await three.members.leave();
  });

  await t.test('one that was killed expires, and is gone; one that stands still is not', async (t) => {
    const [killed, still] = [await join(4), await join(5)];
    await until('they are seen', () => idsIn(one).length === 3);
    killed.end();
    still.silence();
    await until('both have expired', () => idsIn(one).length === 1);
    await until('one is gone', () => one.members.gone.has(killed.members.id));
    t.same([...one.members.gone], [killed.members.id]);
    t.equal(partitionsOf(one).length, PARTITIONS, 'both have lost their partitions');
    await until('who hears nothing believes nothing', () => idsIn(still).length === 0);
    t.same(partitionsOf(still), []);
    still.end();
  });

  await t.test('one that has not watched for long does not know who is gone', async (t) => {
    const dead = await join(6);
    dead.end();
    await until('the others know', () => one.members.gone.has(dead.members.id));
    const late = await join(7);
    t.notOk(idsIn(late).includes(dead.members.id));
    t.notOk(late.members.gone.has(dead.members.id), 'it might be about to say that it is alive');
    await until('then it does', () => late.members.gone.has(dead.members.id));
    await late.members.leave();
  });

  await t.test('what another release says of itself is no reason not to count it', async (t) => {
    await until('it is alone', () => idsIn(one).length === 1);
    const redis = await server.connect();
    await redis.zadd('spool:{members}', 4e12, 'other');
    await redis.hset('spool:{members}:said', 'other', '{"shape":2}');
    await one.members.renew();
    t.match(
      one.members.living.find(({ id }) => id === 'other'),
      { host: '', pid: 0 },
    );
    t.equal(one.members.living.length, 2);
    await redis.zrem('spool:{members}', 'other');
  });

  await t.test('without Redis nobody owns anything', async (t) => {
    await server.kill();
    await until('its view is too old', () => partitionsOf(one).length === 0);
    t.same(one.members.living, []);
    await server.start();
    await until('it is back', () => partitionsOf(one).length === PARTITIONS);
  });
});
