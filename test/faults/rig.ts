import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CallRefused } from '../../kits/typescript/src/call.js';
import { type BindingView, DeviceClient, type DeviceCredentials } from '../../kits/typescript/src/device_client.js';
import { call } from '../../kits/typescript/src/http_call.js';
import type { OperatorClient } from '../../kits/typescript/src/operator_client.js';
import { AppClient } from '../fixtures/app_client.js';
import { Receiver } from '../fixtures/receiver.js';
import { TestRedis } from '../fixtures/redis.js';
import { TestRedisCluster } from '../fixtures/redis_cluster.js';
import { RedisProxy } from '../fixtures/redis_proxy.js';
import { SpoolProcess } from '../fixtures/spool_process.js';
import { until } from '../fixtures/until.js';
import { Cleanup } from './cleanup.js';

/** Longer than a request may take on the server's side. */
const CALL_MAX_MS = 20_000;
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

/** Where Redis is: behind a proxy, as the server's own child, or a cluster. */
type Storage = 'proxied' | 'own' | 'cluster' | 'cluster over TLS';

/** A server process that keeps its ports when it is started again. */
export class RigServer {
  process!: SpoolProcess;
  readonly #rig: FaultRig;
  /** What it runs; null for the build at hand. */
  readonly #main: string | null;
  #ports: Record<string, string> = {};
  #operator: { of: SpoolProcess; client: OperatorClient } | null = null;
  /** How many files it may have open from its next start on; as many as this process where it is not set. */
  open_files: number | undefined;

  constructor(rig: FaultRig, main: string | null) {
    this.#rig = rig;
    this.#main = main;
  }

