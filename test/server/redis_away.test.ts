import { join } from 'node:path';
import t from 'tap';
import { redisProcessesIn } from '../../src/engine/process/redis_process.js';
import { Servers } from '../driver/servers.js';
import { until } from '../fixtures/until.js';

/** Renames are kept under way by this many at once. */
const WRITERS = 16;

t.test('J-017 faults 2 and 7: Redis killed under load', async (t) => {
  const servers = await Servers.open(t, { storage: 'own' });
  const { folder, operator } = servers;
  const { access_token } = await servers.signIn('away@x.test');
  const app = servers.client(access_token);

  const answered: string[] = [];
  const refusals: { status: number; retry_after: string | undefined }[] = [];
  let stop = false;
  let count = 0;
  const writing = Promise.all(
    Array.from({ length: WRITERS }, async () => {
      const client = servers.client(access_token);
      while (!stop) {
        const name = `Name ${count++}`;
        const answer = await client.send('PATCH', '/me', { body: { name } });
        if (answer.status === 200) answered.push(name);
        else refusals.push({ status: answer.status, retry_after: answer.headers['retry-after'] });
      }
      client.close();
    }),
  );

  await t.test('what was answered is there afterwards, and service comes back by itself', async (t) => {
    const redis = () => redisProcessesIn(join(folder, 'redis'));
    for (let round = 0; round < 3; round++) {
      const before = answered.length;
      await until('writes are answered', () => answered.length >= before + 200);
      const [pid] = redis();
      process.kill(pid as number, 'SIGKILL');
      await until('another Redis runs', () => redis().some((other) => other !== pid));
    }
    // Killed as often as it comes, until the outage is one that requests notice.
    await until('requests are refused', () => {
      for (const pid of redis()) process.kill(pid, 'SIGKILL');
      return refusals.length >= WRITERS;
    });
    const outage = answered.length;
    await until('writes are answered again', () => answered.length > outage + 50, 20_000);
    stop = true;
    await writing;
    const events = [];
    let after = '0';
    for (;;) {
      const page = await app.ask<{ items: { type: string }[]; cursor: string }>(
        'GET',
        `/events?type=account.updated&limit=100&after=${after}`,
      );
      if (page.items.length === 0) break;
      events.push(...page.items);
      after = page.cursor;
    }
    t.ok(answered.length >= 650);
    t.ok(events.length >= answered.length, `${answered.length} answered, ${events.length} recorded`);
    t.ok(events.length <= answered.length + refusals.length, 'nothing was done twice');
  });

  await t.test('refusals in the outage are 503 with Retry-After', async (t) => {
    t.ok(refusals.length > 0);
    for (const { status, retry_after } of refusals)
      if (status !== 503 || retry_after === undefined) t.fail(`${status} ${retry_after}`);
  });

  await t.test('readiness follows', async (t) => {
    await until('it is ready', async () => (await operator.send('GET', '/readyz')).status === 200);
    t.match(await app.ask('GET', '/me'), { email: 'away@x.test' });
  });
});
