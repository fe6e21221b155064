import { randomUUID } from 'node:crypto';
import t from 'tap';
import { runCli } from '../../fixtures/cli.js';
import { TestEndpoint } from '../../fixtures/endpoints.js';
import { Receiver } from '../../fixtures/receiver.js';
import { TestSpool } from '../../fixtures/spool.js';
import { until } from '../../fixtures/until.js';

t.test('spool endpoints, spool devices seen, spool server', async (t) => {
  const receiver = await Receiver.start();
  t.teardown(() => receiver.end());
  const spool = await TestSpool.start(receiver.env);
  t.teardown(() => spool.end());
  const env = { OPS_URL: `http://127.0.0.1:${spool.server.ports.operator}`, DATA_DIR: spool.folder };
  const cli = (...args: string[]) => runCli(args, env);
  const { app } = await spool.signIn('ann@x.test');

  await t.test('why an endpoint gets nothing', async (t) => {
    t.match(await cli('endpoints', 'list', 'ann@x.test'), { code: 0, out: 'It has no endpoints.\n' });
    t.match(await cli('endpoints', 'failing'), { code: 0, out: 'None.\n' });
    const broken = await TestEndpoint.open(app, receiver.on('/broken', 500));
    await app.ask('PATCH', '/me', { name: 'Ann' });
    await receiver.count('/broken', 1);
    await until('the failure is known', async () => {
      const { failing } = await spool.operator.ask<{ failing: unknown[] }>('GET', '/ops/endpoints');
      return failing.length > 0;
    });
    t.match((await cli('endpoints', 'failing')).out, new RegExp(`^failing +${broken.id} +1 in a row +500$`, 'm'));
    await broken.set('paused');
    const shown = await cli('endpoints', 'show', broken.id);
    t.match(shown, { code: 0, out: /paused/ });
    t.match(shown.out, /^account\.updated +pending +1 +500$/m);
    t.match(
      (await cli('endpoints', 'list', 'ann@x.test')).out,
      new RegExp(`^${broken.id} +localhost:\\d+ +paused `, 'm'),
    );
    t.match(await cli('endpoints', 'show', randomUUID()), { code: 1, errors: /NOT_FOUND/ });
  });

  await t.test('which device has gone silent', async (t) => {
    t.match(await cli('devices', 'seen'), { code: 0, out: /^None\.\n\nWatched since / });
    const { device_id } = await spool.boundDevice(app);
    t.match((await cli('devices', 'seen')).out, new RegExp(`^${device_id} +personal +\\d+ s +none +0 +0$`, 'm'));
    t.match(await cli('devices', 'seen', '--recording'), { code: 0, out: /^None\./ });
    t.match(await cli('devices', 'seen', '--silent', 'long'), { code: 1, errors: /whole minutes/ });
  });

  await t.test('what is wrong now', async (t) => {
    const well = await cli('server', 'check');
    t.match(well, { code: 0, out: /^storage +answers in [\d.]+ ms$/m }, well.out);
    t.match(well.out, /No health problems\.\n$/);
    await spool.server.services.store.addDeadLetter(7, 'outbox:1', Buffer.from([0xf6]));
    await until(
      'it is seen',
      async () => {
        const path = `/ops/overview?after_ms=${Date.now()}`;
        const { health_problems } = await spool.operator.ask<{ health_problems: unknown[] }>('GET', path);
        return health_problems.length > 0;
      },
      30_000,
    );
    t.equal((await cli('server', 'check')).code, 1);
    const { health_problems } = JSON.parse((await cli('server', 'check', '--json')).out) as {
      health_problems: { name: string }[];
    };
    t.match(health_problems, [{ name: 'dead_letters' }]);
  });
});
