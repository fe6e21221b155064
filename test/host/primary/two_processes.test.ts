import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { isRunning } from '../../../src/engine/process/redis_process.js';
import { SpoolProcess } from '../../driver/spool_process.js';
import { StalledConnections } from '../../fixtures/stalled_connections.js';
import { until } from '../../fixtures/until.js';

const CONNECTIONS_MAX = 30;
const CODES_MAX = 4;
const DRAIN_S = 1;
const CALLERS = 6;
/** For a process that is found to be gone, on a machine that is busy with other things. */
const REPLACED_MAX_MS = 60_000;

type Overview = {
  processes: { id: string; pid: number }[];
  processes_here: { number: number; pid: number; row: { pid: number } | null }[];
  history: { series: Record<string, unknown[]> };
};

/** What an account asks of itself, on a connection of the agent. */
function answerOf(base_url: string, token: string, agent: Agent) {
  return new Promise<{ status: number; connection: string | undefined; port: number }>((resolve, reject) => {
    const asked = request(`${base_url}/me`, { agent, headers: { authorization: `Bearer ${token}` } }, (answer) => {
      const { statusCode: status = 0, headers, socket } = answer;
      const { localPort: port = 0 } = socket;
      answer.resume().once('end', () => resolve({ status, connection: headers.connection, port }));
    });
    asked.once('error', reject);
    asked.end();
  });
}

