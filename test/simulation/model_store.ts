import { Buffer } from 'node:buffer';
import type { Address, QueuedDelivery, RangeQuery, RecordQuery, Subscription } from '../../actors/actor.js';
import { PARTITIONS } from '../../src/domain/ids.js';
import { unreachable } from '../../src/domain/refusals.js';
import { dueKey } from '../../src/engine/store/due_partitions.js';
import { type EntityVersion, entryOf, type StoredVersion } from '../../src/engine/store/entity_version.js';
import { keysOf } from '../../src/engine/store/partitions.js';
import {
  type Backlog,
  type Commit,
  type CommitVerdict,
  type DueQuestion,
  type DueReminder,
  type DueTime,
  type EntityLocation,
  type Fence,
  type ListPage,
  type LoggedEvent,
  type LogHead,
  type OutboxEntry,
  QUEUES,
  type QueryResult,
  type Queued,
  type QueueName,
  type SkipsReminder,
  type Store,
  type StoredEffect,
  type StoredEntity,
  type StoredRow,
  type TimedQueue,
} from '../../src/engine/store/store.js';

const WRITERS_MAX = 8;
const WRITER_DIGITS = 12;
const HEADER_MS = { end: 30 * 24 * 3_600_000, delete: 20 * 60_000 };

type AccountPlace = { account_id: string; partition: number };
type QueuePlace = { partition: number; queue: QueueName };
/** `writers`: the last commit of each of the last writers, the newest first. */
type Entity = {
  address: Address;
  partition: number;
  writers: EntityVersion[];
  snapshot: Uint8Array;
  /** When the header of an ended one goes. */
  expires_at_ms: number | null;
};
type EventLog = {
  name: string;
  last_ms: number;
  sequence: number;
  of_type: Map<string, string>;
  entries: LoggedEvent[];
};
type Outbox = { count: number; tells: Map<number, Uint8Array> };

/** What a commit did, for whoever watches the store. */
export type Applied = { place: EntityLocation; version: number; before: Uint8Array | null; commit: Commit };

/**
 * The store of commit.lua and redis_store.ts, in memory and without any I/O: what the simulation runs on. Held
 * against real Redis by model_store.test.ts. Every call takes effect at once; faults and delays are Connection's.
 */
export class ModelStore implements Store {
  readonly #draw_log_name: () => string;
  /** Redis' own time, by which headers of ended entities expire. */
  readonly #redis_now: () => number;
  readonly #entities = new Map<string, Entity>();
  readonly #records = new Map<string, Map<string, Uint8Array>>();
  /** Every sorted set: collections' orders, lists, reminders and mails, by key. */
  readonly #sorted = new Map<string, Map<string, number>>();
  /** Contents that go with a sorted set: reminders' messages and mails. */
  readonly #contents = new Map<string, Map<string, Uint8Array>>();
  /** Who has what of a queue, by the queue's key. */
  readonly #holders = new Map<string, Map<string, { holder: string; again_ms: number }>>();
  readonly #epochs = new Map<string, Map<string, number>>();
  readonly #logs = new Map<string, EventLog>();
  /** Who gets an account's events, by account. */
  readonly #subscriptions = new Map<string, { closed: boolean; endpoints: Map<string, Subscription> }>();
  /** Deliveries as events made them, by endpoint. */
  readonly #inboxes = new Map<string, QueuedDelivery[]>();
  /** The greatest number that an inbox ever had: trimmed empty, it still counts on. */
  readonly #inbox_counts = new Map<string, number>();
  readonly #outboxes = new Map<number, Outbox>();
  readonly #aside = new Map<number, Map<string, Uint8Array>>();
  /** Called when a commit has made deliveries to these endpoints. */
  onDeliveries: (endpoint_ids: ReadonlySet<string>) => void = () => {};
  onApplied: (applied: Applied) => void = () => {};

  constructor(draw_log_name: () => string, redis_now: () => number = () => 0) {
    this.#draw_log_name = draw_log_name;
    this.#redis_now = redis_now;
  }

