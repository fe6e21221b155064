import t from 'tap';
import type { RecordQuery } from '../../actors/actor.js';
import { makeId } from '../../src/domain/ids.js';
import { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { CommitNotices } from '../../src/engine/store/commit_notices.js';
import { NO_VERSION, type StoredVersion, versionIn } from '../../src/engine/store/entity_version.js';
import { RedisStore } from '../../src/engine/store/redis_store.js';
import type { Commit, EntityLocation, Fence, Store, StoredEffect } from '../../src/engine/store/store.js';
import { TestRedis } from '../fixtures/redis.js';
import { ModelStore } from './model_store.js';

/** Faults, method: the model store and real Redis are given the same random command sequences and must agree. */

const SEQUENCES = 20;
const COMMANDS = 150;
const PARTITIONS = [0, 7];
const WRITERS = Array.from({ length: 10 }, (_, writer) => writer.toString(16).padStart(12, '0'));
const MEMBERS = ['a', 'b', 'B', 'ab', 'z~', 'é'];
const QUEUES = ['mails', 'jobs'] as const;
const HOLDERS = ['one', 'two'];
const LIFE_NAMES = ['account', 'tokens'] as const;
const TYPES = ['account.created', 'account.updated'];

/** Sequences in which events, endpoints and their inboxes are all that happens, among others. */
const ABOUT_EVENTS = 3;

type Read = (store: Store) => Promise<unknown>;
type Command = { name: string; run: Read };

type Account = { account_id: string; partition: number; endpoints: string[] };

/** One sequence's commands: drawn as it goes, since a commit that is to succeed must name the present fence. */
class Script {
  readonly #random: SeededRandom;
  readonly #salt: string;
  readonly accounts: Account[];
  readonly places: EntityLocation[];
  readonly #about_events: boolean;
  readonly #fences = new Map<EntityLocation, StoredVersion>();
  readonly #sent: Commit[] = [];
  #commits = 0;
  #now_ms = 1_000;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
    this.#salt = seed.toString(36);
    this.#about_events = seed % ABOUT_EVENTS === 0;
    this.accounts = PARTITIONS.map((partition) => {
      const draw = () => makeId({ partition, now_ms: seed, random: this.#random.bytes(5) });
      return { account_id: draw(), partition, endpoints: [draw(), draw()] };
    });
    this.places = this.accounts.flatMap(({ account_id, partition, endpoints }) => [
      ...['one', 'two'].map((kind) => ({ address: { kind, id: account_id }, partition })),
      ...endpoints.map((id) => ({ address: { kind: 'endpoint', id }, partition })),
    ]);
  }

  next(): Command {
    const random = this.#random;
    this.#now_ms += random.below(5) - 1;
    const { partition, account_id } = random.pick(this.accounts);
    const now_ms = this.#now_ms;
    switch (random.below(15)) {
      case 14: {
        const gone = new Set([random.pick(HOLDERS)]);
        return {
          name: `takeBack ${[...gone]} ${now_ms}`,
          run: (store) => store.takeBack(PARTITIONS, { gone, now_ms }),
        };
      }
      case 12: {
        const due = { now_ms, again_ms: now_ms + random.below(20), limit: 1 + random.below(3) };
        return {
          name: `leaseEndpoints ${partition} ${JSON.stringify(due)}`,
          run: (store) => store.leaseEndpoints(partition, due),
        };
      }
      case 13: {
        if (random.chance(0.5)) return this.#commitNext();
        const before_ms = now_ms - random.below(12);
        return {
          name: `trimEvents ${account_id} ${before_ms}`,
          run: (store) => store.trimEvents({ account_id, partition }, before_ms),
        };
      }
      case 0: {
        const queue = random.pick(QUEUES);
        const id = this.#salted(random.pick(MEMBERS));
        const due = { now_ms, again_ms: now_ms + random.below(20), holder: random.pick(HOLDERS) };
        return {
          name: `lease ${queue} ${partition} ${id} ${JSON.stringify(due)}`,
          run: (store) => store.lease({ partition, queue }, id, due),
        };
      }
      case 1: {
        const id = this.#salted(random.pick(MEMBERS));
        const queue = random.pick(QUEUES);
        return { name: `remove ${queue} ${id}`, run: (store) => store.removeQueued({ partition, queue }, id) };
      }
      case 2: {
        const reminder = { member: this.#salted(random.pick(MEMBERS)), at_ms: now_ms + random.below(4) };
        return {
          name: `removeReminder ${JSON.stringify(reminder)}`,
          run: (store) => store.removeReminder(partition, reminder),
        };
      }
      case 3: {
        const numbers = [1 + random.below(30), 1 + random.below(30)];
        return { name: `removeTells ${numbers}`, run: (store) => store.removeFromOutbox(partition, numbers) };
      }
      case 4: {
        const name = this.#salted(random.pick(MEMBERS));
        const content = random.bytes(3);
        if (random.chance(0.4))
          return { name: `removeDeadLetter ${name}`, run: (store) => store.removeDeadLetter(partition, name) };
        return { name: `addDeadLetter ${name}`, run: (store) => store.addDeadLetter(partition, name, content) };
      }
      default:
        return this.#commitNext();
    }
  }

  #commitNext(): Command {
    const commit = this.#commit();
    return { name: `commit ${JSON.stringify(commit)}`, run: (store) => store.commit(commit) };
  }

  /** Learns what the store answered, so that later commits can follow on it. */
  note(place: EntityLocation, stored: StoredVersion | null | undefined): void {
    this.#fences.set(place, stored ? versionIn(stored) : NO_VERSION);
  }

  #commit(): Commit {
    const random = this.#random;
    const earlier = this.#sent.length > 0 && random.chance(0.15) ? random.pick(this.#sent.slice(-12)) : null;
    if (earlier !== null) return earlier;
    const place = random.pick(this.places);
    const fence = this.#fences.get(place) ?? NO_VERSION;
    const stale: StoredVersion =
      fence.version > 0 && random.chance(0.5)
        ? { ...fence, version: fence.version + 1 }
        : { ...fence, commit_id: 'ff'.repeat(12) };
    const commit: Commit = {
      place,
      commit_id: random.pick(WRITERS) + (++this.#commits).toString(16).padStart(12, '0'),
      expected: random.chance(0.1) ? stale : fence,
      mode: random.chance(0.15) ? 'end' : 'put',
      snapshot: random.bytes(random.below(6)),
      now_ms: this.#now_ms,
      fences: Array.from({ length: random.chance(0.2) ? 1 + random.below(2) : 0 }, () => this.#guard(place)),
      effects: Array.from({ length: random.below(6) }, () => this.#write(place)),
    };
    this.#sent.push(commit);
    return commit;
  }

  #guard(place: EntityLocation): Fence {
    const random = this.#random;
    const { account_id } = this.#accountOf(place);
    if (random.chance(0.25)) return { fence: 'open', id: this.#salted('thing') };
    if (random.chance(0.25)) return { fence: 'absent', collection: random.pick(['x', 'y']), id: random.pick(MEMBERS) };
    return random.chance(0.5)
      ? { fence: 'epoch', account_id, epoch: random.pick(LIFE_NAMES), value: random.below(2) }
      : { fence: 'reminder', member: this.#salted(random.pick(MEMBERS)), at_ms: this.#now_ms + random.below(4) };
  }

  #accountOf({ partition }: EntityLocation): Account {
    return this.accounts.find((account) => account.partition === partition) as Account;
  }

  #eventWrite(place: EntityLocation): StoredEffect {
    const random = this.#random;
    const { account_id, endpoints } = this.#accountOf(place);
    const endpoint_id = random.pick(endpoints);
    switch (random.below(12)) {
      case 0:
      case 1:
      case 2: {
        const topics = random.pick([[], [TYPES[0]], [TYPES[1]], TYPES]) as string[];
        const subscription = { topics, enablement: random.below(3) };
        return { effect: 'subscribe', account_id, endpoint_id, subscription };
      }
      case 3:
        return { effect: 'unsubscribe', account_id, endpoint_id };
      case 4:
        return { effect: 'set_subscriptions', account_id, become: random.pick(['closed', 'open', 'open', 'gone']) };
      case 5:
      case 6: {
        const at_ms = random.chance(0.3) ? null : this.#now_ms + random.below(9) - 2;
        return { effect: 'schedule_endpoint', at_ms, seen: random.below(14) };
      }
      case 7:
        return random.chance(0.7)
          ? { effect: 'trim_queue', before: random.below(20) }
          : random.pick([{ effect: 'delete_queue' }, { effect: 'delete_log', account_id }]);
      default: {
        const body = Buffer.from(`{"n":${random.below(9)}}`);
        return { effect: 'append_event', account_id, type: random.pick(TYPES), body, delivered: random.chance(0.85) };
      }
    }
  }

  #write(place: EntityLocation): StoredEffect {
    const random = this.#random;
    if (random.chance(this.#about_events ? 0.9 : 0.3)) return this.#eventWrite(place);
    const { account_id } = this.#accountOf(place);
    const collection = random.pick(['x', 'y']);
    const id = random.pick(MEMBERS);
    const value = random.bytes(4);
    const order = random.below(4);
    const member = this.#salted(id);
    switch (random.below(15)) {
      case 12:
        return { effect: 'close_fence', id: this.#salted('thing') };
      case 13:
        return { effect: 'delete_fence', id: this.#salted('thing') };
      case 0:
        return { effect: 'put_record', collection, id, value };
      case 1:
      case 2:
        return { effect: 'put_record', collection, id, value, order };
      case 3:
        return { effect: 'delete_record', collection, id };
      case 4:
        return random.chance(0.3)
          ? { effect: 'delete_collection', collection }
          : { effect: 'remove_from_index', owner: account_id, index: 'l', member };
      case 5:
        return {
          effect: 'append_event',
          account_id,
          type: random.pick(TYPES),
          body: Buffer.from(`{"n":${random.below(9)}}`),
          delivered: true,
        };
      case 6:
        return { effect: 'notify', body: value };
      case 7:
        return { effect: 'schedule_reminder', member, at_ms: this.#now_ms + random.below(4), body: value };
      case 8:
        return { effect: 'cancel_reminder', member };
      case 9:
        return { effect: 'add_to_index', owner: account_id, index: 'l', member, order };
      case 11:
        return { effect: 'delete_log', account_id };
      case 10:
        return { effect: 'bump_epoch', account_id, epoch: random.pick(LIFE_NAMES) };
      default:
        return {
          effect: 'enqueue',
          queue: random.pick(QUEUES),
          id: member,
          content: value,
          due_ms: this.#now_ms + random.below(4),
        };
    }
  }

  /** Sequences share one Redis: what is a partition's, not an entity's, carries the sequence's name. */
  #salted(name: string): string {
    return `${name}:${this.#salt}`;
  }

  /** Every read of the interface, over everything the commands could have touched. */
  reads(): Command[] {
    const random = this.#random;
    const reads: Command[] = [];
    const read = (name: string, run: Read) => reads.push({ name, run });
    const after = () => (random.chance(0.5) ? undefined : { order: random.below(4), id: random.pick(MEMBERS) });
    read('load', (store) => store.load(this.places));
    for (const place of this.places) {
      read('probe', (store) => store.probe(place));
      const requests: RecordQuery[] = ['x', 'y'].flatMap((collection) => [
        ...MEMBERS.map((id) => ({ collection, id })),
        ...[false, true].map((descending) => ({
          collection,
          range: { after: after(), descending, limit: 1 + random.below(6) },
        })),
        { collection, range: { limit: 100 } },
      ]);
      const queue = { after: random.below(12), limit: 1 + random.below(6) };
      requests.push({ collection: 'queue', queue }, { collection: 'queue', queue: { after: 0, limit: 1_000 } });
      const page = { before: random.chance(0.5) ? undefined : 1 + random.below(20), limit: 1 + random.below(5) };
      read(`inbox ${JSON.stringify(page)}`, (store) => store.listDeliveryQueue(place, page));
      read('inbox', (store) => store.listDeliveryQueue(place, { limit: 1_000 }));
      read(`facts ${JSON.stringify(requests)}`, (store) => store.query(place, requests));
    }
    for (const account of this.accounts) {
      const { partition } = account;
      read('epochs', (store) => store.epochs(account));
      for (const descending of [false, true]) {
        const from_id = after();
        const page = {
          after: from_id && { order: from_id.order, member: this.#salted(from_id.id) },
          descending,
          limit: 1 + random.below(6),
        };
        read(`list ${JSON.stringify(page)}`, (store) =>
          store.list({ owner: account.account_id, partition: account.partition }, 'l', page),
        );
        const bounds = ['-', '+', `${this.#now_ms - 20}`, `(${this.#now_ms - 20}-3`, `${this.#now_ms}`];
        const range = { from: random.pick(bounds), to: random.pick(bounds), descending, limit: 1 + random.below(50) };
        read(`events ${JSON.stringify(range)}`, (store) => store.events(account, range));
        const all = { from: descending ? '+' : '-', to: descending ? '-' : '+', descending, limit: 1_000 };
        read('events', (store) => store.events(account, all));
      }
      for (const type of [null, ...TYPES, 'run.published'])
        read(`logHead ${type}`, (store) => store.logHead(account, type));
      const due_ms = this.#now_ms + random.below(4);
      read(`dueReminders ${due_ms}`, (store) => store.dueReminders(partition, due_ms, 1_000));
      read('dueReminders 2', (store) => store.dueReminders(partition, this.#now_ms + 10, 2));
      const now_ms = this.#now_ms + random.below(9) - 4;
      for (const by_ms of [now_ms, Number.MAX_SAFE_INTEGER])
        read(`backlogs ${by_ms}`, async (store) =>
          (await store.backlogs(by_ms)).filter(({ partition: one }) => PARTITIONS.includes(one)),
        );
      const index = { owner: account.account_id, index: 'l' };
      const queues = ['reminders', 'endpoints', 'outbox', 'mails', 'jobs', index] as const;
      const asked = queues.map((queue, nth) => ({
        queue,
        partitions: nth % 2 === 0 ? [partition] : PARTITIONS,
      }));
      read('firstDue', async (store) =>
        (await store.firstDue(asked)).map((found) => found.sort((a, b) => a.partition - b.partition)),
      );
      const limit = 1 + random.below(3);
      const times = { after_ms: now_ms - 3, until_ms: now_ms + 3, limit };
      read('endpointsBetween', (store) => store.endpointsBetween(partition, times));
      for (const queue of ['event_logs', 'endpoints', ...QUEUES] as const)
        read(`listDue ${queue}`, (store) => store.listDue(queue, partition, { descending: false, limit }));
      read('tells', (store) => store.outbox(partition, 0, 10_000));
      const number = random.below(20);
      read(`tells ${number}`, (store) => store.outbox(partition, number, 3));
      read('listDeadLetters', async (store) =>
        (await store.listDeadLetters(partition)).sort((a, b) => (a.name < b.name ? -1 : 1)),
      );
    }
    return reads;
  }
}

/** Bytes of any class compare as text. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return `bytes:${Buffer.from(value).toString('hex')}`;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (inner === undefined ? [] : [[key, plain(inner)]])),
  );
}

t.test('faults A: the model store and real Redis agree on random commands', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const connection = await server.connect();
  const first_seed = Number(process.env.SIMULATION_SEED ?? 1);
  const verdicts = new Map<string, number>();
  let deliveries = 0;
  for (let seed = first_seed; seed < first_seed + SEQUENCES; seed++) {
    await connection.flushall();
    const notices = new CommitNotices();
    const [redis, model] = [new RedisStore(connection, () => 'epoch', { notices }), new ModelStore(() => 'epoch')];
    const script = new Script(seed);
    const delivered = { redis: '', model: '' };
    notices.onDeliveries((ids) => {
      delivered.redis = [...ids].sort().join();
    });
    model.onDeliveries = (ids) => {
      delivered.model = [...ids].sort().join();
      deliveries += 1;
    };
    const agree = async ({ name, run }: Command): Promise<boolean> => {
      Object.assign(delivered, { redis: '', model: '' });
      const [real, modelled] = [await run(redis), await run(model)];
      const found = real as { verdict?: string } | undefined;
      if (found?.verdict !== undefined) verdicts.set(found.verdict, (verdicts.get(found.verdict) ?? 0) + 1);
      const [a, b] = [JSON.stringify(sortKeys(plain(real))), JSON.stringify(sortKeys(plain(modelled)))];
      if (a !== b) t.fail(`seed ${seed}: ${name}`, { redis: a, model: b });
      // What a repeated commit delivered long ago is not known any more.
      const is_new = found?.verdict === 'applied' && delivered.redis !== delivered.model;
      if (is_new) t.fail(`seed ${seed}: ${name}`, { delivered });
      return a === b && !is_new;
    };
    for (let step = 0; step < COMMANDS; step++) {
      if (!(await agree(script.next()))) return;
      for (const place of script.places) script.note(place, (await model.load([place]))[0]);
      if (step % 30 === 0) for (const read of script.reads()) if (!(await agree(read))) return;
    }
    for (const read of script.reads()) if (!(await agree(read))) return;
  }
  t.comment(`seeds ${first_seed} to ${first_seed + SEQUENCES - 1}: ${JSON.stringify(Object.fromEntries(verdicts))}`);
  for (const verdict of ['applied', 'repeated', 'conflict', 'fenced'])
    t.ok((verdicts.get(verdict) ?? 0) > 20, `${verdict} was seen often`);
  t.ok(deliveries > 100, `${deliveries} commits made deliveries`);
});

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sortKeys(inner)]),
  );
}
