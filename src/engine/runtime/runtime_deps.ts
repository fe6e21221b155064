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
  /** Delivers messages to entities in memory. */
  actors: EntityActors<WaitingMessage>;
  metrics: Metrics;
  /** Keeps recent messages for operators. */
  recent: RecentMessages;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** The only clock, ms since 1970. */
  now(): number;
  /** The time for decisions that can't be undone, ms since 1970. */
  certain(): number;
  pause(ms: number): Promise<void>;
  /** True while no other process writes: memory then needs no check against the store. */
  trust_memory: boolean;
  /** Knows whether this process has been told of other processes' commits; null if storage does not tell. */
  told: Pick<ToldVersions, 'is_handled' | 'handled' | 'isTrusted' | 'tellTo'> | null;
  /** Counts how often memory was invalidated, for example by a new connection to Redis. */
  invalidations(): number;
  nextCommitId(): string;
  /** Whether this process made a commit. */
  isOwnCommit(commit_id: string): boolean;
  /** Resolves when the messages, and those that they cause, have been applied. */
  awaitDownstream(partition: number, messages: StoredMessage[]): Promise<void>;
  /** Called with every batch; null if no observer is set. */
  onBatch: BatchObserver | null;
  /** Called when a newer process wrote this entity, so that this process can't read it. */
  onNewer(place: EntityLocation, schema: number): void;
  /** Called when storage holds an older version than memory had seen. */
  onRegress(place: EntityLocation, seen: number, stored: number): void;
};
