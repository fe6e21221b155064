import { readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isRunning, redisProcessesIn, withRedis } from '../../../src/engine/process/redis_process.js';
import { type RedisExit, type RedisServer, startRedis } from '../../../src/engine/process/redis_server.js';
import { tempFolder } from '../../fixtures/temp_folder.js';
import { start } from './starter.js';
import { until } from './until.js';

type Test = Parameters<typeof start>[0] & Parameters<typeof tempFolder>[0];

/** Starts Redis on a folder, and stops it when the test is over. */
const startFor = async (t: Test, data_dir: string, exits: RedisExit[] = []): Promise<RedisServer> => {
  const redis = await startRedis({ data_dir, log: () => {}, onExit: (exit) => exits.push(exit) });
  t.teardown(() => redis.stop());
  return redis;
};

const call = (redis: RedisServer, ...[command, ...args]: [string, ...string[]]) =>
  withRedis(redis.socket_path, (client) => client.call(command, ...args));

const processesIn = (data_dir: string) => redisProcessesIn(join(realpathSync(data_dir), 'redis'));

t.test('runs on a socket alone, with every write on disk, in a process group of its own', async (t) => {
  const redis = await startFor(t, tempFolder(t));
  t.equal(redis.adopted, false);
  t.match(redis.version, /^\d+\.\d+\.\d+$/);
  const config: [string, string][] = [
    ['port', '0'],
    ['appendonly', 'yes'],
    ['appendfsync', 'always'],
    ['maxmemory-policy', 'noeviction'],
    ['save', ''],
    ['stream-node-max-bytes', '2048'],
    ['aof-load-truncated', 'yes'],
  ];
  for (const [name, value] of config) t.same(await call(redis, 'CONFIG', 'GET', name), [name, value]);
  t.equal(statSync(redis.socket_path).mode & 0o777, 0o700);
  const group = readFileSync(`/proc/${redis.pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ')[2];
  t.equal(Number(group), redis.pid);
  t.notMatch(readFileSync(`/proc/${redis.pid}/environ`, 'latin1'), /HOME=/, 'it does not get our environment');
});

t.test('data outlives stop and start; stop may come twice', async (t) => {
  const data_dir = tempFolder(t);
  const first = await startFor(t, data_dir);
  await call(first, 'SET', 'key', 'value');
  await Promise.all([first.stop(), first.stop()]);
  t.notOk(isRunning(first.pid));
  t.same(processesIn(data_dir), []);
  const second = await startFor(t, data_dir);
  t.equal(second.adopted, false);
  t.not(second.pid, first.pid);
  t.equal(await call(second, 'GET', 'key'), 'value');
});

t.test('killed, it is started again on the same socket, with all that was answered', async (t) => {
  const data_dir = tempFolder(t);
  const exits: RedisExit[] = [];
  const redis = await startFor(t, data_dir, exits);
  for (let round = 0; round < 3; round++) {
    await call(redis, 'SET', `key ${round}`, 'value');
    const { pid } = redis;
    process.kill(pid, 'SIGKILL');
    await until('Redis runs again', () => redis.pid !== pid);
    t.equal(await call(redis, 'GET', `key ${round}`), 'value');
    t.match(exits[round], { pid, signal: 'SIGKILL' });
  }
  t.equal(exits.length, 3);
  t.same(processesIn(data_dir), [redis.pid]);
});

t.test('shut down by someone else, it is started again too', async (t) => {
  const redis = await startFor(t, tempFolder(t));
  const { pid } = redis;
  await call(redis, 'SHUTDOWN').catch(() => {});
  await until('Redis runs again', () => redis.pid !== pid);
  t.equal(await call(redis, 'PING'), 'PONG');
});

t.test('stopped while it is being started again, none is left', async (t) => {
  for (let round = 0; round < 5; round++) {
    const data_dir = tempFolder(t);
    const exits: RedisExit[] = [];
    const redis = await startFor(t, data_dir, exits);
    process.kill(redis.pid, 'SIGKILL');
    await until('the exit is seen', () => exits.length === 1);
    // Each round stops at another point of the restart.
    const end = performance.now() + round * 20;
    await until('a point in the restart', () => performance.now() > end);
    await redis.stop();
    t.same(processesIn(data_dir), []);
  }
});

t.test('one left over from a killed server is adopted, not doubled', async (t) => {
  const data_dir = tempFolder(t);
  const killed = start(t, 'redis_runner.js', [data_dir]);
  const { pid } = await killed.line();
  await killed.kill('SIGKILL');
  t.ok(isRunning(Number(pid)), 'it outlives its server');

  const exits: RedisExit[] = [];
  const redis = await startFor(t, data_dir, exits);
  t.equal(redis.pid, pid);
  t.equal(redis.adopted, true);
  t.same(processesIn(data_dir), [pid]);
  await call(redis, 'SET', 'key', 'value');

  process.kill(redis.pid, 'SIGKILL');
  await until('the adopted one is replaced', () => redis.pid !== pid);
  t.equal(redis.adopted, false);
  t.equal(await call(redis, 'GET', 'key'), 'value');
  t.match(exits, [{ pid, code: null, signal: null }]);
  await redis.stop();
  t.same(processesIn(data_dir), []);
});

t.test('an adopted one gets the settings of this version, and is stopped like any other', async (t) => {
  const data_dir = tempFolder(t);
  const killed = start(t, 'redis_runner.js', [data_dir]);
  await killed.line();
  await killed.kill('SIGKILL');
  const socket_path = join(realpathSync(data_dir), 'redis', 'redis.sock');
  await withRedis(socket_path, (client) => client.call('CONFIG', 'SET', 'appendfsync', 'no'));
  const redis = await startFor(t, data_dir);
  t.same(await call(redis, 'CONFIG', 'GET', 'appendfsync'), ['appendfsync', 'always']);
  await redis.stop();
  t.same(processesIn(data_dir), []);
});

t.test('one left over that does not answer is refused by its process id', async (t) => {
  const data_dir = tempFolder(t);
  const killed = start(t, 'redis_runner.js', [data_dir]);
  const pid = Number((await killed.line()).pid);
  await killed.kill('SIGKILL');
  process.kill(pid, 'SIGSTOP');
  await t.rejects(startRedis({ data_dir, log: () => {}, ready_deadline_ms: 100 }), {
    message: new RegExp(`process ${pid}\\) already works in .* but does not answer`),
  });
  t.same(processesIn(data_dir), [pid]);
  process.kill(pid, 'SIGKILL');
  await until('it is gone', () => !isRunning(pid));
});

t.test(
  'a stopped one is ended by force',
  { skip: process.env.SLOW ? false : 'takes 20 seconds; set SLOW=1' },
  async (t) => {
    const data_dir = tempFolder(t);
    const redis = await startFor(t, data_dir);
    process.kill(redis.pid, 'SIGSTOP');
    await redis.stop();
    t.same(processesIn(data_dir), []);
  },
);

t.test('folders with long and odd names', async (t) => {
  const root = tempFolder(t);
  const names = [
    'with space',
    `it's "quoted" \\ 100% #1 é`,
    Array.from({ length: 6 }, () => 'long enough to be too long').join('/'),
  ];
  for (const name of names) {
    const data_dir = join(root, name);
    const redis = await startFor(t, data_dir);
    await call(redis, 'SET', 'key', 'value');
    t.ok(Buffer.byteLength(redis.socket_path) <= 103);
    t.ok(readdirSync(join(data_dir, 'redis')).includes('appendonlydir'));
    await redis.stop();
    const again = await startFor(t, data_dir);
    t.equal(again.socket_path, redis.socket_path);
    t.equal(await call(again, 'GET', 'key'), 'value');
  }
});

