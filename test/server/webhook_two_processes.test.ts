import type { ServerResponse } from 'node:http';
import t from 'tap';
import { LIMITS } from '../../src/domain/limits.js';
import { Servers } from '../driver/servers.js';
import type { SpoolProcess } from '../driver/spool_process.js';
import { TestEndpoint } from '../fixtures/endpoints.js';
import { until } from '../fixtures/until.js';

const EVENTS = 60;
const ANSWERED_AFTER_MS = 100;
const AT_ONCE = 10;

t.test('webhooks of two processes on one Redis', async (t) => {
  const servers = await Servers.open(t, { count: 2, storage: 'beside', receives: true });
  const { receiver } = servers;
  const [one, two] = servers.all as [SpoolProcess, SpoolProcess];
  const { access_token } = await servers.signIn('two@x.test');
  const [here, there] = [one.client(access_token), two.client(access_token)];

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
    const client = await servers.connect();
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
      await one.metric('spool_delivery_attempts_total'),
      await two.metric('spool_delivery_attempts_total'),
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
      const inbox = await servers.operator.ask<{ items: { subject: string; text: string }[] }>(
        'GET',
        '/inbox?limit=100',
      );
      return inbox.items.filter(({ text }) => text.includes(endpoint.id));
    }
  });

  await t.test('F-041 faults 6: what one brings that was frozen beyond its lease counts no more', async (t) => {
    const waiting: ServerResponse[] = [];
    receiver.on('/frozen', (_nth, _request, response) => void waiting.push(response));
    const endpoint = await TestEndpoint.open(there, receiver.url('/frozen'));
    await here.ask('PATCH', '/me', { name: 'Frozen' });
    await receiver.count('/frozen', 1);
    const inFlight = () => Promise.all([one, two].map((server) => server.metric('spool_deliveries_in_flight')));
    // What else was under way would tell the wrong one.
    await until('nothing else is in flight', async () => (await inFlight()).reduce((sum, many) => sum + many, 0) === 1);
    const [frozen, other] = (await inFlight())[0] === 1 ? [one, two] : [two, one];
    const app = other.client(access_token);
    endpoint.app = app;
    frozen.signal('SIGSTOP');
    const advanced = other.operator().advanceClock(LIMITS.delivery_lease_ms + 1_000);
    await receiver.count('/frozen', 2);
    // The other still has it in hand.
    waiting[0]?.writeHead(410).end();
    frozen.signal('SIGCONT');
    const late = async () => (await frozen.metric('spool_delivery_late_results_total')) === 1;
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
    endpoint.app = here;
    await here.ask('PATCH', '/me', { name: 'Stopping' });
    await receiver.count('/stopping', 1);
    t.equal(await one.stop(), 0);
    endpoint.app = (await one.start()).client(access_token);
    const { status, attempts } = await endpoint.newest();
    t.same([status, attempts.length, attempts[0]?.status_code], ['succeeded', 1, 204]);
    t.equal(receiver.at('/stopping').length, 1);
  });
});
