import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Test } from 'tap';
import type { AccountMessage } from '../../actors/accounts/account.js';
import type { Endpoint } from '../../actors/webhooks/endpoint_state.js';
import { openAuthority } from '../../certs/authority.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isRefusal } from '../../src/domain/refusals.js';
import { scenario } from '../driver/scenario.js';
import { TestAccount } from '../fixtures/account.js';
import { type DeliveryView, type PageOf, TestEndpoint } from '../fixtures/endpoints.js';
import { Receiver } from '../fixtures/receiver.js';
import { ownRedisOf } from '../fixtures/redis_content.js';
import { TestSpool } from '../fixtures/spool.js';
import { until } from '../fixtures/until.js';
import type { ReceiverCounts } from '../programs/counting_receiver.js';

type Size = {
  endpoints: number;
  /** Outstanding deliveries, over all of them. */
  deliveries: number;
  /** Outstanding deliveries of the endpoint that is disabled. */
  disabled: number;
  /** Of what is held while they are delivered over what was held before, MB. */
  growth_mb_max: number;
  seconds_max: number;
};

const EVENTS_AT_ONCE = 512;
/** Memory is looked at while they are delivered. */
const LOOK_EVERY_MS = 1_000;

scenario<Size>({
  title: 'F-013 F-041 a backlog drains in bounded memory, and is cancelled in one commit',
  smoke: { endpoints: 8, deliveries: 2_000, disabled: 1_000, growth_mb_max: 80, seconds_max: 60 },
  full: { endpoints: 200, deliveries: 100_000, disabled: 100_000, growth_mb_max: 80, seconds_max: 600 },
  run: webhookBacklog,
});

/**
 * While their receiver is down deliveries pile up; then it is back, and all are due at once: every one arrives, in
 * bounded memory. And an endpoint with as many is disabled by one small commit.
 */
