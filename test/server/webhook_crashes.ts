import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { LIMITS } from '../../src/domain/limits.js';
import type { AppClient } from '../../src/tools/client/app_client.js';
import type { OperatorClient } from '../../src/tools/client/operator_client.js';
import { TestEndpoint } from '../fixtures/endpoints.js';
import { type Behaviour, Receiver } from '../fixtures/receiver.js';
import { TestRedis } from '../fixtures/redis.js';
import { RedisProxy } from '../fixtures/redis_proxy.js';
import { SpoolProcess } from '../fixtures/spool_process.js';
import { until } from '../fixtures/until.js';

const COMMIT = 'spool_commit';
const KILLED_MAX_MS = 5_000;

/** Servers on one Redis, a receiver that they trust, and an account with a session that holds at all of them. */
export class WebhookServers {
  readonly redis = new TestRedis();
  readonly folder = mkdtempSync(join(tmpdir(), 'spool-webhooks-'));
  receiver!: Receiver;
  proxy!: RedisProxy;
  readonly running = new Set<SpoolProcess>();
  readonly #operators = new Map<SpoolProcess, OperatorClient>();
  token = '';

  static async open(t: Test): Promise<WebhookServers> {
    const servers = new WebhookServers();
    servers.receiver = await Receiver.start();
    await servers.redis.start({ port: true });
    servers.proxy = await RedisProxy.open(t, servers.redis.socket_path, { port: true });
    t.teardown(() => servers.#end());
    return servers;
  }

  /** One more; through the proxy, or beside it. */
  async start({ direct = false } = {}): Promise<SpoolProcess> {
    const REDIS_URL = direct ? this.redis.url : this.proxy.url;
    const env = { REDIS_URL, BASE_URL: 'http://localhost:8000', ...this.receiver.env };
    const server = new SpoolProcess(this.folder, env);
    this.running.add(server);
    return server.ready();
  }

  operator(server: SpoolProcess): OperatorClient {
    const operator = this.#operators.get(server) ?? server.operator();
    this.#operators.set(server, operator);
    return operator;
  }

  async signIn(server: SpoolProcess, email: string): Promise<AppClient> {
    const session = await server.client().signIn(email, () => this.operator(server).readCode(email));
    this.token = session.access_token;
    return this.app(server);
  }

  app(server: SpoolProcess): AppClient {
    return server.client(this.token);
  }

  async kill(server: SpoolProcess): Promise<void> {
    this.proxy.loseNothing();
    this.proxy.onLost = () => {};
    await server.kill();
    this.running.delete(server);
    this.proxy.restore();
  }

  async #end(): Promise<void> {
    for (const operator of this.#operators.values()) operator.close();
    for (const server of this.running) server.signal('SIGCONT');
    await Promise.all([...this.running].map((server) => server.stop()));
    await this.receiver.end();
    await this.redis.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Where a server is killed: as a commit is under way, before it takes effect or after; or while a request is. */
export type KillPoint =
  | { name: string; at: 'request' }
  | { name: string; at: 'commit'; nth: number; what: 'request' | 'reply' };

/** From the rename on: it, then a claim and a result for each endpoint. */
export const KILL_POINTS: KillPoint[] = [
  ...Array.from({ length: 5 }, (_, index): KillPoint[] => [
    { name: `before commit ${index + 1}`, at: 'commit', nth: index + 1, what: 'request' },
    { name: `after commit ${index + 1}`, at: 'commit', nth: index + 1, what: 'reply' },
  ]).flat(),
  { name: 'while requests hang', at: 'request' },
];

/**
 * Kills the server at each point of a rename with two endpoints, one that accepts and one that refuses: afterwards each
 * has got the event at least once as one delivery, no attempt is missing, and a failure counts once.
 */
export async function webhookKills(t: Test, points: readonly KillPoint[]): Promise<void> {
  const servers = await WebhookServers.open(t);
  const { receiver, proxy } = servers;
  let server = await servers.start();
  await servers.signIn(server, 'kills@x.test');
  let killed = 0;
  for (const [index, point] of points.entries()) {
    const hang: Behaviour = () => {};
    const refuse: Behaviour = 410;
    const paths = { good: `/good${index}`, bad: `/bad${index}` };
    receiver.on(paths.good, point.at === 'request' ? hang : 204);
    receiver.on(paths.bad, point.at === 'request' ? hang : refuse);
    const good = await TestEndpoint.open(servers.app(server), receiver.url(paths.good));
    const bad = await TestEndpoint.open(servers.app(server), receiver.url(paths.bad));

    let is_down = false;
    const dying = server;
    proxy.onLost = () => {
      proxy.cut();
      dying.signal('SIGKILL');
      is_down = true;
    };
    if (point.at === 'commit' && point.what === 'request') proxy.dropRequest(COMMIT, point.nth);
    if (point.at === 'commit' && point.what === 'reply') proxy.swallowReplyTo(COMMIT, point.nth);
    const answer = await servers
      .app(server)
      .send('PATCH', '/me', { body: { name: `Kill ${index}` } })
      .catch(() => null);
    if (point.at === 'request') await Promise.all([receiver.count(paths.good, 1), receiver.count(paths.bad, 1)]);
    else await until('', () => is_down, KILLED_MAX_MS).catch(() => {});
    if (is_down || point.at === 'request') killed += 1;
    await servers.kill(server);
    server = await servers.start();
    receiver.on(paths.good, 204);
    receiver.on(paths.bad, refuse);
    good.app = bad.app = servers.app(server);
    if (answer?.status !== 200) {
      const { name } = await good.app.ask<{ name: string }>('GET', '/me');
      if (name !== `Kill ${index}`) await good.app.ask('PATCH', '/me', { name: `Kill ${index}` });
    }
    await servers.operator(server).advanceClock(LIMITS.delivery_lease_ms + 1_000);

    for (const [endpoint, path, outcome] of [
      [good, paths.good, 'succeeded'],
      [bad, paths.bad, 'failed'],
    ] as const) {
      await until(`${point.name}: it has ended`, async () => (await endpoint.newest()).status === outcome);
      const deliveries = await endpoint.deliveries();
      t.equal(deliveries.length, 1, `${point.name}: one delivery`);
      const { id, attempts } = await endpoint.newest();
      const came = receiver.at(path);
      t.ok(came.length >= 1, `${point.name}: ${outcome} came`);
      t.same([...new Set(came.map(({ headers }) => headers['webhook-id']))], [id], `${point.name}: as one delivery`);
      // A claim whose request was never sent is an attempt too: nobody can know.
      t.ok(attempts.length >= came.length, `${point.name}: ${came.length} came, ${attempts.length} are told of`);
      const errors = attempts.map(({ error }) => error);
      t.same(
        errors,
        [...attempts.slice(1).map(() => 'interrupted'), null],
        `${point.name}: the last alone was answered`,
      );
      t.ok(attempts.length <= 2, `${point.name}: ${attempts.length} attempts`);
      const { failure_count, status } = await endpoint.read();
      t.same([failure_count, status], [outcome === 'failed' ? 1 : 0, 'active'], `${point.name}: counted once`);
      await endpoint.app.ask('DELETE', `/endpoints/${endpoint.id}`);
    }
  }
  t.comment(`killed at ${killed} of ${points.length} points`);
  t.ok(killed >= points.length - 1, `${killed} kills`);
}
