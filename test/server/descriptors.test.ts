import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { SpoolProcess } from '../driver/spool_process.js';
import { StalledConnections } from '../fixtures/stalled_connections.js';
import { until } from '../fixtures/until.js';

/** As many as a server that is not bundled needs to start: node reads its modules at once. */
const OPEN_FILES = 250;
/** Both are looked at by timers of the server: memory twice a second, everything else every five seconds. */
const SEEN_BY_TIMERS_MS = 6_000;

t.test('J-017 more connections than the process may have files open', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'spool-files-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

  await t.test('what settings ask for is held against it at the start', async (t) => {
    const server = new SpoolProcess(folder, { DEVICE_CONNECTIONS_MAX: '500' }, { open_files: OPEN_FILES });
    t.equal(await server.exited, 1);
    t.match(
      server.output,
      `DEVICE_CONNECTIONS_MAX ask for 500 connections, but this process may have ${OPEN_FILES} files open`,
    );
    t.notMatch(server.output, /\n\s+at /, 'no stack');
  });

  const server = await new SpoolProcess(folder, { RATE_LIMITS: 'on' }, { open_files: OPEN_FILES }).ready();
  const crowd = new StalledConnections();
  const operator = server.operator();
  t.teardown(async () => {
    crowd.leave();
    operator.close();
    await server.stop();
  });
  const app = server.client();
  await app.signIn('full@x.test', () => operator.readCode('full@x.test'));
  const [public_port, device_port, operator_port] = [server.base_url, server.device_url, server.operator_url].map(
    (url) => Number(new URL(url).port),
  );
  const openFiles = () => readdirSync(`/proc/${server.pid}/fd`).length;

  await t.test('idle connections are refused while there is room for the rest', async (t) => {
    for (let n = 0; n < 360; n++)
      for (const port of [public_port, device_port, operator_port])
        await crowd.plain(port as number, 'silent', { from: `127.0.1.${n % 250}` });
    t.ok(openFiles() < OPEN_FILES - 20, `${openFiles()} of ${OPEN_FILES}`);
    t.equal((await app.send('PATCH', '/me', { body: { name: 'Still here' } })).status, 200, 'who was in is served');
    t.equal((await operator.send('GET', '/readyz')).status, 200);
    crowd.leave();
    await until(
      'a new connection is let in',
      async () =>
        (await fetch(`${server.base_url}/.well-known/oauth-authorization-server`).catch(() => null))?.status === 200,
    );
  });

  await t.test('where none is left all the same, it refuses, survives and recovers', async (t) => {
    const setLimit = (files: number) =>
      execFileSync('prlimit', ['--pid', String(server.pid), `--nofile=${files}:${OPEN_FILES}`]);
    setLimit(openFiles());
    for (let n = 0; n < 20; n++) await crowd.plain(public_port as number, 'silent');
    await new Promise((resolve) => setTimeout(resolve, SEEN_BY_TIMERS_MS));
    t.equal((await app.send('GET', '/me')).status, 200, 'who was in is served');
    crowd.leave();
    setLimit(OPEN_FILES);
    await until(
      'a new connection is let in',
      async () =>
        (await fetch(`${server.base_url}/.well-known/oauth-authorization-server`).catch(() => null))?.status === 200,
    );
    t.equal((await operator.send('GET', '/metrics')).status, 200);
  });
});
