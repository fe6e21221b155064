import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { DeviceClient } from '../../kits/typescript/src/device_client.js';
import { Servers } from '../driver/servers.js';
import { STALLS, type Stall, StalledConnections } from '../fixtures/stalled_connections.js';
import { until } from '../fixtures/until.js';

/** Longer than a handshake, a head and a body may take, and what follows a refusal. */
const SLOTS_BACK_MAX_MS = 60_000;

t.test('H-001 J-017 connections that stand still, in every state and on every port', async (t) => {
  const env = { RATE_LIMITS: 'on', CONNECTIONS_PER_NETWORK: '40', DEVICE_HANDSHAKES_MAX: '32' };
  const { first: server, operator } = await Servers.open(t, { storage: 'own', env });
  const stalled = new StalledConnections();
  t.teardown(() => stalled.leave());
  const ports = {
    public: Number(new URL(server.base_url).port),
    device: Number(new URL(server.device_url).port),
    operator: Number(new URL(server.operator_url).port),
  };
  const credentials = await operator.provision('personal');
  /** A device that has no connection yet. */
  const isServed = async () => {
    const device = new DeviceClient(server.device_url, credentials);
    // Bound to nobody: it is told so.
    const { status } = await device.send('POST', '/device/heartbeat').finally(() => device.close());
    return status === 403;
  };
  const { certificate_pem: cert, private_key_pem: key } = credentials;
  const stallAll = async () => {
    const plain = Object.keys(STALLS) as Stall[];
    for (const stall of plain) {
      await stalled.plain(ports.public, stall);
      await stalled.plain(ports.operator, stall);
      await stalled.secure(ports.device, stall, { credentials: { cert, key } });
    }
    await stalled.plain(ports.device, 'silent');
    await stalled.plain(ports.device, 'half a handshake');
  };

  await t.test('handshakes that four networks stall keep nobody else out', async (t) => {
    for (let n = 0; n < 12; n++)
      for (const network of [2, 3, 4, 5])
        await stalled.plain(ports.device, n % 2 === 0 ? 'silent' : 'half a handshake', { from: `127.0.0.${network}` });
    t.ok(await isServed());
  });

  await t.test('connections that are reset while they wait for a handshake end nothing', async (t) => {
    // Another network has all of its places; those that come after it wait.
    for (let n = 0; n < 10; n++) await stalled.plain(ports.device, 'silent', { from: '127.0.0.6' });
    for (let n = 0; n < 10; n++) {
      const waiting = connect({ port: ports.device, host: '127.0.0.1', localAddress: '127.0.0.6' });
      await once(waiting, 'connect');
      waiting.resetAndDestroy();
    }
    t.ok(await isServed());
  });

  await t.test('all of them are closed by the server, and leave nothing behind', async (t) => {
    await stallAll();
    const open = async (listener: string) => {
      const metrics = await (await fetch(`${server.operator_url}/metrics`)).text();
      return Number(new RegExp(`^spool_connections\\{listener="${listener}"\\} (\\d+)$`, 'm').exec(metrics)?.[1]);
    };
    // One waits for its next request on each; the operator port has those of this test besides.
    for (const [listener, left] of [
      ['device', 1],
      ['public', 1],
      ['operator', 4],
    ] as const)
      await until(
        `connections of ${listener} are closed`,
        async () => (await open(listener)) <= left,
        SLOTS_BACK_MAX_MS,
      );
    t.ok(await isServed());
    const metrics = await (await fetch(`${server.operator_url}/metrics`)).text();
    t.match(metrics, /overload_refusals_total\{listener="device",cause="stalled_handshake"\} [1-9]/);
  });

  await t.test('more connections of one network than it may have are told so; others come in', async (t) => {
    const crowd = new StalledConnections();
    t.teardown(() => crowd.leave());
    for (let n = 0; n < 50; n++) await crowd.plain(ports.public, 'silent', { from: '127.0.0.9' });
    await until('those over the bound are closed', () => crowd.ended >= 10);
    const answer = await fetch(`${server.base_url}/.well-known/oauth-authorization-server`);
    t.equal(answer.status, 200);
  });

  await t.test('SIGTERM ends the server while they stand still', async (t) => {
    await stallAll();
    t.equal(await server.stop(), 0);
  });
});
