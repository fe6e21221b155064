import type { Redis } from 'ioredis';
import t from 'tap';
import { makeId } from '../../../src/domain/ids.js';
import { SeededRandom } from '../../../src/engine/random/seeded_random.js';
import { CommitNotices } from '../../../src/engine/store/commit_notices.js';
import { NO_VERSION } from '../../../src/engine/store/entity_version.js';
import { RedisStore } from '../../../src/engine/store/redis_store.js';
import type { Commit, Store, StoredEffect } from '../../../src/engine/store/store.js';
import { TestRedis } from '../../fixtures/redis.js';

/** Two processes on one Redis, of which each knows what it saw last: who gets an event is decided when it is committed. */

const PARTITION = 7;
const ENDPOINTS = ['a', 'b', 'c'];
const RANDOM_COMMITS = 400;
const AT_ONCE = 6;

let drawn = 0;
const random = new SeededRandom(Number(process.env.SEED ?? 1));
const drawId = () => makeId({ partition: PARTITION, now_ms: ++drawn, random: random.bytes(5) });

/** An account with endpoints, and two stores with connections of their own. */
class Scene {
  readonly account_id = drawId();
  readonly endpoints = new Map(ENDPOINTS.map((name) => [name, drawId()]));
  /** What was said of deliveries by the last commit, per store. */
  readonly heard: string[] = ['', ''];
  readonly stores: RedisStore[];
  constructor(connections: readonly Redis[]) {
    this.stores = connections.map((connection, index) => {
      const notices = new CommitNotices();
      notices.onDeliveries((ids) => {
        this.heard[index] = this.#namesOf([...ids]);
      });
      return new RedisStore(connection, () => 'epoch', { notices });
    });
  }

  static async open(redis: TestRedis): Promise<Scene> {
    const connections = await Promise.all([redis.connect(), redis.connect()]);
    return new Scene(connections);
  }

  async commit(by: number, ...effects: StoredEffect[]): Promise<Commit> {
    const commit: Commit = {
      place: { address: { kind: 'k', id: drawId() }, partition: PARTITION },
      commit_id: (++drawn).toString(16).padStart(24, '0'),
      expected: NO_VERSION,
      mode: 'put',
      snapshot: new Uint8Array([1]),
      now_ms: 1_000,
      fences: [],
      effects,
    };
    const { verdict } = await (this.stores[by] as Store).commit(commit);
    if (verdict !== 'applied') throw new Error(`a commit was ${verdict}`);
    return commit;
  }

  subscribe(name: string, { enablement = 1, topics = [] as string[] } = {}): StoredEffect {
    return { effect: 'subscribe', ...this.#of(name), subscription: { topics, enablement } };
  }
  unsubscribe(name: string): StoredEffect {
    return { effect: 'unsubscribe', ...this.#of(name) };
  }
  become(become: 'closed' | 'open' | 'gone'): StoredEffect {
    return { effect: 'set_subscriptions', account_id: this.account_id, become };
  }
  event(body = '{}', { type = 'account.updated', delivered = true } = {}): StoredEffect {
    return { effect: 'append_event', account_id: this.account_id, type, body: Buffer.from(body), delivered };
  }

  /** Deliveries as `<number of the event>.<enablement>`, by endpoint. */
  async deliveries(name: string): Promise<string[]> {
    const place = { address: { kind: 'endpoint', id: this.endpoints.get(name) as string }, partition: PARTITION };
    const entries = await (this.stores[0] as Store).listDeliveryQueue(place, { limit: 10_000 });
    return entries.reverse().map(({ sequence, enablement }) => `${sequence}.${enablement}`);
  }

  #of(name: string) {
    return { account_id: this.account_id, endpoint_id: this.endpoints.get(name) as string };
  }
  #namesOf(ids: string[]): string {
    return [...this.endpoints].flatMap(([name, id]) => (ids.includes(id) ? name : [])).join();
  }
}

const redis = new TestRedis();
t.before(() => redis.start());
t.teardown(() => redis.stop());

t.test(
  'F-032 F-038 who knows nothing, or something old, misses nobody and delivers to nobody who has gone',
  async (t) => {
    const scene = await Scene.open(redis);
    await scene.commit(1, scene.event());
    await scene.commit(0, scene.subscribe('a'));
    await scene.commit(1, scene.event());
    t.strictSame(await scene.deliveries('a'), ['2.1'], 'subscribed by the other');
    t.equal(scene.heard[1], 'a');
    await scene.commit(0, scene.unsubscribe('a'));
    await scene.commit(1, scene.event());
    t.strictSame(await scene.deliveries('a'), ['2.1'], 'unsubscribed by the other');
    await scene.commit(0, scene.subscribe('a', { enablement: 2, topics: ['contact.created'] }));
    await scene.commit(1, scene.event());
    await scene.commit(1, scene.event('{}', { type: 'contact.created' }));
    t.strictSame(await scene.deliveries('a'), ['2.1', '5.2'], 'subscribed again, to less');
    await scene.commit(0, scene.subscribe('a', { enablement: 3 }));
    await scene.commit(1, scene.event('{}', { delivered: false }));
    await scene.commit(1, scene.event());
    t.strictSame(await scene.deliveries('a'), ['2.1', '5.2', '7.3'], 'what is delivered to nobody');
  },
);

