import { once } from 'node:events';
import tls, { type SecureVersion } from 'node:tls';
import t from 'tap';
import { DeviceClient } from '../../kits/typescript/src/device_client.js';
import { Servers } from '../driver/servers.js';
import type { SpoolProcess } from '../driver/spool_process.js';
import { newKeyRequest } from '../fixtures/signing_request.js';
import { until } from '../fixtures/until.js';

type Held = { key: string; cert: string; ca: string };
const BINDING = 'GET /device/binding HTTP/1.1\r\nHost: localhost\r\n\r\n';

t.test('H-001 devices at two processes on one Redis', async (t) => {
  const servers = await Servers.open(t, { count: 2, storage: 'beside' });
  const [one, two] = servers.all as [SpoolProcess, SpoolProcess];
  const { operator, redis } = servers;
  const provisioned = async () => {
    const made = await operator.provision('personal');
    const held: Held = { key: made.private_key_pem, cert: made.certificate_pem + made.ca_pem, ca: made.ca_pem };
    return { ...made, held };
  };
  const dial = async (
    server: SpoolProcess,
    held: Held,
    more: { maxVersion?: SecureVersion; session?: Buffer } = {},
  ) => {
    const socket = tls.connect({ port: Number(new URL(server.device_url).port), host: 'localhost', ...held, ...more });
    socket.on('error', () => {});
    await once(socket, 'secureConnect');
    return socket;
  };
  const ask = async (socket: tls.TLSSocket) => {
    socket.write(BINDING);
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    return bytes.toString();
  };

  await t.test('H-001 a session of one resumes at the other', async (t) => {
    const { held } = await provisioned();
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const first = await dial(one, held, { maxVersion });
      const session = first.getSession() as Buffer;
      const sessions = [session];
      first.on('session', (given) => sessions.push(given));
      t.match(await ask(first), /DEVICE_UNBOUND/);
      t.equal(first.isSessionReused(), false);
      first.destroy();
      const there = await dial(two, held, { maxVersion, session: sessions.at(-1) as Buffer });
      t.equal(there.isSessionReused(), true, maxVersion);
      t.match(await ask(there), /DEVICE_UNBOUND/, 'and its certificate is known there');
      there.destroy();
    }
  });

  await t.test('H-001 a revocation at one closes idle connections at both, and is final at both', async (t) => {
    const { device_id, held } = await provisioned();
    const sockets = await Promise.all([dial(one, held), dial(two, held)]);
    for (const socket of sockets) t.match(await ask(socket), /DEVICE_UNBOUND/);
    await operator.ask('DELETE', `/ops/devices/${device_id}/certificate`);
    await until('both are closed', () => sockets.every(({ destroyed }) => destroyed));
    for (const server of [one, two]) {
      const again = await dial(server, held);
      t.match(await ask(again), /"reason":"revoked"/);
      again.destroy();
    }
  });

  await t.test('H-001 a certificate renewed at one and used at the other ends the old one at both', async (t) => {
    const { private_key_pem, certificate_pem, ca_pem, held } = await provisioned();
    const kept = await dial(one, held);
    t.match(await ask(kept), /DEVICE_UNBOUND/);
    const old = new DeviceClient(one.device_url, { private_key_pem, certificate_pem, ca_pem });
    t.teardown(() => old.close());
    const key = newKeyRequest();
    const renewed = await old.ask<{ certificate_pem: string }>('POST', '/device/certificates/renew', {
      csr_pem: key.csr_pem,
    });
    t.match(await ask(kept), /DEVICE_UNBOUND/, 'both work');
    const next = await dial(two, { key: key.private_key_pem, cert: renewed.certificate_pem + ca_pem, ca: ca_pem });
    t.match(await ask(next), /DEVICE_UNBOUND/);
    t.match(await ask(kept), /"reason":"superseded"/, 'the next request of the old one, at the other process');
    next.destroy();
  });

  await t.test('H-001 they hear of revocations again after Redis was away', async (t) => {
    await redis.kill();
    await redis.start();
    await servers.back();
    const { device_id, held } = await provisioned();
    const socket = await dial(two, held);
    t.match(await ask(socket), /DEVICE_UNBOUND/);
    // Listening comes back by itself, a moment after the rest; a revocation that is repeated is told again.
    await until('it is closed', async () => {
      await operator.ask('DELETE', `/ops/devices/${device_id}/certificate`);
      return socket.destroyed;
    });
  });
});
