import type { Logger } from 'pino';
import type { Metrics } from '../metrics/metrics.js';
import type { EntityLocation, Store } from '../store/store.js';
import type { ToldVersions } from '../store/told_versions.js';
import type { BatchObserver } from '../tracing/batch_record.js';
import type { StoredMessage } from './batch.js';
import type { EntityActors } from './entity_actors.js';
import type { WaitingMessage } from './mailbox.js';
import type { RecentMessages } from './recent_messages.js';

/** The parts that an activation needs. */
export type RuntimeDeps = {
  store: Store;
  /** Who delivers messages to entities in memory. */
  actors: EntityActors<WaitingMessage>;
  metrics: Metrics;
  /** Where what happened is noted, for operators. */
  recent: RecentMessages;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** The only clock, ms since 1970. */
  now(): number;
  /** The time that what can't be undone goes by. */
  certain(): number;
  pause(ms: number): Promise<void>;
  /** True while nobody else writes: memory then needs no check against the store. */
  trust_memory: boolean;
  /** Knows whether what others write has been told; null where nobody tells. */
  told: Pick<ToldVersions, 'is_handled' | 'handled' | 'isTrusted' | 'tellTo'> | null;
  /** Counts how often memory was invalidated, for example by a new connection to Redis. */
  invalidations(): number;
  nextCommitId(): string;
  /** Whether this process made a commit. */
  isOwnCommit(commit_id: string): boolean;
  /** Resolves when the messages, and those that they cause, have been applied. */
  awaitDownstream(partition: number, messages: StoredMessage[]): Promise<void>;
  /** Told of every batch; null while nobody watches. */
  onBatch: BatchObserver | null;
  /** A newer process wrote this entity, and it can't be read here. */
  onNewer(place: EntityLocation, schema: number): void;
  /** Storage holds an older version than memory had seen. */
  onRegress(place: EntityLocation, seen: number, stored: number): void;
};
