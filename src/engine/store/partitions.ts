import { createHash } from 'node:crypto';
import calculateSlot from 'cluster-key-slot';
import type { Address } from '../../../actors/actor.js';
import { PARTITIONS, partitionOfId } from '../../domain/ids.js';
import type { QueueName } from './store.js';

const SLOTS = 16_384;
const SLOTS_APART = SLOTS / PARTITIONS;

/**
 * The hash tags of the partitions: partition i sits in slot 64·i, so that any number of shards that is a power of
 * two gets the same number of partitions (docs/architecture.md, "Partitions and ids"). Deterministic: the shortest
 * text, counted in base 36.
 */
const TAGS: readonly string[] = (() => {
  const tags: string[] = new Array<string>(PARTITIONS).fill('');
  let missing = PARTITIONS;
  for (let count = 0; missing > 0; count++) {
    const text = count.toString(36);
    const slot = calculateSlot(text);
    const partition = slot / SLOTS_APART;
    if (slot % SLOTS_APART !== 0 || tags[partition] !== '') continue;
    tags[partition] = text;
    missing--;
  }
  return tags;
})();

/** The hash tag of a partition (0 to 255), without braces. */
export function tagOf(partition: number): string {
  const tag = TAGS[partition];
  if (tag === undefined) throw new Error(`no partition ${partition}`);
  return tag;
}

/** The slot of a Redis Cluster that a partition is. */
export function slotOf(partition: number): number {
  return partition * SLOTS_APART;
}

/** The partition of a text that is not an id: an email, a BLE address, a client id, a fingerprint. */
export function partitionOfText(text: string): number {
  return createHash('sha256').update(text).digest()[0] ?? 0;
}

/** The partition of an entity's home. */
export function partitionOf(address: Address, home: 'id' | 'hash'): number {
  return home === 'id' ? partitionOfId(address.id) : partitionOfText(address.id);
}

/**
 * The names of all keys of a partition. Each starts with the partition's hash tag; the version of the key format
 * follows.
 */
export class PartitionKeys {
  /** The prefix of all keys. */
  readonly prefix: string;

  constructor(partition: number) {
    this.prefix = `{${tagOf(partition)}}1:`;
  }

  /** String: the entity's header and snapshot. */
  entity(address: Address): string {
    return `${this.prefix}e:${address.kind}:${address.id}`;
  }
  /**
   * Channel of a cluster that announces commits of this partition; it belongs to the partition's slot, as its keys do.
   */
  get told(): string {
    return `${this.prefix}told`;
  }
  /** A key that is never written: a request for it shows whether the partition is entirely on one node. */
  get absent(): string {
    return `${this.prefix}absent`;
  }
  /** Hash: records of one collection by id. */
  records(address: Address, collection: string): string {
    return `${this.prefix}r:${address.kind}:${address.id}:${collection}`;
  }
  /** Sorted set: ids of a collection's records in their order. */
  order(address: Address, collection: string): string {
    return `${this.prefix}o:${address.kind}:${address.id}:${collection}`;
  }
  /** Stream: an account's events. */
  log(account_id: string): string {
    return `${this.prefix}log:${account_id}`;
  }
  /** Hash: `name` of the log, last `sequence`, `last_ms`, and `t:<type>` = id of the last event of that type. */
  logHead(account_id: string): string {
    return `${this.prefix}logh:${account_id}`;
  }
  /** Sorted set: accounts with a log, by the time of their oldest event. */
  get oldestEvents(): string {
    return `${this.prefix}oldest`;
  }
  /**
   * Hash: the subscribers of an account's events. `v` is the id of the commit that changed it last, `closed` is present
   * while there are none, `e:<endpoint>` = the events it wants.
   */
  subscriptions(account_id: string): string {
    return `${this.prefix}subs:${account_id}`;
  }
  /** Stream: an endpoint's deliveries as events made them, each under its event's number. */
  deliveryQueue(endpoint_id: string): string {
    return `${this.prefix}queue:${endpoint_id}`;
  }
  /** Sorted set: the time at which each endpoint is due next. */
  get dueEndpoints(): string {
    return `${this.prefix}endpoints`;
  }
  /** Hash: the credential epochs of an account; an absent one is 0. */
  epochs(account_id: string): string {
    return `${this.prefix}epochs:${account_id}`;
  }
  /**
   * Hash: the closed fences of an id that is not an account's. Its key has the form of an epochs key, and never equals
   * one.
   */
  fence(id: string): string {
    return `${this.prefix}epochs:${id}`;
  }
  /**
   * Sorted set: members of an index in their order. `owner`: an account's id, or the name of something that the whole
   * partition shares.
   */
  index(owner: string, index: string): string {
    return `${this.prefix}l:${owner}:${index}`;
  }
  /** Sorted set of due times, and the messages, of the partition's reminders. */
  get reminders(): string {
    return `${this.prefix}rem`;
  }
  get reminderMessages(): string {
    return `${this.prefix}remm`;
  }
  /** Stream: outbox messages that are not yet applied; their ids count up without a gap. */
  get outbox(): string {
    return `${this.prefix}out`;
  }
  get outboxCount(): string {
    return `${this.prefix}outn`;
  }
  /**
   * Keys of a queue for workers, such as sealed mails to send and jobs to do. Sorted set of due times, contents, and
   * the holder of each lease with its end.
   */
  queue(name: QueueName): { due: string; contents: string; holders: string } {
    const queue = { mails: 'mail', jobs: 'job', sweeps: 'swp' }[name];
    const due = this.prefix + queue;
    return { due, contents: `${due}c`, holders: `${due}h` };
  }
  /** Sorted set: the next audio sweep of each partition; only partition 0 has it. */
  get sweeps(): string {
    return `${this.prefix}sweep`;
  }
  /** String: the name under which this storage owns its audio; only partition 0 has it. */
  get audioOwner(): string {
    return `${this.prefix}audio_owner`;
  }
  /** Hash: dead letters, until an operator retries them. */
  get deadLetters(): string {
    return `${this.prefix}dead`;
  }
}

const KEYS = Array.from({ length: PARTITIONS }, (_, partition) => new PartitionKeys(partition));

/** The entity to which this key belongs; null if it belongs to none. */
export function addressOf(key: string): Address | null {
  const [, kind, id] = /^\{[^}]*\}1:e:([^:]+):(.+)$/s.exec(key) ?? [];
  return kind === undefined || id === undefined ? null : { kind, id };
}

/** The key names of a partition (0 to 255). */
export function keysOf(partition: number): PartitionKeys {
  const keys = KEYS[partition];
  if (keys === undefined) throw new Error(`no partition ${partition}`);
  return keys;
}
