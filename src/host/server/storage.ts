import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ACTOR_KINDS } from '../../../actors/index.js';
import type { BlobStore } from '../../engine/blobs/blob_store.js';
import { openFolderBlobStore } from '../../engine/blobs/folder_blob_store.js';
import { UnusableBucket } from '../../engine/blobs/s3_errors.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import { type Actors, actorsOf } from '../../engine/runtime/actors.js';
import { type Asks, Runtime } from '../../engine/runtime/runtime.js';
import { openServerKeys, type ServerKeys } from '../../engine/secrets/server_keys.js';
import { CommitNotices } from '../../engine/store/commit_notices.js';
import type { EntityScan } from '../../engine/store/entity_scan.js';
import { ImmutableRecordsRedis } from '../../engine/store/immutable_records.js';
import { loadLibrary } from '../../engine/store/redis_connection.js';
import { RedisStore } from '../../engine/store/redis_store.js';
import { RedisTellings } from '../../engine/store/redis_tellings.js';
import { StorageHealth } from '../../engine/store/storage_health.js';
import type { Store } from '../../engine/store/store.js';
import { ToldVersions } from '../../engine/store/told_versions.js';
import { Clock } from '../../engine/time/clock.js';
import { batchObserver } from '../../engine/tracing/batch_observer.js';
import type { Tracing } from '../../engine/tracing/tracing.js';
import { claimRedis, connectRedis, type OpenRedis } from './redis.js';
import { CannotStart, DRAIN_MAX_MS, ofStorage, type Start } from './start.js';

/** The services that store state, audio and keys. */
export type StorageServices = {
  keys: ServerKeys;
  clock: Clock;
  store: Store;
  /** Finds entities that no index lists, for staff. */
  entity_scan: EntityScan;
  runtime: Asks;
  /** The entities that routes and workers ask. */
  actors: Actors;
  blobs: BlobStore;
  /** Whether storage takes the writes of requests. */
  storage_health: StorageHealth;
};

/** Redis, the keys that its data is under, and its time. */
export type Foundation = OpenRedis & Pick<StorageServices, 'keys' | 'clock'>;

export async function openFoundation(start: Start): Promise<Foundation> {
  const { settings, log, shutdown } = start;
  const opened = await connectRedis(start);
  const { redis } = opened;
  const keys = await openServerKeys(settings.keys_dir);
  await ofStorage(claimRedis(redis, keys));
  const clock = new Clock(redis, { movable: settings.test_clock, log });
  await ofStorage(clock.start());
  shutdown.add(() => clock.stop());
  return { ...opened, keys, clock };
}

/** The storage and the runtime of entities. */
export type Entities = {
  store: RedisStore;
  notices: CommitNotices;
  runtime: Runtime;
  actors: Actors;
  records: ImmutableRecordsRedis;
};

export async function startRuntime(
  { settings, log, shutdown, primary }: Start,
  { place, redis, clock }: Foundation,
  { metrics, tracing }: { metrics: Metrics; tracing: Tracing | null },
): Promise<Entities> {
  const trust_memory = settings.redis_url === null && primary === null;
  const notices = new CommitNotices();
  const store = new RedisStore(redis, () => randomBytes(6).toString('base64url'), { tells: !trust_memory, notices });
  const told = trust_memory
    ? null
    : new ToldVersions({
        tellings: new RedisTellings(redis, randomBytes(6).toString('base64url')),
      });
  shutdown.add(() => told?.stop());
  const onBatch = batchObserver(log, tracing);
  const runtime = new Runtime({
    store,
    metrics,
    log,
    now: clock.now,
    certain: clock.certain,
    trust_memory,
    told,
    onBatch,
    kinds: ACTOR_KINDS,
  });
  shutdown.add(() => runtime.shutdown(DRAIN_MAX_MS));
  redis.on('ready', () => {
    // Whatever happened meanwhile: memory is held against storage before it is believed again.
    runtime.invalidateCache();
    void loadLibrary(redis).catch((error: Error) => log.warn({ reason: error.message }, 'redis library'));
  });
  const records = new ImmutableRecordsRedis(place, () => runtime.invalidations);
  await ofStorage(records.open());
  shutdown.add(() => records.close());
  return { store, notices, runtime, actors: actorsOf(runtime), records };
}

/** Opens the store of audio. The S3 client is loaded only if it is used: it costs a tenth of a second and 25 MB. */
export async function openBlobs({ settings: { blob_url, data_dir }, log, shutdown }: Start): Promise<BlobStore> {
  const open = async () => {
    if (blob_url === null) {
      const warn = (details: Record<string, unknown>, text: string) => log.warn(details, text);
      return openFolderBlobStore(join(data_dir, 'blobs'), { warn });
    }
    const { openS3BlobStore } = await import('../../engine/blobs/s3_blob_store.js');
    return openS3BlobStore(blob_url, { warn: (text) => log.warn(text) }).catch((error: unknown) => {
      throw error instanceof UnusableBucket ? new CannotStart(error.message) : error;
    });
  };
  const blobs = await open();
  shutdown.add(() => blobs.close());
  return blobs;
}

export function watchStorage({ shutdown }: Start, { redis, clock }: Foundation, metrics: Metrics): StorageHealth {
  const storage_health = new StorageHealth(redis, { now: clock.unmoved, metrics });
  storage_health.start();
  shutdown.add(() => storage_health.stop());
  return storage_health;
}
