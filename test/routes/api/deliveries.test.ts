import { createHmac } from 'node:crypto';
import t from 'tap';
import { partitionOfId } from '../../../src/domain/ids.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { randomId } from '../../../src/engine/random/random.js';
import { encodeEvent } from '../../../src/engine/store/event_body.js';
import { keysOf } from '../../../src/engine/store/partitions.js';
import { type EventView, TestAccount } from '../../fixtures/account.js';
import { type DeliveryView, type PageOf, TestEndpoint } from '../../fixtures/endpoints.js';
import { commitId, commitOf, drawWriter } from '../../fixtures/raw_commit.js';
import { type Arrived, Receiver, verified } from '../../fixtures/receiver.js';
import { ownRedisOf } from '../../fixtures/redis_content.js';
import { TestSpool } from '../../fixtures/spool.js';
import { until } from '../../fixtures/until.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const receiver = await Receiver.start();
const spool = await TestSpool.start({ ...receiver.env, RATE_LIMITS: 'off' });
t.teardown(async () => {
  await spool.end();
  await receiver.end();
});
const { operator } = spool;
let people = 0;
const account = () => TestAccount.open(spool, `d${++people}@x.test`);
/** Causes one event that is delivered. */
const happen = async (ann: TestAccount, count = 1) => {
  for (let n = 0; n < count; n++) await ann.ask('PATCH', '/me', { name: `n${Math.random()}` });
};
/** Moves the clock; an app session's token does not outlast an hour of it. */
const pass = async (ann: TestAccount, ms: number) => {
  await spool.operator.advanceClock(ms);
  await ann.app.signIn(ann.email, () => spool.readCode(ann.email));
};
const nowMs = async () => Date.parse((await spool.operator.advanceClock(0)).now);
const eventually = (what: string, condition: () => Promise<boolean>) => until(what, condition);
const stands = (endpoint: TestEndpoint, ...statuses: string[]) =>
  eventually(`${statuses}`, async () => (await endpoint.statuses()).join() === statuses.join());

