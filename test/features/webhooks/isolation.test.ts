import t, { type Test } from 'tap';
import { LIMITS } from '../../../src/domain/limits.js';
import { TestAccount } from '../../fixtures/account.js';
import { TestEndpoint } from '../../fixtures/endpoints.js';
import { Receiver } from '../../fixtures/receiver.js';
import { TestSpool } from '../../fixtures/spool.js';
import { until } from '../../fixtures/until.js';

const HEALTHY = 20;
const EVENTS = 100;
const EVERY_MS = 10;
/** Of the healthy ones, with bad ones beside them: so many times as long as without, and never near their ten seconds. */
const SLOWER_MAX = 4;
const P99_MAX_MS = 1_000;

async function open(t: Test) {
  const receiver = await Receiver.start();
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', ...receiver.env });
  t.teardown(async () => {
    await receiver.end(); // or the stop would wait for what hangs
    await spool.end();
  });
  return { receiver, spool };
}

t.test('F-030 faults 13: healthy endpoints do not notice that others hang or drip', async (t) => {
  const { receiver, spool } = await open(t);
  const people: TestAccount[] = [];
  for (let index = 0; index < HEALTHY; index++) {
    const account = await TestAccount.open(spool, `h${index}@x.test`, { sharing: false });
    await TestEndpoint.open(account.app, receiver.url(`/healthy${index}`));
    people.push(account);
  }
  /** How long events take to come, from the request that makes them on. */
  const flow = async () => {
    const took: number[] = [];
    const before = people.map((_, index) => receiver.at(`/healthy${index}`).length);
    const asked: Promise<void>[] = [];
    for (let event = 0; event < EVENTS; event++) {
      const index = event % HEALTHY;
      const nth = (before[index] as number) + Math.floor(event / HEALTHY) + 1;
      const at_ms = Date.now();
      asked.push(
        (async () => {
          await people[index]?.ask('PATCH', '/me', { name: `Name ${event} ${at_ms}` });
          const arrived = await receiver.count(`/healthy${index}`, nth);
          took.push((arrived[nth - 1]?.at_ms ?? Number.POSITIVE_INFINITY) - at_ms);
        })(),
      );
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
    await Promise.all(asked);
    took.sort((a, b) => a - b);
    return { p50: took[Math.floor(took.length * 0.5)] as number, p99: took[Math.floor(took.length * 0.99)] as number };
  };
  await flow();
  const alone = await flow();
  const bad = await TestAccount.open(spool, 'bad@x.test', { sharing: false });
  await TestEndpoint.open(
    bad.app,
    receiver.on('/hangs', () => {}),
  );
  await TestEndpoint.open(
    bad.app,
    receiver.on('/drips', (_nth, _request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 200);
      response.on('close', () => clearInterval(timer));
    }),
  );
  for (let event = 0; event < 20; event++) await bad.ask('PATCH', '/me', { name: `Bad ${event}` });
  const { deliveries } = spool.server.services;
  await until('they hang', () => deliveries.in_flight === 2 * LIMITS.endpoint_in_flight_max);
  const beside = await flow();
  t.equal(receiver.in_flight_max.get('/hangs'), LIMITS.endpoint_in_flight_max);
  t.equal(receiver.in_flight_max.get('/drips'), LIMITS.endpoint_in_flight_max);
  t.comment(
    `alone p50 ${alone.p50} ms, p99 ${alone.p99} ms; beside bad ones p50 ${beside.p50} ms, p99 ${beside.p99} ms`,
  );
  t.ok(beside.p99 < P99_MAX_MS, `p99 ${beside.p99} ms`);
  t.ok(beside.p50 < alone.p50 * SLOWER_MAX + 100, `p50 ${beside.p50} ms`);
});

t.test('an account whose endpoints hang: eight for each, 32 for all, and the healthy one has its turn', async (t) => {
  const { receiver, spool } = await open(t);
  const ann = await TestAccount.open(spool, 'ann@x.test');
  for (let index = 0; index < 5; index++)
    await TestEndpoint.open(
      ann.app,
      receiver.on(`/hangs${index}`, () => {}),
    );
  const healthy = await TestEndpoint.open(ann.app, receiver.url('/healthy'));
  const events = LIMITS.endpoint_in_flight_max + 4;
  const { deliveries } = spool.server.services;
  const began = performance.now();
  for (let event = 0; event < events; event++) await ann.ask('PATCH', '/me', { name: `Name ${event}` });
  await until('hardly a slot is left', () => deliveries.in_flight >= LIMITS.account_in_flight_max - 4);
  await receiver.count('/healthy', events, 14_000);
  const took_ms = Math.round(performance.now() - began);
  t.comment(`${events} events after ${took_ms} ms`);
  t.ok(took_ms < LIMITS.delivery_timeout_ms / 2, 'long before those that hang are given up');
  t.ok(deliveries.in_flight <= LIMITS.account_in_flight_max);
  for (const [path, most] of receiver.in_flight_max)
    t.ok(most <= LIMITS.endpoint_in_flight_max, `${path}: ${most} at once`);
  await until('counted', async () => (await healthy.deliveries()).every(({ status }) => status === 'succeeded'));
  t.match(await healthy.read(), { failure_count: 0, status: 'active' });
});
