import { LRUCache } from 'lru-cache';
import { createClient } from 'redis';
import { type Entity, Repository, Schema } from 'redis-om';
import { partitionOfText, tagOf } from './partitions.js';
import type { RedisPlace } from './redis_connection.js';
import { StoreUnavailable } from './store.js';

const DEADLINE_MS = 5_000;
const REMEMBERED_MAX = 20_000;

/** The connection that all records share which are written once; commits have their own. */
export class WrittenOnceRedis {
  readonly client: ReturnType<typeof createClient>;

  constructor(place: RedisPlace) {
    const reconnectStrategy = (tries: number) => Math.min(1_000, 25 * 2 ** Math.min(tries, 6));
    this.client = createClient({
      ...('url' in place ? { url: place.url } : {}),
      socket: 'url' in place ? { reconnectStrategy } : { path: place.socket_path, reconnectStrategy },
      disableOfflineQueue: true,
    });
    this.client.on('error', () => {}); // readiness is watched on the main connection
  }

  async open(): Promise<void> {
    await this.client.connect();
  }

  close(): void {
    if (this.client.isOpen) void this.client.disconnect().catch(() => {});
  }
}

/** How records of one kind are kept. */
export type Form<T> = {
  /** Part of the key. */
  name: string;
  fields: Record<string, 'string' | 'number'>;
  /** The fields of a record; a list is one JSON text, since redis-om's own lists split at `|`. */
  write(record: T): Record<string, string | number>;
  /** Null for what has not all the fields: redis-om gives an empty entity for an id that nobody saved. */
  read(fields: Entity): T | null;
};

/** Records that never change once they are written, by id, so they may be remembered. What changes is an actor's. */
export class WrittenOnce<T extends object> {
  readonly #redis: WrittenOnceRedis;
  readonly #form: Form<T>;
  readonly #repositories = new Map<number, Repository>();
  readonly #known = new LRUCache<string, T>({ max: REMEMBERED_MAX });

  constructor(redis: WrittenOnceRedis, form: Form<T>) {
    this.#redis = redis;
    this.#form = form;
  }

  async save(id: string, record: T): Promise<void> {
    await withDeadline(this.#repository(id).save(id, this.#form.write(record)));
    this.#known.set(id, record);
  }

  /** The record under an id, or null when there is none. */
  async find(id: string): Promise<T | null> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const record = this.#form.read(await withDeadline(this.#repository(id).fetch(id)));
    if (record !== null) this.#known.set(id, record);
    return record;
  }

  /** Lets Redis drop the record after a time. Nobody may rest a decision on that: memory does not forget with it. */
  async dropAfter(id: string, ms: number): Promise<void> {
    await withDeadline(this.#repository(id).expire(id, Math.ceil(ms / 1000)));
  }

  #repository(id: string): Repository {
    const partition = partitionOfText(id);
    let repository = this.#repositories.get(partition);
    if (repository === undefined) {
      const { name, fields } = this.#form;
      const types = Object.fromEntries(Object.entries(fields).map(([field, type]) => [field, { type }]));
      const schema = new Schema(`{${tagOf(partition)}}1:${name}`, types, { dataStructure: 'HASH' });
      repository = new Repository(schema, this.#redis.client);
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
