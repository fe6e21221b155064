import t from 'tap';
import { LIMITS } from '../../../src/domain/limits.js';
import { TestAccount } from '../../fixtures/account.js';
import { TestEndpoint } from '../../fixtures/endpoints.js';
import { type Arrived, Receiver, verified } from '../../fixtures/receiver.js';
import { TestSpool } from '../../fixtures/spool.js';

type Tested = {
  webhook_id: string;
  is_accepted: boolean;
  status_code: number | null;
  error: string | null;
  duration_ms: number;
};

t.test('X-41 a test delivery is signed, sent once, and no event', async (t) => {
  const receiver = await Receiver.start();
  const spool = await TestSpool.start(receiver.env);
  t.teardown(async () => {
    await spool.end();
    await receiver.end();
  });
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const endpoint = await TestEndpoint.open(ann, receiver.url('/hook'));
  const test = (path = `/endpoints/${endpoint.id}/test`) => ann.ask<Tested>('POST', path);

  await t.test('it is answered with what the receiver said', async (t) => {
    const told = await test();
    t.match(told, { is_accepted: true, status_code: 204, error: null });
    t.ok(told.duration_ms >= 0);
    const [arrived] = await receiver.count('/hook', 1);
    t.equal(arrived?.headers['webhook-id'], told.webhook_id);
    t.match(verified(endpoint.secret, arrived as Arrived), {
      ...{ type: 'endpoint.test', account_id: ann.id, sequence: '0', data: {} },
      resource: { type: 'endpoint', id: endpoint.id },
    });
  });

  await t.test('a failure is no failure of the endpoint, and it is not tried again', async (t) => {
    receiver.on('/hook', 500);
    t.match(await test(), { is_accepted: false, status_code: 500, error: null });
    receiver.on('/hook', 204);
    t.match(await endpoint.read(), { status: 'active', failure_count: 0, last_success_at: null });
    t.same(await endpoint.deliveries(), []);
    t.equal(receiver.arrived.length, 2);
    const { items } = await ann.ask<{ items: { type: string }[] }>('GET', '/events');
    t.notOk(items.some(({ type }) => type === 'endpoint.test'));
  });

  await t.test('where nobody answers it says why, and a paused one is tested too', async (t) => {
    const nowhere = await TestEndpoint.open(ann, 'https://does-not-exist.invalid/hook');
    await nowhere.set('paused');
    const told = await test(`/endpoints/${nowhere.id}/test`);
    t.match(told, { is_accepted: false, status_code: null, error: 'dns' });
  });

  await t.test('operators send one to any endpoint', async (t) => {
    t.match(await spool.operator.ask('POST', `/ops/endpoints/${endpoint.id}/test`), {
      is_accepted: true,
      status_code: 204,
    });
  });

  await t.test('one of another account is not there', async (t) => {
    const ben = await TestAccount.open(spool, 'ben@x.test');
    t.equal((await ben.app.send('POST', `/endpoints/${endpoint.id}/test`)).status, 404);
  });

  await t.test('a minute has an end of them', async (t) => {
    for (let count = 3; count < LIMITS.endpoint_tests_per_minute_max; count++) await test();
    const refused = await ann.app.send('POST', `/endpoints/${endpoint.id}/test`);
    t.equal(refused.status, 429);
    t.ok(Number(refused.headers['retry-after']) > 0);
  });
});
