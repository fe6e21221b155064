import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { type BindingView, DeviceClient, type DeviceCredentials } from '../../kits/typescript/src/device_client.js';
import type { OperatorClient } from '../../kits/typescript/src/operator_client.js';
import type { AppClient, SignedIn } from '../fixtures/app_client.js';
import { Receiver } from '../fixtures/receiver.js';
import type { TestRedis } from '../fixtures/redis.js';
import type { TestRedisCluster } from '../fixtures/redis_cluster.js';
import type { RedisProxy } from '../fixtures/redis_proxy.js';
import { until } from '../fixtures/until.js';
import { Cleanup } from './cleanup.js';
import { type ServerOptions, SpoolProcess } from './spool_process.js';
import { Storage, type StorageKind } from './storage.js';

const COMMIT = 'spool_commit';
/** Longer than a request may take on the server's side. */
export const CALL_MAX_MS = 20_000;
const BACK_MAX_MS = 30_000;

/**
 * As in production: limits, protection against overload and the checking of chunks are on. The bounds on what one network
 * may ask are so high that a load from one address stays below them.
 */
const PRODUCTION = {
  ...{ RATE_LIMITS: 'on', OVERLOAD_DELAY_MS: '500', CHUNK_WORKER: '1', CONTENT_WORKER: '0' },
  ...{ RATE_CODES_SENT: '100000', RATE_CODES_CHECKED: '100000', RATE_NATIVE_STEPS: '100000' },
  ...{ RATE_REGISTRATIONS: '100000', RATE_CLAIMS: '100000', RATE_DEVICE_REQUESTS: '100000' },
};

export type ServersOptions = {
  /** Servers that run from the beginning. */
  count?: number;
  storage?: StorageKind;
  env?: Record<string, string>;
  is_production?: boolean;
  is_measured?: boolean;
  /** With a receiver of webhooks that they trust. */
  receives?: boolean;
  /** What each server runs, null for the build at hand; in place of `count`. */
  mains?: readonly (string | null)[];
};

/** A fault that waits for a request to Redis. */
export type WaitingFault = {
  is_over(): boolean;
  /** Resolves when it is over or the time is. */
  wait(most_ms: number): Promise<void>;
  /** Calls it off; gives how many such requests were to come up to it, 0 if it came. */
  cancel(): number;
};

/**
 * Server processes on one storage, keys and audio, what may go wrong with them, and whoever calls them. Tests, scenarios
 * and faults drive servers with this alone.
 */
export class Servers {
  readonly folder = mkdtempSync(join(tmpdir(), 'spool-servers-'));
  readonly all: SpoolProcess[] = [];
  readonly cleanup = new Cleanup();
  storage!: Storage;
  receiver!: Receiver;
  /** Everything that was issued and must not rest in Redis. */
  readonly secrets = new Map<string, string>();
  readonly #codes = new Map<string, Set<string>>();
  #env: Record<string, string> = {};
  readonly #options: ServersOptions;

  private constructor(options: ServersOptions) {
    this.#options = options;
  }

