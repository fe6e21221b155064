import type { Redis } from 'ioredis';
import type { Test } from 'tap';
import { mastersOf } from '../../src/engine/store/redis_connection.js';
import { scenario } from '../driver/scenario.js';
import { Servers } from '../driver/servers.js';
import type { SpoolProcess } from '../driver/spool_process.js';
import type { StorageKind } from '../driver/storage.js';
import type { AppClient } from '../fixtures/app_client.js';

/** Some of the reader's pauses are longer than memory stays trusted. */
const PAUSE_MS = { usual: 12, long: 300 };
const LONG_PAUSES = 0.02;
const GAP_MS = 40;
const SAYS_EVERY = 100_000;

type Size = { pairs: number; lanes: number; load: number };
type Lane = { clients: [AppClient, AppClient]; written: number };

scenario<Size>({
  title: 'whoever has written through one process and reads through another sees what was written',
  smoke: { pairs: 300, lanes: 4, load: 4 },
  full: { pairs: 1_000_000, lanes: 8, load: 8 },
  full_max_ms: 4 * 3_600_000,
  run: readYourWrite,
});

async function readYourWrite(t: Test, size: Size): Promise<void> {
  for (const [name, storage] of [
    ['on one Redis', 'beside'],
    ['on a cluster of three', 'cluster'],
  ] as const)
    await t.test(name, { timeout: 0 }, (t) => writtenThenRead(t, { storage, size }));
}

async function writtenThenRead(t: Test, { storage, size }: { storage: StorageKind; size: Size }): Promise<void> {
  const env = { REDIS_ACCEPT_WEAKER: '1' };
  const servers = await Servers.open(t, { count: 2, storage, env, is_measured: true });
  const lanes: Lane[] = [];
  for (let lane = 0; lane < size.lanes + size.load; lane++) {
    const { access_token } = await servers.signIn(`lane${lane}@x.test`);
    lanes.push({ clients: servers.clients(access_token) as [AppClient, AppClient], written: 0 });
  }
  const writing = lanes.slice(0, size.lanes);
  let pairs = 0;
  let stale = 0;
  const isDone = () => pairs >= size.pairs;
  const others = lanes.slice(size.lanes).map(({ clients }) => load(clients, isDone));
  const pauses = pause(servers.all, isDone);
  await Promise.all(
    writing.map(async (lane, at) => {
      while (!isDone()) {
        pairs += 1;
        if (!(await writeAndRead(lane))) stale += 1;
        if (at === 0 && pairs % SAYS_EVERY < size.lanes) t.comment(`${pairs} pairs, ${stale} stale`);
      }
    }),
  );
  await pauses;
  const reads = (await Promise.all(others)).reduce((sum, count) => sum + count, pairs);
  const asked = (await questions(await servers.connect())) - pairs; // a commit reads the version too
  t.comment(`${pairs} pairs, ${reads} reads, ${asked} questions for a version`);
  t.equal(stale, 0, 'none was stale');
  t.ok(asked < reads, 'most answers came from memory: one that does not asks twice, for a session and an account');
}

/** How often Redis was asked which version it has. */
async function questions(redis: Redis): Promise<number> {
  const stats = await Promise.all(mastersOf(redis).map((master) => master.info('commandstats')));
  return stats.reduce((sum, text) => sum + Number(/^cmdstat_getrange:calls=(\d+)/m.exec(text)?.[1] ?? 0), 0);
}

/** Writes through one process and reads through the other, each in turns. False where the read did not see the write. */
async function writeAndRead(lane: Lane): Promise<boolean> {
  lane.written += 1;
  const [writer, reader] = lane.written % 2 === 0 ? lane.clients : lane.clients.toReversed();
  const name = `name ${lane.written}`;
  await writer?.ask('PATCH', '/me', { name });
  const seen = await reader?.ask<{ name: string }>('GET', '/me');
  return seen?.name === name;
}

/** Reads of others, so that a process has something to do when a read comes. */
async function load(clients: readonly AppClient[], isDone: () => boolean): Promise<number> {
  let reads = 0;
  for (; !isDone(); reads += clients.length) await Promise.all(clients.map((client) => client.ask('GET', '/me')));
  return reads;
}

/** The processes stand still in turns: meanwhile the other one writes, and what this one is told lies there. */
async function pause(servers: readonly SpoolProcess[], isDone: () => boolean): Promise<void> {
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  for (let turn = 0; !isDone(); turn++) {
    const server = servers[turn % servers.length] as SpoolProcess;
    server.signal('SIGSTOP');
    await wait(Math.random() < LONG_PAUSES ? PAUSE_MS.long : Math.random() * PAUSE_MS.usual);
    server.signal('SIGCONT');
    await wait(Math.random() * GAP_MS);
  }
}
