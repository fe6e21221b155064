import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { scenario } from '../driver/scenario.js';
import { SpoolProcess } from '../driver/spool_process.js';
import { TestRedis } from '../fixtures/redis.js';
import { until } from '../fixtures/until.js';

const PROCESSES = 3;
const ACCOUNTS = 6;
const PAUSE_MAX_MS = 60;
const REQUEST_MAX_MS = 15_000;
const ROLLED_MAX_MS = 120_000;
/** Longer than any caller pauses: each hears with an answer that its connection ends. */
const DRAIN_S = 2;

/** Requests of several callers until it is stopped, two thirds of them on kept connections; counts how each ended. */
class Load {
  readonly ended = new Map<string, number>();
  readonly #lanes: Promise<void>[];
  #is_stopped = false;

  constructor(port: () => number, tokens: readonly string[], lanes: number) {
    this.#lanes = Array.from({ length: lanes }, (_, lane) => this.#run(port, tokens[lane % tokens.length] ?? '', lane));
  }

  get count(): number {
    return [...this.ended.values()].reduce((sum, count) => sum + count, 0);
  }

  async stop(): Promise<void> {
    this.#is_stopped = true;
    await Promise.all(this.#lanes);
  }

  async #run(port: () => number, token: string, lane: number): Promise<void> {
    const agent = new Agent({ keepAlive: lane % 3 !== 0, maxSockets: 1 });
    for (let round = 0; !this.#is_stopped; round++) {
      const how = await asked({ port: port(), agent, token, name: round % 3 === 0 ? `Lane ${lane}, ${round}` : null });
      this.ended.set(how, (this.ended.get(how) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, randomInt(PAUSE_MAX_MS)));
    }
    agent.destroy();
  }
}

/** The status, or the error. `name`: what the account is renamed to; null reads it. */
function asked(of: { port: number; agent: Agent; token: string; name: string | null }): Promise<string> {
  const { port, agent, token, name } = of;
  const body = name === null ? '' : JSON.stringify({ name });
  const sends = name === null ? {} : { 'content-type': 'application/json', 'content-length': body.length };
  return new Promise((resolve) => {
    const options = { port, agent, path: '/me', method: name === null ? 'GET' : 'PATCH', timeout: REQUEST_MAX_MS };
    const asking = request({ ...options, headers: { authorization: `Bearer ${token}`, ...sends } }, (answer) => {
      answer.once('error', (error) => resolve(error.message));
      answer.resume().once('end', () => resolve(String(answer.statusCode)));
    });
    asking.once('timeout', () => asking.destroy(new Error('no answer')));
    asking.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    asking.end(body);
  });
}

async function signInAll(server: SpoolProcess): Promise<string[]> {
  const operator = server.operator();
  const tokens: string[] = [];
  for (let at = 0; at < ACCOUNTS; at++) {
    const app = server.client();
    const email = `rolled${at}@x.test`;
    tokens.push((await app.signIn(email, () => operator.readCode(email))).access_token);
    app.close();
  }
  operator.close();
  return tokens;
}

/** Passes connections on to ports in turns; one that refuses is passed over. */
function tryingProxy(ports: () => number[]): Promise<Server> {
  let turn = 0;
  const pass = (from: Socket, left: number) => {
    const all = ports();
    const to = connect({ port: all[turn++ % all.length] ?? 0, host: '127.0.0.1', noDelay: true });
    to.once('error', () => (left > 0 && to.pending ? pass(from, left - 1) : from.destroy()));
    to.once('connect', () => {
      from.pipe(to).pipe(from);
      for (const [one, other] of [
        [from, to],
        [to, from],
      ] as const)
        one.once('close', () => other.destroySoon());
    });
  };
  const proxy = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (from) => {
    from.on('error', () => {});
    pass(from, 2 * PROCESSES);
  });
  return new Promise((resolve) => proxy.listen(0, '127.0.0.1', () => resolve(proxy)));
}

function temporary(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'spool-rolling-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

scenario({
  title: 'a rolling restart under load: of processes on one machine, and of machines behind a proxy that tries again',
  smoke: null, // test/host/primary/ replaces two processes under less
  full: { rounds: 3, lanes: 24 },
  async run(t, { rounds, lanes }) {
    const onlyAnswers = (t: Test, { ended, count }: Load) =>
      t.same([...ended.keys()], ['200'], `${count} requests: ${JSON.stringify([...ended])}`);

    await t.test('processes on one machine', async (t) => {
      const folder = temporary(t);
      const env = { PROCESSES: String(PROCESSES) };
      const server = await new SpoolProcess(folder, env, { is_measured: true }).ready();
      t.teardown(() => server.stop());
      const { port } = new URL(server.base_url);
      const load = new Load(() => Number(port), await signInAll(server), lanes);
      for (let round = 0; round < rounds; round++) {
        const before = server.childrenNow();
        server.output = server.output.replaceAll('were replaced', '');
        server.signal('SIGHUP');
        await until('all were replaced', () => server.output.includes('were replaced'), ROLLED_MAX_MS);
        const left = server.childrenNow().filter((pid) => before.includes(pid));
        t.same(left, []);
      }
      await load.stop();
      onlyAnswers(t, load);
    });

    await t.test('machines behind a proxy that tries again', async (t) => {
      const folder = temporary(t);
      const redis = await new TestRedis().start({ port: true });
      t.teardown(() => redis.stop());
      const env = { REDIS_URL: redis.url, DRAIN_S: String(DRAIN_S) };
      const start = () => new SpoolProcess(folder, env, { is_measured: true }).ready();
      const machines = [await start(), await start(), await start()];
      t.teardown(() => Promise.all(machines.map((machine) => machine.stop())));
      // As a proxy that asks /readyz knows them: one that is to stop gets no new connections.
      let ports = machines.map(({ base_url }) => Number(new URL(base_url).port));
      const proxy = await tryingProxy(() => ports);
      t.teardown(() => proxy.close());
      const { port } = proxy.address() as AddressInfo;
      const load = new Load(() => port, await signInAll(machines[0] as SpoolProcess), lanes);
      for (let round = 0; round < rounds; round++) {
        for (const old of [...machines]) {
          const next = await start();
          machines.push(next);
          machines.splice(machines.indexOf(old), 1);
          ports = machines.map(({ base_url }) => Number(new URL(base_url).port));
          t.equal(await old.stop(), 0);
        }
      }
      await load.stop();
      onlyAnswers(t, load);
    });
  },
});
