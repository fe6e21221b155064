import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { answerOf } from '../driver/history.js';
import type { AppClient } from '../fixtures/app_client.js';
import { TestEndpoint } from '../fixtures/endpoints.js';
import { until } from '../fixtures/until.js';
import { ENTITY_KINDS, Load } from './load.js';

import { LEAST_OK, type Trial } from './trial.js';

/** Faults 2, 7, 8, 9 and 17: Redis killed, away, slow, forgetful, with a wrong clock, without its functions. */

const REFUSED_MAX_MS = 2_000;
const RECOVERED_MAX_MS = 15_000;
const SHORT_AWAY_MS = 5_000;
/** Calls that must come to something, and how long they may take once Redis is back for good. */
const ENOUGH_MAX_MS = 15_000;
const LATENCIES_MS = [200, 2_000];
const MEMORY_GROWTH_MAX_MIB = 150;
const KINDS = { kinds: ENTITY_KINDS };
/** A sign-in that was begun while the clock is behind has run out when it is right again. */
const LASTING_KINDS = { kinds: ENTITY_KINDS.filter((kind) => kind !== 'sign_in') };
const HOUR_S = 3_600;
/** Back by an hour, what was issued then would have expired when the clock is right again. */
const LASTING_S = 50 * 60;
/** Shorter than a process needs to believe it, and longer. */
const JUMP_MS = { short: 1_200, long: 5_000 };

/** Fault 2. */
export async function redisKilled(trial: Trial): Promise<void> {
  const rig = await trial.open();
  const load = await Load.open(rig, trial.random);
  const kill = async () => {
    await trial.between(100, 800);
    await rig.redis.kill();
    await trial.between(0, 400);
    await rig.redis.start();
    await rig.back();
  };
  await load.run(trial.repeat(kill));
  await trial.settle(rig, load, KINDS);
}

/** Fault 7. */
export async function redisUnreachable(trial: Trial): Promise<void> {
  const rig = await trial.open();
  const { proxy } = rig;
  const load = await Load.open(rig, trial.random);
  const before_mib = rig.first.memory_mib;
  const probe = rig.clients((await rig.signIn('probe@x.test')).access_token)[0] as AppClient;
  const away = async (ms: number) => {
    const end_ms = performance.now() + ms;
    proxy.cut();
    await pause(200); // until the server has noticed
    while (performance.now() < end_ms) {
      const began = performance.now();
      const answer = await answerOf(probe.ask('GET', '/me'));
      const took_ms = performance.now() - began;
      const as_promised = answer.status === 503 && (answer.retry_after_s ?? 0) > 0 && took_ms < REFUSED_MAX_MS;
      trial.must(as_promised, `${answer.status} ${answer.code}, Retry-After ${answer.retry_after_s}, ${took_ms} ms`);
      await pause(Math.min(250, ms / 20));
    }
    proxy.restore();
    const restored = performance.now();
    await until('it serves again', async () => (await answerOf(probe.ask('GET', '/me'))).status === 200);
    const took_ms = performance.now() - restored;
    trial.must(took_ms < RECOVERED_MAX_MS, `served again only after ${Math.round(took_ms)} ms`);
    trial.tries += 1;
  };
  const slow = async () => {
    for (const delay_ms of LATENCIES_MS) {
      proxy.delay_ms = delay_ms;
      await pause(delay_ms * 4);
      trial.tries += 1;
    }
    proxy.delay_ms = 0;
    await rig.back();
  };
  await load.run(
    (async () => {
      await pause(500);
      await away(SHORT_AWAY_MS);
      await slow();
      await away(trial.size.away_ms);
      await pause(1_000);
      // A busy machine does less in the moments in which Redis is there.
      await until('enough comes to something', () => load.counts.ok >= LEAST_OK, ENOUGH_MAX_MS).catch(() => {});
    })(),
  );
  const grown_mib = rig.first.memory_mib - before_mib;
  trial.notes.push(`memory grew by ${Math.round(grown_mib)} MiB`);
  trial.must(grown_mib < MEMORY_GROWTH_MAX_MIB, `memory grew by ${grown_mib} MiB`);
  await trial.settle(rig, load, { ...KINDS, least: LEAST_OK });
}

