import { Command, type Redis } from 'ioredis';
import type { QueuedDelivery, RangeQuery, RecordQuery } from '../../../actors/actor.js';
import { RecentlyUsed } from '../pools/recently_used.js';
import { CommitBatches } from './commit_batches.js';
import { parseVerdict, writeCommit } from './commit_call.js';
import { CommitNotices } from './commit_notices.js';
import { noteDue } from './due_notes.js';
import { backlogs, dueKey, firstDue, takeBack } from './due_partitions.js';
import { type EntityVersion, FENCE_BYTES, readHeader, readVersion } from './entity_version.js';
import { keysOf } from './partitions.js';
import { callFunction, storeCall } from './redis_calls.js';
import { toldChannel } from './redis_tellings.js';
import {
  type Backlog,
  type Commit,
  type CommitVerdict,
  type DueQuestion,
  type DueReminder,
  type DueTime,
  type EntityLocation,
  type ListPage,
  type LoggedEvent,
  type LogHead,
  type OutboxEntry,
  type QueryResult,
  type Queued,
  type QueueName,
  type SkipsReminder,
  type Store,
  type StoredEntity,
  type StoredRow,
  StoreUnavailable,
  type TimedQueue,
} from './store.js';
import { parseSubscriptions, Subscribers, type Subscriptions } from './subscriptions.js';

const COMMIT = 'spool_commit_v1';
const AS_TEXT = { replyEncoding: 'utf8' as const };
const SUBSCRIPTIONS_KEPT_MAX = 50_000;
const STALE_TRIES_MAX = 12;
const NO_BYTES = Buffer.alloc(0);
/** Ties in an ordered collection are read in steps of this size. */
const TIES_STEP = 64;
/** Skipped reminders are read in steps of this size. */
const REMINDERS_STEP = 1_000;

/** ioredis has it, its types don't. (`callBuffer` is no way: with auto-pipelining the command's name gets lost.) */
type FcallBuffer = { fcallBuffer(name: string, keys: number, ...args: (string | number)[]): Promise<unknown> };

type AccountPlace = { account_id: string; partition: number };
type QueuePlace = { partition: number; queue: QueueName };

/** The store on Redis 7 or later, through one function for all writes of actors. */
export class RedisStore implements Store {
  readonly #redis: Redis;
  /** Names the logs that this process begins; a log never changes its name. */
  readonly #draw_log_name: () => string;
  readonly #commits: CommitBatches;
  /** Whether Redis tells other processes of each commit. */
  readonly #tells: boolean;
  /** The subscribers of an account's events, as last seen; a commit that relies on them names their version. */
  readonly #subscriptions = new RecentlyUsed<Subscriptions>(SUBSCRIPTIONS_KEPT_MAX);
  readonly #notices: CommitNotices;

  constructor(redis: Redis, draw_log_name: () => string, { tells = false, notices = new CommitNotices() } = {}) {
    this.#redis = redis;
    this.#tells = tells;
    this.#notices = notices;
    this.#draw_log_name = draw_log_name;
    this.#commits = new CommitBatches(redis, (keys, commits) => this.#call(() => this.#sendCommits(keys, commits)));
  }