t.test('F-032 F-034 an event in the commit that subscribes: what stands before it counts', async (t) => {
  const scene = await Scene.open(redis);
  await scene.commit(0, scene.subscribe('b'));
  await scene.commit(1, scene.event(), scene.subscribe('a'), scene.event(), scene.unsubscribe('b'), scene.event());
  t.strictSame(await scene.deliveries('a'), ['2.1', '3.1']);
  t.strictSame(await scene.deliveries('b'), ['1.1', '2.1']);
  await scene.commit(0, scene.event());
  await scene.commit(1, scene.event());
  t.strictSame(await scene.deliveries('a'), ['2.1', '3.1', '4.1', '5.1']);
  t.strictSame(await scene.deliveries('b'), ['1.1', '2.1']);
});

t.test('F-034 F-037 F-040 closed nobody gets anything, open those that were there, gone nobody', async (t) => {
  const scene = await Scene.open(redis);
  await scene.commit(0, scene.subscribe('a'), scene.subscribe('b'));
  await scene.commit(1, scene.event());
  await scene.commit(0, scene.become('closed'), scene.event());
  await scene.commit(1, scene.event());
  await scene.commit(1, scene.subscribe('c'), scene.unsubscribe('b'), scene.event());
  t.strictSame(await scene.deliveries('a'), ['1.1']);
  await scene.commit(0, scene.become('open'), scene.event());
  await scene.commit(1, scene.event());
  t.strictSame(await scene.deliveries('a'), ['1.1', '5.1', '6.1']);
  t.strictSame(await scene.deliveries('b'), ['1.1']);
  t.strictSame(await scene.deliveries('c'), ['5.1', '6.1']);
  await scene.commit(0, scene.become('gone'));
  await scene.commit(1, scene.event());
  t.equal((await scene.deliveries('a')).length, 3);
  // As it stood before there was anybody, and yet not the same: who knew that must not be believed.
  await scene.commit(1, scene.subscribe('b', { enablement: 4 }));
  await scene.commit(0, scene.event());
  await scene.commit(1, scene.become('gone'), scene.subscribe('c', { enablement: 5 }), scene.event());
  await scene.commit(0, scene.event());
  t.strictSame(await scene.deliveries('b'), ['1.1', '8.4']);
  t.strictSame(await scene.deliveries('c'), ['5.1', '6.1', '9.5', '10.5']);
  t.equal((await scene.deliveries('a')).length, 3);
});

t.test('F-032 a life is the one at the very place in the commit', async (t) => {
  const scene = await Scene.open(redis);
  const raise: StoredEffect = { effect: 'bump_epoch', account_id: scene.account_id, epoch: 'account' };
  await scene.commit(0, scene.subscribe('a'), scene.event(), raise, scene.event());
  const place = { address: { kind: 'endpoint', id: scene.endpoints.get('a') as string }, partition: PARTITION };
  const entries = await (scene.stores[0] as Store).listDeliveryQueue(place, { limit: 10 });
  t.strictSame(
    entries.map(({ sequence, account_epoch }) => [sequence, account_epoch]),
    [
      [2, 1],
      [1, 0],
    ],
  );
});

t.test(
  'F-032 F-038 however commits of two processes fall together, each event goes to those of its place in the log',
  async (t) => {
    t.comment(`seed ${process.env.SEED ?? 1}`);
    const scene = await Scene.open(redis);
    const TOPICS = ['account.updated', 'contact.created'];
    const draw = (): StoredEffect[] => {
      const name = random.pick(ENDPOINTS);
      const events = Array.from({ length: 1 + random.below(2) }, () =>
        scene.event('{}', { type: random.pick(TOPICS) }),
      );
      const subscription = { enablement: 1 + random.below(9), topics: random.pick([[], ['account.updated'], TOPICS]) };
      const note = (write: StoredEffect): StoredEffect[] => [
        write,
        scene.event(JSON.stringify(write), { type: 'note', delivered: false }),
      ];
      const roll = random.below(20);
      if (roll < 5) return [...note(scene.subscribe(name, subscription)), ...(random.chance(0.5) ? events : [])];
      if (roll < 9) return [...(random.chance(0.5) ? events : []), ...note(scene.unsubscribe(name))];
      if (roll < 12) return [...note(scene.become(random.pick(['closed', 'open', 'open', 'gone']))), ...events];
      return events;
    };
    for (let commits = 0; commits < RANDOM_COMMITS; commits += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, () => scene.commit(random.below(2), ...draw())));

    // The log has everything in its order: from it follows who must have got what.
    const place = { account_id: scene.account_id, partition: PARTITION };
    const log = await (scene.stores[0] as Store).events(place, {
      from: '-',
      to: '+',
      descending: false,
      limit: 10_000,
    });
    const expected = new Map([...scene.endpoints.values()].map((id) => [id, [] as string[]]));
    const present = new Map<string, { topics: readonly string[]; enablement: number }>();
    let closed = false;
    let made = 0;
    for (const { id, type, body } of log) {
      if (type === 'note') {
        const write = JSON.parse(Buffer.from(body).toString()) as StoredEffect;
        if (write.effect === 'subscribe') present.set(write.endpoint_id, write.subscription);
        if (write.effect === 'unsubscribe') present.delete(write.endpoint_id);
        if (write.effect !== 'set_subscriptions') continue;
        closed = write.become === 'closed';
        if (write.become === 'gone') present.clear();
      } else if (!closed) {
        for (const [endpoint_id, { topics, enablement }] of present) {
          if (topics.length > 0 && !topics.includes(type)) continue;
          expected.get(endpoint_id)?.push(`${id.split('-')[1]}.${enablement}`);
          made += 1;
        }
      }
    }
    for (const [name, id] of scene.endpoints) t.strictSame(await scene.deliveries(name), expected.get(id), name);
    t.ok(made > 100 && log.length > RANDOM_COMMITS / 2, `${made} deliveries of ${log.length} events`);
  },
);