const TOLD_MAX_MS = 5_000;
const SLOW_MS = 900;
/** What is out of memory comes to nothing at all, and what is slow to little. */
const LEAST_WHILE_HANGING = 40;

/** Fault 20: readiness and the operators' page say so within five seconds, and all is well again by itself. */
export async function redisHangs(trial: Trial): Promise<void> {
  const rig = await trial.open();
  const { proxy } = rig;
  trial.teardown(() => rig.redis.go());
  try {
    const load = await Load.open(rig, trial.random);
    const redis = await rig.connect();
    const { operator } = rig;
    type Overview = { health_problems: { name: string }[] };
    const told = async () => ({
      readiness: (await operator.send('GET', '/readyz')).status,
      health_problems: (await operator.ask<Overview>('GET', '/ops/overview?after_ms=100000000000000')).health_problems,
    });
    const isTold = async (name: string, status: number) => {
      const began = performance.now();
      const is_told = async () => {
        const { readiness, health_problems } = await told();
        return readiness === status && health_problems.some((trouble) => trouble.name === name);
      };
      await until(name, is_told, TOLD_MAX_MS * 2).catch(() => {});
      const took_ms = Math.round(performance.now() - began);
      trial.must(took_ms < TOLD_MAX_MS, `${name} was told only after ${took_ms} ms`);
      trial.tries += 1;
    };
    const hold_ms = (trial.size.seconds * 1_000) / 3;
    await load.run(
      (async () => {
        await pause(hold_ms);
        rig.redis.hang();
        await isTold('storage_away', 503);
        await pause(hold_ms);
        rig.redis.go();
        await rig.back();
        await pause(hold_ms);
        await redis.config('SET', 'maxmemory', '1');
        await isTold('storage_refuses', 503);
        await pause(hold_ms);
        await redis.config('SET', 'maxmemory', '0');
        await rig.back();
        await pause(hold_ms);
        proxy.delay_ms = SLOW_MS;
        await isTold('storage_slow', 200);
        await pause(hold_ms);
        proxy.delay_ms = 0;
        await rig.back();
        await pause(hold_ms);
      })(),
    );
    await until('nothing is wrong', async () => (await told()).health_problems.length === 0).catch(() => {});
    trial.none(
      'still told',
      (await told()).health_problems.map(({ name }) => name),
    );
    await trial.settle(rig, load, { ...KINDS, least: LEAST_WHILE_HANGING });
  } finally {
    rig.redis.go();
  }
}

/** Fault 17. */
export async function functionsLost(trial: Trial): Promise<void> {
  const rig = await trial.open();
  const load = await Load.open(rig, trial.random);
  const redis = await rig.connect();
  const flush = async () => {
    await redis.call('FUNCTION', 'FLUSH', 'SYNC');
    await trial.between(20, 200);
  };
  await load.run(trial.repeat(flush));
  await trial.settle(rig, load, KINDS);
}

type EventPage = { items: { id: string }[]; cursor: string };

const rename = (app: AppClient, name: string) => answerOf(app.ask('PATCH', '/me', { name }));
const nameOf = async (app: AppClient) => (await app.ask<{ name: string }>('GET', '/me')).name;
const eventsAfter = (app: AppClient, cursor: string) =>
  app.ask<EventPage>('GET', `/events?limit=100&after=${encodeURIComponent(cursor)}`);

