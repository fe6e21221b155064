import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { LIMITS } from '../../../src/domain/limits.js';
import { TestAccount } from '../../fixtures/account.js';
import { TestEndpoint } from '../../fixtures/endpoints.js';
import { Receiver } from '../../fixtures/receiver.js';
import { TestSpool } from '../../fixtures/spool.js';
import { until } from '../../fixtures/until.js';

const HEALTHY = 20;

async function open(t: Test) {
  const receiver = await Receiver.start();
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', ...receiver.env });
  t.teardown(async () => {
    await receiver.end(); // or the stop would wait for what hangs
    await spool.end();
  });
  return { receiver, spool };
}

/** Paths that never answer, or never end their answer, and what has become of their requests. */
function badPaths(receiver: Receiver, hanging: string[], dripping: string[] = []) {
  let given_up = 0;
  const hang = (response: ServerResponse) =>
    response.on('close', () => {
      given_up += 1;
    });
  const hangs = (path: string) => receiver.on(path, (_nth, _request, response) => void hang(response));
  const drips = (path: string) =>
    receiver.on(path, (_nth, _request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 200);
      hang(response).on('close', () => clearInterval(timer));
    });
  return { urls: [...hanging.map(hangs), ...dripping.map(drips)], givenUp: () => given_up };
}

t.test('F-030 faults 13: healthy endpoints do not wait for others that hang or drip', async (t) => {
  const { receiver, spool } = await open(t);
  const people: TestAccount[] = [];
  for (let index = 0; index < HEALTHY; index++) {
    const account = await TestAccount.open(spool, `h${index}@x.test`, { sharing: false });
    await TestEndpoint.open(account.app, receiver.url(`/healthy${index}`));
    people.push(account);
  }
  const bad = await TestAccount.open(spool, 'bad@x.test', { sharing: false });
  const { urls, givenUp } = badPaths(receiver, ['/hangs'], ['/drips']);
  for (const url of urls) await TestEndpoint.open(bad.app, url);
  for (let event = 0; event < 20; event++) await bad.ask('PATCH', '/me', { name: `Bad ${event}` });
  const { deliveries } = spool.server.services;
  await until('they hang', () => deliveries.in_flight === 2 * LIMITS.endpoint_in_flight_max);
  await Promise.all(people.map((account) => account.ask('PATCH', '/me', { name: 'Healthy' })));
  await Promise.all(people.map((_, index) => receiver.count(`/healthy${index}`, 1)));
  t.ok(givenUp() < 2 * LIMITS.endpoint_in_flight_max, 'while the bad ones hang');
  t.equal(receiver.in_flight_max.get('/hangs'), LIMITS.endpoint_in_flight_max);
  t.equal(receiver.in_flight_max.get('/drips'), LIMITS.endpoint_in_flight_max);
});

t.test('an account whose endpoints hang: eight for each, 32 for all, and the healthy one has its turn', async (t) => {
  const { receiver, spool } = await open(t);
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const { urls, givenUp } = badPaths(
    receiver,
    Array.from({ length: 5 }, (_, index) => `/hangs${index}`),
  );
  for (const url of urls) await TestEndpoint.open(ann.app, url);
  let given_up_before = Number.POSITIVE_INFINITY;
  receiver.on('/healthy', (nth, _request, response) => {
    if (nth === 1) given_up_before = givenUp();
    response.writeHead(204).end();
  });
  const healthy = await TestEndpoint.open(ann.app, receiver.url('/healthy'));
  const events = LIMITS.endpoint_in_flight_max + 4;
  const { deliveries } = spool.server.services;
  for (let event = 0; event < events; event++) await ann.ask('PATCH', '/me', { name: `Name ${event}` });
  await until('hardly a slot is left', () => deliveries.in_flight >= LIMITS.account_in_flight_max - 4);
  await receiver.count('/healthy', events);
  t.ok(given_up_before < LIMITS.account_in_flight_max, 'its turn comes before all those that hang are given up');
  t.ok(deliveries.in_flight <= LIMITS.account_in_flight_max);
  for (const [path, most] of receiver.in_flight_max)
    t.ok(most <= LIMITS.endpoint_in_flight_max, `${path}: ${most} at once`);
  await until('counted', async () => (await healthy.deliveries()).every(({ status }) => status === 'succeeded'));
  t.match(await healthy.read(), { failure_count: 0, status: 'active' });
});
