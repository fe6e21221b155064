import t from 'tap';
import { askRedis, checkRedis } from '../../../src/engine/process/redis_checks.js';
import { withRedis } from '../../../src/engine/process/redis_process.js';
import { startRedis } from '../../../src/engine/process/redis_server.js';
import { tempFolder } from '../../fixtures/temp_folder.js';

const info = (fields: Record<string, string>) =>
  `# Server\r\n${Object.entries({ redis_version: '7.0.0', maxmemory_policy: 'noeviction', aof_enabled: '1', ...fields })
    .map(([name, value]) => `${name}:${value}\r\n`)
    .join('')}`;

t.test('each shortcoming has its text', async (t) => {
  const rows: [string, Record<string, string>, string | null, RegExp[]][] = [
    ['nothing', {}, 'always', []],
    ['old', { redis_version: '6.2.14' }, 'always', [/version is 6\.2\.14/]],
    ['new', { redis_version: '8.0.1' }, 'always', []],
    ['evicting', { maxmemory_policy: 'allkeys-lru' }, 'always', [/maxmemory-policy is allkeys-lru/]],
    ['no file', { aof_enabled: '0' }, 'always', [/appendonly is no/]],
    ['late', {}, 'everysec', [/appendfsync is everysec/]],
    ['hosted', {}, null, [/could not check appendfsync/]],
    ['all', { redis_version: '5.0.0', maxmemory_policy: 'x', aof_enabled: '0' }, 'no', [/5\.0/, /x/, /only/, /fsync/]],
  ];
  for (const [title, fields, appendfsync, texts] of rows) {
    const found = checkRedis({ info: info(fields), appendfsync });
    t.equal(found.length, texts.length, title);
    t.match(found, texts, title);
  }
  t.equal(checkRedis({ info: '', appendfsync: null }).length, 4, 'an INFO that says nothing is no yes');
});

t.test('a real one is asked', async (t) => {
  const redis = await startRedis({ data_dir: tempFolder(t), log: () => {} });
  t.teardown(() => redis.stop());
  await withRedis(redis.socket_path, async (client) => {
    t.same(checkRedis(await askRedis(client)), []);
    await client.call('CONFIG', 'SET', 'appendfsync', 'everysec', 'maxmemory-policy', 'allkeys-lfu');
    t.match(checkRedis(await askRedis(client)), [/allkeys-lfu/, /everysec/]);
    await client.call('ACL', 'SETUSER', 'default', '-config');
    t.match(checkRedis(await askRedis(client)), [/allkeys-lfu/, /could not check appendfsync/]);
  });
});
