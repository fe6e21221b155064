import type {
  Address,
  DeliveryQueue,
  Effect,
  ListedRecord,
  QueuedDelivery,
  RecordQuery,
} from '../../../actors/actor.js';
import { isRefused } from '../../domain/refusals.js';
import type { EntityVersion, StoredVersion } from './entity_version.js';

/** An entity as stored; the snapshot of an ended entity is empty. */
export type StoredEntity = StoredVersion & { snapshot: Uint8Array };

/** An entity's place: its address and its partition. */
export type EntityLocation = { address: Address; partition: number };

/** A condition that must still hold when a commit arrives. */
export type Fence =
  | { fence: 'epoch'; account_id: string; epoch: string; value: number }
  | { fence: 'reminder'; member: string; at_ms: number }
  /** For an id of the same partition: no one has closed it. */
  | { fence: 'open'; id: string }
  /** For the entity itself: it has no such record. */
  | { fence: 'absent'; collection: string; id: string };

/** An effect in stored form: values encoded, reminders and mails under their names. */
type Encoded =
  | { effect: 'put_record'; collection: string; id: string; value: Uint8Array; order?: number }
  /** `delivered`: to the subscribers at that instant. */
  | { effect: 'append_event'; account_id: string; type: string; body: Uint8Array; delivered: boolean }
  | { effect: 'notify'; body: Uint8Array }
  | { effect: 'schedule_reminder'; member: string; at_ms: number; body: Uint8Array }
  | { effect: 'cancel_reminder'; member: string }
  | { effect: 'enqueue'; queue: QueueName; id: string; content: Uint8Array; due_ms: number };

/** One effect of a commit; effects without a value are in the form that actors give (actors/actor.ts). */
export type StoredEffect =
  | Encoded
  | Exclude<Effect, { effect: Encoded['effect'] | 'enqueue_mail' | 'enqueue_job' | 'delete' }>;

/** Queues of a partition, from which workers take due items and remove completed ones. `jobs` are those of erasures. */
export const QUEUES = ['mails', 'jobs', 'sweeps'] as const;
export type QueueName = (typeof QUEUES)[number];

/** A queue that workers poll for due items. The order of an index's members is their due time. */
export type DueQueue = TimedQueue | 'outbox';
/** A queue in which each member has its time. `event_logs`: accounts by their oldest event. */
export type TimedQueue =
  | QueueName
  | 'reminders'
  | 'endpoints'
  | 'event_logs'
  | 'audio_sweeps'
  | { owner: string; index: string };
export type DueQuestion = { queue: DueQueue; partitions: readonly number[] };
/** The earliest due time in a queue of a partition; 0 for an outbox, in which all is due. */
export type DueTime = { partition: number; at_ms: number };

/** The whole effect of one batch. */
export type Commit = {
  place: EntityLocation;
  commit_id: string;
  expected: StoredVersion;
  /**
   * 'end' keeps only the header for a while (with the snapshot, which then holds only marks); 'delete' keeps it only
   * briefly.
   */
  mode: 'put' | 'end' | 'delete';
  snapshot: Uint8Array;
  now_ms: number;
  fences: Fence[];
  effects: StoredEffect[];
};

export type CommitVerdict =
  | { verdict: 'applied'; version: number }
  /** This commit had already arrived. */
  | { verdict: 'repeated'; version: number }
  | { verdict: 'conflict'; version: number }
  /** Also a conflict, but with so many later writers that this commit may have been applied before them. */
  | { verdict: 'forgotten'; version: number }
  /** The fence of this index no longer holds; nothing was written. */
  | { verdict: 'fenced'; index: number };

export type QueryResult = {
  request: RecordQuery;
  value: Uint8Array | null;
  rows: StoredRow[];
  queue?: DeliveryQueue;
  /** The values in its bytes, from when they were first read. */
  decoded?: DecodedResult;
};
export type DecodedResult = { value: unknown; rows: readonly ListedRecord[] };
export type StoredRow = Omit<ListedRecord, 'value'> & { value: Uint8Array };

export type Queued = { id: string; content: Uint8Array };
export type DueReminder = { member: string; at_ms: number; body: Uint8Array };
export type SkipsReminder = (reminder: { member: string; at_ms: number }) => boolean;
export type OutboxEntry = { number: number; body: Uint8Array };

/**
 * An event as stored in the log; `id` is the log's own, by which it is ordered. src/engine/store/event_body.ts reads
 * its body.
 */
export type LoggedEvent = { id: string; account_id: string; type: string; body: Uint8Array };
export type LogHead = { name: string; last_id: string | null; last_id_of_type: string | null };

/**
 * Whether the same request may succeed later: storage is away, a concurrent change intervened, or the load is too high
 * at this moment.
 */