/** Fault 8: Redis comes back as it was a while ago, then empty, and the server goes on without a restart. */
export async function storageLost(trial: Trial): Promise<void> {
  const rig = await trial.open();
  const files = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('appendonly'));
  const kept = join(rig.folder, 'kept');
  const replace = async (how: 'older' | 'empty') => {
    await rig.redis.kill();
    for (const name of files(rig.redis.folder)) rmSync(join(rig.redis.folder, name), { recursive: true });
    if (how === 'older') cpSync(kept, rig.redis.folder, { recursive: true });
    await rig.redis.start();
    await rig.back();
  };
  const { access_token: token } = await rig.signIn('owner@x.test');
  const app = rig.clients(token)[0] as AppClient;
  const endpoint = await TestEndpoint.open(app, rig.receiver.url('/back'));
  await rename(app, 'before');
  await until('it is delivered', async () => (await endpoint.newest()).status === 'succeeded');
  await rig.redis.kill();
  for (const name of files(rig.redis.folder))
    cpSync(join(rig.redis.folder, name), join(kept, name), { recursive: true });
  await rig.redis.start();
  await rig.back();

  for (let n = 0; n < 3; n++) await rename(app, `lost ${n}`);
  const { cursor } = await eventsAfter(app, '0');
  const { items: before } = await eventsAfter(app, '0');
  trial.counts.ok += 4;
  await replace('older');
  trial.tries += 1;
  trial.must((await nameOf(app)) === 'before', 'a read sees what is stored');
  const renamed = await rename(app, 'after');
  trial.must(renamed.status === 200 && (await nameOf(app)) === 'after', `a write builds on it: ${renamed.status}`);
  await until('it is reported', () => /storage went back in time/.test(rig.first.output)).catch(() => {});
  trial.must(/storage went back in time/.test(rig.first.output), 'it is reported');
  const old_cursor = await answerOf(eventsAfter(app, cursor));
  const seen = (old_cursor.data as EventPage | null)?.items.length;
  trial.must(old_cursor.status === 400 || seen === 1, `the old cursor skips: ${old_cursor.status}, ${seen} events`);
  const { items } = await eventsAfter(app, '0');
  trial.must(items.length === before.length - 2, `${items.length} events, ${before.length} before`);
  await until('the event is delivered', async () =>
    (await endpoint.deliveries()).every(({ status }) => status === 'succeeded'),
  );
  trial.must((await endpoint.deliveries()).length === 2, 'one delivery of each event');

  await replace('empty');
  trial.tries += 1;
  await until('nobody is known', async () => (await answerOf(app.ask('GET', '/me'))).status === 401).catch(() => {});
  trial.must((await answerOf(app.ask('GET', '/me'))).status === 401, 'nobody is known');
  const anew = await rig.signIn('owner@x.test');
  const again = rig.clients(anew.access_token)[0] as AppClient;
  trial.must((await rename(again, 'anew')).status === 200, 'it serves on');
  const of_old = await answerOf(eventsAfter(again, cursor));
  trial.must(of_old.status === 400, `a cursor of the lost log is 400: ${of_old.status}`);
  trial.counts.ok += 4;
  trial.noSecrets(rig);
}

type SessionView = { session: { id: string }; claim: string };