t.test('what Redis says is shown when it does not come up', async (t) => {
  const data_dir = tempFolder(t);
  const redis = await startFor(t, data_dir);
  for (let number = 0; number < 100; number++) await call(redis, 'SET', `key ${number}`, 'value');
  await redis.stop();
  const folder = join(data_dir, 'redis', 'appendonlydir');
  const increment = readdirSync(folder).find((name) => name.endsWith('.incr.aof')) ?? '';
  const bytes = readFileSync(join(folder, increment));
  bytes.write('damaged', 100);
  writeFileSync(join(folder, increment), bytes);
  await t.rejects(startRedis({ data_dir, log: () => {} }), {
    message: /Redis ended while it started \(exit code 1\)[\s\S]*redis\.log:[\s\S]*Bad file format/,
  });
  t.same(processesIn(data_dir), []);
});

t.test('a write cut off by a crash is dropped and reported, what came before it is kept', async (t) => {
  const data_dir = tempFolder(t);
  const redis = await startFor(t, data_dir);
  await call(redis, 'SET', 'kept', 'value');
  await redis.stop();
  const folder = join(data_dir, 'redis', 'appendonlydir');
  const increment = join(folder, readdirSync(folder).find((name) => name.endsWith('.incr.aof')) ?? '');
  writeFileSync(increment, Buffer.concat([readFileSync(increment), Buffer.from('*3\r\n$3\r\nSET\r\n$4\r\nlo')]));
  const cuts: number[] = [];
  const again = await startRedis({ data_dir, log: () => {}, onCut: (bytes) => cuts.push(bytes) });
  t.teardown(() => again.stop());
  t.equal(await call(again, 'GET', 'kept'), 'value');
  t.same(cuts, [19]);
  await again.stop();
  const third = await startRedis({ data_dir, log: () => {}, onCut: (bytes) => cuts.push(bytes) });
  t.teardown(() => third.stop());
  t.same(cuts, [19], 'once');
});
