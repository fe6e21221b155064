import t from 'tap';
import {
  type Decision,
  defineActor,
  type Effect,
  FURTHER_READS_MAX,
  type Read,
  type RecordQuery,
} from '../../../actors/actor.js';
import { TestRedis } from '../../fixtures/redis.js';
import { ServerProcess } from '../../fixtures/server_process.js';

type Chain = { changes: number };
type Link = { next: string | null };
const address = (id: string) => ({ kind: 'chain', id });

/** Follows records from one to the next, as far as they lead. */
function linksFrom(first: string, read: Pick<Read, 'record'>): string[] {
  const ids = [first];
  for (let id: string | null = first; id !== null; ) {
    id = read.record<Link>('links', id)?.next ?? null;
    if (id !== null) ids.push(id);
  }
  return ids;
}

const record = (id: string): RecordQuery => ({ collection: 'links', id });
const put = (id: string, next: string | null): Effect => ({
  effect: 'put_record',
  collection: 'links',
  id,
  value: { next },
});
const walking = {
  records: ({ first }: { first: string }) => [record(first)],
  further: ({ first }: { first: string }, _: Chain | null, read: Read) => linksFrom(first, read).map(record),
};

/** Records that name others. */
const chain = defineActor<Chain>()({
  kind: 'chain',
  home: 'hash',
  schema: 1,
  messages: {
    put: (state, { links }: { links: Record<string, string | null> }): Decision<Chain, 'done'> => ({
      reply: 'done',
      next: { changes: (state?.changes ?? 0) + 1 },
      effects: Object.entries(links).map(([id, next]) => put(id, next)),
    }),
    read: {
      reads: true,
      ...walking,
      decide: (_, { first }: { first: string }, facts) => ({ reply: linksFrom(first, facts).join('') }),
    },
    /** The same in its batch, which a read need not wait for. */
    read_in_turn: {
      ...walking,
      decide: (_, { first }: { first: string }, facts) => ({ reply: linksFrom(first, facts).join('') }),
    },
    /** Adds a link at the end. */
    grow: {
      ...walking,
      decide(state, { first, by }: { first: string; by: string }, facts): Decision<Chain, string> {
        const ids = linksFrom(first, facts);
        const effects = [put(ids.at(-1) as string, by), put(by, null)];
        return { reply: [...ids, by].join(''), next: { changes: (state?.changes ?? 0) + 1 }, effects };
      },
    },
  },
});

t.test('a message gets the records that others name', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const open = (trust_memory: boolean) =>
    ServerProcess.open(t, { socket_path: server.socket_path, kinds: [chain], trust_memory });
  const [one, other] = [await open(false), await open(false)];
  const ask = (process: ServerProcess, id: string, message: { type: string; [name: string]: unknown }) =>
    process.runtime.ask(address(id), message, []);

  await t.test('as far as they lead, of those that a batch has written too', async (t) => {
    await ask(one, '1', { type: 'put', links: { a: 'b', b: 'c', c: null } });
    t.equal(await ask(other, '1', { type: 'read', first: 'a' }), 'abc');
    const grown = await Promise.all([
      ask(one, '1', { type: 'read_in_turn', first: 'a' }),
      ask(one, '1', { type: 'grow', first: 'a', by: 'd' }),
      ask(one, '1', { type: 'read_in_turn', first: 'b' }),
      ask(one, '1', { type: 'put', links: { d: 'x', x: 'y', y: null } }),
      ask(one, '1', { type: 'read_in_turn', first: 'b' }),
    ]);
    t.same(grown, ['abc', 'abcd', 'bcd', 'done', 'bcdxy']);
    t.equal(await ask(other, '1', { type: 'read', first: 'c' }), 'cdxy');
  });

  await t.test('two processes that write them never see half of it', async (t) => {
    await ask(one, '2', { type: 'put', links: { a: null } });
    const names = ['b', 'c', 'd'];
    await Promise.all(names.map((by, n) => ask(n % 2 === 0 ? one : other, '2', { type: 'grow', first: 'a', by })));
    const read = (await ask(one, '2', { type: 'read', first: 'a' })) as string;
    t.same([...read].sort(), ['a', 'b', 'c', 'd']);
  });

  await t.test('what asks for more and more is a bug of that message alone', async (t) => {
    const letters = [...'abcdefgh'];
    t.ok(letters.length > FURTHER_READS_MAX + 1);
    const links = Object.fromEntries(letters.map((id, at) => [id, letters[at + 1] ?? null]));
    await ask(one, '3', { type: 'put', links });
    t.match(await ask(other, '3', { type: 'read', first: 'a' }), { refused: 'INTERNAL' });
    t.equal(await ask(other, '3', { type: 'read', first: 'e' }), 'efgh');
  });

  await t.test('memory that is trusted answers at once', async (t) => {
    const alone = await open(true);
    await ask(alone, '4', { type: 'put', links: { a: 'b', b: null } });
    t.equal(await ask(alone, '4', { type: 'read', first: 'a' }), 'ab');
  });
});
