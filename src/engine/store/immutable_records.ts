import { createClient, createCluster, type RedisClientType } from 'redis';
import { type Entity, type RedisConnection, Repository, Schema } from 'redis-om';
import { backoffAfter } from '../../domain/backoff.js';
import { RecentlyUsed } from '../pools/recently_used.js';
import { partitionOfText, tagOf } from './partitions.js';
import type { RedisLocation } from './redis_location.js';
import { StoreUnavailable } from './store.js';

const DEADLINE_MS = 5_000;
const REMEMBERED_MAX = 20_000;
/** A node of a cluster that does not come back after this number of tries may be gone for good. */
const NODE_TRIES_MAX = 5;
const RECONNECT = { first_ms: 25, max_ms: 1_000 };
const RENEWED_EVERY_MS = 500;

/** The connection that all immutable records share; commits have their own. */
export class ImmutableRecordsRedis {
  readonly #place: RedisLocation;
  /** Counts the invalidations of memory; records remembered before one are read again. */
  readonly invalidations: () => number;
  #client: RedisConnection;
  /** A new connection that is being opened. */
  #fresh: RedisConnection | null = null;
  #renewed_at_ms = 0;
  #closed = false;

  constructor(place: RedisLocation, invalidations: () => number) {
    this.#place = place;
    this.invalidations = invalidations;
    this.#client = connectionTo(place);
  }

  get client(): RedisConnection {
    return this.#client;
  }

  async open(): Promise<void> {
    await this.#client.connect();
  }

  /**
   * After a failure. A cluster's client asks the old master for the new one, which is no use once that is gone: another
   * client finds the nodes anew. That of a single server comes back by itself where its connection broke, and not where the
   * server is silent or has become a replica: behind its address there may be another one by now.
   */
  renew(error: unknown): void {
    const now_ms = performance.now();
    const comes_back = !('nodes' in this.#place) && !/READONLY|no answer in time/.test(String(error));
    if (this.#closed || comes_back || this.#fresh !== null || now_ms < this.#renewed_at_ms + RENEWED_EVERY_MS) return;
    this.#renewed_at_ms = now_ms;
    const fresh = connectionTo(this.#place);
    this.#fresh = fresh;
    fresh
      .connect()
      .then(
        () => {
          const old = this.#closed ? fresh : this.#client;
          if (!this.#closed) this.#client = fresh;
          disconnect(old);
        },
        () => disconnect(fresh),
      )
      .finally(() => {
        this.#fresh = null;
      });
  }

  close(): void {
    this.#closed = true;
    disconnect(this.#client);
    if (this.#fresh !== null) disconnect(this.#fresh);
  }
}

function connectionTo(place: RedisLocation): RedisConnection {
  const reconnectStrategy = (tries: number) => backoffAfter(tries + 1, RECONNECT);
  if ('nodes' in place) {
    const { nodes, tls, username, password } = place;
    const user = { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) };
    const giveUp = (tries: number) => (tries > NODE_TRIES_MAX ? new Error('gone') : reconnectStrategy(tries));
    const socket = { reconnectStrategy: giveUp, ...(tls ? { tls: true as const } : {}) };
    const cluster = createCluster({
      rootNodes: nodes.map(({ host, port }) => ({ socket: { host, port, ...(tls ? { tls: true as const } : {}) } })),
      defaults: { socket, disableOfflineQueue: true, ...user },
      minimizeConnections: true, // one that can't be reached holds up no other
    });
    return silent(cluster as unknown as RedisConnection);
  }
  const client = createClient({
    ...('url' in place ? { url: place.url } : {}),
    socket: 'url' in place ? { reconnectStrategy } : { path: place.socket_path, reconnectStrategy },
    disableOfflineQueue: true,
  });
  return silent(client as unknown as RedisConnection);
}

/** Silences errors of a client: readiness is watched on the main connection. */
function silent(client: RedisConnection): RedisConnection {
  client.on('error', () => {});
  return client;
}

function disconnect(client: RedisConnection): void {
  if (client.isOpen) void client.disconnect().catch(() => {});
}

/** The storage form of records of one kind. */
export type RecordForm<T> = {
  /** The record kind's part of the key. */
  name: string;
  fields: Record<string, 'string' | 'number'>;
  /** The fields of a record; a list is one JSON text, since redis-om's own lists split at `|`. */
  write(record: T): Record<string, string | number>;
  /** Null if a field is missing: redis-om gives an empty entity for an id that was never saved. */
  read(fields: Entity): T | null;
};

/**
 * Records that never change once they are written, by id. They are remembered until storage is in doubt, since it may
 * have lost them. Data that changes belongs to an actor.
 */
export class ImmutableRecords<T extends object> {
  readonly #redis: ImmutableRecordsRedis;
  readonly #form: RecordForm<T>;
  /** The repositories of one connection, by partition. */
  #repositories = new Map<number, Repository>();
  #client: RedisConnection | null = null;
  readonly #known = new RecentlyUsed<T>(REMEMBERED_MAX);

  constructor(redis: ImmutableRecordsRedis, form: RecordForm<T>) {
    this.#redis = redis;
    this.#form = form;
  }

  /**
   * `dropped_after_ms`: Redis drops the record after this time. No decision may rest on that, since memory does not
   * forget at the same time. Save and expiry are one transaction, so that no crash leaves a record for ever.
   */
  async save(id: string, record: T, dropped_after_ms?: number): Promise<void> {
    const name = this.#nameNow(id);
    const fields = this.#form.write(record);
    if (dropped_after_ms === undefined) await this.#inTime(this.#repository(id).save(id, fields));
    else {
      const key = `${this.#schemaName(id)}:${id}`;
      const texts = Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, String(value)]));
      const { client } = this.#redis as unknown as { client: RedisClientType };
      await this.#inTime(client.multi().hSet(key, texts).pExpire(key, Math.ceil(dropped_after_ms)).exec());
    }
    this.#known.set(name, record);
  }

  /** The record under an id, or null if there is none. */
  async find(id: string): Promise<T | null> {
    const name = this.#nameNow(id);
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const record = this.#form.read(await this.#inTime(this.#repository(id).fetch(id)));
    if (record !== null) this.#known.set(name, record);
    return record;
  }

  /** Sets another time after which Redis drops the record. */
  async dropAfter(id: string, ms: number): Promise<void> {
    await this.#inTime(this.#repository(id).expire(id, Math.ceil(ms / 1000)));
  }

  #nameNow(id: string): string {
    return `${this.#redis.invalidations()} ${id}`;
  }

  async #inTime<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await withDeadline(work);
    } catch (error) {
      this.#redis.renew(error);
      throw error;
    }
  }

  #schemaName(id: string): string {
    return `{${tagOf(partitionOfText(id))}}1:${this.#form.name}`;
  }

  #repository(id: string): Repository {
    const partition = partitionOfText(id);
    if (this.#client !== this.#redis.client) {
      this.#client = this.#redis.client;
      this.#repositories = new Map();
    }
    let repository = this.#repositories.get(partition);
    if (repository === undefined) {
      const { fields } = this.#form;
      const types = Object.fromEntries(Object.entries(fields).map(([field, type]) => [field, { type }]));
      const schema = new Schema(this.#schemaName(id), types, { dataStructure: 'HASH' });
      repository = new Repository(schema, this.#client);
      this.#repositories.set(partition, repository);
    }
    return repository;
  }
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