  async load(places: EntityLocation[]): Promise<(StoredEntity | null)[]> {
    const values = await storeCall(Promise.all(places.map((place) => this.#redis.getBuffer(entityKey(place)))));
    return values.map((value) => (value === null ? null : parseEntity(value)));
  }

  async probe(place: EntityLocation): Promise<EntityVersion | null> {
    const header = await storeCall(this.#redis.getrangeBuffer(entityKey(place), 0, FENCE_BYTES - 1));
    return header.length === 0 ? null : readVersion(header);
  }

  async query(place: EntityLocation, requests: RecordQuery[]): Promise<QueryResult[]> {
    return storeCall(Promise.all(requests.map((request) => this.#fact(place, request))));
  }

  async records(place: EntityLocation, collection: string, ids: string[]): Promise<(Uint8Array | null)[]> {
    if (ids.length === 0) return [];
    return storeCall(this.#redis.hmgetBuffer(keysOf(place.partition).records(place.address, collection), ...ids));
  }

  async #fact(place: EntityLocation, request: RecordQuery): Promise<QueryResult> {
    const keys = keysOf(place.partition);
    const records = keys.records(place.address, request.collection);
    if ('queue' in request) {
      const queue = keys.deliveryQueue(place.address.id);
      const { after, limit } = request.queue;
      const [entries, last] = await Promise.all([
        this.#redis.xrange(queue, `(${after}-0`, '+', 'COUNT', limit),
        this.#redis.xrevrange(queue, '+', '-', 'COUNT', 1),
      ]);
      const newest = last[0] === undefined ? 0 : parseQueueEntry(last[0]).sequence;
      return { request, value: null, rows: [], queue: { entries: entries.map(parseQueueEntry), last: newest } };
    }
    if ('id' in request) {
      return { request, value: await this.#redis.hgetBuffer(records, request.id), rows: [] };
    }
    const members = await this.#ordered(keys.order(place.address, request.collection), request.range);
    if (members.length === 0) return { request, value: null, rows: [] };
    const values = await this.#redis.hmgetBuffer(records, ...members.map(({ member }) => member));
    const rows: StoredRow[] = [];
    members.forEach(({ member, order }, index) => {
      const value = values[index];
      if (value) rows.push({ id: member, order, value });
    });
    return { request, value: null, rows };
  }

  /** A run of a sorted set by score and then by member, after `after`. */
  async #ordered(key: string, range: RangeQuery): Promise<{ member: string; order: number }[]> {
    const { after, descending = false, limit } = range;
    const found: { member: string; order: number }[] = [];
    for (let offset = 0; found.length < limit; ) {
      const step = limit + TIES_STEP;
      const from = after === undefined ? (descending ? '+inf' : '-inf') : String(after.order);
      const flat = descending
        ? await this.#redis.zrevrangebyscore(key, from, '-inf', 'WITHSCORES', 'LIMIT', offset, step)
        : await this.#redis.zrangebyscore(key, from, '+inf', 'WITHSCORES', 'LIMIT', offset, step);
      for (let i = 0; i + 1 < flat.length && found.length < limit; i += 2) {
        const member = flat[i] as string;
        const order = Number(flat[i + 1]);
        const seen =
          after !== undefined && order === after.order && (descending ? member >= after.id : member <= after.id);
        if (!seen) found.push({ member, order });
      }
      if (flat.length < step * 2) break;
      offset += step;
    }
    return found;
  }

  async commit(commit: Commit): Promise<CommitVerdict> {
    const { place } = commit;
    const told_on = this.#tells ? toldChannel(this.#redis, place.partition) : '';
    for (let tries = 0; tries < STALE_TRIES_MAX; tries++) {
      const subscribers = new Subscribers(this.#subscriptions);
      const parts = { draw_log_name: this.#draw_log_name, subscribers, told_on };
      const verdict = parseVerdict(
        commit,
        ...(await this.#commits.send(place.partition, (out) => writeCommit(out, commit, parts))),
      );
      if (verdict !== 'stale') {
        if (verdict.verdict === 'applied') subscribers.keep();
        else subscribers.forget();
        const is_saved = verdict.verdict === 'applied' || verdict.verdict === 'repeated';
        const has_deliveries = subscribers.delivered_to.size > 0;
        if (is_saved) noteDue(commit, has_deliveries, this.#notices.due);
        if (is_saved && has_deliveries) this.#notices.deliveries(subscribers.delivered_to);
        return verdict;
      }
      // Nothing was written: somebody subscribed, or no longer does, since this was last read.
      await Promise.all(
        [...subscribers.relied_on.keys()].map(async (account_id) => {
          const stored = await storeCall(this.#redis.hgetall(keysOf(commit.place.partition).subscriptions(account_id)));
          this.#subscriptions.set(account_id, parseSubscriptions(stored));
        }),
      );
    }
    throw new StoreUnavailable('storage: subscriptions change all the time', { sent: false });
  }

  /** Sent outside the automatic pipeline, which waits for other commands; these have already waited. */
  async #sendCommits(keys: readonly string[], commits: Buffer): Promise<unknown> {
    const send = (name: string, args: (string | number | Buffer)[]) =>
      this.#redis.sendCommand(new Command(name, args, AS_TEXT)) as Promise<unknown>;
    const said = await send('fcall', [COMMIT, keys.length, ...keys, commits]);
    // Redis writes to all whom it tells before it reads the next command, but in no fixed order with the answer above.
    if (this.#tells) await send('exists', [keys[0] as string]);
    return said;
  }

  #call(call: () => Promise<unknown>): Promise<unknown> {
    return callFunction(this.#redis, call);
  }

  async epochs({ account_id, partition }: AccountPlace): Promise<Record<string, number>> {
    const found = await storeCall(this.#redis.hgetall(keysOf(partition).epochs(account_id)));
    return Object.fromEntries(Object.entries(found).map(([name, value]) => [name, Number(value)]));
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
    return storeCall(this.#ordered(dueKey(queue, keysOf(partition)), { ...page, after }));
  }

  async firstDue(questions: readonly DueQuestion[]): Promise<DueTime[][]> {
    return firstDue(this.#redis, questions);
  }

  async dueReminders(
    partition: number,
    now_ms: number,
    limit: number,
    skips: SkipsReminder = () => false,
  ): Promise<DueReminder[]> {
    const keys = keysOf(partition);
    const found: DueReminder[] = [];
    for (let offset = 0, step = limit; found.length < limit; offset += step, step = REMINDERS_STEP) {
      const flat = await storeCall(
        this.#redis.zrangebyscore(keys.reminders, '-inf', now_ms, 'WITHSCORES', 'LIMIT', offset, step),
      );
      const due = flat
        .flatMap((member, index) => (index % 2 === 0 ? [{ member, at_ms: Number(flat[index + 1]) }] : []))
        .filter((reminder) => !skips(reminder))
        .slice(0, limit - found.length);
      if (due.length > 0) {
        const bodies = await storeCall(
          this.#redis.hmgetBuffer(keys.reminderMessages, ...due.map(({ member }) => member)),
        );
        for (const [index, reminder] of due.entries()) {
          const body = bodies[index];
          if (body) found.push({ ...reminder, body });
        }
      }
      if (flat.length < step * 2) break;
    }
    return found;
  }

  async removeReminder(partition: number, { member, at_ms }: { member: string; at_ms: number }): Promise<void> {
    const keys = keysOf(partition);
    await this.#call(() =>
      this.#redis.fcall('spool_unremind_v1', 2, keys.reminders, keys.reminderMessages, member, at_ms),
    );
  }

  async outbox(partition: number, after: number, limit: number): Promise<OutboxEntry[]> {
    const entries = (await storeCall(
      this.#redis.xrangeBuffer(keysOf(partition).outbox, `(${after}-0`, '+', 'COUNT', limit),
    )) as unknown as [Buffer, Buffer[]][];
    return entries.map(([id, fields]) => ({ number: Number.parseInt(id.toString(), 10), body: fields[1] as Buffer }));
  }

  async removeFromOutbox(partition: number, numbers: number[]): Promise<void> {
    await storeCall(this.#redis.xdel(keysOf(partition).outbox, ...numbers.map((number) => `${number}-0`)));
  }

  async lease(
    { partition, queue }: QueuePlace,
    id: string,
    { now_ms, again_ms, holder }: { now_ms: number; again_ms: number; holder: string },
  ): Promise<Uint8Array | null> {
    const { due, contents, holders } = keysOf(partition).queue(queue);
    const leased = await this.#lease([due, contents, holders], [now_ms, again_ms, holder, id]);
    return leased[1] ?? null;
  }

  #lease(keys: string[], args: (string | number)[]): Promise<Buffer[]> {
    const redis = this.#redis as unknown as FcallBuffer;
    return this.#call(() => redis.fcallBuffer('spool_lease_v2', keys.length, ...keys, ...args)) as Promise<Buffer[]>;
  }

  async removeQueued({ partition, queue }: QueuePlace, id: string): Promise<void> {
    const { due, contents, holders } = keysOf(partition).queue(queue);
    const gone = [contents, holders].map((key) => this.#redis.hdel(key, id));
    await storeCall(Promise.all([this.#redis.zrem(due, id), ...gone]));
  }

  async takeBack(partitions: readonly number[], from: { gone: ReadonlySet<string>; now_ms: number }): Promise<number> {
    return takeBack(this.#redis, partitions, from);
  }

  async listQueued({ partition, queue }: QueuePlace): Promise<Queued[]> {
    const found = await storeCall(this.#redis.hgetallBuffer(keysOf(partition).queue(queue).contents));
    return Object.entries(found).map(([id, content]) => ({ id, content }));
  }

  async addDeadLetter(partition: number, name: string, content: Uint8Array): Promise<void> {
    await storeCall(this.#redis.hset(keysOf(partition).deadLetters, name, Buffer.from(content)));
  }

  async listDeadLetters(partition: number): Promise<{ name: string; content: Uint8Array }[]> {
    const found = await storeCall(this.#redis.hgetallBuffer(keysOf(partition).deadLetters));
    return Object.entries(found).map(([name, content]) => ({ name, content }));
  }

  async removeDeadLetter(partition: number, name: string): Promise<void> {
    await storeCall(this.#redis.hdel(keysOf(partition).deadLetters, name));
  }

  async listDeliveryQueue(
    { address, partition }: EntityLocation,
    { before, limit }: { before?: number | undefined; limit: number },
  ): Promise<QueuedDelivery[]> {
    const from = before === undefined ? '+' : `(${before}-0`;
    const entries = await storeCall(
      this.#redis.xrevrange(keysOf(partition).deliveryQueue(address.id), from, '-', 'COUNT', limit),
    );
    return entries.map(parseQueueEntry);
  }

  async leaseEndpoints(
    partition: number,
    { now_ms, again_ms, limit }: { now_ms: number; again_ms: number; limit: number },
  ): Promise<string[]> {
    const { dueEndpoints } = keysOf(partition);
    const due = await storeCall(this.#redis.zrangebyscore(dueEndpoints, '-inf', now_ms, 'LIMIT', 0, limit));
    if (due.length === 0) return [];
    const leased = await this.#lease([dueEndpoints], [now_ms, again_ms, '', ...due]);
    return leased.flatMap((name, at) => (at % 2 === 0 ? [name.toString()] : []));
  }

  async endpointsBetween(
    partition: number,
    { after_ms, until_ms, limit }: { after_ms: number; until_ms: number; limit: number },
  ): Promise<string[]> {
    const { dueEndpoints } = keysOf(partition);
    return storeCall(this.#redis.zrangebyscore(dueEndpoints, `(${after_ms}`, until_ms, 'LIMIT', 0, limit));
  }

  async backlogs(now_ms: number): Promise<Backlog[]> {
    return backlogs(this.#redis, now_ms);
  }

  async trimEvents({ account_id, partition }: AccountPlace, before_ms: number): Promise<void> {
    const keys = keysOf(partition);
    await this.#call(() =>
      this.#redis.fcall('spool_trim_v1', 2, keys.log(account_id), keys.oldestEvents, account_id, before_ms),
    );
  }

  async logHead({ account_id, partition }: AccountPlace, type: string | null): Promise<LogHead | null> {
    const [name, sequence, last_ms, of_type] = await storeCall(
      this.#redis.hmget(keysOf(partition).logHead(account_id), 'name', 'sequence', 'last_ms', `t:${type ?? ''}`),
    );
    if (!name) return null;
    const last_id = `${last_ms}-${sequence}`;
    return { name, last_id, last_id_of_type: type === null ? last_id : (of_type ?? null) };
  }

  async events(
    { account_id, partition }: AccountPlace,
    range: { from: string; to: string; descending: boolean; limit: number },
  ): Promise<LoggedEvent[]> {
    const log = keysOf(partition).log(account_id);
    const entries = (await storeCall(
      range.descending
        ? this.#redis.xrevrangeBuffer(log, range.from, range.to, 'COUNT', range.limit)
        : this.#redis.xrangeBuffer(log, range.from, range.to, 'COUNT', range.limit),
    )) as unknown as [Buffer, Buffer[]][];
    return entries.map(([id, [, type = NO_BYTES, , body = NO_BYTES]]) => ({
      id: id.toString(),
      account_id,
      type: type.toString(),
      body,
    }));
  }
}

function entityKey({ address, partition }: EntityLocation): string {
  return keysOf(partition).entity(address);
}

function parseEntity(value: Buffer): StoredEntity {
  const { version, end } = readHeader(value);
  return { ...version, snapshot: value.subarray(end) };
}

/**
 * Parses `<event's place in the log> <epoch> <enablement> <type>` under the event's number, as commit.lua writes it.
 */
function parseQueueEntry([id, fields]: [string, string[]]): QueuedDelivery {
  const [log_id = '', account_epoch, enablement, type] = (fields[1] ?? '').split(' ');
  return {
    sequence: Number.parseInt(id, 10),
    log_id,
    account_epoch: Number(account_epoch),
    enablement: Number(enablement),
    type: type as QueuedDelivery['type'],
  };
}
