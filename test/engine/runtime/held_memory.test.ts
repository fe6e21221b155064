import t from 'tap';
import { type Decision, defineActor, type Read, type RecordQuery } from '../../../actors/actor.js';
import type { Store } from '../../../src/engine/store/store.js';
import { ledgerOf } from '../../fixtures/ledger.js';
import { TestRedis } from '../../fixtures/redis.js';
import { ServerProcess } from '../../fixtures/server_process.js';

/** What a process does with memory that another process may have left behind. */

type Shelf = { on_top: string };
const query = (id: string): RecordQuery => ({ collection: 'books', id });

function onTop({ on_top }: Shelf, read: Pick<Read, 'record'>): string {
  const book = read.record<{ id: string }>('books', on_top);
  if (book === undefined) throw new Error('the record that the state names is not there');
  return book.id;
}

/** One record, which its state names: another one each time. */
const shelf = defineActor<Shelf>()({
  kind: 'shelf',
  home: 'hash',
  schema: 1,
  messages: {
    put: (state, { id }: { id: string }): Decision<Shelf, 'done'> => ({
      reply: 'done',
      next: { on_top: id },
      effects: [
        { effect: 'put_record', collection: 'books', id, value: { id } },
        ...(state === null ? [] : [{ effect: 'delete_record' as const, collection: 'books', id: state.on_top }]),
      ],
    }),
    look: {
      records: (_: object, state: Shelf | null) => (state === null ? [] : [query(state.on_top)]),
      further: (_: object, state: Shelf | null, read: Read) => (state === null ? [] : [query(onTop(state, read))]),
      decide: (state, _, facts): Decision<Shelf, string> => ({ reply: onTop(state as Shelf, facts) }),
    },
  },
});

/** A store that counts what it is asked. */
function counting(asked: Record<'load' | 'probe' | 'commit', number>): (store: Store) => Store {
  return (store) =>
    new Proxy(store, {
      get(of, name: keyof Store) {
        const member = of[name] as (...args: unknown[]) => unknown;
        if (name in asked) asked[name as keyof typeof asked] += 1;
        return typeof member === 'function' ? member.bind(of) : member;
      },
    });
}

t.test('memory of a process that is not alone', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const { socket_path } = server;

  await t.test('a commit proves what it was decided on, a read asks once', async (t) => {
    const asked = { load: 0, probe: 0, commit: 0 };
    const process = await ServerProcess.open(t, { socket_path, trust_memory: false, wrap: counting(asked) });
    const address = ledgerOf(1);
    await process.ask(address, { type: 'add', by: 1 });
    t.same(asked, { load: 1, probe: 0, commit: 1 });
    await process.ask(address, { type: 'add', by: 1 });
    t.same(asked, { load: 1, probe: 0, commit: 2 });
    t.equal((await process.view(address)).n, 2);
    t.same(asked, { load: 1, probe: 1, commit: 2 });
  });

  await t.test('what looks like a fault beside records of another process is decided again', async (t) => {
    const open = () => ServerProcess.open(t, { socket_path, trust_memory: false, kinds: [shelf] });
    const [one, other] = [await open(), await open()];
    const address = { kind: 'shelf', id: '1' };
    for (const id of ['a', 'b', 'c']) {
      await one.runtime.ask(address, { type: 'put', id });
      t.equal(await other.runtime.ask(address, { type: 'look' }), id);
    }
  });
});
