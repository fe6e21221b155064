import t from 'tap';
import { ledgerOf } from '../../fixtures/ledger.js';
import { TestRedis } from '../../fixtures/redis.js';
import { RedisProxy } from '../../fixtures/redis_proxy.js';
import { ServerProcess } from '../../fixtures/server_process.js';
import { until } from '../../fixtures/until.js';

/** Longer than a test: what is answered sooner, no deadline has ended. */
const NEVER_MS = 600_000;
const AWAY = { refused: 'UNAVAILABLE', retry_after_s: Number };

t.test('J-017 Redis is killed under load: what was acknowledged is there after its restart', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const process = await ServerProcess.open(t, { socket_path: server.socket_path, ask_deadline_ms: NEVER_MS });
  const addresses = Array.from({ length: 16 }, (_, i) => ledgerOf(i));
  const heard = addresses.map(() => 0);
  const unknown = addresses.map(() => 0);
  let more = true;
  const clients = addresses.flatMap((address, i) =>
    Array.from({ length: 4 }, async () => {
      while (more) {
        const reply = await process.ask(address, { type: 'add', by: 1 });
        if (typeof reply === 'number') heard[i] = (heard[i] ?? 0) + 1;
        else {
          t.match(reply, AWAY);
          unknown[i] = (unknown[i] ?? 0) + 1;
          await new Promise((resolve) => setImmediate(resolve));
          if (!outage_is_over) return; // each client meets the outage once
        }
      }
    }),
  );
  let outage_is_over = false;
  const acknowledged = () => heard.reduce((sum, n) => sum + n, 0);
  await until('there is load', () => acknowledged() > 1_000);
  await server.kill();
  await until('the connection is gone', () => process.redis.status !== 'ready');

  t.match(await process.ask(ledgerOf(99), { type: 'add', by: 1 }), AWAY, 'refused at once');
  more = false;
  await Promise.all(clients);

  await server.start();
  outage_is_over = true;
  const address = ledgerOf(98);
  await until(
    'it works again by itself',
    async () => typeof (await process.ask(address, { type: 'add', by: 1 })) === 'number',
  );
  for (const [i, address] of addresses.entries()) {
    const { n } = await process.view(address);
    const least = heard[i] ?? 0;
    if (n < least || n > least + (unknown[i] ?? 0)) t.fail(`${least} acknowledged, ${unknown[i]} unknown, ${n} stored`);
  }
  t.ok(acknowledged() > 1_000);
});

t.test('while there is no connection', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const proxy = await RedisProxy.open(t, server.socket_path);
  const process = await ServerProcess.open(t, { socket_path: proxy.socket_path, ask_deadline_ms: NEVER_MS });
  const warm = Array.from({ length: 20 }, (_, i) => ledgerOf(i));
  await Promise.all(warm.map((address) => process.ask(address, { type: 'add', by: 1 })));
  proxy.cut();
  await until('the connection is gone', () => process.redis.status !== 'ready');
  const replies = await Promise.all(
    [...warm, ledgerOf(30)].map((address) => process.ask(address, { type: 'add', by: 1 })),
  );
  for (const reply of replies) t.match(reply, AWAY, 'entities in memory and others refuse at once');
  proxy.restore();
  const [first] = warm;
  if (first === undefined) throw new Error('none');
  await until('it works again by itself', async () => (await process.ask(first, { type: 'add', by: 0 })) === 1);
  for (const address of warm)
    t.equal(await process.ask(address, { type: 'add', by: 1 }), 2, 'nothing refused was applied');
});

t.test('while Redis does not answer', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const proxy = await RedisProxy.open(t, server.socket_path);
  const process = await ServerProcess.open(t, { socket_path: proxy.socket_path, ask_deadline_ms: 200 });
  const address = ledgerOf(1);
  t.equal(await process.ask(address, { type: 'add', by: 1 }), 1);
  proxy.hold();
  t.match(await process.ask(address, { type: 'add', by: 1 }), AWAY, 'an ask is answered at its deadline');
  const second = process.ask(address, { type: 'add', by: 10 });
  t.match(await second, AWAY, 'and so is one that waits behind it');
  proxy.release();
  await until('the entity works', async () => (await process.ask(address, { type: 'add', by: 100 })) === 112);
  t.equal((await process.view(address)).n, 112, 'what was late took effect once');
});