  async load(places: EntityLocation[]): Promise<(StoredEntity | null)[]> {
    return places.map((place) => {
      const found = this.#entity(place);
      return found === undefined ? null : { ...versionOf(found), snapshot: found.snapshot };
    });
  }

  async probe(place: EntityLocation): Promise<EntityVersion | null> {
    const found = this.#entity(place);
    return found === undefined ? null : fenceOf(found);
  }

  async query({ address, partition }: EntityLocation, requests: RecordQuery[]): Promise<QueryResult[]> {
    const keys = keysOf(partition);
    return requests.map((request) => {
      if ('queue' in request) {
        const { after, limit } = request.queue;
        const entries = this.#inboxes.get(keys.deliveryQueue(address.id)) ?? [];
        const behind = entries.filter(({ sequence }) => sequence > after).slice(0, limit);
        return { request, value: null, rows: [], queue: { entries: behind, last: entries.at(-1)?.sequence ?? 0 } };
      }
      const records = this.#records.get(keys.records(address, request.collection));
      if ('id' in request) return { request, value: records?.get(request.id) ?? null, rows: [] };
      const rows: StoredRow[] = [];
      for (const { member, order } of this.#run(keys.order(address, request.collection), request.range)) {
        const value = records?.get(member);
        if (value !== undefined) rows.push({ id: member, order, value });
      }
      return { request, value: null, rows };
    });
  }

  async records({ address, partition }: EntityLocation, collection: string, ids: string[]) {
    const records = this.#records.get(keysOf(partition).records(address, collection));
    return ids.map((id) => records?.get(id) ?? null);
  }

