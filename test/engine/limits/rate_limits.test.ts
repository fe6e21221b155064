import t from 'tap';
import { RateLimits } from '../../../src/engine/limits/rate_limits.js';
import { SharedWindows } from '../../../src/engine/limits/shared_windows.js';
import { openServerKeys } from '../../../src/engine/secrets/server_keys.js';
import { connectPatiently, placeAt, TestRedis } from '../../fixtures/redis.js';
import { tempFolder } from '../../fixtures/temp_folder.js';

const LIMITS = { claims: 3, codes_sent: 1 };
const NETWORK = '192.0.2.7';

t.test('J-015 processes that share a Redis count a network together', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const redis = await connectPatiently(placeAt(server.socket_path));
  t.teardown(() => redis.disconnect());
  const keys = await openServerKeys(tempFolder(t));
  let asked = 0;
  const windows = new SharedWindows(redis, keys);
  const shared = {
    count: (...of: Parameters<SharedWindows['count']>) => {
      asked += 1;
      return windows.count(...of);
    },
  };
  const [one, two] = [1, 2].map(() => new RateLimits(LIMITS, { on: true, shared })) as [
    RateLimits<keyof typeof LIMITS>,
    RateLimits<keyof typeof LIMITS>,
  ];

  t.same([await one.take('claims', NETWORK), await two.take('claims', NETWORK)], [null, null]);
  t.equal(one.waitFor('claims', NETWORK), null);
  t.equal(await one.take('claims', NETWORK), null, 'the third, which is the last');
  t.ok(Number(one.waitFor('claims', NETWORK)) > 50, 'known here without asking');
  const wait_s = Number(await two.take('claims', NETWORK));
  t.ok(wait_s > 50 && wait_s <= 60, `${wait_s}`);
  t.match(await one.refusalOf('claims', NETWORK), { refused: 'TOO_MANY_REQUESTS' });
  t.equal(asked, 4, 'what is known to be too much costs Redis nothing');
  t.equal(await one.take('claims', '192.0.2.8'), null, 'another network');
  t.equal(await one.take('codes_sent', NETWORK), null, 'something else');

  const kept = await redis.keys('spool:rate:*');
  t.equal(kept.length, 3);
  t.notMatch(kept.join(), /192/, 'nobody reads there who asked');
  for (const key of kept) t.ok((await redis.pttl(key)) > 50_000, 'and all of it ends by itself');

  redis.disconnect();
  const taken = [1, 2, 3, 4].map(() => one.take('claims', '192.0.2.9'));
  t.match(await Promise.all(taken), [null, null, null, /^\d+$/], 'while Redis is away each counts for itself');
});