async function webhookBacklog(t: Test, size: Size): Promise<void> {
  const ca = await Receiver.start(); // for its certificate authority alone
  const receiver = await startReceiver(ca.folder);
  const spool = await TestSpool.start({ ...ca.env, RATE_LIMITS: 'off' });
  const redis = await ownRedisOf(spool.folder);
  t.teardown(async () => {
    redis.disconnect();
    receiver.child.disconnect();
    await spool.end();
    await ca.end();
  });
  const { runtime } = spool.server.services;
  /** Events, as fast as the account's actor takes them. */
  const happen = async (account: TestAccount, count: number, round: string) => {
    for (let at = 0; at < count; at += EVENTS_AT_ONCE) {
      const asked = Array.from({ length: Math.min(EVENTS_AT_ONCE, count - at) }, (_, n) => {
        const rename: AccountMessage = { type: 'rename', name: `${round} ${at + n}` };
        return runtime.ask({ kind: 'account', id: account.id }, rename);
      });
      if ((await Promise.all(asked)).some((answer) => isRefusal(answer))) throw new Error('an event was refused');
    }
  };
  const stateOf = async ({ id }: TestEndpoint) =>
    (await runtime.ask<Endpoint>({ kind: 'endpoint', id }, { type: 'view' })) as Endpoint;
  const people: { account: TestAccount; endpoint: TestEndpoint }[] = [];
  for (let n = 0; n < size.endpoints; n++) {
    const account = await TestAccount.open(spool, `b${n}@x.test`, { sharing: false });
    people.push({ account, endpoint: await TestEndpoint.open(account, receiver.url) });
  }

  receiver.answer(503);
  const each = Math.ceil(size.deliveries / size.endpoints);
  const used_before = await usedBytes(redis);
  for (let n = 0; n < people.length; n += 8)
    await Promise.all(people.slice(n, n + 8).map(({ account }) => happen(account, each, 'backlog')));
  // And nothing is in flight: a refusal that is counted after the clock was advanced would put the probe off from then on.
  await until('the circuit of every endpoint is open', async () => {
    const states = await Promise.all(people.map(({ endpoint }) => stateOf(endpoint)));
    return states.every(
      ({ retryable_failures, claims }) => retryable_failures >= LIMITS.circuit_opens_after && claims.length === 0,
    );
  });
  const outstanding = each * people.length;
  const bytes_each = ((await usedBytes(redis)) - used_before) / outstanding;

  receiver.answer(204);
  await receiver.counts(); // it has heard
  const before_mb = heldMb();
  let most_mb = before_mb;
  const began = performance.now();
  // All probes fall due at once, and behind each the whole backlog of its endpoint.
  await spool.operator.advanceClock(LIMITS.probe_ms_max);
  const look = () => {
    most_mb = Math.max(most_mb, heldMb());
  };
  const looking = setInterval(look, LOOK_EVERY_MS);
  await until(
    'all have arrived',
    async () => (await receiver.counts()).distinct >= outstanding,
    size.seconds_max * 1_000,
  );
  const seconds = (performance.now() - began) / 1_000;
  clearInterval(looking);
  look();
  const { requests, distinct } = await receiver.counts();
  await until('all are counted', async () => {
    const states = await Promise.all(people.map(({ endpoint }) => stateOf(endpoint)));
    return states.every(({ claims, failure_count }) => claims.length === 0 && failure_count === 0);
  });
  t.equal(distinct, outstanding, 'every delivery arrived');
  const growth_mb = most_mb - before_mb;
  t.ok(growth_mb < size.growth_mb_max, `memory grew by ${growth_mb.toFixed(0)} MB`);
  t.comment(
    `${outstanding} deliveries of ${people.length} endpoints due at once: ${seconds.toFixed(1)} s, ` +
      `${(outstanding / seconds).toFixed(0)}/s, ${before_mb.toFixed(0)} MB held before and at most ` +
      `${growth_mb.toFixed(0)} MB more; ${requests} requests; ${bytes_each.toFixed(0)} bytes of Redis each while they ` +
      'waited, its event included',
  );

  const [first] = people as [(typeof people)[0]];
  receiver.answer(503);
  await happen(first.account, size.disabled, 'to be disabled');
  await until(
    'its circuit is open',
    async () => (await stateOf(first.endpoint)).retryable_failures >= LIMITS.circuit_opens_after,
  );
  await until('nothing is in flight', async () => (await stateOf(first.endpoint)).claims.length === 0);
  const writes_before = await appended(redis);
  const disabling = performance.now();
  await first.endpoint.set('disabled');
  const disabled_ms = performance.now() - disabling;
  const written = (await appended(redis)) - writes_before;
  t.ok(written < 8_192, `${written} bytes were written`);
  t.comment(`disabling one with ${size.disabled} outstanding: ${disabled_ms.toFixed(1)} ms, ${written} bytes written`);
  const path = `/endpoints/${first.endpoint.id}/deliveries?limit=100`;
  const { items } = await first.account.ask<PageOf<DeliveryView>>('GET', path);
  t.ok(
    items.every(({ status }) => status === 'cancelled'),
    'what is outstanding is cancelled',
  );
  receiver.answer(204);
  const { requests: before } = await receiver.counts();
  await first.endpoint.set('active');
  await happen(first.account, 1, 'the next');
  await until('the next is through', async () => (await first.endpoint.newest()).status === 'succeeded');
  t.equal((await receiver.counts()).requests, before + 1, 'and never posted');
}

/** What this process, the server's, holds once all that nobody needs is collected, MB. */
function heldMb(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let round = 0; round < 3; round++) collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}

/** How far Redis has written its append-only file. */
async function appended(redis: Awaited<ReturnType<typeof ownRedisOf>>): Promise<number> {
  return infoOf(redis, 'persistence', 'aof_current_size');
}

async function usedBytes(redis: Awaited<ReturnType<typeof ownRedisOf>>): Promise<number> {
  return infoOf(redis, 'memory', 'used_memory');
}

async function infoOf(redis: Awaited<ReturnType<typeof ownRedisOf>>, section: string, field: string): Promise<number> {
  const info = await redis.info(section);
  return Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(info)?.[1]);
}

async function startReceiver(folder: string): Promise<{
  child: ChildProcess;
  url: string;
  answer(status: number): void;
  counts(): Promise<ReceiverCounts>;
}> {
  const authority = await openAuthority(join(folder, 'authority'), Date.now());
  const own = await authority.issueListenerCertificate({ names: ['localhost'], now_ms: Date.now() });
  const program = new URL('../programs/counting_receiver.js', import.meta.url);
  const child = fork(program, [own.private_key_pem, own.certificate_pem + own.ca_pem], { execArgv: [] });
  const [port] = (await once(child, 'message')) as [number];
  return {
    child,
    url: `https://localhost:${port}/`,
    answer: (status) => child.send({ status }),
    async counts() {
      const answer = once(child, 'message');
      child.send('count');
      return ((await answer) as [ReceiverCounts])[0];
    },
  };
}
