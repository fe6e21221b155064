import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { isRunning, redisProcessesIn } from '../../src/engine/process/redis_process.js';
import { SpoolProcess } from '../driver/spool_process.js';
import type { AppClient } from '../fixtures/app_client.js';

async function signIn(server: SpoolProcess, email: string): Promise<AppClient> {
  const operator = server.operator();
  const app = server.client();
  await app.signIn(email, () => operator.readCode(email)).finally(() => operator.close());
  return app;
}

t.test('J-017 starting, stopping, being killed and starting again', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'spool-life-'));
  const servers: SpoolProcess[] = [];
  const start = (env: Record<string, string> = {}) => {
    const server = new SpoolProcess(folder, env);
    servers.push(server);
    return server;
  };
  t.teardown(async () => {
    for (const server of servers) await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const first = await start().ready();
  const app = await signIn(first, 'life@x.test');
  const token = app.access_token;

  await t.test('a start says where everything is, in columns', async (t) => {
    const rows = [...first.output.matchAll(/^ {2}(\w[\w ]{0,10}\w) +(\S.*)$/gm)].map(([line, what, where]) => ({
      ...{ what, where, at: line.indexOf(` ${where}`) },
    }));
    const base_url = rows.find(({ what }) => what === 'start page')?.where;
    const of = new Map(rows.map(({ what, where }) => [what, where]));
    t.equal(of.get('app'), `${base_url}/app`);
    t.equal(of.get('reference'), `${base_url}/reference`);
    t.equal(of.get('MCP'), `${base_url}/mcp`);
    t.match(of.get('devices'), /^https:/);
    t.equal(of.get('inbox'), `${of.get('operators')?.split(' ')[0]}/mails`);
    t.same(new Set(rows.map(({ at }) => at)).size, 1);
  });

  await t.test('a second start on the same folder is refused with its reason', async (t) => {
    const second = start();
    t.equal(await second.exited, 1);
    t.match(second.output, /is in use by process \d+/);
    t.notMatch(second.output, /\n\s+at /, 'no stack');
    t.equal((await app.send('GET', '/me')).status, 200, 'the first serves on');
  });

  await t.test('a wrong setting stops the start with its name, value and rule', async (t) => {
    const wrong = start({ PORT: '70000', TEST_CLOCK: 'maybe' });
    t.equal(await wrong.exited, 1);
    t.match(wrong.output, /PORT="70000": must be a whole number/);
    t.match(wrong.output, /TEST_CLOCK="maybe": must be 0 or 1/);
  });

  await t.test('a signal during the start leaves nothing running', async (t) => {
    const other = mkdtempSync(join(tmpdir(), 'spool-life-'));
    t.teardown(() => rmSync(other, { recursive: true, force: true }));
    const early = new SpoolProcess(other);
    while (!existsSync(join(other, 'redis', 'redis.pid'))) await new Promise((resolve) => setTimeout(resolve, 1));
    early.signal('SIGTERM');
    t.equal(await early.exited, 0);
    t.match(early.output, /SIGTERM[\s\S]*Stopped\./);
    t.same(redisProcessesIn(join(other, 'redis')), [], 'its Redis has stopped');
  });

  await t.test('a port in use stops the start and says which', async (t) => {
    const other = mkdtempSync(join(tmpdir(), 'spool-life-'));
    const taken = new SpoolProcess(other, { PORT: new URL(first.base_url).port });
    t.equal(await taken.exited, 1);
    t.match(taken.output, /Port \d+ is in use. Set PORT/);
    rmSync(other, { recursive: true, force: true });
  });

  await t.test(
    'a killed server leaves its Redis, which the next start takes over with all that was answered',
    async (t) => {
      await app.ask('PATCH', '/me', { name: 'Answered' });
      const pid = first.redis_pid;
      await first.kill();
      t.ok(isRunning(pid));
      const next = await start().ready();
      t.match(next.output, /taken over/);
      t.equal(next.redis_pid, pid);
      t.match(await next.client(token).ask('GET', '/me'), { name: 'Answered' });
    },
  );

  await t.test('SIGINT answers what is under way, and stops Redis last', async (t) => {
    const server = servers.at(-1) as SpoolProcess;
    const pid = server.redis_pid;
    const names = Array.from({ length: 20 }, (_, index) => `Name ${index}`);
    const clients = names.map(() => server.client(token));
    const answers = Promise.allSettled(
      names.map((name, index) => (clients[index] as AppClient).ask<{ name: string }>('PATCH', '/me', { name })),
    );
    await new Promise((resolve) => setImmediate(resolve));
    server.signal('SIGINT');
    t.equal(await server.exited, 0);
    t.notOk(isRunning(pid));
    t.match(server.output, /Stopped\./);
    const answered = (await answers).flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.name] : []));
    for (const client of clients) client.close();
    const next = await start().ready();
    const { name } = await next.client(token).ask<{ name: string }>('GET', '/me');
    const events = await next.client(token).ask<{ items: unknown[] }>('GET', '/events?type=account.updated&limit=100');
    t.ok(events.items.length >= answered.length + 1, 'each answered change is there');
    t.ok(answered.length === 0 || [...names, 'Answered'].includes(name));
  });
});
