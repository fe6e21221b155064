import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import t from 'tap';
import type { Address } from '../../../actors/actor.js';
import type { Refusal } from '../../../src/domain/refusals.js';
import { encodeStored } from '../../../src/engine/store/codec.js';
import { keysOf } from '../../../src/engine/store/partitions.js';
import { ledgerOf } from '../../fixtures/ledger.js';
import { TestRedis } from '../../fixtures/redis.js';
import { ServerProcess } from '../../fixtures/server_process.js';
import { until } from '../../fixtures/until.js';

/** Fault 17 in its smallest form. More: `npm run spool -- faults functions`. */

const LEDGERS = 8;
const DONE_EACH = 8;
const AT_MS = 4_000_000_000_000;
const LIBRARIES = ['commit', 'workers'].map((file) =>
  readFileSync(new URL(`../../../src/engine/store/${file}.lua`, import.meta.url), 'utf8'),
);
/** What Redis does not run may change. */
const COMMENTS = /--\[\[.*?\]\]|--[^\n]*/gs;

t.test('the function library', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const process = await ServerProcess.open(t, { socket_path: server.socket_path });
  const { redis, store } = process;
  const flush = () => redis.call('FUNCTION', 'FLUSH', 'SYNC');

  await t.test(
    'fault 21: what is loaded under a name never changes, since processes of two releases load it',
    async (t) => {
      const loaded = LIBRARIES.map((library) => {
        const name = /^#!lua name=(\S+)/.exec(library)?.[1];
        return `${name} ${createHash('sha256').update(library.replaceAll(COMMENTS, '')).digest('hex').slice(0, 16)}`;
      });
      t.same(
        loaded,
        ['spool_commit_v1 eec6d472368311ab', 'spool_workers_v2 422b4a2a2812c08d'],
        'a changed library takes another number, for itself and its functions, and its line here',
      );
    },
  );

  await t.test('a lost library comes back with the next commits', async (t) => {
    const addresses = Array.from({ length: 20 }, (_, i) => ledgerOf(i));
    await flush();
    const replies = await Promise.all(addresses.map((address) => process.ask(address, { type: 'add', by: 1 })));
    t.same(
      replies,
      addresses.map(() => 1),
    );
  });

  await t.test('a lost library comes back with a lease of mails', async (t) => {
    await redis.zadd(keysOf(1).queue('mails').due, 5, 'mail');
    await redis.hset(keysOf(1).queue('mails').contents, 'mail', encodeStored({ sealed: 1 }));
    await flush();
    const lease = (now_ms: number, again_ms: number) =>
      store.lease({ partition: 1, queue: 'mails' }, 'mail', { now_ms, again_ms, holder: 'm' });
    t.same(await lease(5, 10), encodeStored({ sealed: 1 }));
    t.equal(await lease(9, 10), null, 'it is leased');
    t.ok(await lease(10, 20), 'and comes back');
  });

  await t.test('a lost library comes back with the removal of a reminder', async (t) => {
    await redis.zadd(keysOf(1).reminders, 5, 'member');
    await flush();
    await store.removeReminder(1, { member: 'member', at_ms: 4 });
    t.equal(await redis.zcard(keysOf(1).reminders), 1, 'a moved one stays');
    await store.removeReminder(1, { member: 'member', at_ms: 5 });
    t.equal(await redis.zcard(keysOf(1).reminders), 0);
  });

  await t.test('J-017 lost again and again under load: done or away, and each commit as a whole or not', async (t) => {
    const account_of = (partition: number) => ({ account_id: (ledgers[partition] as Address).id, partition });
    const ledgers = Array.from({ length: LEDGERS }, (_, partition) => ledgerOf(partition));
    const sum = ledgerOf(LEDGERS);
    const answers: { partition: number; answer: unknown }[] = [];
    process.relay.start();
    const loads = async () => Number(/function\|load:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
    const [loads_before, other] = [await loads(), await server.connect()];
    let is_over = false;
    const flushing = (async () => {
      while (!is_over) await other.call('FUNCTION', 'FLUSH', 'SYNC');
    })();
    await Promise.all(
      ledgers.map(async (address, partition) => {
        const { account_id } = account_of(partition);
        for (let done = 0; done < DONE_EACH; ) {
          const message = { type: 'everything' as const, account_id, to: sum, at_ms: AT_MS };
          const answer = await process.ask(address, message);
          answers.push({ partition, answer });
          if (answer === 'done') done += 1;
        }
      }),
    );
    is_over = true;
    await flushing;
    const done = answers.filter(({ answer }) => answer === 'done');
    const others = answers.filter(({ answer }) => answer !== 'done').map(({ answer }) => answer);
    t.same(
      [...new Set(others.map((answer) => (answer as Refusal).refused))].filter((code) => code !== 'UNAVAILABLE'),
      [],
    );
    t.ok((await loads()) - loads_before >= LEDGERS, 'it was loaded again and again');
    for (const [partition, address] of ledgers.entries()) {
      const applied = done.filter((one) => one.partition === partition).length;
      t.equal((await process.view(address)).n, applied, 'snapshot');
      t.equal(((await process.ask(address, { type: 'list_refs' })) as string[]).length, Math.min(1, applied), 'record');
      const range = { from: '-', to: '+', descending: false, limit: 100 };
      t.equal((await store.events(account_of(partition), range)).length, applied, 'events');
      t.equal((await store.dueReminders(partition, AT_MS, 9)).length, Math.min(1, applied), 'reminder');
    }
    await until('each outbox message is applied', async () => (await process.view(sum)).n >= done.length);
    t.equal((await process.view(sum)).n, done.length, 'once');
  });

  await t.test('a second version of the library loads beside the first', async (t) => {
    const [commits = ''] = LIBRARIES;
    const second = commits
      .replace('#!lua name=spool_commit_v1', '#!lua name=spool_commit_v2')
      .replaceAll(/'spool_(\w+)_v1'/g, "'spool_$1_v2'");
    t.equal(await redis.call('FUNCTION', 'LOAD', second), 'spool_commit_v2');
    const address = ledgerOf(9);
    t.equal(await process.ask(address, { type: 'add', by: 1 }), 1);
    t.equal(await redis.call('FUNCTION', 'LOAD', 'REPLACE', commits), 'spool_commit_v1');
    t.equal(await process.ask(address, { type: 'add', by: 1 }), 2);
  });
});
