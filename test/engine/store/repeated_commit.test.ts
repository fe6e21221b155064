import t from 'tap';
import { NO_VERSION, type StoredVersion, versionAfter } from '../../../src/engine/store/entity_version.js';
import { RedisStore } from '../../../src/engine/store/redis_store.js';
import type { StoredEffect } from '../../../src/engine/store/store.js';
import { ledgerOf } from '../../fixtures/ledger.js';
import { commitId, commitOf, drawWriter } from '../../fixtures/raw_commit.js';
import { TestRedis } from '../../fixtures/redis.js';

const TELL: StoredEffect = { effect: 'notify', body: Buffer.from('body') };

t.test('repeated commits', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const store = new RedisStore(await server.connect(), () => 'epoch');

  /** Lets so many other writers commit on top of a fence. */
  const others = async (address: ReturnType<typeof ledgerOf>, from: StoredVersion, writers: number) => {
    let fence = from;
    for (let i = 0; i < writers; i++) {
      const commit_id = commitId(drawWriter(), 1);
      const verdict = await store.commit(commitOf(address, 100 + i, { commit_id, expected: fence }));
      if (verdict.verdict !== 'applied') throw new Error(verdict.verdict);
      fence = versionAfter(fence, commit_id);
    }
    return fence;
  };

  await t.test('the same commit sent twice is applied once', async (t) => {
    const address = ledgerOf(1);
    const commit = commitOf(address, 1, { commit_id: commitId(drawWriter(), 1), effects: [TELL] });
    const both = await Promise.all([store.commit(commit), store.commit(commit)]);
    t.same(both, [
      { verdict: 'applied', version: 1 },
      { verdict: 'repeated', version: 1 },
    ]);
    t.equal((await store.outbox(1, 0, 10)).length, 1);
  });

  await t.test('a commit is known again after seven other writers', async (t) => {
    const address = ledgerOf(2);
    const commit = commitOf(address, 1, { commit_id: commitId(drawWriter(), 1), effects: [TELL] });
    t.same(await store.commit(commit), { verdict: 'applied', version: 1 });
    const fence = await others(address, versionAfter(NO_VERSION, commit.commit_id), 7);
    t.same(await store.commit(commit), { verdict: 'repeated', version: 1 }, 'with the version that it made');
    const { earlier: _, ...version } = fence;
    t.same(await store.probe(commit.place), version, 'the others are as they were');
    t.equal((await store.outbox(2, 0, 10)).length, 1);
  });

  await t.test('a commit that the ring may have forgotten is never applied, and never said to be new', async (t) => {
    const address = ledgerOf(3);
    const commit = commitOf(address, 1, { commit_id: commitId(drawWriter(), 1), effects: [TELL] });
    await store.commit(commit);
    await others(address, versionAfter(NO_VERSION, commit.commit_id), 8);
    t.same(await store.commit(commit), { verdict: 'forgotten', version: 9 });
    t.equal((await store.outbox(3, 0, 10)).length, 1);
  });

  await t.test('a commit that came too late is a conflict while the ring can tell', async (t) => {
    const address = ledgerOf(4);
    await others(address, NO_VERSION, 7);
    const late = commitOf(address, 1, { commit_id: commitId(drawWriter(), 1) });
    t.same(await store.commit(late), { verdict: 'conflict', version: 7 });
  });

  await t.test('an earlier commit of a writer that went on is a conflict', async (t) => {
    const address = ledgerOf(5);
    const writer = drawWriter();
    const first = commitOf(address, 1, { commit_id: commitId(writer, 1) });
    await store.commit(first);
    const expected = versionAfter(NO_VERSION, first.commit_id);
    await store.commit(commitOf(address, 2, { commit_id: commitId(writer, 2), expected }));
    t.same(await store.commit(first), { verdict: 'conflict', version: 2 });
  });

  await t.test('the same version under another commit id is a conflict', async (t) => {
    const address = ledgerOf(6);
    await store.commit(commitOf(address, 1, { commit_id: commitId(drawWriter(), 1) }));
    const expected = versionAfter(NO_VERSION, commitId(drawWriter(), 1));
    const commit = commitOf(address, 2, { commit_id: commitId(drawWriter(), 1), expected });
    t.same(await store.commit(commit), { verdict: 'conflict', version: 1 });
  });

  await t.test('an ended entity still knows its commits and keeps counting', async (t) => {
    const address = ledgerOf(7);
    const end = commitOf(address, 1, { commit_id: commitId(drawWriter(), 1), mode: 'end' });
    t.same(await store.commit(end), { verdict: 'applied', version: 1 });
    t.same(await store.commit(end), { verdict: 'repeated', version: 1 });
    const fence = await others(address, versionAfter(NO_VERSION, end.commit_id), 1);
    t.equal(fence.version, 2);
  });
});
