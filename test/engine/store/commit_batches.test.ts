import { setTimeout as pause, setImmediate as tick } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import t from 'tap';
import { SeededRandom } from '../../../src/engine/random/seeded_random.js';
import { CommitBatches } from '../../../src/engine/store/commit_batches.js';
import type { MsgpackWriter } from '../../../src/engine/store/msgpack_writer.js';
import { StoreUnavailable } from '../../../src/engine/store/store.js';

const redis = { status: 'ready' } as Redis;

/** One byte says which commit it is. */
const commit = (name: number) => (out: MsgpackWriter) => {
  out.number(name);
  return [`key${name}`];
};

/** A server whose calls end when the test says so. */
class Server {
  readonly sizes: number[] = [];
  readonly #ends: ((error?: Error) => void)[] = [];

  readonly batches = new CommitBatches(redis, (_keys, commits) => {
    this.sizes.push(commits.length);
    const said = [...commits].flatMap((name) => ['ok', name]);
    return new Promise((resolve, reject) => {
      this.#ends.push((error) => (error === undefined ? resolve(said) : reject(error)));
    });
  });

  get under_way(): number {
    return this.#ends.length;
  }

  /** Ends the oldest call. */
  async end(error?: Error): Promise<void> {
    this.#ends.shift()?.(error);
    await tick();
    await tick();
  }
}

t.test('what is made at once is one call, and what is made while two are under way is the next', async (t) => {
  const server = new Server();
  const sent = [1, 2, 3].map((name) => server.batches.send(0, commit(name)));
  await tick();
  await tick();
  t.same(server.sizes, [3]);
  for (const name of [4, 5]) {
    sent.push(server.batches.send(0, commit(name)));
    await tick();
    await tick();
  }
  sent.push(server.batches.send(0, commit(6)));
  await tick();
  t.same(server.sizes, [3, 1], 'two calls are under way');
  await server.end();
  t.same(server.sizes, [3, 1, 2]);
  await server.end();
  await server.end();
  t.same(
    await Promise.all(sent),
    [1, 2, 3, 4, 5, 6].map((name) => ['ok', name]),
  );
});

t.test('while calls take long, more of them are under way, and again fewer when they do not', async (t) => {
  const server = new Server();
  const sent = [server.batches.send(0, commit(1))];
  await tick();
  await pause(12);
  await server.end();
  for (let name = 2; name < 22; name++) {
    sent.push(server.batches.send(0, commit(name)));
    await tick();
    await tick();
  }
  const slow = server.under_way;
  t.ok(slow >= 8 && slow <= 16, `${slow} calls are under way`);
  while (server.under_way > 0) await server.end();
  await Promise.all(sent);
  sent.push(server.batches.send(0, commit(40)));
  await tick();
  await server.end();
  for (let name = 41; name < 50; name++) {
    sent.push(server.batches.send(0, commit(name)));
    await tick();
    await tick();
  }
  t.ok(server.under_way < slow, `${server.under_way} calls are under way`);
  while (server.under_way > 0) await server.end();
  t.equal((await Promise.all(sent)).length, 31);
});

t.test('a call that fails leaves its commits open, and refuses those that wait as not sent', async (t) => {
  const server = new Server();
  const sent: Promise<unknown>[] = [];
  for (const name of [1, 2, 3]) {
    sent.push(server.batches.send(0, commit(name)).catch((error) => error));
    await tick();
    await tick();
  }
  t.equal(server.under_way, 2);
  await server.end(new StoreUnavailable('broken', { sent: true }));
  t.match(await sent[0], { sent: true });
  t.match(await sent[2], { sent: false });
  await server.end();
  t.same(await sent[1], ['ok', 2]);
  const later = server.batches.send(0, commit(9));
  await tick();
  await server.end();
  t.same(await later, ['ok', 9], 'the next one goes');
});

t.test('each commit hears what was said of itself, whatever calls take', async (t) => {
  const random = new SeededRandom(21);
  const batches = new CommitBatches(redis, async (_keys, commits) => {
    await pause(random.below(8));
    return [...commits].flatMap((name) => ['ok', name]);
  });
  const sent: Promise<unknown>[] = [];
  for (let n = 0; n < 600; n++) {
    const name = random.below(120);
    sent.push(batches.send(0, commit(name)).then((said) => t.same(said, ['ok', name])));
    if (random.below(4) === 0) await pause(random.below(3));
  }
  await Promise.all(sent);
});
