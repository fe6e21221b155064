import { LRUCache } from 'lru-cache';
import { createClient } from 'redis';
import { type Entity, Repository, Schema } from 'redis-om';
import { partitionOfText, tagOf } from './partitions.js';
import type { RedisPlace } from './redis_connection.js';
import { StoreUnavailable } from './store.js';

const DEADLINE_MS = 5_000;
const REMEMBERED_MAX = 20_000;

/** What is written once of a certificate, under its fingerprint. Whether it is revoked is the certificate actor's. */
export type IssuedCertificate = {
  fingerprint: string;
  device_id: string;
  kind: 'personal' | 'shared';
  not_after_ms: number;
};

/** Records of issued certificates; never changed, so they may be remembered. */
export class IssuedCertificates {
  readonly #redis: ReturnType<typeof createClient>;
  readonly #repositories = new Map<number, Repository>();
  readonly #known = new LRUCache<string, IssuedCertificate>({ max: REMEMBERED_MAX });

  constructor(place: RedisPlace) {
    const reconnectStrategy = (tries: number) => Math.min(1_000, 25 * 2 ** Math.min(tries, 6));
    this.#redis = createClient({
      ...('url' in place ? { url: place.url } : {}),
      socket: 'url' in place ? { reconnectStrategy } : { path: place.socket_path, reconnectStrategy },
      disableOfflineQueue: true,
    });
    this.#redis.on('error', () => {}); // readiness is watched on the main connection
  }

  async open(): Promise<void> {
    await this.#redis.connect();
  }

  close(): void {
    if (this.#redis.isOpen) void this.#redis.disconnect().catch(() => {});
  }

  async save(issued: IssuedCertificate): Promise<void> {
    await withDeadline(this.#repository(issued.fingerprint).save(issued.fingerprint, { ...issued }));
    this.#known.set(issued.fingerprint, issued);
  }

  /** The record under a fingerprint (64 lower-case hex digits), or null for one that we never issued. */
  async find(fingerprint: string): Promise<IssuedCertificate | null> {
    const known = this.#known.get(fingerprint);
    if (known !== undefined) return known;
    const found = await withDeadline(this.#repository(fingerprint).fetch(fingerprint));
    const issued = asIssued(found);
    if (issued !== null) this.#known.set(fingerprint, issued);
    return issued;
  }

  #repository(fingerprint: string): Repository {
    const partition = partitionOfText(fingerprint);
    let repository = this.#repositories.get(partition);
    if (repository === undefined) {
      const schema = new Schema(
        `{${tagOf(partition)}}1:certificate`,
        {
          fingerprint: { type: 'string' },
          device_id: { type: 'string' },
          kind: { type: 'string' },
          not_after_ms: { type: 'number' },
        },
        { dataStructure: 'HASH' },
      );
      repository = new Repository(schema, this.#redis);
      this.#repositories.set(partition, repository);
    }
    return repository;
  }
}

/** redis-om gives an empty entity for an id that nobody saved: without all its fields it does not exist. */
function asIssued(entity: Entity): IssuedCertificate | null {
  const { fingerprint, device_id, kind, not_after_ms } = entity;
  if (typeof fingerprint !== 'string' || typeof device_id !== 'string' || typeof not_after_ms !== 'number') return null;
  if (kind !== 'personal' && kind !== 'shared') return null;
  return { fingerprint, device_id, kind, not_after_ms };
}

async function withDeadline<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StoreUnavailable('storage: no answer in time')), DEADLINE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    throw error instanceof StoreUnavailable ? error : new StoreUnavailable(`storage: ${String(error)}`);
  } finally {
    clearTimeout(timer);
  }
}