  async start(env: Record<string, string> = {}): Promise<void> {
    const { folder, env: own, is_measured } = this.#rig;
    const { open_files } = this;
    const build = this.#main === null ? { is_measured } : { main: this.#main, is_measured: true };
    const options = { ...build, ...(open_files === undefined ? {} : { open_files }) };
    this.process = await new SpoolProcess(folder, { ...own, ...env, ...this.#ports }, options).ready();
    const { base_url, device_url } = this.process;
    this.#ports = { PORT: new URL(base_url).port, DEVICE_PORT: new URL(device_url).port };
  }

  /** Whether it runs the build at hand. */
  get is_at_hand(): boolean {
    return this.#main === null;
  }

  /** Its operator port, as it runs now. */
  get operator(): OperatorClient {
    if (this.#operator?.of !== this.process) {
      this.#operator?.client.close();
      this.#operator = { of: this.process, client: this.process.operator() };
    }
    return this.#operator.client;
  }

  /** Nobody asks it any more. */
  close(): void {
    this.#operator?.client.close();
  }

  /** Ends it as `kill -9` does and starts it again on the same data. */
  async restart(): Promise<void> {
    await this.process.kill();
    await this.start();
  }
}

/** Real servers on a real Redis, a receiver of webhooks that they trust, and whoever calls them. */
export class FaultRig {
  readonly folder = mkdtempSync(join(tmpdir(), 'spool-faults-'));
  readonly servers: RigServer[] = [];
  readonly cleanup = new Cleanup();
  readonly redis = new TestRedis();
  readonly storage: Storage;
  cluster: TestRedisCluster | null = null;
  proxy!: RedisProxy;
  receiver!: Receiver;
  env: Record<string, string> = {};
  /** Servers do nothing but serve. */
  is_measured = false;
  /** Everything that was issued and must not rest in Redis. */
  readonly secrets = new Map<string, string>();
  readonly #codes = new Map<string, Set<string>>();

  private constructor(storage: Storage) {
    this.storage = storage;
  }

  /** Where Redis writes its files. */
  get redis_folder(): string {
    if (this.storage === 'own') return join(this.folder, 'redis');
    return this.cluster?.folder ?? this.redis.folder;
  }

  static async open({
    servers = 1,
    storage = 'proxied' as Storage,
    env = {} as Record<string, string>,
    is_measured = false,
    mains = null as (string | null)[] | null,
  } = {}): Promise<FaultRig> {
    // `mains`: what each server runs, null for the build at hand.
    const rig = new FaultRig(storage);
    rig.is_measured = is_measured;
    rig.cleanup.teardown(() => rmSync(rig.folder, { recursive: true, force: true, maxRetries: 5 }));
    try {
      rig.receiver = await Receiver.start();
      rig.cleanup.teardown(() => rig.receiver.end());
      rig.cleanup.teardown(() => rig.redis.stop());
      if (storage === 'proxied') {
        await rig.redis.start();
        rig.proxy = await RedisProxy.open(rig.cleanup, rig.redis.socket_path, { port: true });
        rig.env = { REDIS_URL: rig.proxy.url };
      } else if (storage !== 'own') {
        const cluster = new TestRedisCluster();
        rig.cluster = cluster;
        rig.cleanup.teardown(() => cluster.stop());
        await cluster.start({ masters: 3, replicas: 1, tls: storage === 'cluster over TLS' });
        rig.env = { REDIS_URL: cluster.url };
        if (cluster.ca_file !== null) rig.env.NODE_EXTRA_CA_CERTS = cluster.ca_file;
      }
      rig.env = { ...PRODUCTION, ...rig.env, ...rig.receiver.env, BASE_URL: 'http://localhost:8000', ...env };
      for (const main of mains ?? Array.from({ length: servers }, () => null)) await rig.addServer(main);
    } catch (error) {
      await rig.end();
      throw error;
    }
    return rig;
  }

  async addServer(main: string | null = null): Promise<RigServer> {
    const server = new RigServer(this, main);
    this.servers.push(server);
    this.cleanup.teardown(async () => {
      server.close();
      server.process?.signal('SIGCONT');
      // Killed, it would leave a Redis of its own behind.
      if (this.storage === 'own') await server.process?.stop();
      else await server.process?.kill();
    });
    await server.start();
    return server;
  }

  get first(): RigServer {
    return this.servers[0] as RigServer;
  }

  /** Of the first server, as it runs now. */
  get operator(): OperatorClient {
    return this.first.operator;
  }

  /** Those that run the build at hand. */
  get at_hand(): RigServer[] {
    return this.servers.filter(({ is_at_hand }) => is_at_hand);
  }

  /** A client of each server; every call ends in bounded time. */
  clients(access_token: string, servers: readonly RigServer[] = this.servers): AppClient[] {
    return servers.map(({ process }) => {
      const client = new AppClient(process.base_url, { timeout_ms: CALL_MAX_MS });
      client.access_token = access_token;
      this.cleanup.teardown(() => client.close());
      return client;
    });
  }

  async signIn(email: string): Promise<{ account_id: string; token: string }> {
    const app = new AppClient(this.first.process.base_url, { timeout_ms: CALL_MAX_MS });
    const codes = this.#codes.get(email) ?? new Set<string>();
    const session = await app.signIn(email, async () => {
      const code = await this.operator.readCode(email, codes);
      this.#codes.set(email, codes.add(code));
      return code;
    });
    app.close();
    this.secrets.set(`access token of ${email}`, session.access_token);
    this.secrets.set(`refresh token of ${email}`, session.refresh_token);
    return { account_id: session.user.id, token: session.access_token };
  }

  /** A step of native sign-in: what the first two are answered, throws CallRefused otherwise. */
  async challenge({ process }: RigServer, form: Record<string, string>): Promise<{ auth_session?: string }> {
    const { status, headers, body } = await call({
      method: 'POST',
      url: new URL('/oauth/authorize-challenge', process.base_url),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: Buffer.from(new URLSearchParams(form).toString()),
      signal: AbortSignal.timeout(CALL_MAX_MS),
    });
    const answer = JSON.parse(body.toString());
    if (status === 403 && answer.error === 'insufficient_authorization') return answer;
    const retry_after = headers['retry-after'];
    throw new CallRefused(
      status,
      answer.error,
      answer.error_description,
      retry_after === undefined ? null : Number(retry_after),
    );
  }

  entitle(email: string, entitlement = 'workspace.sharing'): Promise<unknown> {
    return this.operator.ask('PUT', `/ops/accounts/${email}/entitlements/${entitlement}`, { enabled: true });
  }

  /** A provisioned device with a connection to each server. */
  async device(): Promise<{ devices: DeviceClient[]; device_id: string; credentials: DeviceCredentials }> {
    const { device_id, ...credentials } = (await this.operator.provision('personal')) as DeviceCredentials & {
      device_id: string;
    };
    return { devices: this.devicesOf(credentials), device_id, credentials };
  }

  /** A device's connections to the servers that run now. */
  devicesOf(credentials: DeviceCredentials): DeviceClient[] {
    const devices = this.servers.map(({ process }) => new DeviceClient(process.device_url, credentials));
    for (const device of devices) this.cleanup.teardown(() => device.close());
    return devices;
  }

  /** One that is bound to whoever the app acts for. */
  async boundDevice(app: AppClient) {
    const { claim } = await app.ask<{ claim: string }>('POST', '/devices/claims', { kind: 'owner' });
    this.secrets.set(`claim ${this.secrets.size}`, claim);
    const { devices, credentials } = await this.device();
    const binding = await (devices[0] as DeviceClient).ask<BindingView>('POST', '/device/claims/redeem', { claim });
    return { devices, credentials, epoch: binding.binding_epoch };
  }

  /** Waits until every server serves again. */
  async back(): Promise<void> {
    for (const { process } of this.servers) {
      const operator = process.operator();
      try {
        await until(
          'it is ready again',
          async () => (await operator.send('GET', '/readyz').catch(() => null))?.status === 200,
          BACK_MAX_MS,
        );
      } finally {
        operator.close();
      }
    }
  }

  end(): Promise<void> {
    return this.cleanup.run();
  }
}