/** Fault 9: the clock of Redis, which is everybody's, jumps by an hour. */
export async function clockJumps(trial: Trial): Promise<void> {
  const rig = await trial.open({ env: { TEST_CLOCK: '1' } });
  const { proxy } = rig;
  const load = await Load.open(rig, trial.random);
  const host = rig.clients((await rig.signIn('host@x.test')).access_token)[0] as AppClient;
  const expires_at = new Date(Date.now() + 40 * 60_000).toISOString();
  const { session } = await host.ask<SessionView>('POST', '/device-sessions', { expires_at });
  const statusOf = async () => (await host.ask<{ status: string }>('GET', `/device-sessions/${session.id}`)).status;
  const status_before = await statusOf();
  let { cursor } = await eventsAfter(host, 'latest');
  const { cursor: first } = await eventsAfter(host, 'latest');
  let polled = 0;
  const poll = async () => {
    const page = await eventsAfter(host, cursor);
    polled += page.items.length;
    cursor = page.cursor;
  };
  const jump = async (seconds: number, ms: number) => {
    proxy.moveClock(seconds);
    await pause(ms / 2);
    trial.must((await rename(host, `at ${trial.tries}`)).status === 200, 'it serves');
    await poll();
    await pause(ms / 2);
    trial.must(
      (await statusOf()) === status_before,
      `a session of 40 minutes is ${await statusOf()} after ${seconds} s`,
    );
    proxy.moveClock(0);
    await pause(ms / 2);
    await rename(host, `back ${trial.tries}`);
    await poll();
    trial.tries += 1;
  };
  await load.run(
    (async () => {
      await jump(HOUR_S, JUMP_MS.short);
      await jump(-HOUR_S, JUMP_MS.short);
      await jump(-LASTING_S, JUMP_MS.long);
    })(),
    LASTING_KINDS,
  );
  const { items } = await eventsAfter(host, first);
  trial.must(items.length === 6 && polled === items.length, `${items.length} events, ${polled} seen by polling`);
  await pause(JUMP_MS.long);
  await trial.settle(rig, load, LASTING_KINDS);

  // One that stays is the time: what fell due is done, and not again when the clock goes back.
  await host.ask('DELETE', '/me').catch(() => {});
  proxy.moveClock(HOUR_S);
  await pause(JUMP_MS.long);
  proxy.moveClock(0);
  await pause(JUMP_MS.long);
  const back = rig.clients((await rig.signIn('host@x.test')).access_token)[0] as AppClient;
  await back.ask('POST', '/me/restore').catch(() => {});
  const events = await back.ask<{ items: { type: string }[] }>('GET', '/events?limit=100&after=0');
  const ended = events.items.filter(({ type }) => type === 'device_session.ended').length;
  trial.must(ended <= 1, `the session ended ${ended} times`);
  trial.must((await nameOf(back)).startsWith('back'), 'nothing was erased early');
  trial.tries += 1;
}

const AHEAD_S = 8 * 24 * HOUR_S;
/** Of accounts that are deleted and must be had back. */
const DELETED = 4;

/** Fault 22: a process starts beside a Redis whose clock is eight days ahead. An erasure waits for seven. */
export async function clockAhead(trial: Trial): Promise<void> {
  const rig = await trial.open();
  const { proxy } = rig;
  const emails = Array.from({ length: DELETED }, (_, n) => `deleted${n}@x.test`);
  const typesOf = async (app: AppClient) =>
    (await app.ask<{ items: { type: string }[] }>('GET', '/events?limit=100&after=0')).items.map(({ type }) => type);
  const standing = async (email: string) =>
    (await rig.operator.ask<{ status: string }>('GET', `/ops/accounts/${email}`)).status;
  for (const email of emails) {
    const app = rig.clients((await rig.signIn(email)).access_token)[0] as AppClient;
    await app.ask('POST', '/sources', { name: 'kept' });
    await app.ask('DELETE', '/me');
  }
  const startAhead = async () => {
    await rig.first.kill();
    proxy.moveClock(AHEAD_S);
    await rig.first.start();
    await pause((trial.size.seconds * 1_000) / 2);
    for (const email of emails) {
      const status = await standing(email);
      trial.must(status === 'deleted', `an account deleted a moment ago is ${status} under a clock eight days ahead`);
    }
    trial.must(/disagree/.test(rig.first.output), 'the log says that clocks disagree');
    proxy.moveClock(0);
    await rig.first.restart();
  };
  await trial.repeat(startAhead);
  for (const email of emails) {
    const app = rig.clients((await rig.signIn(email)).access_token)[0] as AppClient;
    trial.must((await app.send('POST', '/me/restore')).status === 204, `${email} can be had back`);
    const { items } = await app.ask<{ items: { name: string }[] }>('GET', '/sources');
    trial.must(
      items.some(({ name }) => name === 'kept'),
      `${email} has what it had`,
    );
    const types = await typesOf(app);
    trial.must(types.includes('account.created') && types.includes('source.created'), `events of ${email}: ${types}`);
  }
  // What people and devices were signed in with has run out under that clock; from here on all is as before.
  const load = await Load.open(rig, trial.random);
  await load.run(pause(trial.size.seconds * 1_000));
  await trial.settle(rig, load, { ...KINDS, least: LEAST_WHILE_HANGING });
}
