import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { interleave, quantile, rateRow, spreadText, verify, whole } from '../measure.mjs';
import { cpuMs, LOAD_CORE, startProgram, temporaryFolder } from '../processes.mjs';
import { peerTls, startSpool } from '../spool_setup.mjs';

const ACCOUNTS = 100;
const ENDPOINTS_EACH = 2;
/** As many as Spool has to one origin. */
const CONNECTIONS = 128;
const FIRST_COUNT = 4_000;
const FIXED_CODE = 123_456;
const EVENTS_A_SECOND = 100;
/** Of one account whose receiver hangs, and of one whose receiver drips. */
const EVENTS_OF_THE_SICK = 40;
const GOAL_FIRST_ATTEMPT_MS = 1_000;

export const title = 'webhooks: deliveries beside a queue and bare posts, sick receivers, latency';

export async function run(options) {
  const { folder, remove } = temporaryFolder();
  const stops = [remove];
  try {
    const world = await makeWorld(folder, stops);
    const rates = await deliveryRates(world, options);
    const healths = await healthRows(world, options);
    return [...rates, ...healths];
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** A Spool with accounts and endpoints, the peers, and one receiver for all of them. */
async function makeWorld(folder, stops) {
  const { server: tls } = await peerTls(folder);
  const ca_file = join(folder, 'ca.pem');
  writeFileSync(ca_file, tls.ca);
  mkdirSync(folder, { recursive: true });
  const receiver = await startProgram('receiver', { tls: { key: tls.key, cert: tls.cert } }, { core: LOAD_CORE });
  stops.push(() => receiver.stop());
  const spool = await startSpool(folder, { fixed_code: FIXED_CODE, env: { WEBHOOK_CA_FILE: ca_file } });
  stops.push(() => spool.stop());
  const peer = { ca: tls.ca, connections: CONNECTIONS };
  const bullmq = await startProgram('bullmq', { ...peer, socket_path: spool.socket_path });
  stops.push(() => bullmq.stop());
  const bare = await startProgram('bare_poster', peer);
  stops.push(() => bare.stop());

  const url = (path) => `https://localhost:${receiver.ready.port}${path}`;
  const makeAccount = async (email, paths) => {
    const { app, session } = await spool.signIn(email, String(FIXED_CODE));
    const endpoints = [];
    for (const path of paths) {
      const made = await app.ask('POST', '/endpoints', { url: url(path) });
      endpoints.push({ id: made.endpoint.id, path, secret: made.signing_secret });
    }
    return { app, id: session.user.id, endpoints };
  };
  const accounts = [];
  for (let number = 0; number < ACCOUNTS; number++) {
    const paths = Array.from({ length: ENDPOINTS_EACH }, (_, index) => `/e/${number}.${index}`);
    accounts.push(await makeAccount(`bench-${number}@spool.example`, paths));
  }
  const sick = await Promise.all(
    ['/hang', '/drip'].map((path) => makeAccount(`bench${path.replace('/', '-')}@spool.example`, [path])),
  );
  const endpoints = accounts.flatMap((account) => account.endpoints);
  await receiver.ask('secrets', { of: Object.fromEntries(endpoints.map(({ path, secret }) => [path, secret])) });
  await accounts[0].app.ask('PATCH', '/me', { name: 'for a body' });
  const { items } = await accounts[0].app.ask('GET', '/events?limit=1');
  await new Promise((resolve) => setTimeout(resolve, 500));
  await receiver.ask('taken');
  return { spool, receiver, bullmq, bare, url, accounts, endpoints, sick, body: JSON.stringify(items[0]) };
}

/** Measures the rate at which a backlog is delivered. */
async function deliveryRates({ spool, receiver, bullmq, bare, url, accounts, endpoints, body }, options) {
  const { redis_pid } = spool.program.ready;
  const targets = endpoints.map(({ path, secret }) => ({ url: url(path), secret }));
  /** Fails unless each claimed delivery has arrived at least once, and rightly signed. */
  const arrived = async (name, ops) => {
    const { different, wrong_signatures } = await receiver.ask('taken');
    verify(`deliveries of ${name}`, different, ops);
    verify(`wrong signatures of ${name}`, wrong_signatures, 0);
  };
  const variant = ({ name, pids, fill, drain }) => {
    let count = FIRST_COUNT;
    return {
      claimed: 0,
      cpuMs: () => cpuMs(pids),
      async prepare() {
        count = Math.max(1, Math.round(count / endpoints.length)) * endpoints.length;
        await fill(count);
      },
      async run(seconds) {
        const taken = await drain(count);
        await arrived(name, taken.ops);
        this.claimed += taken.ops;
        count = Math.min(100_000, (taken.ops / taken.seconds) * seconds);
        return taken;
      },
    };
  };
  const account_ids = accounts.map(({ id }) => id);
  const endpoint_ids = endpoints.map(({ id }) => id);
  const variants = {
    ours: variant({
      ...{ name: 'Spool', pids: [spool.program.pid, redis_pid] },
      async fill(count) {
        await spool.program.ask('hold_deliveries');
        await spool.program.ask('cause_events', { account_ids, count: count / endpoint_ids.length });
      },
      drain: (count) => spool.program.ask('drain', { endpoint_ids, count }),
    }),
    bullmq: variant({
      ...{ name: 'BullMQ', pids: [bullmq.pid, redis_pid] },
      fill: (count) => bullmq.ask('fill', { targets, bodies: [body], count }),
      drain: (count) => bullmq.ask('drain', { count }),
    }),
    bare: variant({
      ...{ name: 'undici', pids: [bare.pid] },
      fill: async () => {},
      drain: (count) => bare.ask('post', { url: url('/bare'), bodies: [body], count }),
    }),
  };
  if (options.profile !== undefined) await spool.program.ask('profile_start');
  const taken = await interleave(variants, options);
  if (options.profile !== undefined)
    await spool.program.ask('profile_stop', { file: join(options.profile, 'webhooks.cpuprofile') });
  const { completed, failed } = await bullmq.ask('recorded');
  verify('completed jobs of BullMQ', completed, variants.bullmq.claimed);
  verify('failed jobs of BullMQ', failed, 0);
  const work = `webhook deliveries, signed and recorded, ${endpoints.length} endpoints, one receiver`;
  return [
    rateRow({
      work,
      beside: 'BullMQ worker with undici',
      ours: taken.ours,
      peer: taken.bullmq,
      goal: 1.2,
      by_cpu: true,
    }),
    rateRow({ work, beside: 'undici, the bodies alone', ours: taken.ours, peer: taken.bare, goal: 0.25 }),
  ];
}

/** From an event to its first arrival, at a moderate rate, alone and beside receivers that hang and drip. */
async function healthRows({ spool, receiver, accounts, sick }, { rounds, seconds }) {
  const setStatus = async (all, status) => {
    for (const { app, endpoints } of all)
      for (const { id } of endpoints) await app.ask('PATCH', `/endpoints/${id}`, { status });
  };
  // One endpoint an account from here on.
  for (const { app, endpoints } of accounts)
    await app.ask('PATCH', `/endpoints/${endpoints[1].id}`, { status: 'paused' });
  let events = 0;
  const oneRound = async (is_beside) => {
    await setStatus(sick, 'paused');
    if (is_beside) {
      await setStatus(sick, 'active');
      await spool.program.ask('cause_events', { account_ids: sick.map(({ id }) => id), count: EVENTS_OF_THE_SICK });
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    await receiver.ask('taken');
    const began = performance.now();
    const count = Math.round(EVENTS_A_SECOND * seconds * 2);
    const asked = [];
    for (let number = 0; number < count; number++) {
      const wait_ms = began + (number * 1000) / EVENTS_A_SECOND - performance.now();
      if (wait_ms > 1) await new Promise((resolve) => setTimeout(resolve, wait_ms));
      const { app } = accounts[number % accounts.length];
      events += 1;
      asked.push(app.ask('PATCH', '/me', { name: `event ${events}` }));
    }
    await Promise.all(asked);
    const latencies_ms = [];
    for (const until = performance.now() + 10_000; latencies_ms.length < count && performance.now() < until; ) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      latencies_ms.push(...(await receiver.ask('taken')).latencies_ms);
    }
    verify('deliveries to healthy endpoints', latencies_ms.length, count);
    return latencies_ms;
  };
  await oneRound(false);
  await oneRound(true);
  const alone = [];
  const beside = [];
  for (let round = 0; round < rounds; round++) {
    alone.push(await oneRound(false));
    beside.push(await oneRound(true));
  }
  await setStatus(sick, 'disabled');
  const p99 = (latencies) => quantile(latencies, 0.99);
  const ratios = alone.map((latencies, round) => p99(beside[round]) / p99(latencies));
  const all = alone.flat();
  const max = Math.max(...all);
  return [
    {
      work: `event to first arrival, ${EVENTS_A_SECOND} events a second, ${accounts.length} endpoints`,
      figure: `p50 ${whole(quantile(all, 0.5))} ms, p99 ${whole(p99(all))} ms, max ${whole(max)} ms`,
      ...{ beside: `${whole(all.length)} events`, peer: '', ratio: '', goal: '< 1 s' },
      met: max < GOAL_FIRST_ATTEMPT_MS,
    },
    {
      work: 'p99 of healthy endpoints, beside one that hangs and one that drips',
      figure: spreadText(beside.map(p99), 'ms'),
      beside: 'without them',
      peer: spreadText(alone.map(p99), 'ms'),
      ratio: spreadText(ratios, 'x', 2),
      goal: '≤ 1.1x',
      met: quantile(ratios, 0.5) <= 1.1,
    },
  ];
}