await t.test('F-020 F-021 F-022 F-023 F-024 F-025 F-030 F-036 an event is posted at once, signed', async (t) => {
  const ann = await account();
  const one = await TestEndpoint.open(ann, receiver.url('/posted?x=1'));
  await happen(ann);
  const [posted] = (await receiver.count('/posted?x=1', 1, 1_000)) as [Arrived];
  const { items } = await ann.ask<PageOf<Record<string, unknown>>>('GET', '/events?limit=1');
  t.strictSame(JSON.parse(posted.body), items[0], 'the event itself, no envelope');
  t.strictSame(verified(one.secret, posted), items[0]);
  t.equal(posted.headers['content-type'], 'application/json');
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = posted.headers;
  const key = Buffer.from(one.secret.slice('whsec_'.length), 'base64');
  t.equal(signature, `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${posted.body}`).digest('base64')}`);
  await stands(one, 'succeeded');
  const [listed] = (await one.deliveries()) as [DeliveryView];
  t.strictSame(listed, {
    ...{ id, status: 'succeeded', event_id: items[0]?.id, event_type: 'account.updated', attempt_count: 1 },
    ...{ next_attempt_at: null, created_at: items[0]?.occurred_at },
  });
  const { event, attempts, ...rest } = await one.delivery(listed.id);
  t.strictSame([rest, event], [listed, items[0]]);
  const [attempt] = attempts;
  t.match(attempt, { status_code: 204, status_text: 'No Content', error: null });
  t.equal(Math.floor(Date.parse(attempt?.attempted_at ?? '') / 1000), Number(timestamp));
  t.ok((attempt?.duration_ms ?? -1) >= 0);
  const view = await one.read();
  t.ok(Date.parse(view.last_success_at ?? '') >= Date.parse(attempt?.attempted_at ?? ''));
});

await t.test('E-001 E-011 E-016 F-020 what is stored compactly is read and posted like any event', async (t) => {
  const ann = await account();
  const one = await TestEndpoint.open(ann, receiver.url('/compact'));
  const { cursor } = await ann.ask<PageOf<unknown>>('GET', '/events?after=latest&type=turn.updated');
  const { store } = spool.server.services;
  const [partition, now_ms] = [partitionOfId(ann.id), await nowMs()];
  const [source_id, turn_id] = [randomId({ partition, now_ms }), randomId({ partition, now_ms })];
  const written = ['turn.created', 'turn.updated'].map((type) => ({
    ...{ id: randomId({ partition, now_ms }), schema_version: 1, occurred_at: new Date(now_ms).toISOString() },
    ...{ account_id: ann.id, type, resource: { type: 'turn', id: turn_id } },
    data: type === 'turn.updated' ? { changed_fields: ['speaker'], source_id } : { source_id },
  }));
  const effects = written.map((event) => {
    const { account_id, type } = event;
    return { effect: 'append_event' as const, account_id, type, body: encodeEvent(event), delivered: true };
  });
  const address = { kind: 'ledger', id: turn_id };
  await store.commit(commitOf(address, 1, { commit_id: commitId(drawWriter(), 1), now_ms, effects }));

  const newest = await ann.ask<PageOf<EventView>>('GET', '/events?limit=2');
  const logged = newest.items.toReversed().map(({ sequence: _, ...event }) => event);
  t.strictSame(logged, written);
  const updated = newest.items[0];
  t.strictSame((await ann.ask<PageOf<EventView>>('GET', '/events?type=turn.updated')).items, [updated]);
  const after = encodeURIComponent(cursor as string);
  const polled = await ann.ask<PageOf<EventView>>('GET', `/events?type=turn.updated&after=${after}`);
  t.strictSame(polled.items, [updated]);
  const posted = await receiver.count('/compact', 2, 1_000);
  t.strictSame(
    posted.map(({ body }) => JSON.parse(body)).sort((a, b) => a.sequence - b.sequence),
    newest.items.toReversed(),
  );
  await stands(one, 'succeeded', 'succeeded');
  const { event } = await one.newest();
  t.strictSame(event, updated, 'as the list of deliveries shows it');
});

await t.test('F-004 F-032 F-038 F-039 E-004 topics, and only what happens from then on', async (t) => {
  const ann = await account();
  await happen(ann);
  const all = await TestEndpoint.open(ann, receiver.url('/all'));
  const some = await TestEndpoint.open(ann, receiver.url('/some'), ['account.updated']);
  await ann.ask('POST', '/me/tokens', { name: 'tool', permissions: ['turns:read'], expires_at: null });
  await happen(ann);
  await receiver.count('/all', 2);
  await receiver.count('/some', 1);
  await stands(all, 'succeeded', 'succeeded');
  t.strictSame(receiver.typesAt('/all').sort(), ['account.updated', 'personal_access_token.created']);
  t.strictSame(receiver.typesAt('/some'), ['account.updated']);
  const to_all = receiver.at('/all').find(({ body }) => body === receiver.at('/some')[0]?.body) as Arrived;
  const to_some = receiver.at('/some')[0] as Arrived;
  t.not(to_all.headers['webhook-id'], to_some.headers['webhook-id']);
  verified(all.secret, to_all);
  t.throws(() => verified(some.secret, to_all));
  t.equal((await all.deliveries()).length, 2, 'nothing from before');
});

await t.test(
  'F-026 F-027 a failure that passes is retried: later each time, and with a signature of its own',
  async (t) => {
    const ann = await account();
    const url = receiver.on('/flaky', (nth, _request, response) => {
      if (nth === 2) response.setHeader('Retry-After', '3600');
      response.writeHead([503, 429, 408][nth - 1] ?? 200).end('thanks');
    });
    const one = await TestEndpoint.open(ann, url);
    await happen(ann);
    await receiver.count('/flaky', 1);
    await stands(one, 'pending');
    const waits = async () => {
      const { attempts, next_attempt_at } = await one.newest();
      return Date.parse(next_attempt_at ?? '') - Date.parse(attempts.at(-1)?.attempted_at ?? '');
    };
    const first_ms = await waits();
    t.ok(first_ms > 5_000 && first_ms < 16_000, String(first_ms));
    await pass(ann, 16_000);
    const second_ms = await waits();
    t.ok(second_ms >= HOUR_MS && second_ms < HOUR_MS + MINUTE_MS, String(second_ms));
    await pass(ann, HOUR_MS - 2 * MINUTE_MS);
    t.equal(receiver.at('/flaky').length, 2, 'not before');
    await pass(ann, 3 * MINUTE_MS);
    t.equal(receiver.at('/flaky').length, 3);
    await pass(ann, 5 * MINUTE_MS);
    t.strictSame(await one.statuses(), ['succeeded']);
    t.strictSame(
      (await one.newest()).attempts.map(({ status_code }) => status_code),
      [503, 429, 408, 200],
    );
    const arrived = receiver.at('/flaky');
    t.equal(new Set(arrived.map(({ headers }) => headers['webhook-id'])).size, 1);
    t.equal(new Set(arrived.map(({ headers }) => headers['webhook-timestamp'])).size, 4);
    t.equal(new Set(arrived.map(({ headers }) => headers['webhook-signature'])).size, 4);
    t.equal(new Set(arrived.map(({ body }) => body)).size, 1);
  },
);

await t.test('F-027 a Retry-After is taken up to twelve hours, in seconds or as a date', async (t) => {
  const cases: [header: string, least_ms: number, most_ms: number][] = [
    ['100000', 12 * HOUR_MS, 12 * HOUR_MS + MINUTE_MS],
    ['120', 120_000, 122_000],
    ['0', 5_000, 15_000],
    ['-5', 5_000, 15_000],
    ['1e99', 5_000, 15_000],
    ['soon', 5_000, 15_000],
    ['Thu, 01 Jan 2015 00:00:00 GMT', 5_000, 15_000],
  ];
  const { now } = await operator.advanceClock(0);
  cases.push([new Date(Date.parse(now) + 2 * HOUR_MS).toUTCString(), 2 * HOUR_MS - MINUTE_MS, 2 * HOUR_MS + MINUTE_MS]);
  const ann = await account();
  for (const [index, [header, least_ms, most_ms]] of cases.entries()) {
    const url = receiver.on(`/after${index}`, (_nth, _request, response) => {
      response.writeHead(503, { 'Retry-After': header }).end();
    });
    const one = await TestEndpoint.open(ann, url);
    await happen(ann);
    await receiver.count(`/after${index}`, 1);
    await eventually('it waits', async () => (await one.newest()).attempt_count === 1);
    const { attempts, next_attempt_at } = await one.newest();
    const waits_ms = Date.parse(next_attempt_at ?? '') - Date.parse(attempts[0]?.attempted_at ?? '');
    t.ok(waits_ms >= least_ms && waits_ms <= most_ms, `${header}: ${waits_ms}`);
    await one.remove();
  }
});

await t.test('F-028 F-031 other answers end it, and no redirect is followed', async (t) => {
  const ann = await account();
  const canary = receiver.url('/canary');
  for (const status of [301, 302, 307, 308, 304, 400, 401, 404, 410, 422]) {
    const url = receiver.on(`/ends${status}`, (_nth, _request, response) => {
      response.writeHead(status, { Location: canary }).end();
    });
    const one = await TestEndpoint.open(ann, url);
    await happen(ann);
    await stands(one, 'failed');
    const { attempts, next_attempt_at } = await one.newest();
    t.strictSame([attempts.map(({ status_code }) => status_code), next_attempt_at], [[status], null]);
    const { status: standing, failure_count } = await one.read();
    t.strictSame([standing, failure_count], ['active', 1]);
    await one.remove();
  }
  await pass(ann, HOUR_MS);
  t.equal(receiver.at('/canary').length, 0);
  for (const status of [301, 404]) t.equal(receiver.at(`/ends${status}`).length, 1);
});

await t.test('F-029 eight attempts within a day, and no ninth', async (t) => {
  const ann = await account();
  const one = await TestEndpoint.open(ann, receiver.on('/never', 500));
  await happen(ann);
  await stands(one, 'pending');
  for (let waits = 0; waits < 12; waits++) {
    const { next_attempt_at } = await one.newest();
    if (next_attempt_at === null) break;
    await pass(ann, Date.parse(next_attempt_at) - (await nowMs()));
  }
  await pass(ann, DAY_MS);
  t.equal(receiver.at('/never').length, LIMITS.delivery_attempts_max);
  const { status, attempts, next_attempt_at } = await one.newest();
  t.strictSame([status, attempts.length, next_attempt_at], ['failed', 8, null]);
  t.equal((await one.read()).failure_count, 1);
  const times = attempts.map(({ attempted_at }) => Date.parse(attempted_at));
  t.ok((times.at(-1) ?? 0) - (times[0] ?? 0) < DAY_MS);
});

await t.test('F-029 what is not through after a day has failed', async (t) => {
  const ann = await account();
  const url = receiver.on('/late', (_nth, _request, response) => {
    response.writeHead(503, { 'Retry-After': String(12 * 3600) }).end();
  });
  const one = await TestEndpoint.open(ann, url);
  await happen(ann);
  await stands(one, 'pending');
  await pass(ann, 12 * HOUR_MS + MINUTE_MS);
  t.equal(receiver.at('/late').length, 2);
  const { status, attempt_count, next_attempt_at } = await one.newest();
  t.strictSame([status, attempt_count, next_attempt_at], ['failed', 2, null], 'the third would be too late');
  t.equal((await one.read()).failure_count, 1);
});

await t.test('F-016 F-014 X-07 ten failures in a row disable it, and its owner gets a mail', async (t) => {
  const ann = await account();
  const one = await TestEndpoint.open(ann, receiver.on('/wrong', 400));
  await happen(ann, 9);
  await eventually('nine have failed', async () => (await one.read()).failure_count === 9);
  t.equal((await one.read()).status, 'active');
  await happen(ann);
  await eventually('it is disabled', async () => (await one.read()).status === 'disabled');
  const { failure_count, disabled_reason } = await one.read();
  t.strictSame([failure_count, disabled_reason], [10, 'consecutive_failures']);
  await eventually('its owner has a mail', async () => {
    const { items } = await operator.ask<{ items: { to: string; subject: string; text: string }[] }>('GET', '/inbox');
    const mail = items.find(({ to, text }) => to === ann.email && text.includes(one.id));
    return mail?.subject === 'A webhook endpoint was disabled';
  });
  await happen(ann, 2);
  t.equal((await one.deliveries()).length, 10, 'what happens now is not for it');
  const { status, failure_count: count, disabled_reason: reason } = await one.set('active');
  t.strictSame([status, count, reason], ['active', 0, null]);
  receiver.on('/wrong', 204);
  await happen(ann);
  await eventually('it is back', async () => (await one.statuses()).at(-1) === 'succeeded');
  t.equal(receiver.at('/wrong').length, 11);
});

await t.test('F-017 a success begins the count anew', async (t) => {
  const ann = await account();
  const one = await TestEndpoint.open(
    ann,
    receiver.on('/mends', (nth, _q, response) => void response.writeHead(nth === 10 ? 204 : 400).end()),
  );
  await happen(ann, 9);
  await eventually('nine have failed', async () => (await one.read()).failure_count === 9);
  await happen(ann);
  await eventually('none has', async () => (await one.read()).failure_count === 0);
  t.ok((await one.read()).last_success_at);
  await happen(ann, 3);
  await eventually('three have', async () => (await one.read()).failure_count === 3);
  t.equal((await one.read()).status, 'active');
});

await t.test('F-012 F-014 a paused one keeps what is outstanding and gets nothing new', async (t) => {
  const ann = await account();
  const one = await TestEndpoint.open(ann, receiver.on('/paused', 503));
  await happen(ann);
  await receiver.count('/paused', 1);
  await stands(one, 'pending');
  await one.set('paused');
  await happen(ann);
  await pass(ann, HOUR_MS);
  t.equal(receiver.at('/paused').length, 1);
  const [kept, ...more] = await one.deliveries();
  t.strictSame([kept?.status, kept?.next_attempt_at, more.length], ['pending', null, 0]);
  receiver.on('/paused', 204);
  await one.set('active');
  await stands(one, 'succeeded');
  t.equal(receiver.at('/paused').length, 2, 'what happened meanwhile never comes');
});

await t.test('F-012 F-029 the day runs on while it is paused', async (t) => {
  const ann = await account();
  const one = await TestEndpoint.open(ann, receiver.on('/asleep', 503));
  await happen(ann);
  await receiver.count('/asleep', 1);
  await stands(one, 'pending');
  await one.set('paused');
  await pass(ann, DAY_MS);
  t.strictSame(await one.statuses(), ['failed']);
  await one.set('active');
  await pass(ann, HOUR_MS);
  t.equal(receiver.at('/asleep').length, 1);
  t.strictSame([await one.statuses(), (await one.read()).failure_count], [['failed'], 0]);
});

await t.test('F-013 disabling cancels what is outstanding, for good', async (t) => {
  const ann = await account();
  const one = await TestEndpoint.open(ann, receiver.on('/off', 503));
  await happen(ann, 3);
  await receiver.count('/off', 3);
  await stands(one, 'pending', 'pending', 'pending');
  await one.set('disabled');
  const cancelled = ['cancelled', 'cancelled', 'cancelled'];
  t.strictSame(await one.statuses(), cancelled);
  t.strictSame((await one.newest()).attempts.length, 1, 'what was tried stays known');
  receiver.on('/off', 204);
  await one.set('active');
  await pass(ann, HOUR_MS);
  t.equal(receiver.at('/off').length, 3);
  await happen(ann);
  await stands(one, ...cancelled, 'succeeded');
});

await t.test('F-013 a request that is under way may still arrive, and changes nothing', async (t) => {
  const ann = await account();
  let letGo = () => {};
  const url = receiver.on('/held', (_nth, _request, response) => {
    letGo = () => response.writeHead(204).end();
  });
  const one = await TestEndpoint.open(ann, url);
  await happen(ann);
  await receiver.count('/held', 1);
  await stands(one, 'leased');
  await one.set('disabled');
  t.strictSame(await one.statuses(), ['cancelled']);
  letGo();
  await eventually('the attempt is kept', async () => (await one.newest()).attempts.length === 1);
  const { status, attempts } = await one.newest();
  t.strictSame([status, attempts[0]?.status_code], ['cancelled', 204]);
  t.equal((await one.read()).last_success_at, null);
});

await t.test('a failing endpoint is left alone but for a probe at a time', async (t) => {
  const ann = await account();
  const one = await TestEndpoint.open(ann, receiver.on('/down', 503));
  await happen(ann, 12);
  await eventually('its circuit is open', async () =>
    (await one.deliveries()).every(({ status }) => status === 'pending'),
  );
  const tried = receiver.at('/down').length;
  // Whatever is refused before the circuit opens makes room for another.
  const tried_max = LIMITS.circuit_opens_after - 1 + LIMITS.endpoint_in_flight_max;
  t.ok(tried >= LIMITS.circuit_opens_after && tried <= tried_max, String(tried));
  await pass(ann, LIMITS.probe_ms_min - 1_000);
  t.equal(receiver.at('/down').length, tried, 'no request before the probe');
  await pass(ann, LIMITS.probe_ms_max);
  t.equal(receiver.at('/down').length, tried + 1, 'one probe');
  receiver.on('/down', 204);
  await pass(ann, LIMITS.probe_ms_max);
  t.strictSame(await one.statuses(), Array(12).fill('succeeded'), 'and all the rest when it succeeds');
  t.equal((await one.read()).failure_count, 0);
});

await t.test('F-020 deliveries are listed in pages, the newest first', async (t) => {
  const ann = await account();
  const one = await TestEndpoint.open(ann, receiver.url('/pages'));
  await happen(ann, 26);
  await receiver.count('/pages', 26);
  await stands(one, ...Array(26).fill('succeeded'));
  const path = `/endpoints/${one.id}/deliveries`;
  const first = await ann.ask<PageOf<DeliveryView>>('GET', path);
  t.equal(first.items.length, 25);
  await happen(ann);
  const rest = await ann.ask<PageOf<DeliveryView>>('GET', `${path}?cursor=${first.cursor}`);
  t.strictSame([rest.items.length, rest.cursor], [1, null]);
  const events = await ann.ask<PageOf<{ id: string }>>('GET', '/events?type=account.updated&limit=100');
  const ids = [...first.items, ...rest.items].map(({ event_id }) => event_id);
  t.strictSame(
    ids,
    events.items.slice(1, 27).map(({ id }) => id),
  );
  const other = await TestEndpoint.open(ann, receiver.url('/other'));
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'cursor=x', `cursor=${one.id}`])
    t.equal(await ann.says('GET', `${path}?${query}`), '400 BAD_REQUEST', query);
  t.equal(await ann.says('GET', `/endpoints/${other.id}/deliveries?cursor=${first.cursor}`), '400 BAD_REQUEST');
  t.equal(await ann.says('GET', `/endpoints/${other.id}/deliveries/${first.items[0]?.id}`), '404 NOT_FOUND');
});

await t.test('F-018 removing one removes all of it, and its events stay', async (t) => {
  const ann = await account();
  const one = await TestEndpoint.open(ann, receiver.on('/removed', 503));
  await happen(ann);
  await receiver.count('/removed', 1);
  await stands(one, 'pending');
  const { id } = await one.newest();
  await one.remove();
  t.equal(await ann.says('GET', `/endpoints/${one.id}`), '404 NOT_FOUND');
  t.equal(await ann.says('GET', `/endpoints/${one.id}/deliveries`), '404 NOT_FOUND');
  t.equal(await ann.says('GET', `/endpoints/${one.id}/deliveries/${id}`), '404 NOT_FOUND');
  await pass(ann, HOUR_MS);
  t.equal(receiver.at('/removed').length, 1);
  t.strictSame(await ann.newEvents(), ['account.updated name'], 'what happened has happened');
});

await t.test('one whose event cannot be read ends, and its neighbours go on', async (t) => {
  const ann = await account();
  const redis = await ownRedisOf(spool.folder);
  t.teardown(() => redis.disconnect());
  const one = await TestEndpoint.open(ann, receiver.on('/poison', 503));
  await happen(ann, 3);
  await stands(one, 'pending', 'pending', 'pending');
  const log = keysOf(partitionOfId(ann.id)).log(ann.id);
  const entries = (await redis.xrevrange(log, '+', '-', 'COUNT', 3)) as [[string, string[]], ...[string, string[]][]];
  await redis.xdel(log, entries[1]?.[0] ?? '');
  receiver.on('/poison', 204);
  await pass(ann, MINUTE_MS);
  t.strictSame(await one.statuses(), ['succeeded', 'failed', 'succeeded']);
  const poisoned = (await one.deliveries())[1] as DeliveryView;
  const { event, attempts } = await one.delivery(poisoned.id);
  t.strictSame([event, attempts.at(-1)?.error, attempts.at(-1)?.status_code], [null, 'event_unreadable', null]);
  t.equal((await one.read()).failure_count, 0, 'the receiver is not to blame');
});

await t.test('what operators see of them', async (t) => {
  const ann = await account();
  const metric = async (name: string) => {
    const { body } = await operator.send('GET', '/metrics');
    const line = body
      .toString()
      .split('\n')
      .find((one) => one.startsWith(`spool_${name} `));
    return line === undefined ? 0 : Number(line.slice(line.lastIndexOf(' ') + 1));
  };
  const names = [
    'delivery_attempts_total{verdict="accepted",error="none"}',
    'delivery_attempts_total{verdict="retryable",error="connection_refused"}',
    'deliveries_total{outcome="succeeded"}',
    'delivery_first_attempt_seconds_count',
    'delivery_success_seconds_count',
  ];
  const all = () => Promise.all(names.map(metric));
  const before = await all();
  const good = await TestEndpoint.open(ann, receiver.url('/metrics'));
  const dead = await TestEndpoint.open(ann, 'https://127.0.0.1:1/');
  await happen(ann);
  await stands(good, 'succeeded');
  await eventually('it was tried', async () => (await dead.newest()).attempts[0]?.error === 'connection_refused');
  const after = await all();
  t.strictSame(
    after.map((value, index) => value - (before[index] ?? 0)),
    [1, 1, 1, 2, 1],
  );
  t.ok((await metric('endpoints_disabled_total')) >= 1);
  t.equal(await metric('deliveries_in_flight'), 0);
  t.equal(await metric('endpoints_due'), 0);
  t.match(await operator.ask('GET', `/ops/endpoints/${good.id}`), { endpoint_id: good.id, status: 'active' });
  await dead.remove();
});

await t.test('F-041 J-017 what waits outlives a restart', async (t) => {
  const ann = await account();
  const one = await TestEndpoint.open(ann, receiver.on('/restart', 503));
  await happen(ann);
  await receiver.count('/restart', 1);
  await stands(one, 'pending');
  await spool.close();
  receiver.on('/restart', 204);
  await spool.open();
  await spool.operator.advanceClock(MINUTE_MS);
  t.equal(receiver.at('/restart').length, 2);
  const [before, after] = receiver.at('/restart') as [Arrived, Arrived];
  t.strictSame(
    [after.body, after.headers['webhook-id']],
    [before.body, before.headers['webhook-id']],
    'the very same delivery',
  );
});
