import t from 'tap';
import { Servers } from '../driver/servers.js';
import { SpoolProcess } from '../driver/spool_process.js';
import { until } from '../fixtures/until.js';

const TOLD_MAX_MS = 30_000;

t.test(
  'J-017 a Redis that is there and does not do: readiness and health_problems say so, and a start says why',
  async (t) => {
    const servers = await Servers.open(t);
    const { operator, proxy, redis } = servers;
    const commands = await servers.connect();
    const app = servers.client((await servers.signIn('health@x.test')).access_token);
    t.teardown(() => redis.go());
    const readiness = async () => (await operator.send('GET', '/readyz')).status;
    const healthProblems = async () =>
      (await operator.call('GET /ops/overview', { query: { after_ms: 1e14 } })).health_problems.map(({ name }) => name);
    const isTold = (trouble: string, status: number) =>
      until(
        `${trouble} is told`,
        async () => (await readiness()) === status && (await healthProblems()).includes(trouble),
        TOLD_MAX_MS,
      );
    const isBack = () =>
      until(
        'all is well again',
        async () => (await readiness()) === 200 && (await healthProblems()).length === 0,
        15_000,
      );
    const rename = async (name: string) => (await app.send('PATCH', '/me', { body: { name } })).status;
    /** Another process, which can't start now. */
    const start = async (says: RegExp) => {
      const other = new SpoolProcess(servers.folder, servers.storage.env);
      t.teardown(() => other.kill());
      t.equal(await other.exited, 1);
      t.match(other.output, says);
      t.notMatch(other.output, /\n\s+at /, 'no stack');
    };
    await isBack();

    await t.test('it takes no writes for want of memory', async (t) => {
      await commands.config('SET', 'maxmemory', '1');
      await isTold('storage_refuses', 503);
      t.equal(await rename('Full'), 503);
      t.equal((await app.send('GET', '/me')).status, 200, 'reads are served');
      await start(/Redis takes no writes: OOM/);
      await commands.config('SET', 'maxmemory', '0');
      await isBack();
      t.equal(await rename('Room'), 200);
    });

    await t.test('it is slow', async () => {
      proxy.delay_ms = 900;
      await isTold('storage_slow', 200);
      proxy.delay_ms = 0;
      await isBack();
    });

    await t.test('it hangs', async (t) => {
      redis.hang();
      await isTold('storage_away', 503);
      await start(/Redis does not answer/);
      redis.go();
      await isBack();
      t.equal(await rename('Back'), 200);
    });
  },
);
