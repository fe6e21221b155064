import { createHash, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import tls from 'node:tls';
import t from 'tap';
import { openAuthority } from '../../../certs/authority.js';
import { DeviceClient, type DeviceCredentials } from '../../../kits/typescript/src/device_client.js';
import type { CallAnswer } from '../../../kits/typescript/src/http_call.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { StoreUnavailable } from '../../../src/engine/store/store.js';
import { forgeCredentials, makeCredentials, readIssuingKey } from '../../certs/device_certificates.js';
import { keyRequest, newKeyRequest, type RequestedKey } from '../../fixtures/signing_request.js';
import { TestSpool } from '../../fixtures/spool.js';
import { tempFolder } from '../../fixtures/temp_folder.js';
import { until } from '../../fixtures/until.js';

const DAY_MS = 86_400_000;
const LIFE_MS = 90 * DAY_MS;
const RENEW = '/device/certificates/renew';

type Renewed = { certificate_pem: string; ca_pem: string; not_after: string; renew_after: string };

const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
t.teardown(() => spool.end());
const { services } = spool.server;
const { clock } = services;

const clientOf = (credentials: DeviceCredentials, options = {}) => {
  const client = new DeviceClient(spool.device_url, credentials, options);
  t.teardown(() => client.close());
  return client;
};
const renewal = (device: DeviceClient, csr_pem: string) => device.ask<Renewed>('POST', RENEW, { csr_pem });
const renewed = ({ certificate_pem, ca_pem }: Renewed, { private_key_pem }: RequestedKey) =>
  clientOf({ certificate_pem, ca_pem, private_key_pem });
const beat = (device: DeviceClient) => device.send('POST', '/device/heartbeat');
const askToRenew = (device: DeviceClient, csr_pem: string) =>
  device.send('POST', RENEW, {
    body: Buffer.from(JSON.stringify({ csr_pem })),
    headers: { 'Content-Type': 'application/json' },
  });
const errorOf = ({ body }: CallAnswer) =>
  (JSON.parse(body.toString()) as { error: { code: string; message: string; reason?: string } }).error;

await t.test('H-001 old and new work together until the new one is used', async (t) => {
  const { app } = await spool.signIn('renews@x.test');
  const { device, device_id } = await spool.boundDevice(app);
  const key = newKeyRequest('somebody else');
  const answer = await renewal(device, key.csr_pem);
  t.same(Object.keys(answer).sort(), ['ca_pem', 'certificate_pem', 'not_after', 'renew_after']);
  const made = new X509Certificate(answer.certificate_pem);
  t.equal(made.subject, `CN=${device_id}`, 'what the request calls itself is not copied');
  t.equal(Date.parse(answer.not_after), Date.parse(made.validTo));
  t.ok(Math.abs(Date.parse(answer.not_after) - clock.now() - LIFE_MS) < 10_000);
  const share = (Date.parse(answer.renew_after) - clock.now()) / LIFE_MS;
  t.ok(Math.abs(share - LIMITS.certificate_renew_at) < LIMITS.certificate_renew_jitter + 0.001, `${share}`);

  for (const _ of [1, 2]) t.equal((await beat(device)).status, 200, 'the old one');
  const next = renewed(answer, key);
  t.equal((await beat(next)).status, 200, 'the new one');
  const old = await beat(device);
  t.equal(old.status, 403, 'the old one after it, on a connection that was kept');
  t.match(errorOf(old), { code: 'FORBIDDEN', reason: 'superseded', message: /newer certificate/ });
  t.equal(old.headers.connection, 'close');
  t.equal((await askToRenew(device, newKeyRequest().csr_pem)).status, 403);
  t.equal((await beat(next)).status, 200);
});

await t.test('H-001 a lost answer strands no device: the same key gets the same certificate', async (t) => {
  const { device } = await spool.device();
  const key = newKeyRequest();
  const first = await renewal(device, key.csr_pem);
  t.strictSame(await renewal(device, key.csr_pem), first, 'the same request, also of a device that is not bound');
  const together = await Promise.all([1, 2, 3].map(() => renewal(device, key.csr_pem)));
  for (const answer of together) t.strictSame(answer, first);
  const other = newKeyRequest();
  const second = await renewal(device, other.csr_pem);
  t.not(second.certificate_pem, first.certificate_pem, 'another key');
  t.equal((await renewed(second, other).send('GET', '/device/binding')).status, 403, 'not bound; but it was used');
  const late = await renewed(first, key).send('GET', '/device/binding');
  t.equal(errorOf(late).reason, 'superseded', 'the one that was never used has ended as well');
});

await t.test('H-001 a renewal that was cut off between its steps is finished by the next', async (t) => {
  const { device, device_id } = await spool.device();
  const key = newKeyRequest();
  const { certificates } = services;
  const save = certificates.save.bind(certificates);
  let tries = 0;
  certificates.save = async (...args) => {
    tries += 1;
    if (tries === 1) throw new Error('cut off before the record');
    await save(...args);
    if (tries === 2) throw new Error('cut off before the answer');
  };
  t.teardown(() => {
    certificates.save = save;
  });
  t.equal((await askToRenew(device, key.csr_pem)).status, 500);
  const kept = await services.runtime.ask<{ certificates: { live: { certificate_pem?: string }[] } }>(
    { kind: 'device', id: device_id },
    { type: 'view' },
  );
  const waiting = 'certificates' in kept ? kept.certificates.live[1]?.certificate_pem : undefined;
  t.ok(waiting);
  t.equal((await askToRenew(device, key.csr_pem)).status, 500);
  const answer = await renewal(device, key.csr_pem);
  t.equal(answer.certificate_pem, waiting);
  t.equal((await renewed(answer, key).send('GET', '/device/binding')).status, 403);
  t.equal(errorOf(await device.send('GET', '/device/binding')).reason, 'superseded');
});

await t.test('H-001 requests with a new certificate that come at once are all served', async (t) => {
  const { app } = await spool.signIn('atonce@x.test');
  const { device } = await spool.boundDevice(app);
  const key = newKeyRequest();
  const next = renewed(await renewal(device, key.csr_pem), key);
  const answers = await Promise.all(Array.from({ length: 8 }, () => beat(next)));
  t.same(
    answers.map(({ status }) => status),
    answers.map(() => 200),
  );
  t.equal((await beat(device)).status, 403);
});

await t.test('H-001 a signing request must prove its key, and the key must be strong', async (t) => {
  const { device } = await spool.device();
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const curve = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
  const stolen = keyRequest(ec, { proof: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey });
  const cases: [csr_pem: string, message: RegExp][] = [
    ['', /PEM block/],
    ['-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----', /PKCS#10/],
    [keyRequest(weak).csr_pem, /RSA of 2048/],
    [keyRequest(curve).csr_pem, /P-256/],
    [stolen.csr_pem, /possession/],
    [keyRequest(ec).csr_pem.replace(/[A-Z]{2}(?=[^-]*-----END)/, 'aa'), /PKCS#10|possession/],
  ];
  for (const [csr_pem, message] of cases) {
    const answer = await askToRenew(device, csr_pem);
    t.equal(answer.status, 400, String(message));
    t.match(errorOf(answer), { code: 'BAD_REQUEST', message, details: [{ path: 'csr_pem', message }] });
  }
  t.match(errorOf(await askToRenew(device, 'x'.repeat(16_000))), { code: 'BAD_REQUEST' });
  const answer = await renewal(device, keyRequest(ec, { subject: 'admin', wants_ca: true }).csr_pem);
  const made = new X509Certificate(answer.certificate_pem);
  t.equal(made.ca, false);
  t.notMatch(made.subject, /admin/);
});

await t.test('H-001 so many certificates are made for a device in a day', async (t) => {
  const { device, device_id } = await spool.device();
  for (let count = 0; count < LIMITS.device_renewals_max; count++) await renewal(device, newKeyRequest().csr_pem);
  const refused = await askToRenew(device, newKeyRequest().csr_pem);
  t.equal(refused.status, 429);
  t.ok(Number(refused.headers['retry-after']) > 80_000);
  const kept = await services.runtime.ask<{ certificates: { live: unknown[] } }>(
    { kind: 'device', id: device_id },
    { type: 'view' },
  );
  t.equal('certificates' in kept && kept.certificates.live.length, LIMITS.device_certificates_max);
  t.equal((await device.send('GET', '/device/binding')).status, 403, 'the one in use stays');
  t.equal(errorOf(await device.send('GET', '/device/binding')).code, 'DEVICE_UNBOUND');
});

await t.test('H-001 a revoked device renews nothing, and what it has renewed is revoked too', async (t) => {
  const { device, device_id } = await spool.device();
  const key = newKeyRequest();
  const answer = await renewal(device, key.csr_pem);
  await spool.operator.ask('DELETE', `/ops/devices/${device_id}/certificate`);
  await spool.operator.ask('DELETE', `/ops/devices/${device_id}/certificate`);
  const again = () => askToRenew(device, newKeyRequest().csr_pem);
  t.match(errorOf(await again().catch(again)), { code: 'FORBIDDEN', reason: 'revoked' });
  t.match(errorOf(await beat(renewed(answer, key))), { code: 'FORBIDDEN', reason: 'revoked' });
  t.equal((await spool.operator.send('DELETE', '/ops/devices/nobody/certificate')).status, 404);
});

await t.test('H-001 a revoked certificate is refused on a resumed connection as well', async (t) => {
  const { device_id } = await spool.device();
  const credentials = spool.credentialsOf(device_id);
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = tls.connect({ port: spool.server.ports.device, host: 'localhost', ...credentials, maxVersion });
    const [session] = (await once(socket, 'session')) as [Buffer];
    socket.destroy();
    if (maxVersion === 'TLSv1.3') await spool.operator.ask('DELETE', `/ops/devices/${device_id}/certificate`);
    const resumed = tls.connect({
      port: spool.server.ports.device,
      host: 'localhost',
      ...credentials,
      maxVersion,
      session,
    });
    await once(resumed, 'secureConnect');
    t.equal(resumed.isSessionReused(), true, maxVersion);
    resumed.write('GET /device/binding HTTP/1.1\r\nHost: x\r\n\r\n');
    const [text] = (await once(resumed.setEncoding('utf8'), 'data')) as [string];
    t.match(text, maxVersion === 'TLSv1.2' ? /DEVICE_UNBOUND/ : /"reason":"revoked"/);
    resumed.destroy();
  }
});

await t.test('H-001 a revocation closes what is open, after the answers that are under way', async (t) => {
  const { certificates, connections } = services;
  const { device, device_id } = await spool.device();
  const fingerprint = createHash('sha256')
    .update(new X509Certificate(spool.credentialsOf(device_id).cert).raw)
    .digest('hex');
  const find = certificates.find.bind(certificates);
  t.teardown(() => {
    certificates.find = find;
  });
  certificates.find = async (of) => {
    connections.heard(fingerprint);
    return find(of);
  };
  const answer = await device.send('GET', '/device/binding');
  t.match(errorOf(answer), { code: 'DEVICE_UNBOUND' });
  t.equal(answer.headers.connection, 'close');
  certificates.find = find;
  await beat(device);
  const known = connections.size;
  connections.heard(fingerprint);
  await until('one that asks nothing is closed at once', () => connections.size < known);
});

await t.test('H-001 an expired certificate may be renewed for a year, and does nothing else', async (t) => {
  const { app } = await spool.signIn('slept@x.test');
  const { device, device_id } = await spool.boundDevice(app);
  const other = await spool.device();
  const gone = await spool.device();
  await spool.operator.ask('DELETE', `/ops/devices/${gone.device_id}/certificate`);
  await spool.operator.advanceClock(LIFE_MS + LIMITS.certificate_renewable_ms - 60_000);
  t.match(errorOf(await beat(device)), { code: 'UNAUTHORIZED', reason: 'expired' });
  const key = newKeyRequest();
  const answer = await renewal(device, key.csr_pem);
  t.equal(new X509Certificate(answer.certificate_pem).subject, `CN=${device_id}`);
  t.equal((await beat(renewed(answer, key))).status, 200, 'bound as before');
  const again = () => askToRenew(gone.device, key.csr_pem);
  t.match(errorOf(await again().catch(again)), { code: 'FORBIDDEN', reason: 'revoked' });
  await spool.operator.advanceClock(60_000);
  const late = await askToRenew(other.device, newKeyRequest().csr_pem);
  t.equal(late.status, 401);
  t.match(errorOf(late), { code: 'UNAUTHORIZED', reason: 'expired', message: /too long ago/ });
});

await t.test('H-001 every reason for which a certificate is refused is said', async (t) => {
  const now_ms = clock.now();
  const foreign = await openAuthority(tempFolder(t), now_ms);
  const { authority } = services;
  const [issuer] = authority.issuers as [X509Certificate];
  const signing_key = await readIssuingKey(join(spool.folder, 'certs'));
  const forge = (use: Parameters<typeof forgeCredentials>[0]['use'], at_ms = now_ms) =>
    forgeCredentials({ use, signer: issuer, signing_key, chain_pem: authority.ca_pem, now_ms: at_ms });
  const proxy = await spool.operator.ask<DeviceCredentials>('POST', '/ops/device-proxies', {});
  const of = ({ cert, key }: { cert: string; key: string }): DeviceCredentials => ({
    certificate_pem: cert,
    private_key_pem: key,
    ca_pem: authority.ca_pem,
  });
  const cases: [reason: string, status: number, client: DeviceClient][] = [
    ['missing', 401, new DeviceClient(spool.device_url, null)],
    ['unverifiable', 401, clientOf(of(makeCredentials(foreign, now_ms)))],
    ['wrong_purpose', 401, clientOf(of(forge({ kind: 'listener', names: ['localhost'] })))],
    ['not_yet_valid', 401, clientOf(of(makeCredentials(authority, now_ms + 2 * DAY_MS)))],
    ['expired', 401, clientOf(of(makeCredentials(authority, now_ms - 91 * DAY_MS)))],
    ['unknown', 403, clientOf(of(makeCredentials(authority, now_ms)))],
    ['proxy', 403, clientOf(proxy)],
  ];
  for (const [reason, status, client] of cases) {
    const answer = await client.send('GET', '/device/binding');
    client.close();
    t.equal(answer.status, status, reason);
    t.equal(errorOf(answer).reason, reason);
    t.equal(errorOf(answer).code, status === 401 ? 'UNAUTHORIZED' : 'FORBIDDEN');
    t.equal(answer.headers['www-authenticate'] !== undefined, status === 401, 'RFC 9110 wants it with a 401');
    t.equal(answer.headers.connection, 'close');
  }
  const metrics = (await spool.operator.send('GET', '/metrics')).body.toString();
  for (const [reason] of cases) t.match(metrics, new RegExp(`device_refusals_total\\{reason="${reason}"\\} [1-9]`));
  t.match(metrics, /device_certificates_total\{what="renewed"\} [1-9]/);
  t.match(metrics, /device_handshakes_total\{resumed="yes",outcome="done"\} [1-9]/);
});

await t.test('devices that meet trouble of ours together do not come back together', async (t) => {
  const { device } = await spool.device();
  const { certificates } = services;
  const find = certificates.find.bind(certificates);
  certificates.find = () => Promise.reject(new StoreUnavailable('away'));
  t.teardown(() => {
    certificates.find = find;
  });
  const told = new Set<number>();
  for (let count = 0; count < 20; count++) {
    const { status, headers } = await device.send('GET', '/device/binding');
    t.equal(status, 503);
    told.add(Number(headers['retry-after']));
  }
  t.ok([...told].every((seconds) => seconds >= 5 && seconds <= 15));
  t.ok(told.size > 2);
});

await t.test('connections that closed leave nothing behind', async (t) => {
  const { connections } = services;
  await until('all are closed or known', () => connections.size > 0);
  const { device, device_id } = await spool.device();
  await beat(device);
  const known = connections.size;
  await spool.operator.ask('DELETE', `/ops/devices/${device_id}/certificate`);
  await until('it is forgotten', () => connections.size < known);
  const destroyed = { destroyed: true, once: () => t.fail('it never closes again') };
  const before = connections.size;
  connections.note(createHash('sha256').update('x').digest('hex'), destroyed as unknown as tls.TLSSocket);
  t.equal(connections.size, before);
});
