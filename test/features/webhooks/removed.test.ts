import type { ServerResponse } from 'node:http';
import t from 'tap';
import { TestAccount } from '../../fixtures/account.js';
import { TestEndpoint } from '../../fixtures/endpoints.js';
import { Receiver } from '../../fixtures/receiver.js';
import { TestSpool } from '../../fixtures/spool.js';
import { until } from '../../fixtures/until.js';

t.test('F-018 an endpoint removed while a request hangs leaves nothing that is waited for', async (t) => {
  const receiver = await Receiver.start();
  const spool = await TestSpool.start(receiver.env);
  t.teardown(async () => {
    await receiver.end();
    await spool.end();
  });
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const waiting: ServerResponse[] = [];
  const url = receiver.on('/hangs', (_nth, _request, response) => void waiting.push(response));
  const endpoint = await TestEndpoint.open(ann.app, url);
  await ann.ask('PATCH', '/me', { name: 'One' });
  await ann.ask('PATCH', '/me', { name: 'Two' });
  await until('both hang', () => waiting.length === 2);
  await ann.ask('DELETE', `/endpoints/${endpoint.id}`);
  for (const response of waiting) response.writeHead(204).end();
  await until('nothing is in flight', () => spool.server.services.deliveries.in_flight === 0);
  await t.resolves(spool.operator.advanceClock(1_000), 'the clock moves');
  await t.resolves(spool.server.services.deliveries.stop(), 'and it stops');
});
