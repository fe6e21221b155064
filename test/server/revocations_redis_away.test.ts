import t from 'tap';
import { REVOKED_CHANNEL } from '../../src/features/devices/connections.js';
import { Storage } from '../driver/storage.js';
import { TestSpool } from '../fixtures/spool.js';
import { until } from '../fixtures/until.js';

t.test('a connection that breaks while it subscribes to revocations ends nothing', async (t) => {
  const { proxy, redis, env } = await Storage.open(t);
  const direct = await redis.connect();
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', ...env });
  t.teardown(() => spool.end());
  const listeners = async () => ((await direct.pubsub('NUMSUB', REVOKED_CHANNEL)) as [string, number])[1];
  t.equal(await listeners(), 1);
  for (let n = 1; n <= 3; n++) {
    proxy.swallowReplyTo('subscribe');
    proxy.cut();
    await until('it is noticed', async () => !(await spool.server.services.storage_health.isReady()));
    proxy.restore();
    await until('the reply is lost', () => proxy.swallowed === n);
  }
  await until('it is subscribed', async () => (await listeners()) === 1);
  await until('it is ready', () => spool.server.services.storage_health.isReady());
  t.match((await spool.signIn('after@x.test')).session, { user: { email: 'after@x.test' } }, 'it serves');
});