  async commit(commit: Commit): Promise<CommitVerdict> {
    const { place, expected } = commit;
    const log_name = commit.effects.some(({ effect }) => effect === 'append_event') ? this.#draw_log_name() : '';
    const found = this.#entity(place);
    const repeated = found?.writers.find(({ commit_id }) => commit_id === commit.commit_id);
    if (repeated !== undefined) return { verdict: 'repeated', version: repeated.version };
    const present = found === undefined ? { version: 0, commit_id: '' } : fenceOf(found);
    if (present.version !== expected.version || present.commit_id !== expected.commit_id) {
      const oldest = found?.writers[WRITERS_MAX - 1];
      const forgotten = oldest !== undefined && oldest.version > expected.version + 1;
      return { verdict: forgotten ? 'forgotten' : 'conflict', version: present.version };
    }
    const index = commit.fences.findIndex((fence) => !this.#holds(place, fence));
    if (index >= 0) return { verdict: 'fenced', index };
    // From here on nothing can fail.
    const version = present.version + 1;
    const writer = commit.commit_id.slice(0, WRITER_DIGITS);
    const others = (found?.writers ?? []).filter(({ commit_id }) => !commit_id.startsWith(writer));
    this.#entities.set(keysOf(place.partition).entity(place.address), {
      ...place,
      writers: [{ commit_id: commit.commit_id, version }, ...others].slice(0, WRITERS_MAX),
      snapshot: Uint8Array.from(commit.snapshot),
      expires_at_ms: commit.mode === 'put' ? null : this.#redis_now() + HEADER_MS[commit.mode],
    });
    const delivered_to = new Set<string>();
    for (const effect of commit.effects) this.#apply(place, effect, { now_ms: commit.now_ms, log_name, delivered_to });
    if (delivered_to.size > 0) this.onDeliveries(delivered_to);
    this.onApplied({ place, version, before: found?.snapshot ?? null, commit });
    return { verdict: 'applied', version };
  }

  #entity(place: EntityLocation): Entity | undefined {
    const key = keysOf(place.partition).entity(place.address);
    const found = this.#entities.get(key);
    if (found === undefined || found.expires_at_ms === null) return found;
    if (this.#redis_now() < found.expires_at_ms) return found;
    this.#entities.delete(key);
    return undefined;
  }

  #holds({ address, partition }: EntityLocation, fence: Fence): boolean {
    const keys = keysOf(partition);
    if (fence.fence === 'epoch')
      return (this.#epochs.get(keys.epochs(fence.account_id))?.get(fence.epoch) ?? 0) === fence.value;
    if (fence.fence === 'absent') return !this.#records.get(keys.records(address, fence.collection))?.has(fence.id);
    if (fence.fence === 'open') return !this.#epochs.get(keys.fence(fence.id))?.has('closed');
    return this.#sorted.get(keys.reminders)?.get(fence.member) === fence.at_ms;
  }

  #apply(
    { address, partition }: EntityLocation,
    effect: StoredEffect,
    turn: { now_ms: number; log_name: string; delivered_to: Set<string> },
  ): void {
    const keys = keysOf(partition);
    switch (effect.effect) {
      case 'put_record':
        under(this.#records, keys.records(address, effect.collection)).set(effect.id, Uint8Array.from(effect.value));
        if (effect.order !== undefined)
          under(this.#sorted, keys.order(address, effect.collection)).set(effect.id, effect.order);
        return;
      case 'delete_record':
        this.#records.get(keys.records(address, effect.collection))?.delete(effect.id);
        this.#sorted.get(keys.order(address, effect.collection))?.delete(effect.id);
        return;
      case 'delete_collection':
        this.#records.delete(keys.records(address, effect.collection));
        this.#sorted.delete(keys.order(address, effect.collection));
        return;
      case 'append_event':
        this.#append(partition, effect, turn);
        return;
      case 'subscribe':
        this.#subscriptionsOf(effect.account_id).endpoints.set(effect.endpoint_id, effect.subscription);
        return;
      case 'unsubscribe':
        this.#subscriptionsOf(effect.account_id).endpoints.delete(effect.endpoint_id);
        return;
      case 'set_subscriptions':
        if (effect.become === 'gone') this.#subscriptions.delete(effect.account_id);
        else this.#subscriptionsOf(effect.account_id).closed = effect.become === 'closed';
        return;
      case 'schedule_endpoint': {
        const wake = under(this.#sorted, keys.dueEndpoints);
        const last = this.#inboxes.get(keys.deliveryQueue(address.id))?.at(-1)?.sequence ?? 0;
        const at_ms = last > effect.seen ? Math.min(effect.at_ms ?? turn.now_ms, turn.now_ms) : effect.at_ms;
        if (at_ms === null) wake.delete(address.id);
        else wake.set(address.id, at_ms);
        return;
      }
      case 'trim_queue': {
        const entries = this.#inboxes.get(keys.deliveryQueue(address.id)) ?? [];
        this.#inboxes.set(
          keys.deliveryQueue(address.id),
          entries.filter(({ sequence }) => sequence >= effect.before),
        );
        return;
      }
      case 'delete_queue':
        this.#inboxes.delete(keys.deliveryQueue(address.id));
        this.#inbox_counts.delete(keys.deliveryQueue(address.id));
        return;
      case 'notify': {
        const outbox = this.#outbox(partition);
        outbox.count += 1;
        outbox.tells.set(outbox.count, Uint8Array.from(effect.body));
        return;
      }
      case 'schedule_reminder':
        under(this.#sorted, keys.reminders).set(effect.member, effect.at_ms);
        under(this.#contents, keys.reminderMessages).set(effect.member, Uint8Array.from(effect.body));
        return;
      case 'cancel_reminder':
        this.#sorted.get(keys.reminders)?.delete(effect.member);
        this.#contents.get(keys.reminderMessages)?.delete(effect.member);
        return;
      case 'add_to_index':
        under(this.#sorted, keys.index(effect.owner, effect.index)).set(effect.member, effect.order);
        return;
      case 'remove_from_index':
        this.#sorted.get(keys.index(effect.owner, effect.index))?.delete(effect.member);
        return;
      case 'mark_changed': {
        const index = under(this.#sorted, keys.index(effect.owner, effect.index));
        index.set(effect.member, Math.max(turn.now_ms, 1 + Math.max(0, ...index.values())));
        return;
      }
      case 'delete_index':
        this.#sorted.delete(keys.index(effect.owner, effect.index));
        return;
      case 'bump_epoch': {
        const epochs = under(this.#epochs, keys.epochs(effect.account_id));
        epochs.set(effect.epoch, (epochs.get(effect.epoch) ?? 0) + 1);
        return;
      }
      case 'close_fence':
        under(this.#epochs, keys.fence(effect.id)).set('closed', 1); // however often
        return;
      case 'delete_fence':
        this.#epochs.delete(keys.fence(effect.id));
        return;
      case 'delete_log':
        this.#logs.delete(keys.log(effect.account_id));
        this.#sorted.get(keys.oldestEvents)?.delete(effect.account_id);
        return;
      case 'enqueue': {
        const queue = keys.queue(effect.queue);
        under(this.#sorted, queue.due).set(effect.id, effect.due_ms);
        under(this.#contents, queue.contents).set(effect.id, Uint8Array.from(effect.content));
        return;
      }
      default:
        unreachable(effect);
    }
  }

  #append(
    partition: number,
    { account_id, type, body, delivered }: Extract<StoredEffect, { effect: 'append_event' }>,
    { now_ms, log_name, delivered_to }: { now_ms: number; log_name: string; delivered_to: Set<string> },
  ): void {
    const keys = keysOf(partition);
    const key = keys.log(account_id);
    let log = this.#logs.get(key);
    if (log === undefined) {
      log = { name: log_name, last_ms: 0, sequence: 0, of_type: new Map(), entries: [] };
      this.#logs.set(key, log);
    }
    log.sequence += 1;
    log.last_ms = Math.max(log.last_ms, now_ms);
    const id = `${log.last_ms}-${log.sequence}`;
    log.of_type.set(type, id);
    log.entries.push({ id, account_id, type, body: Uint8Array.from(body) });
    const oldest = under(this.#sorted, keys.oldestEvents);
    if (!oldest.has(account_id)) oldest.set(account_id, log.last_ms);
    const { closed, endpoints } = this.#subscriptionsOf(account_id);
    if (!delivered || closed) return;
    for (const [endpoint_id, { topics, enablement }] of endpoints) {
      if (topics.length > 0 && !topics.includes(type)) continue;
      const account_epoch = this.#epochs.get(keys.epochs(account_id))?.get('account') ?? 0;
      const inbox = this.#inboxes.get(keys.deliveryQueue(endpoint_id)) ?? [];
      const entry = { log_id: id, account_epoch, enablement, type: type as QueuedDelivery['type'] };
      const newest = this.#inbox_counts.get(keys.deliveryQueue(endpoint_id)) ?? 0;
      const sequence = Math.max(log.sequence, newest + 1);
      inbox.push({ sequence, ...entry });
      this.#inbox_counts.set(keys.deliveryQueue(endpoint_id), sequence);
      this.#inboxes.set(keys.deliveryQueue(endpoint_id), inbox);
      const wake = under(this.#sorted, keys.dueEndpoints);
      wake.set(endpoint_id, Math.min(wake.get(endpoint_id) ?? now_ms, now_ms));
      delivered_to.add(endpoint_id);
    }
  }

  #subscriptionsOf(account_id: string): { closed: boolean; endpoints: Map<string, Subscription> } {
    let found = this.#subscriptions.get(account_id);
    if (found === undefined) {
      found = { closed: false, endpoints: new Map() };
      this.#subscriptions.set(account_id, found);
    }
    return found;
  }

  #outbox(partition: number): Outbox {
    let outbox = this.#outboxes.get(partition);
    if (outbox === undefined) {
      outbox = { count: 0, tells: new Map() };
      this.#outboxes.set(partition, outbox);
    }
    return outbox;
  }

  /** A run of a sorted set by score and then by member, beginning behind `after`. */
  #run(key: string, { after, descending = false, limit }: RangeQuery): { member: string; order: number }[] {
    const sign = descending ? -1 : 1;
    return this.#inOrder(key, sign)
      .filter((entry) => after === undefined || compare(entry, { member: after.id, order: after.order }) * sign > 0)
      .slice(0, limit);
  }

  #inOrder(key: string, sign: 1 | -1 = 1): { member: string; order: number }[] {
    const entries = [...(this.#sorted.get(key) ?? [])].map(([member, order]) => ({ member, order }));
    return entries.sort((a, b) => compare(a, b) * sign);
  }

  async epochs({ account_id, partition }: AccountPlace): Promise<Record<string, number>> {
    return Object.fromEntries(this.#epochs.get(keysOf(partition).epochs(account_id)) ?? []);
  }

  async list(
    { owner, partition }: { owner: string; partition: number },
    index: string,
    page: ListPage,
  ): Promise<{ member: string; order: number }[]> {
    return this.listDue({ owner, index }, partition, page);
  }

  async listDue(queue: TimedQueue, partition: number, page: ListPage): Promise<{ member: string; order: number }[]> {
    const after = page.after === undefined ? undefined : { order: page.after.order, id: page.after.member };
    return this.#run(dueKey(queue, keysOf(partition)), { ...page, after });
  }

  async dueReminders(
    partition: number,
    now_ms: number,
    limit: number,
    stepsOver: SkipsReminder = () => false,
  ): Promise<DueReminder[]> {
    const keys = keysOf(partition);
    const bodies = this.#contents.get(keys.reminderMessages);
    const due = this.#inOrder(keys.reminders).filter(({ order }) => order <= now_ms);
    const found = due.flatMap(({ member, order }) => {
      const body = bodies?.get(member);
      return body === undefined || stepsOver({ member, at_ms: order }) ? [] : [{ member, at_ms: order, body }];
    });
    return found.slice(0, limit);
  }

  async removeReminder(partition: number, { member, at_ms }: { member: string; at_ms: number }): Promise<void> {
    const keys = keysOf(partition);
    const reminders = this.#sorted.get(keys.reminders);
    if (reminders?.get(member) !== at_ms) return;
    reminders.delete(member);
    this.#contents.get(keys.reminderMessages)?.delete(member);
  }

  async outbox(partition: number, after: number, limit: number): Promise<OutboxEntry[]> {
    const tells = this.#outboxes.get(partition)?.tells ?? new Map<number, Uint8Array>();
    const behind = [...tells].filter(([number]) => number > after);
    return behind.slice(0, limit).map(([number, body]) => ({ number, body }));
  }

  async removeFromOutbox(partition: number, numbers: number[]): Promise<void> {
    for (const number of numbers) this.#outboxes.get(partition)?.tells.delete(number);
  }

  async firstDue(questions: readonly DueQuestion[]): Promise<DueTime[][]> {
    return questions.map(({ queue, partitions }) =>
      partitions.flatMap((partition) => {
        if (queue === 'outbox') return this.hasTells(partition) ? [{ partition, at_ms: 0 }] : [];
        const times_ms = [...(this.#sorted.get(dueKey(queue, keysOf(partition)))?.values() ?? [])];
        return times_ms.length === 0 ? [] : [{ partition, at_ms: Math.min(...times_ms) }];
      }),
    );
  }

  async lease(
    { partition, queue }: QueuePlace,
    id: string,
    { now_ms, again_ms, holder }: { now_ms: number; again_ms: number; holder: string },
  ): Promise<Uint8Array | null> {
    const keys = keysOf(partition).queue(queue);
    const due_ms = this.#sorted.get(keys.due)?.get(id);
    if (due_ms === undefined || due_ms > now_ms) return null;
    this.#sorted.get(keys.due)?.set(id, again_ms);
    under(this.#holders, keys.holders).set(id, { holder, again_ms });
    return this.#contents.get(keys.contents)?.get(id) ?? new Uint8Array();
  }

  async removeQueued({ partition, queue }: QueuePlace, id: string): Promise<void> {
    const keys = keysOf(partition).queue(queue);
    this.#sorted.get(keys.due)?.delete(id);
    this.#contents.get(keys.contents)?.delete(id);
    this.#holders.get(keys.holders)?.delete(id);
  }

  async takeBack(partitions: readonly number[], { gone, now_ms }: { gone: ReadonlySet<string>; now_ms: number }) {
    let count = 0;
    for (const { due, holders } of partitions.flatMap((one) => QUEUES.map((queue) => keysOf(one).queue(queue)))) {
      const held = this.#holders.get(holders);
      for (const [id, { holder, again_ms }] of held ?? []) {
        if (!gone.has(holder)) continue;
        held?.delete(id);
        if (this.#sorted.get(due)?.get(id) !== again_ms || again_ms <= now_ms) continue;
        this.#sorted.get(due)?.set(id, now_ms);
        count += 1;
      }
    }
    return count;
  }

  async endpointsBetween(
    partition: number,
    { after_ms, until_ms, limit }: { after_ms: number; until_ms: number; limit: number },
  ): Promise<string[]> {
    const all = this.#inOrder(keysOf(partition).dueEndpoints);
    const between = all.filter(({ order }) => order > after_ms && order <= until_ms);
    return between.slice(0, limit).map(({ member }) => member);
  }

  async listQueued({ partition, queue }: QueuePlace): Promise<Queued[]> {
    const contents = this.#contents.get(keysOf(partition).queue(queue).contents) ?? new Map<string, Uint8Array>();
    return [...contents].map(([id, content]) => ({ id, content }));
  }

  async addDeadLetter(partition: number, name: string, content: Uint8Array): Promise<void> {
    under(this.#aside, partition).set(name, Uint8Array.from(content));
  }

  async listDeadLetters(partition: number): Promise<{ name: string; content: Uint8Array }[]> {
    return [...(this.#aside.get(partition) ?? [])].map(([name, content]) => ({ name, content }));
  }

  async removeDeadLetter(partition: number, name: string): Promise<void> {
    this.#aside.get(partition)?.delete(name);
  }

  async listDeliveryQueue(
    { address, partition }: EntityLocation,
    { before = Number.POSITIVE_INFINITY, limit }: { before?: number | undefined; limit: number },
  ): Promise<QueuedDelivery[]> {
    const entries = this.#inboxes.get(keysOf(partition).deliveryQueue(address.id)) ?? [];
    return entries
      .filter(({ sequence }) => sequence < before)
      .reverse()
      .slice(0, limit);
  }

  async leaseEndpoints(
    partition: number,
    { now_ms, again_ms, limit }: { now_ms: number; again_ms: number; limit: number },
  ): Promise<string[]> {
    const { dueEndpoints: wake } = keysOf(partition);
    const due = this.#inOrder(wake).filter(({ order }) => order <= now_ms);
    return due.slice(0, limit).map(({ member }) => {
      this.#sorted.get(wake)?.set(member, again_ms);
      return member;
    });
  }

  async backlogs(now_ms: number): Promise<Backlog[]> {
    return Array.from({ length: PARTITIONS }, (_, partition) => {
      const due = this.#inOrder(keysOf(partition).dueEndpoints).filter(({ order }) => order <= now_ms);
      const endpoints = { count: due.length, oldest_ms: due[0]?.order ?? null, oldest_id: due[0]?.member ?? null };
      return { partition, dead_letters: this.#aside.get(partition)?.size ?? 0, endpoints };
    });
  }

  async trimEvents({ account_id, partition }: AccountPlace, before_ms: number): Promise<void> {
    const keys = keysOf(partition);
    const log = this.#logs.get(keys.log(account_id));
    if (log !== undefined) log.entries = log.entries.filter(({ id }) => Number.parseInt(id, 10) >= before_ms);
    const [oldest] = log?.entries ?? [];
    if (oldest === undefined) this.#sorted.get(keys.oldestEvents)?.delete(account_id);
    else under(this.#sorted, keys.oldestEvents).set(account_id, Number.parseInt(oldest.id, 10));
  }

  async logHead({ account_id, partition }: AccountPlace, type: string | null): Promise<LogHead | null> {
    const log = this.#logs.get(keysOf(partition).log(account_id));
    if (log === undefined) return null;
    const last_id = `${log.last_ms}-${log.sequence}`;
    return { name: log.name, last_id, last_id_of_type: type === null ? last_id : (log.of_type.get(type) ?? null) };
  }

  async events(
    { account_id, partition }: AccountPlace,
    { from, to, descending, limit }: { from: string; to: string; descending: boolean; limit: number },
  ): Promise<LoggedEvent[]> {
    const entries = this.#logs.get(keysOf(partition).log(account_id))?.entries ?? [];
    const [low, high] = descending ? [to, from] : [from, to];
    const within = entries.filter(({ id }) => isFrom(id, low) && isUpTo(id, high));
    return (descending ? within.reverse() : within).slice(0, limit);
  }

  // What only a checker asks.

  /** Every entity, ended ones included. */
  *entities(): Generator<StoredEntity & EntityLocation> {
    for (const entity of this.#entities.values()) {
      const { address, partition, snapshot } = entity;
      yield { address, partition, snapshot, ...versionOf(entity) };
    }
  }

  /** A whole collection of an entity. */
  *collection(
    { address, partition }: EntityLocation,
    collection: string,
  ): Generator<{ id: string; order: number | null; value: Uint8Array }> {
    const keys = keysOf(partition);
    const orders = this.#sorted.get(keys.order(address, collection));
    for (const [id, value] of this.#records.get(keys.records(address, collection)) ?? []) {
      yield { id, order: orders?.get(id) ?? null, value };
    }
  }

  isReminderDue(partition: number, now_ms: number): boolean {
    return [...(this.#sorted.get(keysOf(partition).reminders)?.values() ?? [])].some((at_ms) => at_ms <= now_ms);
  }

  hasDue(queue: TimedQueue, partition: number): boolean {
    return (this.#sorted.get(dueKey(queue, keysOf(partition)))?.size ?? 0) > 0;
  }

  /** When an endpoint is looked at next; null when it is not. */
  wakeOf({ address, partition }: EntityLocation): number | null {
    return this.#sorted.get(keysOf(partition).dueEndpoints)?.get(address.id) ?? null;
  }

  deliveriesOf({ address, partition }: EntityLocation): readonly QueuedDelivery[] {
    return this.#inboxes.get(keysOf(partition).deliveryQueue(address.id)) ?? [];
  }

  hasTells(partition: number): boolean {
    return (this.#outboxes.get(partition)?.tells.size ?? 0) > 0;
  }
}

function versionOf(entity: Entity): StoredVersion {
  const earlier = entity.writers.slice(1).map((writer) => entryOf(writer).toString('latin1'));
  return { ...fenceOf(entity), earlier: earlier.join('') };
}

function fenceOf({ writers }: Entity): EntityVersion {
  const [{ version, commit_id }] = writers as [EntityVersion];
  return { version, commit_id };
}

function under<Key, Inner, Value>(outer: Map<Key, Map<Inner, Value>>, key: Key): Map<Inner, Value> {
  let found = outer.get(key);
  if (found === undefined) {
    found = new Map();
    outer.set(key, found);
  }
  return found;
}

function compare(a: { member: string; order: number }, b: { member: string; order: number }): number {
  return a.order - b.order || Buffer.compare(Buffer.from(a.member), Buffer.from(b.member));
}

/** Bounds as Redis effects them: an id, `(` before one that is excluded, `-` and `+`; an id may lack its sequence. */
function isFrom(id: string, bound: string): boolean {
  if (bound === '-' || bound === '+') return bound === '-';
  return bound.startsWith('(') ? compareIds(id, bound.slice(1), 0) > 0 : compareIds(id, bound, 0) >= 0;
}

function isUpTo(id: string, bound: string): boolean {
  if (bound === '-' || bound === '+') return bound === '+';
  const most = Number.MAX_SAFE_INTEGER;
  return bound.startsWith('(') ? compareIds(id, bound.slice(1), most) < 0 : compareIds(id, bound, most) <= 0;
}

function compareIds(id: string, bound: string, missing_sequence: number): number {
  const [ms = 0, sequence = 0] = id.split('-').map(Number);
  const [bound_ms = 0, bound_sequence = missing_sequence] = bound.split('-').map(Number);
  return ms - bound_ms || sequence - bound_sequence;
}
