import { readdirSync, readFileSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { Servers } from '../driver/servers.js';
import type { SpoolProcess } from '../driver/spool_process.js';
import { TestEndpoint } from '../fixtures/endpoints.js';
import { until } from '../fixtures/until.js';

const AWAY_MS = 3_000;
const QUIET_MS = 2_000;
/** In clock ticks of 10 ms, all threads: a tenth of the time. */
const TICKS_MAX = (QUIET_MS / 10) * 0.3;
const LINES_MAX = 20;

/** Processor time that a process has taken so far, in ticks. */
function ticksOf({ pid }: SpoolProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

/** What it does in a while in which nothing is to be done. */
async function idling(server: SpoolProcess): Promise<{ ticks: number; lines: number }> {
  const [ticks, length] = [ticksOf(server), server.output.length];
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  return { ticks: ticksOf(server) - ticks, lines: server.output.slice(length).split('\n').length - 1 };
}

t.test('F-041 faults 2, 7 and 8: deliveries when Redis goes away, comes back, and comes back empty', async (t) => {
  const servers = await Servers.open(t, { receives: true });
  const { receiver, redis, proxy, first: server } = servers;
  const signIn = async (email: string) => servers.client((await servers.signIn(email)).access_token);
  let app = await signIn('away@x.test');
  const waiting: ServerResponse[] = [];
  const hang = (_nth: number, _request: unknown, response: ServerResponse) => void waiting.push(response);
  const endpoint = await TestEndpoint.open(app, receiver.on('/one', hang));
  const refusing = await TestEndpoint.open(app, receiver.on('/two', hang));
  const counted = () =>
    until('both are counted', async () => {
      const both = await Promise.all([endpoint.newest(), refusing.newest()]).catch(() => []); // 503 for a while
      return both[0]?.status === 'succeeded' && both[1]?.status === 'failed';
    });
  const answer = () => {
    for (const response of waiting.splice(0)) response.writeHead(response.req.url === '/one' ? 204 : 410).end();
  };

  await t.test(
    'cut off for some seconds with results waiting: they count, once, and nothing is sent again',
    async (t) => {
      await app.ask('PATCH', '/me', { name: 'Cut' });
      await until('both hang', () => waiting.length === 2);
      proxy.cut();
      answer();
      const { ticks, lines } = await idling(server);
      await new Promise((resolve) => setTimeout(resolve, AWAY_MS - QUIET_MS));
      proxy.restore();
      await counted();
      t.same([receiver.at('/one').length, receiver.at('/two').length], [1, 1]);
      t.equal((await refusing.read()).failure_count, 1);
      t.equal((await endpoint.newest()).attempt_count, 1);
      t.comment(`${ticks} ticks and ${lines} lines in ${QUIET_MS} ms without Redis`);
      t.ok(ticks <= TICKS_MAX && lines <= LINES_MAX, `${ticks} ticks, ${lines} lines: no spin`);
    },
  );

  await t.test('the reply to the commit of a result is lost: it counts once', async (t) => {
    await app.ask('PATCH', '/me', { name: 'Lost' });
    await until('both hang', () => waiting.length === 2);
    proxy.swallowReplyTo('spool_commit');
    answer();
    await counted();
    t.equal(proxy.swallowed, 1);
    t.equal((await refusing.read()).failure_count, 2);
    t.same([receiver.at('/one').length, receiver.at('/two').length], [2, 2]);
  });

  await t.test('killed and started again while requests are in flight', async (t) => {
    await app.ask('PATCH', '/me', { name: 'Killed' });
    await until('both hang', () => waiting.length === 2);
    await redis.kill();
    answer();
    await redis.start();
    await counted();
    t.equal((await refusing.read()).failure_count, 3);
    t.same([receiver.at('/one').length, receiver.at('/two').length], [3, 3]);
  });

  await t.test('empty: nothing spins, nothing needs a restart, and new endpoints get what happens', async (t) => {
    await app.ask('PATCH', '/me', { name: 'Emptied' });
    await until('both hang', () => waiting.length === 2);
    await redis.kill();
    for (const name of readdirSync(redis.folder)) rmSync(join(redis.folder, name), { recursive: true, force: true });
    answer();
    await redis.start();
    await until('it serves', async () => (await servers.operator.send('GET', '/readyz')).status === 200);
    await until('nobody is known', async () => (await app.send('GET', '/me')).status === 401);
    const { ticks, lines } = await idling(server);
    t.comment(`${ticks} ticks and ${lines} lines in ${QUIET_MS} ms after it`);
    t.ok(ticks <= TICKS_MAX && lines <= LINES_MAX, `${ticks} ticks, ${lines} lines: no spin`);
    app = await signIn('anew@x.test');
    receiver.on('/anew', 204);
    const anew = await TestEndpoint.open(app, receiver.url('/anew'));
    await app.ask('PATCH', '/me', { name: 'Anew' });
    await receiver.count('/anew', 1);
    await until('it is counted', async () => (await anew.newest()).status === 'succeeded');
    t.same([receiver.at('/one').length, receiver.at('/two').length], [4, 4], 'nothing of before comes again');
  });
});