async function whileStopped<T>(pid: number, act: () => Promise<T>): Promise<T> {
  process.kill(pid, 'SIGSTOP');
  try {
    return await act();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

t.test('two processes on the same ports', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'spool-several-'));
  const servers: SpoolProcess[] = [];
  const start = async () => {
    const server = new SpoolProcess(folder, {
      ...{ PROCESSES: '2', RATE_LIMITS: 'on', DRAIN_S: String(DRAIN_S), LOG_LEVEL: 'info' },
      ...{ CONNECTIONS_PER_NETWORK: String(CONNECTIONS_MAX), RATE_CODES_SENT: String(CODES_MAX) },
    });
    servers.push(server);
    return server.ready();
  };
  t.teardown(async () => {
    for (const server of servers) await server.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  let server = await start();
  const operator = server.operator();
  t.teardown(() => operator.close());
  const app = server.client();
  await app.signIn('several@x.test', () => operator.readCode('several@x.test'));
  const token = app.access_token as string;

  await t.test('both serve', async (t) => {
    t.equal(server.pids.length, 2);
    for (let round = 0; round < 4; round++) {
      const client = server.client(token);
      t.match(await client.ask('PATCH', '/me', { name: `Round ${round}` }), { name: `Round ${round}` });
      client.close();
    }
    t.equal((await server.client().send('GET', '/me')).status, 401);
  });

  await t.test('whichever process answers, it has what another wrote', async (t) => {
    const [one = 0, two = 0] = server.pids;
    /** By the other process: the stopped one accepts nothing. */
    const answeredWithout = (stopped: number, ...asked: ['GET' | 'PATCH', string, object?]) =>
      whileStopped(stopped, async () => {
        const client = server.client(token);
        const { name } = await client.ask<{ name: string }>(...asked);
        client.close();
        return name;
      });
    for (let round = 0; round < 3; round++) {
      for (const [writer, reader] of [
        [one, two],
        [two, one],
      ] as const) {
        const name = `Round ${round}, ${writer === one ? 'first' : 'second'}`;
        t.equal(await answeredWithout(reader, 'PATCH', '/me', { name }), name);
        t.equal(await answeredWithout(writer, 'GET', '/me'), name);
      }
    }
  });

  await t.test('J-015 what one network may do is counted over both', async (t) => {
    const statuses: number[] = [];
    for (let round = 0; round < CODES_MAX; round++) {
      const client = server.client();
      const body = { email: `code${round}@x.test` };
      statuses.push((await client.send('POST', '/auth/otp', { body })).status);
      client.close();
    }
    t.same(statuses, [...new Array<number>(CODES_MAX - 1).fill(200), 429], 'one was sent before');
    const crowd = new StalledConnections();
    const { port } = new URL(server.base_url);
    for (let n = 0; n < CONNECTIONS_MAX; n++) await crowd.plain(Number(port), 'silent');
    // Each on a connection of its own: one that is kept has its place.
    const isAnswered = async (wanted: number) => {
      const client = server.client();
      const { status } = await client.send('GET', '/me');
      client.close();
      return status === wanted;
    };
    await until('all places are taken', () => isAnswered(503));
    crowd.leave();
    await until('there is room again', () => isAnswered(401));
  });

  await t.test('operators see both, whichever answers', async (t) => {
    for (let round = 0; round < 3; round++) {
      const { processes_here: rows, history } = await operator.ask<Overview>('GET', '/ops/overview');
      t.same(
        rows.map(({ number, pid }) => [number, pid]),
        server.pids.map((pid, at) => [at + 1, pid]),
      );
      for (const { row, pid } of rows) t.equal(row?.pid, pid);
      t.equal(new Set(Object.values(history.series).map((row) => row.length)).size, 1);
    }
    // On a connection of its own, which whoever runs accepts.
    const askMetrics = async () =>
      (await fetch(`${server.operator_url}/metrics`, { headers: { connection: 'close' } })).text();
    const metrics = await askMetrics();
    for (const number of [1, 2]) {
      t.match(metrics, `spool_process_answers{process="${number}"} 1`);
      t.match(metrics, new RegExp(`spool_http_request_seconds_count{process="${number}",listener="public"`));
    }
    t.equal(metrics.match(/# TYPE spool_commits_total/g)?.length, 1);
    const { kinds } = await operator.ask<{ kinds: Record<string, { active: number }> }>('GET', '/ops/actors');
    t.ok((kinds.account?.active ?? 0) >= 1);

    t.match(
      await whileStopped(server.pids[1] as number, askMetrics),
      'spool_process_answers{process="2"} 0',
      'the other one stood still',
    );
  });

  await t.test('one is killed: the other serves at once, and another takes its place', async (t) => {
    const [one = 0, two = 0] = server.pids;
    process.kill(one, 'SIGKILL');
    for (let round = 0; round < 10; round++) {
      const client = server.client(token);
      t.equal((await client.send('GET', '/me')).status, 200);
      client.close();
    }
    await until('another runs', () => server.childrenNow().length === 2 && !server.childrenNow().includes(one));
    t.ok(server.childrenNow().includes(two));
    const takesOver = /"process":2,[^\n]*others take over what it had in hand/;
    await until('the log says whose line it is', () => takesOver.test(server.output), REPLACED_MAX_MS);
  });

  await t.test('replaced one by one: each connection ends with an answer, and nobody sees an error', async (t) => {
    const callers = Array.from({ length: CALLERS }, () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      t.teardown(() => agent.destroy());
      return { agent, ports: new Set<number>(), ended: 0 };
    });
    const statuses = new Set<number>();
    const askAll = () =>
      Promise.all(
        callers.map(async (caller) => {
          const { status, connection, port } = await answerOf(server.base_url, token, caller.agent);
          statuses.add(status);
          caller.ports.add(port);
          if (connection === 'close') caller.ended += 1;
        }),
      );
    await askAll();
    const before = server.childrenNow();
    server.signal('SIGHUP');
    while (!server.output.includes('All processes were replaced')) {
      await askAll();
      const fresh = server.client(token);
      statuses.add((await fresh.send('GET', '/me')).status);
      fresh.close();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await askAll();
    t.same([...statuses], [200]);
    for (const { ports, ended } of callers) {
      t.ok(ended >= 1, 'its process said that it leaves');
      t.equal(ports.size, ended + 1, 'no connection ended otherwise');
    }
    t.same(
      server.childrenNow().filter((pid) => before.includes(pid)),
      [],
    );
  });

  await t.test('a request that comes in pieces, and one that does not come', async (t) => {
    const { port } = new URL(server.base_url);
    const socket = connect(Number(port), '127.0.0.1').setEncoding('utf8');
    let heard = '';
    const closed = once(socket, 'close');
    socket.on('data', (text: string) => {
      heard += text;
    });
    const head = `GET /me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`;
    for (const piece of [head.slice(0, 3), head.slice(3, 60), head.slice(60)]) {
      socket.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await closed;
    t.match(heard, /^HTTP\/1\.1 200/);
    const wrong = connect(Number(port), '127.0.0.1').setEncoding('utf8');
    wrong.write('nothing of HTTP\r\n');
    t.match(String(await once(wrong, 'data')), /^HTTP\/1\.1 400/);
    wrong.destroy();
  });

  await t.test('clients that reset their connection before it is accepted end no process', async (t) => {
    const before = server.childrenNow();
    const reset = async (port: number) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.write('GET /me HTTP/1.1\r\n');
      socket.resetAndDestroy();
    };
    const ports = [server.base_url, server.device_url, server.operator_url].map((url) => Number(new URL(url).port));
    const resetAll = () => Promise.all(ports.flatMap((port) => Array.from({ length: 20 }, () => reset(port))));
    await before.reduce<() => Promise<unknown>>((act, pid) => () => whileStopped(pid, act), resetAll)();
    await until('all answer', async () => {
      const answer = await fetch(`${server.operator_url}/metrics`, { headers: { connection: 'close' } });
      return (await answer.text()).match(/^spool_process_answers\{process="\d"\} 1$/gm)?.length === before.length;
    });
    t.same(server.childrenNow(), before);
  });

  await t.test('the primary is killed: its processes end, and the next start takes over', async (t) => {
    const children = server.childrenNow();
    const { redis_pid } = server;
    await server.kill();
    server = await start();
    t.equal(server.redis_pid, redis_pid);
    t.same(children.filter(isRunning), [], 'none of them was left beside it');
    const client = server.client(token);
    t.match(await client.ask('GET', '/me'), { name: 'Round 2, second' });
    client.close();
  });

  await t.test('stopping in order: readiness first, then everything; Redis last', async (t) => {
    const children = server.childrenNow();
    const { redis_pid } = server;
    const agent = new Agent({ keepAlive: true });
    t.teardown(() => agent.destroy());
    t.equal((await answerOf(server.base_url, token, agent)).status, 200, 'its connection is kept');
    const stopped = server.stop();
    const ready = () => fetch(`${server.operator_url}/readyz`).then(({ status }) => status);
    await until('it says that it is not ready', async () => (await ready()) === 503);
    const last = await answerOf(server.base_url, token, agent);
    t.match(last, { status: 200, connection: 'close' }, 'it serves on, and says that connections end');
    t.equal((await answerOf(server.base_url, token, agent)).status, 200, 'so the next one is a new one');
    t.equal(await stopped, 0);
    t.same([...children, redis_pid].filter(isRunning), []);
  });
});

t.test('what is wrong with one stops the start, in words', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'spool-several-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const wrong = new SpoolProcess(folder, { PROCESSES: '2', ENGINES_FILE: join(folder, 'nowhere.json') });
  t.equal(await wrong.exited, 1);
  t.match(wrong.output, /ENGINES_FILE can't be read/);
  t.notMatch(wrong.output, /\n\s+at /, 'no stack');
});
