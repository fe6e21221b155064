import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { TestRedis } from '../fixtures/redis.js';
import { TestRedisCluster } from '../fixtures/redis_cluster.js';
import { ownRedisOf } from '../fixtures/redis_content.js';
import { RedisProxy } from '../fixtures/redis_proxy.js';
import type { Cleanup } from './cleanup.js';

/** Where Redis is: beside the servers, behind a proxy, as a server's own child, or a cluster of three with a replica. */
export type StorageKind = 'beside' | 'proxied' | 'own' | 'cluster' | 'cluster over TLS';

/** The Redis of servers, and what may go wrong with it. */
export class Storage {
  readonly kind: StorageKind;
  readonly redis = new TestRedis();
  proxy!: RedisProxy;
  cluster: TestRedisCluster | null = null;
  /** How servers find it. */
  env: Record<string, string> = {};
  readonly #own: Redis[] = [];

  private constructor(kind: StorageKind) {
    this.kind = kind;
  }

  /** It ends with `t`. */
  static async open(t: Pick<Cleanup, 'teardown'>, kind: StorageKind = 'proxied'): Promise<Storage> {
    const storage = new Storage(kind);
    const { redis } = storage;
    t.teardown(async () => {
      for (const own of storage.#own) own.disconnect();
      await storage.cluster?.stop();
      await redis.stop();
    });
    if (kind === 'beside') {
      await redis.start({ port: true });
      storage.env = { REDIS_URL: redis.url };
    } else if (kind === 'proxied') {
      await redis.start();
      storage.proxy = await RedisProxy.open(t, redis.socket_path, { port: true });
      storage.env = { REDIS_URL: storage.proxy.url };
    } else if (kind !== 'own') {
      const cluster = new TestRedisCluster();
      storage.cluster = cluster;
      await cluster.start({ masters: 3, replicas: 1, tls: kind === 'cluster over TLS' });
      storage.env = { REDIS_URL: cluster.url };
      if (cluster.ca_file !== null) storage.env.NODE_EXTRA_CA_CERTS = cluster.ca_file;
    }
    return storage;
  }

  /** A connection of its own; `folder` is that of the servers. It ends with the storage. */
  async connect(folder: string): Promise<Redis> {
    if (this.kind !== 'own') return this.cluster?.connect() ?? this.redis.connect();
    const own = await ownRedisOf(folder);
    this.#own.push(own);
    return own;
  }

  /** Where Redis writes its files. */
  folderIn(folder: string): string {
    if (this.kind === 'own') return join(folder, 'redis');
    return this.cluster?.folder ?? this.redis.folder;
  }
}
