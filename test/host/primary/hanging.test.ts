import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { isRunning } from '../../../src/engine/process/redis_process.js';
import { SpoolProcess } from '../../driver/spool_process.js';
import { until } from '../../fixtures/until.js';

const CONNECTIONS_MAX = 20;

/** For processes that are found to hang, killed, and started anew, on a machine that is busy with other things. */
const REPLACED_MAX_MS = 60_000;

type Ready = { troubled_processes: { number: number; pid: number; trouble: string }[] };

const folder = mkdtempSync(join(tmpdir(), 'spool-hanging-'));
const server = new SpoolProcess(folder, {
  ...{ PROCESSES: '2', RATE_LIMITS: 'on', CONNECTIONS_PER_NETWORK: String(CONNECTIONS_MAX) },
});
let token = '';

t.before(async () => {
  await server.ready();
  const operator = server.operator();
  const app = server.client();
  await app.signIn('hanging@x.test', () => operator.readCode('hanging@x.test'));
  token = app.access_token as string;
  app.close();
  operator.close();
});
t.teardown(async () => {
  for (const pid of server.childrenNow()) if (isRunning(pid)) process.kill(pid, 'SIGCONT');
  await server.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** On a connection of its own, which no process has yet. */
const ask = (path: string, url = server.operator_url) =>
  fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}`, connection: 'close' } });
/** 0 where the connection breaks. */
const statusOf = (...asked: Parameters<typeof ask>) =>
  ask(...asked).then(
    ({ status }) => status,
    () => 0,
  );
const statusOfMe = () => statusOf('/me', server.base_url);
const readiness = async () => {
  const answer = await ask('/readyz');
  return { status: answer.status, troubled: ((await answer.json()) as Ready).troubled_processes ?? [] };
};

const bothServe = () =>
  until(
    'both processes answer',
    async () => {
      const metrics = await (await ask('/metrics')).text();
      return metrics.match(/^spool_process_answers\{process="\d"\} 1$/gm)?.length === 2;
    },
    REPLACED_MAX_MS,
  );

/** Sends a request and goes away before its answer. */
const giveUp = () =>
  new Promise<void>((resolve, reject) => {
    const socket = connect(Number(new URL(server.base_url).port), '127.0.0.1');
    socket.on('error', reject).on('close', () => resolve());
    socket.write(`GET /me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`, () => socket.destroy());
  });

for (const nth of [0, 1]) {
  t.test(`process ${nth + 1} hangs: what it was to serve is served by the other, and it is replaced`, async (t) => {
    await bothServe();
    const pid = server.pids[nth] as number;
    process.kill(pid, 'SIGSTOP');
    for (let round = 0; round < 3 * CONNECTIONS_MAX; round++) await giveUp();
    const asked = Array.from({ length: CONNECTIONS_MAX / 2 }, statusOfMe);
    t.same(new Set(await Promise.all(asked)), new Set([200]), 'nobody is refused, and no place is kept by who left');
    await until('the one that hangs is named, or was replaced', async () => {
      const { status, troubled } = await readiness();
      t.equal(status, 200, 'somebody serves');
      return troubled.some((one) => one.pid === pid);
    });
    await until(
      'it was replaced',
      async () => {
        const { troubled } = await readiness();
        return troubled.some((one) => one.pid === pid && one.trouble === 'replaced');
      },
      REPLACED_MAX_MS,
    );
    t.notOk(isRunning(pid));
    t.match(server.output, new RegExp(`"pid":${pid}[^\n]*a process hangs; it is killed`));
  });
}

t.test('both hang: they are replaced one after the other, and who waits meanwhile is served', async (t) => {
  await bothServe();
  const pids = server.childrenNow();
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  const waiting = Array.from({ length: CONNECTIONS_MAX / 2 }, statusOfMe);
  await until(
    'both were replaced',
    async () => !server.childrenNow().some((pid) => pids.includes(pid)),
    REPLACED_MAX_MS,
  );
  t.same(new Set(await Promise.all(waiting)), new Set([200]), 'no connection that nobody had accepted was lost');
  t.notOk(pids.some(isRunning));
});