  /** They end with `t`. */
  static async open(t: Pick<Cleanup, 'teardown'>, options: ServersOptions = {}): Promise<Servers> {
    const servers = new Servers(options);
    const { cleanup } = servers;
    const { count = 1, is_production = false, receives = false, env = {}, mains = Array(count).fill(null) } = options;
    t.teardown(() => cleanup.run());
    cleanup.teardown(() => rmSync(servers.folder, { recursive: true, force: true, maxRetries: 5 }));
    servers.storage = await Storage.open(cleanup, options.storage);
    servers.#env = { ...(is_production ? PRODUCTION : {}), ...servers.storage.env, BASE_URL: 'http://localhost:8000' };
    if (receives) {
      servers.receiver = await Receiver.start();
      cleanup.teardown(() => servers.receiver.end());
      Object.assign(servers.#env, servers.receiver.env);
    }
    Object.assign(servers.#env, env);
    for (const main of mains) await servers.add({ main });
    return servers;
  }

  /** One more server. */
  async add({
    env = {},
    main = null,
  }: {
    env?: Record<string, string>;
    main?: string | null;
  } = {}): Promise<SpoolProcess> {
    const { is_measured = false, is_production = false } = this.#options;
    const options: ServerOptions = { main, is_measured: is_measured || main !== null };
    const server = new SpoolProcess(this.folder, { ...this.#env, ...env }, options);
    this.all.push(server);
    this.cleanup.teardown(async () => {
      server.signal('SIGCONT');
      // Killed, it would leave a Redis of its own behind.
      if (is_production && this.storage.kind !== 'own') await server.kill();
      else await server.stop();
    });
    return server.ready();
  }

  get first(): SpoolProcess {
    return this.all[0] as SpoolProcess;
  }
  /** Those that run the build at hand. */
  get at_hand(): SpoolProcess[] {
    return this.all.filter(({ is_at_hand }) => is_at_hand);
  }
  get redis(): TestRedis {
    return this.storage.redis;
  }
  get proxy(): RedisProxy {
    return this.storage.proxy;
  }
  get cluster(): TestRedisCluster {
    return this.storage.cluster as TestRedisCluster;
  }

  // What follows asks the first server, as it runs now.
  get base_url(): string {
    return this.first.base_url;
  }
  get device_url(): string {
    return this.first.device_url;
  }
  get operator(): OperatorClient {
    return this.first.operator();
  }
  client(access_token: string | null = null): AppClient {
    return this.first.client(access_token);
  }

  /** A connection of its own to the Redis behind them. */
  connect(): Promise<Redis> {
    return this.storage.connect(this.folder);
  }

  /** The code last mailed to an address and not read before, whichever server has mailed it. */
  async readCode(email: string): Promise<string> {
    const seen = this.#codes.get(email) ?? new Set<string>();
    const code = await this.operator.readCode(email, seen);
    this.#codes.set(email, seen.add(code));
    return code;
  }

  async signIn(email: string, at = this.first): Promise<SignedIn> {
    const app = at.client(null, { timeout_ms: CALL_MAX_MS });
    const session = await app.signIn(email, () => this.readCode(email)).finally(() => app.close());
    this.secrets.set(`access token of ${email}`, session.access_token);
    this.secrets.set(`refresh token of ${email}`, session.refresh_token);
    return session;
  }

  entitle(email: string, entitlement = 'workspace.sharing'): Promise<unknown> {
    return this.operator.ask('PUT', `/ops/accounts/${email}/entitlements/${entitlement}`, { enabled: true });
  }

  /** A client of each server; every call ends in bounded time. */
  clients(access_token: string, servers: readonly SpoolProcess[] = this.all): AppClient[] {
    return servers.map((server) => this.#closed(server.client(access_token, { timeout_ms: CALL_MAX_MS })));
  }

  /** A provisioned device with a connection to each server. */
  async device(kind: 'personal' | 'shared' = 'personal'): Promise<{
    devices: DeviceClient[];
    device_id: string;
    credentials: DeviceCredentials;
  }> {
    const { device_id, ...credentials } = await this.operator.provision(kind);
    return { devices: this.devicesOf(credentials), device_id, credentials };
  }

  /** A device's connections to the servers that run now. */
  devicesOf(credentials: DeviceCredentials): DeviceClient[] {
    return this.all.map(({ device_url }) => this.#closed(new DeviceClient(device_url, credentials)));
  }

  /** One that is bound to whoever the app acts for. */
  async boundDevice(app: AppClient) {
    const { claim } = await app.ask<{ claim: string }>('POST', '/devices/claims', { kind: 'owner' });
    this.secrets.set(`claim ${this.secrets.size}`, claim);
    const { devices, credentials } = await this.device();
    const binding = await (devices[0] as DeviceClient).ask<BindingView>('POST', '/device/claims/redeem', { claim });
    return { devices, credentials, epoch: binding.binding_epoch };
  }

  #closed<T extends { close(): void }>(client: T): T {
    this.cleanup.teardown(() => client.close());
    return client;
  }

  /** Ends the first server at once; nothing more of it comes to Redis. */
  kill(): void {
    this.proxy.cut();
    this.first.signal('SIGKILL');
  }

  /** After a kill. */
  async restart(): Promise<void> {
    await this.first.exited;
    this.proxy.restore();
    await this.first.start();
  }

  /**
   * The nth commit from now on is lost before Redis has it, or the reply to it; then the first server is killed, unless it
   * survives. `text` stands for another request than a commit.
   */
  loseCommit(
    nth: number,
    {
      what = 'reply',
      text = COMMIT,
      survives = false,
    }: { what?: 'request' | 'reply'; text?: string; survives?: boolean } = {},
  ): WaitingFault {
    const { proxy } = this;
    let is_over = false;
    proxy.onLost = () => {
      is_over = true;
      if (!survives) this.kill();
    };
    if (what === 'reply') proxy.swallowReplyTo(text, nth);
    else proxy.dropRequest(text, nth);
    return {
      is_over: () => is_over,
      wait: (most_ms) => until('', () => is_over, most_ms).catch(() => {}),
      cancel: () => {
        proxy.onLost = () => {};
        return proxy.loseNothing();
      },
    };
  }

  /** Waits until every server serves again. */
  async back(): Promise<void> {
    for (const server of this.all) {
      const isReady = async () =>
        (
          await server
            .operator()
            .send('GET', '/readyz')
            .catch(() => null)
        )?.status === 200;
      await until('it is ready again', isReady, BACK_MAX_MS);
    }
  }
}
