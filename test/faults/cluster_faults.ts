import { setTimeout as pause } from 'node:timers/promises';
import { partitionOfId } from '../../src/domain/ids.js';
import { type Answer, answerOf } from '../driver/history.js';
import type { Servers } from '../driver/servers.js';
import type { AppClient } from '../fixtures/app_client.js';
import type { ClusterNode, TestRedisCluster } from '../fixtures/redis_cluster.js';
import { until } from '../fixtures/until.js';
import { ENTITY_KINDS, Load } from './load.js';

import { runTestFile } from './test_files.js';
import type { Trial } from './trial.js';

/**
 * A Redis Cluster: the tests of runtime and store on it, slots that move under load, a failover that loses writes, and
 * slots that move over TLS.
 */

/** Tests of what must hold on any storage; those that stand between one server and its process are not among them. */
export const CONTRACT: readonly string[] = [
  ...['whole_commit', 'repeated_commit', 'subscriptions'].map((name) => `engine/store/${name}`),
  ...['crashes', 'bumped_epochs', 'mailbox', 'quarantined', 'passivation'].map((name) => `engine/runtime/${name}`),
  ...['reminders', 'stream_intents', 'outbox', 'two_processes'].map((name) => `engine/runtime/${name}`),
  ...['server/two_processes', 'scenarios/workspace_races', 'scenarios/stream_races'],
  'scenarios/oauth_races',
];
const SLOTS_PER_PARTITION = 64;
const FAILED_OVER_MAX_MS = 20_000;
const HALF_MOVED_MS = 60;
/** So many that some live at every master. */
const CLIENTS = 12;

export async function contractOnCluster(trial: Trial): Promise<void> {
  for (const name of CONTRACT) await runTestFile(trial, name, { TEST_REDIS: 'cluster' });
}

export async function clusterChanges(trial: Trial): Promise<void> {
  const rig = await trial.open({ count: 2, storage: 'cluster' });
  const load = await Load.open(rig, trial.random);
  const { user } = await rig.signIn('owner@x.test');
  await load.run(trial.repeat(() => moveSlot(trial, rig.cluster, partitionOfId(user.id))));
  await trial.settle(rig, load, { kinds: ENTITY_KINDS });
  await failOver(trial, rig);
  await slotsMoveOverTls(trial);
}

/** The same storage over TLS: what lives at each master is served while its slot moves to another. */
async function slotsMoveOverTls(trial: Trial): Promise<void> {
  const rig = await trial.open({ storage: 'cluster over TLS' });
  const cluster = rig.cluster;
  const { user, access_token: token } = await rig.signIn('owner@x.test');
  const [app] = rig.clients(token) as [AppClient];
  await rig.boundDevice(app);
  for (const to of cluster.masters) {
    const renamed: Promise<Answer>[] = [];
    await cluster.move(partitionOfId(user.id) * SLOTS_PER_PARTITION, to, async () => {
      renamed.push(answerOf(app.ask('PATCH', '/me', { name: `at ${to.port}` })));
      await pause(HALF_MOVED_MS);
    });
    const [first] = await Promise.all(renamed);
    const again = await answerOf(app.ask('PATCH', '/me', { name: `then at ${to.port}` }));
    trial.must([200, 503, undefined].includes(first?.status), `over TLS, while a slot moves: ${first?.status}`);
    trial.must(again.status === 200, `over TLS: ${again.status} ${again.code}`);
    await clientsAreRegistered(trial, app);
    trial.tries += 1;
  }
}

/** Moves a partition to another master while it is worked on; every second time the one that is worked on most. */
async function moveSlot({ random, tries }: Trial, cluster: TestRedisCluster, busiest: number): Promise<void> {
  const slot = (tries % 2 === 0 ? busiest : random.below(256)) * SLOTS_PER_PARTITION;
  const from = await cluster.masterOf(slot);
  const others = cluster.masters.filter(({ id }) => id !== from.id);
  await cluster.move(slot, random.pick(others), () => pause(HALF_MOVED_MS));
  await pause(HALF_MOVED_MS);
}

/** A master dies with writes that its replica never got: the replica takes over, and it is noticed that they are lost. */
async function failOver(trial: Trial, rig: Servers): Promise<void> {
  const cluster = rig.cluster;
  const [replica] = cluster.replicas as [ClusterNode];
  const [master] = cluster.masters as [ClusterNode];
  let app: AppClient | null = null;
  for (let n = 0; app === null && n < 200; n++) {
    const { user, access_token: token } = await rig.signIn(`failover${n}@x.test`);
    const home = await cluster.masterOf(partitionOfId(user.id) * SLOTS_PER_PARTITION);
    if (home.id === master.id) app = rig.clients(token)[0] as AppClient;
  }
  if (app === null) throw new Error('no account lives at the first master');
  const client = app;
  const nameNow = async () => (await client.ask<{ name: string }>('GET', '/me')).name;
  await client.ask('PATCH', '/me', { name: 'kept' });
  await until('the replica has it', async () => {
    const [of_master, of_replica] = await Promise.all([
      master.redis.info('replication'),
      replica.redis.info('replication'),
    ]);
    const offset = (info: string, field: string) => new RegExp(`^${field}:(\\d+)`, 'm').exec(info)?.[1];
    return offset(of_master, 'master_repl_offset') === offset(of_replica, 'slave_repl_offset');
  });
  // What was sent on already would still be read from the connection: it must be gone.
  replica.child.kill('SIGSTOP');
  await master.redis.call('CLIENT', 'KILL', 'TYPE', 'replica');
  for (let n = 0; n < 3; n++) await client.ask('PATCH', '/me', { name: `lost ${n}` });
  await cluster.kill(master);
  replica.child.kill('SIGCONT');
  const refused: number[] = [];
  await until(
    'the replica has taken over',
    async () => {
      const { status } = await answerOf(client.ask('GET', '/me'));
      if (status !== 200) refused.push(status);
      return status === 200;
    },
    FAILED_OVER_MAX_MS,
  ).catch((error: Error) => trial.must(false, error.message));
  trial.none('answers meanwhile', refused.filter((status) => status !== 503).map(String));
  trial.must((await nameNow()) === 'kept', `a read sees what is stored: ${await nameNow()}`);
  const { status } = await answerOf(client.ask('PATCH', '/me', { name: 'after' }));
  trial.must(status === 200 && (await nameNow()) === 'after', `a write builds on it: ${status}`);
  const output = () => rig.all.map(({ output }) => output).join('');
  await until('it is reported', () => /storage went back in time/.test(output())).catch(() => {});
  trial.must(/storage went back in time/.test(output()), 'lost writes are reported');
  const signed_in = await rig.signIn('anew@x.test').then(
    () => true,
    (error: Error) => error.message,
  );
  trial.must(signed_in === true, `it serves on: ${signed_in}`);
  await clientsAreRegistered(trial, client);
  trial.tries += 1;
}

/** Records that are written once have a connection of their own, which must find the masters too. */
async function clientsAreRegistered(trial: Trial, app: AppClient): Promise<void> {
  const body = { client_name: 'App', redirect_uris: ['https://app.example/callback'] };
  const register = async () => (await app.send('POST', '/oauth/register', { body })).status;
  for (let n = 0; n < CLIENTS; n++)
    await until('a client is registered', async () => (await register()) === 201, FAILED_OVER_MAX_MS).catch(
      (error: Error) => trial.must(false, error.message),
    );
  const statuses = await Promise.all(Array.from({ length: CLIENTS }, register));
  trial.none('registrations afterwards', statuses.filter((status) => status !== 201).map(String));
}