export function isRetryable(error: unknown): boolean {
  return error instanceof StoreUnavailable || isRefused(error, 'UNAVAILABLE', 'TOO_MANY_REQUESTS');
}

/** Storage did not answer in time or failed: the outcome of a write is unknown, unless nothing was sent at all. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable';
  readonly sent: boolean;

  constructor(message: string, { sent = true }: { sent?: boolean } = {}) {
    super(message);
    this.sent = sent;
  }
}

/**
 * The storage that the runtime needs. `commit` rejects with StoreUnavailable if the outcome is unknown; the same commit
 * may then be sent again any number of times, and is applied once.
 */
export interface Store {
  load(places: EntityLocation[]): Promise<(StoredEntity | null)[]>;
  /** Reads only the fence: one cheap round trip. */
  probe(place: EntityLocation): Promise<EntityVersion | null>;
  query(place: EntityLocation, requests: RecordQuery[]): Promise<QueryResult[]>;
  /** Records of one collection by their ids, as stored; null for each missing record. */
  records(place: EntityLocation, collection: string, ids: string[]): Promise<(Uint8Array | null)[]>;
  commit(commit: Commit): Promise<CommitVerdict>;

  epochs(place: { account_id: string; partition: number }): Promise<Record<string, number>>;
  /** Members of an index, in its order. */
  list(
    place: { owner: string; partition: number },
    index: string,
    page: ListPage,
  ): Promise<{ member: string; order: number }[]>;

  /** Members of a queue, in the order in which they are due. */
  listDue(queue: TimedQueue, partition: number, page: ListPage): Promise<{ member: string; order: number }[]>;
  /**
   * Finds for each question the partitions in which something waits, due or not yet: one round trip, on a cluster one
   * for each partition.
   */
  firstDue(questions: readonly DueQuestion[]): Promise<DueTime[][]>;
  /** The first due reminders, except skipped ones. */
  dueReminders(partition: number, now_ms: number, limit: number, skips?: SkipsReminder): Promise<DueReminder[]>;
  removeReminder(partition: number, reminder: { member: string; at_ms: number }): Promise<void>;
  outbox(partition: number, after: number, limit: number): Promise<OutboxEntry[]>;
  removeFromOutbox(partition: number, numbers: number[]): Promise<void>;
  /**
   * Leases an item of a queue to a member, and returns its content; null unless it is due. If it is not removed, it is
   * due again at `again_ms`.
   */
  lease(
    place: { partition: number; queue: QueueName },
    id: string,
    due: { now_ms: number; again_ms: number; holder: string },
  ): Promise<Uint8Array | null>;
  /** Makes the items due that these members hold in the queues of these partitions; returns their number. */
  takeBack(partitions: readonly number[], from: { gone: ReadonlySet<string>; now_ms: number }): Promise<number>;
  removeQueued(place: { partition: number; queue: QueueName }, id: string): Promise<void>;
  /** All items of a queue, leased or not. */
  listQueued(place: { partition: number; queue: QueueName }): Promise<Queued[]>;

  /** Keeps for operators an outbox message or reminder that threw too often. */
  addDeadLetter(partition: number, name: string, content: Uint8Array): Promise<void>;
  listDeadLetters(partition: number): Promise<{ name: string; content: Uint8Array }[]>;
  removeDeadLetter(partition: number, name: string): Promise<void>;

  /** Deliveries of an endpoint, the newest first. */
  listDeliveryQueue(
    endpoint: EntityLocation,
    page: { before?: number | undefined; limit: number },
  ): Promise<QueuedDelivery[]>;
  /** Leases due endpoints: they are due again at `again_ms` unless their own commits change that. */
  leaseEndpoints(partition: number, due: { now_ms: number; again_ms: number; limit: number }): Promise<string[]>;
  /** The first endpoints that fall due within some time. */
  endpointsBetween(partition: number, times: { after_ms: number; until_ms: number; limit: number }): Promise<string[]>;
  /** Counts the waiting items in each partition that answers, for operators. */
  backlogs(now_ms: number): Promise<Backlog[]>;
  /** Removes an account's events that are older than this. */
  trimEvents(place: { account_id: string; partition: number }, before_ms: number): Promise<void>;

  logHead(place: { account_id: string; partition: number }, type: string | null): Promise<LogHead | null>;
  events(
    place: { account_id: string; partition: number },
    range: { from: string; to: string; descending: boolean; limit: number },
  ): Promise<LoggedEvent[]>;
}

/** The number of due endpoints, and the one that has waited longest, with the time since which it waits. */
type DueEndpoints = { count: number; oldest_ms: number | null; oldest_id: string | null };
export type Backlog = { partition: number; dead_letters: number; endpoints: DueEndpoints };

export type ListPage = { after?: { order: number; member: string } | undefined; descending: boolean; limit: number };
