import t from 'tap';
import { TestAccount } from '../fixtures/account.js';
import { type Arrived, Receiver, verified } from '../fixtures/receiver.js';
import { TestSpool } from '../fixtures/spool.js';
import { until } from '../fixtures/until.js';

type EndpointView = { id: string; status: string; failure_count: number; topics: string[] } & Record<string, unknown>;
type Made = { endpoint: EndpointView; signing_secret: string };
type DeliveryView = {
  id: string;
  status: string;
  attempt_count: number;
  event_type: string;
  next_attempt_at: string | null;
};
type Page<T> = { items: T[]; cursor: string | null };

t.test('F-001 to F-004, F-022 to F-025, F-036 an endpoint gets what happens, signed', async (t) => {
  const receiver = await Receiver.start();
  const spool = await TestSpool.start(receiver.env);
  t.teardown(async () => {
    await spool.end();
    await receiver.end();
  });
  const ann = await TestAccount.open(spool, 'ann@example.org');
  const { endpoint, signing_secret } = await ann.ask<Made>('POST', '/endpoints', { url: receiver.url('/ann') });
  await ann.ask('PATCH', '/me', { name: 'Ann' });
  const [first] = await receiver.count('/ann', 1);
  const { items } = await ann.ask<Page<unknown>>('GET', '/events?limit=1');
  t.same(verified(signing_secret, first as Arrived), items[0]);
  await until('it is counted', async () => {
    const page = await ann.ask<Page<DeliveryView>>('GET', `/endpoints/${endpoint.id}/deliveries`);
    return page.items[0]?.status === 'succeeded';
  });
});
