import type { ServerResponse } from 'node:http';
import t from 'tap';
import { LIMITS } from '../../src/domain/limits.js';
import { TestEndpoint } from '../fixtures/endpoints.js';
import type { SpoolProcess } from '../fixtures/spool_process.js';
import { until } from '../fixtures/until.js';
import { WebhookServers } from '../fixtures/webhook_servers.js';

const EVENTS = 60;
const ANSWERED_AFTER_MS = 100;
const AT_ONCE = 10;

t.test('webhooks of two processes on one Redis', async (t) => {
  const servers = await WebhookServers.open(t);
  const { receiver, redis } = servers;
  const one = await servers.start();
  const two = await servers.start({ direct: true });
  const there = await servers.signIn(one, 'two@x.test').then(() => servers.app(two));
  const here = servers.app(one);
  const metric = async (server: SpoolProcess, name: string) => {
    const text = (await servers.operator(server).send('GET', '/metrics')).body.toString();
    return [...text.matchAll(new RegExp(`^${name}\\S* (\\d+)$`, 'gm'))].reduce(
      (sum, [, value]) => sum + Number(value),
      0,
    );
  };

  await t.test('faults 5 and 17: a backlog is posted once each, eight at a time over both', async (t) => {
    const slow = (status: number) => (_nth: number, _request: unknown, response: ServerResponse) =>
      void setTimeout(() => response.writeHead(status).end(), ANSWERED_AFTER_MS);
    const paths = ['/a', '/b', '/c'];
    for (const path of paths) receiver.on(path, slow(204));
    // Every tenth is a refusal: three in a row never come about in the order of their making, ten in a row even less.
    receiver.on('/mixed', (nth, _request, response) => slow(nth % 3 === 0 ? 410 : 204)(nth, _request, response));
    const endpoints = await Promise.all(
      [...paths, '/mixed'].map((path) => TestEndpoint.open(here, receiver.url(path))),
    );
    for (const endpoint of endpoints) await here.ask('PATCH', `/endpoints/${endpoint.id}`, { status: 'paused' });
    for (const endpoint of endpoints) await there.ask('PATCH', `/endpoints/${endpoint.id}`, { status: 'active' });
    const client = await redis.connect();
    const rename = async (index: number) => {
      for (let event = index; event < EVENTS; event += AT_ONCE) {
        if (event % 20 === 10) await client.call('FUNCTION', 'FLUSH');
        const body = { name: `Name ${event}` };
        const app = event % 2 === 0 ? here : there;
        await until('it is taken', async () => (await app.send('PATCH', '/me', { body })).status === 200);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => rename(index)));
    for (const endpoint of endpoints) {
      const path = new URL(endpoint.url).pathname;
      await until(
        `${path} has ended`,
        async () => (await endpoint.deliveries()).every(({ status }) => ['succeeded', 'failed'].includes(status)),
        20_000,
      );
      const deliveries = await endpoint.deliveries();
      const ids = receiver.at(path).map(({ headers }) => headers['webhook-id'] as string);
      t.ok(deliveries.length >= EVENTS, `${path}: ${deliveries.length} deliveries`);
      t.same([...new Set(ids)].sort(), deliveries.map(({ id }) => id).sort(), `${path}: each came`);
      const twice = deliveries.filter(({ attempt_count }) => attempt_count > 1).length;
      t.equal(ids.length - new Set(ids).size, twice, `${path}: ${twice} came again, where a lease was lost`);
      t.equal(twice, 0, `${path}: none was lost`);
      t.ok((receiver.in_flight_max.get(path) ?? 0) <= LIMITS.endpoint_in_flight_max, `${path}: eight at once`);
    }
    for (const { id } of endpoints) await here.ask('DELETE', `/endpoints/${id}`);
    const posted = [
      await metric(one, 'spool_delivery_attempts_total'),
      await metric(two, 'spool_delivery_attempts_total'),
    ];
    t.comment(`${posted.join(' and ')} attempts, at most ${[...receiver.in_flight_max.values()].join(', ')} at once`);
  });

  await t.test('F-016 failures are counted exactly, whoever posts', async (t) => {
    receiver.on('/gone', 410);
    const endpoint = await TestEndpoint.open(here, receiver.url('/gone'));
    const make = (count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, index) =>
          (index % 2 ? here : there).ask('PATCH', '/me', { name: `Gone ${count} ${index}` }),
        ),
      );
    await make(9);
    await until('nine are counted', async () => (await endpoint.read()).failure_count === 9);
    t.match(await endpoint.read(), { status: 'active', disabled_reason: null });
    await make(6);
    await until('it is disabled', async () => (await endpoint.read()).status === 'disabled');
    t.match(await endpoint.read(), { failure_count: 10, disabled_reason: 'consecutive_failures' });
    await until('the mail is sent', async () => (await mails()).length > 0);
    t.equal((await mails()).length, 1, 'one mail');

    async function mails() {
      const inbox = await servers
        .operator(one)
        .ask<{ items: { subject: string; text: string }[] }>('GET', '/inbox?limit=100');
      return inbox.items.filter(({ text }) => text.includes(endpoint.id));
    }
  });

  await t.test('F-041 faults 6: what one brings that was frozen beyond its lease counts no more', async (t) => {
    const waiting: ServerResponse[] = [];
    receiver.on('/frozen', (_nth, _request, response) => void waiting.push(response));
    const endpoint = await TestEndpoint.open(there, receiver.url('/frozen'));
    await here.ask('PATCH', '/me', { name: 'Frozen' });
    await receiver.count('/frozen', 1);
    const inFlight = () => Promise.all([one, two].map((server) => metric(server, 'spool_deliveries_in_flight')));
    // What else was under way would tell the wrong one.
    await until('nothing else is in flight', async () => (await inFlight()).reduce((sum, many) => sum + many, 0) === 1);
    const [frozen, other] = (await inFlight())[0] === 1 ? [one, two] : [two, one];
    const app = servers.app(other);
    endpoint.app = app;
    frozen.signal('SIGSTOP');
    const advanced = servers.operator(other).advanceClock(LIMITS.delivery_lease_ms + 1_000);
    await receiver.count('/frozen', 2);
    // The other still has it in hand.
    waiting[0]?.writeHead(410).end();
    frozen.signal('SIGCONT');
    const late = async () => (await metric(frozen, 'spool_delivery_late_results_total')) === 1;
    await until('the late result is refused', late);
    t.equal((await endpoint.newest()).status, 'leased');
    waiting[1]?.writeHead(204).end();
    await advanced;
    await until('the other has counted', async () => (await endpoint.newest()).status === 'succeeded');
    const { status, attempts } = await endpoint.newest();
    t.equal(status, 'succeeded');
    t.same(
      attempts.map(({ error, status_code }) => error ?? status_code),
      ['interrupted', 204],
    );
    t.match(await endpoint.read(), { failure_count: 0, status: 'active' });
    t.equal(receiver.at('/frozen').length, 2);
    await app.ask('DELETE', `/endpoints/${endpoint.id}`);
  });

  await t.test('a stop in order waits for what is in flight, and counts it', async (t) => {
    receiver.on('/stopping', (_nth, _request, response) => void setTimeout(() => response.writeHead(204).end(), 1_500));
    const endpoint = await TestEndpoint.open(there, receiver.url('/stopping'));
    await two.stop();
    servers.running.delete(two);
    endpoint.app = here;
    await here.ask('PATCH', '/me', { name: 'Stopping' });
    await receiver.count('/stopping', 1);
    t.equal(await one.stop(), 0);
    servers.running.delete(one);
    endpoint.app = servers.app(await servers.start());
    const { status, attempts } = await endpoint.newest();
    t.same([status, attempts.length, attempts[0]?.status_code], ['succeeded', 1, 204]);
    t.equal(receiver.at('/stopping').length, 1);
  });
});
