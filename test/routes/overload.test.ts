import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import t from 'tap';
import { DeviceClient } from '../../kits/typescript/src/device_client.js';
import { ROUTES } from '../../routes/index.js';
import { LIMITS } from '../../src/domain/limits.js';
import type { Route } from '../../src/edge/http/route.js';
import { TestSpool } from '../fixtures/spool.js';
import { until } from '../fixtures/until.js';

/** Of one network, with two handshakes at once for all: one, and half of the 32 that may wait. */
const PER_NETWORK_MAX = 1;
const WAITING_PER_NETWORK_MAX = 16;

t.test('more than a process can do', async (t) => {
  const spool = await TestSpool.start({
    RATE_LIMITS: 'on',
    RATE_DEVICE_REQUESTS: '40',
    DEVICE_HANDSHAKES_MAX: '2',
    DEVICE_CONNECTIONS_PER_NETWORK: '30',
    DEVICE_CONNECTIONS_MAX: '40',
  });
  t.teardown(() => spool.end());
  const { overload, metrics } = spool.server.services;
  const port = spool.server.ports.device;
  const refusals = async (cause: string) => {
    const { values } = await metrics.overload_refusals.get();
    return values.find(({ labels }) => labels.cause === cause)?.value ?? 0;
  };
  /** TCP connections that say nothing, from one loopback address; those that are still open after a while. */
  const dialSilently = async (count: number, localAddress: string) => {
    const sockets = Array.from({ length: count }, () => net.connect({ port, host: '127.0.0.1', localAddress }));
    for (const socket of sockets) {
      socket.on('error', () => {});
      t.teardown(() => socket.destroy());
    }
    await Promise.all(sockets.map((socket) => once(socket, 'connect').catch(() => {})));
    return sockets;
  };
  const open = (sockets: net.Socket[]) => sockets.filter(({ closed }) => !closed).length;
  const { app } = await spool.signIn('busy@x.test');
  const { device } = await spool.boundDevice(app);
  const send = (client: DeviceClient, { method, path }: Pick<Route, 'method' | 'path'>) =>
    client.send(method, path.replaceAll(/:[a-z_]+/g, randomUUID()));

  await t.test('what may wait is refused first, health and operators never', async (t) => {
    overload.stop(); // from here on it goes by what the test says
    const status = async (route: Route) => (await send(device, route)).status;
    const critical = ROUTES.device.filter(({ priority }) => priority === 'critical').map(({ path }) => path);
    t.same(critical.sort(), [
      '/device/binding',
      '/device/chunks/:chunk_id',
      '/device/chunks/status',
      '/device/heartbeat',
      '/device/session/end',
      '/device/streams/end',
    ]);
    overload.take({ delay: 1, memory: 0 });
    for (const route of ROUTES.device)
      t.equal((await status(route)) === 503, route.priority !== 'critical', route.path);
    const refused = await send(device, { method: 'POST', path: '/device/streams' });
    const { error } = JSON.parse(refused.body.toString());
    t.equal(error.code, 'UNAVAILABLE');
    const retry_after_s = Number(refused.headers['retry-after']);
    t.ok(retry_after_s >= 5 && retry_after_s <= 15);
    t.equal((await app.send('GET', '/me')).status, 503);
    overload.take({ delay: 2, memory: 0 });
    for (const route of ROUTES.device) t.equal(await status(route), 503, route.path);
    for (const path of ['/healthz', '/readyz', '/metrics', '/ops/actors'])
      t.equal((await spool.operator.send('GET', path)).status, 200, path);
    const metrics_text = (await spool.operator.send('GET', '/metrics')).body.toString();
    t.match(metrics_text, /overload_refusals_total\{listener="device",cause="delay"\} [1-9]/);
    t.match(metrics_text, /overload_refusals_total\{listener="public",cause="delay"\} [1-9]/);
    t.match(metrics_text, /overload_shedding 2/);
    const [newcomer] = await dialSilently(1, '127.0.0.1');
    await until('no new handshake is begun', () => newcomer?.closed === true);
    t.equal(await refusals('overload'), 1);
    overload.take({ delay: 0, memory: 0 });
    t.equal((await app.send('GET', '/me')).status, 200);
  });

  await t.test('requests of one account wait for each other; past the bound they are refused', async (t) => {
    const { account_requests } = spool.server.services;
    const { app: flooder, session } = await spool.signIn('flood@x.test');
    const { id } = session.user;
    const { account_requests_at_once_max: at_once, account_requests_waiting_max: waiting_max } = LIMITS;
    for (let count = 0; count < at_once; count++) await account_requests.take(id);
    const answered: string[] = [];
    const waiting = flooder.ask('PATCH', '/me', { name: 'Ann' }).then(() => answered.push('the flooder'));
    await until('it waits', () => account_requests.counts.waiting === 1);
    await app.ask('PATCH', '/me', { name: 'Bob' }).then(() => answered.push('somebody else'));
    const others = Array.from({ length: waiting_max - 1 }, () => account_requests.take(id));
    const { status, headers, body } = await flooder.send('GET', '/me');
    t.equal(status, 503);
    t.match(headers['retry-after'], /^\d+$/);
    t.match(JSON.parse(body.toString()), { error: { code: 'UNAVAILABLE' } });
    t.equal(await refusals('account'), 1);
    t.same(answered, ['somebody else']);
    for (let count = 0; count < at_once; count++) account_requests.leave(id);
    await Promise.all(others.map((place) => place.then(() => account_requests.leave(id))));
    await waiting;
    t.equal((await flooder.ask<{ name: string }>('GET', '/me')).name, 'Ann');
  });

  await t.test('a device that asks too often is told when to come again; others are served', async (t) => {
    const busy = new DeviceClient(spool.device_url, await spool.operator.provision('personal'), { maxSockets: 2 });
    t.teardown(() => busy.close());
    const answers = await Promise.all(Array.from({ length: 60 }, () => busy.send('GET', '/device/binding')));
    const refused = answers.filter(({ status }) => status === 429);
    t.ok(refused.length >= 15 && refused.length <= 20, `${refused.length} of 60`);
    for (const { headers } of refused) t.match(headers['retry-after'], /^[1-3]$/);
    t.match(JSON.parse((refused[0] as (typeof refused)[0]).body.toString()), { error: { code: 'TOO_MANY_REQUESTS' } });
    const { device: other } = await spool.device();
    t.equal((await other.send('GET', '/device/binding')).status, 403);
    other.close();
    t.equal(await refusals('device_requests'), refused.length);
  });

  await t.test('a device has so many uploads at once', async (t) => {
    const { app: uploader } = await spool.signIn('uploads@x.test');
    const bound = await spool.boundDevice(uploader);
    const source_stream_ref = randomUUID();
    const { epoch: binding_epoch } = bound;
    await bound.device.ask('POST', '/device/streams', {
      ...{ source_stream_ref, binding_epoch, captured_at: '2026-01-01T00:00:00Z', clock_uncertainty_ms: 0 },
    });
    const bytes = randomBytes(30_000);
    const paths: string[] = [];
    for (let sequence = 0; sequence <= LIMITS.device_uploads_in_flight_max; sequence++) {
      const intent = await bound.device.ask<{ upload_path: string }>('POST', '/device/chunks/intents', {
        ...{ source_chunk_ref: randomUUID(), source_stream_ref, sequence, binding_epoch },
        ...{ source_start_ms: 0, publication_start_ms: 0, source_end_ms: 1_000, codec: 'opus', container: 'ogg' },
        ...{ size_bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') },
      });
      paths.push(intent.upload_path);
    }
    bound.device.close(); // its connections count for the network, too
    const { key, cert, ca } = spool.credentialsOf(bound.device_id);
    const agent = new https.Agent({ key, cert, ca });
    t.teardown(() => agent.destroy());
    const begin = async (path: string) => {
      const headers = { 'Content-Length': bytes.length, Expect: '100-continue' };
      const request = https.request(new URL(path, spool.device_url), { method: 'PUT', agent, headers });
      request.on('error', () => {});
      request.flushHeaders();
      const answered = once(request, 'response') as Promise<[import('node:http').IncomingMessage]>;
      const [what] = await Promise.race([once(request, 'continue').then(() => ['begun'] as const), answered]);
      return { request, answered, status: what === 'begun' ? 100 : what.statusCode, what };
    };
    const begun: Awaited<ReturnType<typeof begin>>[] = [];
    for (const path of paths.slice(0, -1)) begun.push(await begin(path));
    t.same(
      begun.map(({ status }) => status),
      begun.map(() => 100),
    );
    const last = paths.at(-1) as string;
    const refused = await begin(last);
    t.equal(refused.status, 429);
    t.match((refused.what as import('node:http').IncomingMessage).headers['retry-after'], /^[1-3]$/);
    t.equal(await refusals('device_uploads'), 1);
    begun[0]?.request.end(bytes);
    t.equal((await begun[0]?.answered)?.[0].statusCode, 200);
    begun[1]?.request.destroy();
    await until('a place is free', async () => {
      const tried = await begin(last);
      if (tried.status !== 100) return false;
      tried.request.end(bytes);
      return (await tried.answered)[0].statusCode === 200;
    });
  });

  await t.test('H-001 handshakes of one network, of all, and connections are bounded', async (t) => {
    device.close();
    const stalled = await dialSilently(PER_NETWORK_MAX + WAITING_PER_NETWORK_MAX + 3, '127.0.0.2');
    const left = PER_NETWORK_MAX + WAITING_PER_NETWORK_MAX;
    await until('those that find no place to wait are turned away', () => open(stalled) === left);
    t.equal(await refusals('network_waiting_handshakes'), 3);
    const { device: other } = await spool.device();
    t.match(await other.send('GET', '/device/binding'), { status: 403 }, 'other networks are served');
    other.close();
    for (const socket of stalled) socket.destroy();

    const { device_id } = await spool.device();
    const credentials = spool.credentialsOf(device_id);
    const shaken: tls.TLSSocket[] = [];
    const shake = async (localAddress: string): Promise<boolean> => {
      const from: net.NetConnectOpts = { port, host: '127.0.0.1', localAddress };
      const socket = tls.connect({ ...from, servername: 'localhost', ...credentials });
      socket.on('error', () => {});
      shaken.push(socket);
      t.teardown(() => socket.destroy());
      await once(socket, 'secureConnect').catch(() => {});
      // A client thinks it is done before the server does.
      if (!socket.destroyed) socket.write('GET /none HTTP/1.1\r\nHost: x\r\n\r\n');
      return Promise.race([once(socket, 'data').then(() => true), once(socket, 'close').then(() => false)]);
    };
    await until('what stalled is gone', () => shake('127.0.0.7'));
    for (let count = 1; count < 30; count++) t.equal(await shake('127.0.0.7'), true);
    t.equal(await shake('127.0.0.7'), false);
    t.equal(await refusals('network_connections'), 1);
    for (let count = 0; count < 10; count++) t.equal(await shake('127.0.0.8'), true);
    t.equal(await shake('127.0.0.9'), false);
    t.equal(await refusals('connections'), 1);
    for (const socket of shaken) socket.destroy();
    await until('they are counted out', () => shake('127.0.0.9'));
    const { values } = await metrics.device_handshakes.get();
    const failed = values.find(({ labels }) => labels.outcome === 'failed')?.value ?? 0;
    t.ok(failed > 0, 'a handshake that came to nothing is counted');
  });
});
