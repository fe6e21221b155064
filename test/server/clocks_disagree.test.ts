import t from 'tap';
import { Storage } from '../driver/storage.js';
import { TestSpool } from '../fixtures/spool.js';

const DAY_S = 24 * 3_600;

t.test('fault 22: D-032 H-022 a start beside a Redis whose clock is days ahead erases nothing', async (t) => {
  const { proxy, env } = await Storage.open(t);
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', ...env });
  t.teardown(() => spool.end());
  const email = 'clock@x.test';
  const standing = () => spool.operator.ask<{ status: string }>('GET', `/ops/accounts/${email}`);
  const healthProblems = async () =>
    (await spool.operator.ask<{ health_problems: { name: string }[] }>('GET', '/ops/overview')).health_problems;
  await (await spool.signIn(email)).app.ask('DELETE', '/me');

  await spool.server.close();
  proxy.moveClock(40 * DAY_S);
  await spool.open();
  await spool.operator.advanceClock(0);
  t.match(await standing(), { status: 'deleted' });
  t.ok((await healthProblems()).some(({ name }) => name === 'clocks_apart'));
  await spool.operator.advanceClock(2 * 60_000);
  t.match(await standing(), { status: 'deleted' }, 'nor when it is looked at again');
  const { app } = await spool.signIn(email);
  t.equal((await app.send('POST', '/me/restore')).status, 204, 'it can be had back');
  const { items } = await app.ask<{ items: { type: string }[] }>('GET', '/events?limit=100');
  t.match(items.map(({ type }) => type).sort(), ['account.created', 'account.deleted', 'account.restored']);
  await app.ask('DELETE', '/me');

  await spool.server.close();
  proxy.moveClock(0);
  await spool.open();
  t.notOk((await healthProblems()).some(({ name }) => name === 'clocks_apart'));
  await spool.operator.advanceClock(50 * DAY_S * 1_000);
  t.match(await standing(), { status: 'erased' }, 'a clock that was moved on purpose counts');
});
