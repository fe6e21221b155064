import t, { type Test } from 'tap';
import { TestAccount } from '../fixtures/account.js';
import { TestRedis } from '../fixtures/redis.js';
import { RedisProxy } from '../fixtures/redis_proxy.js';
import { TestSpool } from '../fixtures/spool.js';
import { until } from '../fixtures/until.js';

/** A server on a Redis behind one address, a replica of it, and what makes the replica the master. */
async function setUp(t: Test) {
  const [first, second] = [await new TestRedis().start({ port: true }), await new TestRedis().start({ port: true })];
  for (const redis of [first, second]) t.teardown(() => redis.stop());
  const [old, next] = [await first.connect(), await second.connect()];
  const portOf = ({ url }: TestRedis) => new URL(url).port;
  await next.call('REPLICAOF', '127.0.0.1', portOf(first));
  const proxy = await RedisProxy.open(t, first.socket_path, { port: true });
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', REDIS_URL: proxy.url });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const failOver = async ({ silences }: { silences: boolean }) => {
    await old.call('WAIT', '1', '10000');
    await next.call('REPLICAOF', 'NO', 'ONE');
    proxy.leadTo(second.socket_path, { silences });
    if (!silences) await old.call('REPLICAOF', '127.0.0.1', portOf(second));
  };
  const writes = () =>
    ann.ask('PATCH', '/me', { name: 'Ann' }).then(
      () => true,
      () => false,
    );
  return { spool, next, failOver, writes };
}

for (const silences of [false, true])
  t.test(
    `an old master that ${silences ? 'falls silent' : 'becomes a replica'} keeps nobody from the new one`,
    async (t) => {
      const { spool, next, failOver, writes } = await setUp(t);
      t.ok(await writes());
      await failOver({ silences });
      await until('writes go on', writes);
      await until('it is ready', () => spool.server.services.storage_health.isReady());
      const provisions = () =>
        spool.operator.provision('personal').then(
          () => true,
          () => false,
        );
      await until('records of certificates are written', provisions);
      // A master tells its replicas what is published; whoever listens there hears it.
      if (!silences) return;
      await until('what listens has come over', async () => {
        const counts = (await next.call('PUBSUB', 'NUMSUB', spool.server.services.members.channel)) as [string, number];
        return counts[1] > 0;
      });
    },
  );
