import { Buffer } from 'node:buffer';
import type { Address, QueuedDelivery, RangeQuery, RecordQuery, Subscription } from '../../actors/actor.js';
import { unreachable } from '../../src/domain/refusals.js';
import { keysOf } from '../../src/store/partitions.js';
import type {
  Commit,
  DueEndpoints,
  DueReminder,
  EntityLocation,
  Fence,
  Guard,
  ListPage,
  LoggedEvent,
  LogHead,
  OutboxEntry,
  QueryResult,
  Queued,
  QueueName,
  StepsOver,
  Store,
  StoredEntity,
  StoredRow,
  Verdict,
  Write,
} from '../../src/store/store.js';

const WRITERS_MAX = 8;
const WRITER_DIGITS = 12;
const HEADER_MS = { end: 30 * 24 * 3_600_000, vanish: 20 * 60_000 };

type AccountPlace = { account_id: string; partition: number };
export type QueuePlace = { partition: number; queue: QueueName };
/** `writers`: the last commit of each of the last writers, the newest first. */
type Entity = {
  address: Address;
  partition: number;
  writers: Fence[];
  snapshot: Uint8Array;
  /** When the header of an ended one goes. */
  expires_at_ms: number | null;
};
type EventLog = {
  epoch: string;
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
  readonly #draw_log_epoch: () => string;
  /** Redis' own time, by which headers of ended entities expire. */
  readonly #redis_now: () => number;
  readonly #entities = new Map<string, Entity>();
  readonly #records = new Map<string, Map<string, Uint8Array>>();
  /** Every sorted set: collections' orders, lists, reminders and mails, by key. */
  readonly #sorted = new Map<string, Map<string, number>>();
  /** Contents that go with a sorted set: reminders' messages and mails. */
  readonly #contents = new Map<string, Map<string, Uint8Array>>();
  readonly #lives = new Map<string, Map<string, number>>();
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

  constructor(draw_log_epoch: () => string, redis_now: () => number = () => 0) {
    this.#draw_log_epoch = draw_log_epoch;
    this.#redis_now = redis_now;
  }

  async load(places: EntityLocation[]): Promise<(StoredEntity | null)[]> {
    return places.map((place) => {
      const found = this.#entity(place);
      return found === undefined ? null : { ...fenceOf(found), snapshot: found.snapshot };
    });
  }

  async probe(place: EntityLocation): Promise<Fence | null> {
    const found = this.#entity(place);
    return found === undefined ? null : fenceOf(found);
  }

  async query({ address, partition }: EntityLocation, requests: RecordQuery[]): Promise<QueryResult[]> {
    const keys = keysOf(partition);
    return requests.map((request) => {
      if ('inbox' in request) {
        const { after, limit } = request.inbox;
        const entries = this.#inboxes.get(keys.inbox(address.id)) ?? [];
        const behind = entries.filter(({ sequence }) => sequence > after).slice(0, limit);
        return { request, value: null, rows: [], inbox: { entries: behind, last: entries.at(-1)?.sequence ?? 0 } };
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

  async commit(commit: Commit): Promise<Verdict> {
    const { place, expected } = commit;
    const log_epoch = commit.writes.some(({ write }) => write === 'event') ? this.#draw_log_epoch() : '';
    const found = this.#entity(place);
    const repeated = found?.writers.find(({ commit_id }) => commit_id === commit.commit_id);
    if (repeated !== undefined) return { verdict: 'repeated', version: repeated.version };
    const present = found === undefined ? { version: 0, commit_id: '' } : fenceOf(found);
    if (present.version !== expected.version || present.commit_id !== expected.commit_id) {
      const oldest = found?.writers[WRITERS_MAX - 1];
      const forgotten = oldest !== undefined && oldest.version > expected.version + 1;
      return { verdict: forgotten ? 'forgotten' : 'conflict', version: present.version };
    }
    const index = commit.guards.findIndex((guard) => !this.#holds(place.partition, guard));
    if (index >= 0) return { verdict: 'guarded', index };
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
    for (const write of commit.writes) this.#write(place, write, { now_ms: commit.now_ms, log_epoch, delivered_to });
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

  #holds(partition: number, guard: Guard): boolean {
    const keys = keysOf(partition);
    if (guard.guard === 'life')
      return (this.#lives.get(keys.lives(guard.account_id))?.get(guard.life) ?? 0) === guard.value;
    if (guard.guard === 'open') return !this.#lives.get(keys.lives(guard.id))?.has('closed');
    return this.#sorted.get(keys.reminders)?.get(guard.member) === guard.at_ms;
  }

  #write(
    { address, partition }: EntityLocation,
    write: Write,
    turn: { now_ms: number; log_epoch: string; delivered_to: Set<string> },
  ): void {
    const keys = keysOf(partition);
    switch (write.write) {
      case 'put_record':
        under(this.#records, keys.records(address, write.collection)).set(write.id, Uint8Array.from(write.value));
        if (write.order !== undefined)
          under(this.#sorted, keys.order(address, write.collection)).set(write.id, write.order);
        return;
      case 'drop_record':
        this.#records.get(keys.records(address, write.collection))?.delete(write.id);
        this.#sorted.get(keys.order(address, write.collection))?.delete(write.id);
        return;
      case 'drop_collection':
        this.#records.delete(keys.records(address, write.collection));
        this.#sorted.delete(keys.order(address, write.collection));
        return;
      case 'event':
        this.#append(partition, write, turn);
        return;
      case 'subscribe':
        this.#subscriptionsOf(write.account_id).endpoints.set(write.endpoint_id, write.subscription);
        return;
      case 'unsubscribe':
        this.#subscriptionsOf(write.account_id).endpoints.delete(write.endpoint_id);
        return;
      case 'subscriptions':
        if (write.become === 'gone') this.#subscriptions.delete(write.account_id);
        else this.#subscriptionsOf(write.account_id).closed = write.become === 'closed';
        return;
      case 'wake': {
        const wake = under(this.#sorted, keys.wake);
        const last = this.#inboxes.get(keys.inbox(address.id))?.at(-1)?.sequence ?? 0;
        const at_ms = last > write.seen ? Math.min(write.at_ms ?? turn.now_ms, turn.now_ms) : write.at_ms;
        if (at_ms === null) wake.delete(address.id);
        else wake.set(address.id, at_ms);
        return;
      }
      case 'trim_inbox': {
        const entries = this.#inboxes.get(keys.inbox(address.id)) ?? [];
        this.#inboxes.set(
          keys.inbox(address.id),
          entries.filter(({ sequence }) => sequence >= write.before),
        );
        return;
      }
      case 'drop_inbox':
        this.#inboxes.delete(keys.inbox(address.id));
        this.#inbox_counts.delete(keys.inbox(address.id));
        return;
      case 'tell': {
        const outbox = this.#outbox(partition);
        outbox.count += 1;
        outbox.tells.set(outbox.count, Uint8Array.from(write.body));
        return;
      }
      case 'remind':
        under(this.#sorted, keys.reminders).set(write.member, write.at_ms);
        under(this.#contents, keys.reminderMessages).set(write.member, Uint8Array.from(write.body));
        return;
      case 'forget':
        this.#sorted.get(keys.reminders)?.delete(write.member);
        this.#contents.get(keys.reminderMessages)?.delete(write.member);
        return;
      case 'enlist':
        under(this.#sorted, keys.list(write.account_id, write.list)).set(write.member, write.order);
        return;
      case 'delist':
        this.#sorted.get(keys.list(write.account_id, write.list))?.delete(write.member);
        return;
      case 'raise': {
        const lives = under(this.#lives, keys.lives(write.account_id));
        lives.set(write.life, (lives.get(write.life) ?? 0) + 1);
        return;
      }
      case 'close':
        under(this.#lives, keys.lives(write.id)).set('closed', 1); // however often
        return;
      case 'forget_closed':
        this.#lives.delete(keys.lives(write.id));
        return;
      case 'drop_log':
        this.#logs.delete(keys.log(write.account_id));
        this.#sorted.get(keys.oldestEvents)?.delete(write.account_id);
        return;
      case 'queue': {
        const queue = keys.queue(write.queue);
        under(this.#sorted, queue.due).set(write.id, write.due_ms);
        under(this.#contents, queue.contents).set(write.id, Uint8Array.from(write.content));
        return;
      }
      default:
        unreachable(write);
    }
  }

  #append(
    partition: number,
    { account_id, type, body, delivered }: Extract<Write, { write: 'event' }>,
    { now_ms, log_epoch, delivered_to }: { now_ms: number; log_epoch: string; delivered_to: Set<string> },
  ): void {
    const keys = keysOf(partition);
    const key = keys.log(account_id);
    let log = this.#logs.get(key);
    if (log === undefined) {
      log = { epoch: log_epoch, last_ms: 0, sequence: 0, of_type: new Map(), entries: [] };
      this.#logs.set(key, log);
    }
    log.sequence += 1;
    log.last_ms = Math.max(log.last_ms, now_ms);
    const id = `${log.last_ms}-${log.sequence}`;
    log.of_type.set(type, id);
    log.entries.push({ id, type, body });
    const oldest = under(this.#sorted, keys.oldestEvents);
    if (!oldest.has(account_id)) oldest.set(account_id, log.last_ms);
    const { closed, endpoints } = this.#subscriptionsOf(account_id);
    if (!delivered || closed) return;
    for (const [endpoint_id, { topics, generation }] of endpoints) {
      if (topics.length > 0 && !topics.includes(type)) continue;
      const life = this.#lives.get(keys.lives(account_id))?.get('account') ?? 0;
      const inbox = this.#inboxes.get(keys.inbox(endpoint_id)) ?? [];
      const entry = { log_id: id, life, generation, type: type as QueuedDelivery['type'] };
      const newest = this.#inbox_counts.get(keys.inbox(endpoint_id)) ?? 0;
      const sequence = Math.max(log.sequence, newest + 1);
      inbox.push({ sequence, ...entry });
      this.#inbox_counts.set(keys.inbox(endpoint_id), sequence);
      this.#inboxes.set(keys.inbox(endpoint_id), inbox);
      const wake = under(this.#sorted, keys.wake);
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
    return Object.fromEntries(this.#lives.get(keysOf(partition).lives(account_id)) ?? []);
  }

  async list(
    { account_id, partition }: AccountPlace,
    list: string,
    page: ListPage,
  ): Promise<{ member: string; order: number }[]> {
    const after = page.after === undefined ? undefined : { order: page.after.order, id: page.after.member };
    return this.#run(keysOf(partition).list(account_id, list), { ...page, after });
  }

  async dueReminders(
    partition: number,
    now_ms: number,
    limit: number,
    stepsOver: StepsOver = () => false,
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

  async lease(
    { partition, queue }: QueuePlace,
    { now_ms, again_ms, limit }: { now_ms: number; again_ms: number; limit: number },
  ): Promise<Queued[]> {
    const keys = keysOf(partition).queue(queue);
    const due = this.#inOrder(keys.due).filter(({ order }) => order <= now_ms);
    return due.slice(0, limit).map(({ member }) => {
      this.#sorted.get(keys.due)?.set(member, again_ms);
      return { id: member, content: this.#contents.get(keys.contents)?.get(member) ?? new Uint8Array() };
    });
  }

  async removeQueued({ partition, queue }: QueuePlace, id: string): Promise<void> {
    const keys = keysOf(partition).queue(queue);
    this.#sorted.get(keys.due)?.delete(id);
    this.#contents.get(keys.contents)?.delete(id);
  }

  async listQueued({ partition, queue }: QueuePlace): Promise<Queued[]> {
    const contents = this.#contents.get(keysOf(partition).queue(queue).contents) ?? new Map<string, Uint8Array>();
    return [...contents].map(([id, content]) => ({ id, content }));
  }

  async setAside(partition: number, name: string, content: Uint8Array): Promise<void> {
    under(this.#aside, partition).set(name, Uint8Array.from(content));
  }

  async listSetAside(partition: number): Promise<{ name: string; content: Uint8Array }[]> {
    return [...(this.#aside.get(partition) ?? [])].map(([name, content]) => ({ name, content }));
  }

  async removeSetAside(partition: number, name: string): Promise<void> {
    this.#aside.get(partition)?.delete(name);
  }

  async inbox(
    { address, partition }: EntityLocation,
    { before = Number.POSITIVE_INFINITY, limit }: { before?: number | undefined; limit: number },
  ): Promise<QueuedDelivery[]> {
    const entries = this.#inboxes.get(keysOf(partition).inbox(address.id)) ?? [];
    return entries
      .filter(({ sequence }) => sequence < before)
      .reverse()
      .slice(0, limit);
  }

  async leaseEndpoints(
    partition: number,
    { now_ms, again_ms, limit }: { now_ms: number; again_ms: number; limit: number },
  ): Promise<string[]> {
    const { wake } = keysOf(partition);
    const due = this.#inOrder(wake).filter(({ order }) => order <= now_ms);
    return due.slice(0, limit).map(({ member }) => {
      this.#sorted.get(wake)?.set(member, again_ms);
      return member;
    });
  }

  async endpointsDue(partition: number, now_ms: number): Promise<DueEndpoints> {
    const due = this.#inOrder(keysOf(partition).wake).filter(({ order }) => order <= now_ms);
    return { count: due.length, oldest_ms: due[0]?.order ?? null, oldest_id: due[0]?.member ?? null };
  }

  async accountsWithEventsBefore(partition: number, before_ms: number, limit: number): Promise<string[]> {
    const oldest = this.#inOrder(keysOf(partition).oldestEvents).filter(({ order }) => order < before_ms);
    return oldest.slice(0, limit).map(({ member }) => member);
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
    return { epoch: log.epoch, last_id, last_id_of_type: type === null ? last_id : (log.of_type.get(type) ?? null) };
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
    for (const { address, partition, writers, snapshot } of this.#entities.values()) {
      yield { address, partition, snapshot, ...(writers[0] as Fence) };
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

  hasReminders(partition: number): boolean {
    return (this.#sorted.get(keysOf(partition).reminders)?.size ?? 0) > 0;
  }

  hasWakes(partition: number): boolean {
    return (this.#sorted.get(keysOf(partition).wake)?.size ?? 0) > 0;
  }

  /** When an endpoint is looked at next; null when it is not. */
  wakeOf({ address, partition }: EntityLocation): number | null {
    return this.#sorted.get(keysOf(partition).wake)?.get(address.id) ?? null;
  }

  deliveriesOf({ address, partition }: EntityLocation): readonly QueuedDelivery[] {
    return this.#inboxes.get(keysOf(partition).inbox(address.id)) ?? [];
  }

  hasQueued({ partition, queue }: QueuePlace): boolean {
    return (this.#sorted.get(keysOf(partition).queue(queue).due)?.size ?? 0) > 0;
  }

  hasTells(partition: number): boolean {
    return (this.#outboxes.get(partition)?.tells.size ?? 0) > 0;
  }
}

function fenceOf({ writers }: Entity): Fence {
  const [{ version, commit_id }] = writers as [Fence];
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

/** Bounds as Redis writes them: an id, `(` before one that is excluded, `-` and `+`; an id may lack its sequence. */
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
