import { randomUUID, X509Certificate } from 'node:crypto';
import https from 'node:https';
import { join } from 'node:path';
import t from 'tap';
import { openAuthority } from '../../../certs/authority.js';
import { DeviceClient, type DeviceCredentials, sha256Of } from '../../../kits/typescript/src/device_client.js';
import { type CallAnswer, call } from '../../../kits/typescript/src/http_call.js';
import { forgeCredentials, makeCredentials, readIssuingKey } from '../../certs/device_certificates.js';
import { DeviceProxy } from '../../fixtures/device_proxy.js';
import { newKeyRequest } from '../../fixtures/signing_request.js';
import { TestSpool } from '../../fixtures/spool.js';
import { tempFolder } from '../../fixtures/temp_folder.js';

const DAY_MS = 86_400_000;
const BINDING = '/device/binding';

type ProxyCredentials = DeviceCredentials & { proxy_id: string; fingerprint: string; not_after: string };

const headerOf = (pem: string) => `:${new X509Certificate(pem).raw.toString('base64')}:`;
const codeOf = ({ body }: CallAnswer) => {
  const { error } = JSON.parse(body.toString()) as { error?: { code: string; reason?: string } };
  return error?.reason ?? error?.code ?? 'served';
};

t.test('a proxy passes certificates on', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', DEVICE_PROXIES: '127.0.0.1/32,10.9.0.0/16' });
  t.teardown(() => spool.end());
  const { authority, clock } = spool.server.services;
  const own = await spool.operator.ask<ProxyCredentials>('POST', '/ops/device-proxies', {});
  const listener = await authority.issueListenerCertificate({ names: ['localhost', '127.0.0.1'], now_ms: clock.now() });
  const proxy = await DeviceProxy.open({ listener, own, port: spool.server.ports.device });
  t.teardown(() => proxy.close());
  const behind = (credentials: DeviceCredentials | null) => {
    const client = new DeviceClient(proxy.url, credentials);
    t.teardown(() => client.close());
    return client;
  };
  const { app } = await spool.signIn('behind@x.test');
  const { device: direct, device_id, epoch } = await spool.boundDevice(app);
  const { cert, key } = spool.credentialsOf(device_id);
  const held: DeviceCredentials = { certificate_pem: cert, private_key_pem: key, ca_pem: authority.ca_pem };
  const device_header = headerOf(cert);

  /** Sends headers straight to the device listener, under any certificate and from any loopback address. */
  const straight = (
    credentials: { certificate_pem: string; private_key_pem: string } | null,
    headers: string[],
    localAddress = '127.0.0.1',
  ): Promise<CallAnswer> => {
    const { ca_pem } = authority;
    const identity =
      credentials === null ? {} : { cert: credentials.certificate_pem + ca_pem, key: credentials.private_key_pem };
    const agent = new https.Agent({ ...identity, ca: ca_pem, localAddress, family: 4 });
    const url = new URL(BINDING, `https://localhost:${spool.server.ports.device}`);
    return call({ method: 'GET', url, agent, headers: ['Host', 'localhost', ...headers] as never });
  };

  await t.test('H-002 a device behind the proxy is the device that its certificate names', async (t) => {
    const device = behind(held);
    t.match(await device.ask('GET', BINDING), { source_device_id: device_id });
    const ref = randomUUID();
    const stream = { source_stream_ref: ref, captured_at: '2026-01-01T00:00:00Z', clock_uncertainty_ms: 0 };
    await device.ask('POST', '/device/streams', { ...stream, binding_epoch: epoch });
    const bytes = Buffer.alloc(5_000, 7);
    const { upload_path } = await device.ask<{ upload_path: string }>('POST', '/device/chunks/intents', {
      source_chunk_ref: randomUUID(),
      source_stream_ref: ref,
      sequence: 0,
      ...{ source_start_ms: 0, publication_start_ms: 0, source_end_ms: 1_000 },
      ...{ codec: 'opus', container: 'ogg', size_bytes: bytes.length, sha256: sha256Of(bytes), binding_epoch: epoch },
    });
    t.match(await device.upload(upload_path, bytes), { status: 'stored' });
    const nobody = await behind(null).send('GET', BINDING);
    t.equal(nobody.status, 401);
    t.equal(codeOf(nobody), 'missing');
  });

  await t.test('H-002 the proxy is believed on a connection that was resumed, too', async (t) => {
    const { resumed } = proxy;
    proxy.dropConnections();
    t.equal((await behind(held).send('GET', BINDING)).status, 200);
    t.ok(proxy.resumed > resumed);
  });

  await t.test('H-002 a refused device costs the others behind the proxy no connection', async (t) => {
    const good = behind(held);
    await good.send('GET', BINDING);
    const { connections } = proxy;
    for (let round = 0; round < 3; round++) {
      t.equal((await behind(null).send('GET', BINDING)).status, 401);
      t.equal((await good.send('GET', BINDING)).status, 200);
    }
    t.equal(proxy.connections, connections);
  });

  await t.test('H-002 the header counts from a proxy alone', async (t) => {
    const other = await spool.device();
    const other_held = spool.credentialsOf(other.device_id);
    const from_device = { certificate_pem: other_held.cert, private_key_pem: other_held.key };
    const header = ['Client-Cert', device_header];
    t.equal(codeOf(await straight(null, header)), 'missing', 'without a certificate');
    t.equal(
      codeOf(await straight(from_device, header)),
      'DEVICE_UNBOUND',
      'a device stays itself, at that address too',
    );
    t.equal(codeOf(await straight(own, header, '127.0.0.2')), 'proxy', 'a proxy from another address');
    t.equal(codeOf(await straight(own, header)), 'served', 'the proxy itself');
    const forged = makeCredentials(authority, clock.now());
    const unissued = { certificate_pem: forged.cert, private_key_pem: forged.key };
    t.equal(codeOf(await straight(unissued, header)), 'unknown', 'one that was issued to nobody');
    const foreign = makeCredentials(await openAuthority(tempFolder(t), clock.now()), clock.now());
    const stranger = { certificate_pem: foreign.cert, private_key_pem: foreign.key };
    t.equal(codeOf(await straight(stranger, header)), 'unverifiable', 'one of another authority');
    const bearer = await app.send('GET', '/me', { headers: { 'Client-Cert': device_header } });
    t.equal(bearer.status, 200, 'the public port knows no such header');
    const no_token = await spool.client().send('GET', '/me', { headers: { 'Client-Cert': device_header } });
    t.equal(no_token.status, 401);
  });

  await t.test('H-002 what the proxy says is verified again', async (t) => {
    const now_ms = clock.now();
    const foreign = makeCredentials(await openAuthority(tempFolder(t), now_ms), now_ms);
    const [signer] = authority.issuers as [X509Certificate];
    const signing_key = await readIssuingKey(join(spool.folder, 'certs'));
    const wrong = forgeCredentials({
      use: { kind: 'listener', names: ['localhost'] },
      ...{ signer, signing_key, chain_pem: '', now_ms },
    });
    const cases: [says: string, headers: string[], code: string][] = [
      ['another authority', ['Client-Cert', headerOf(foreign.cert)], 'unverifiable'],
      ['another purpose', ['Client-Cert', headerOf(wrong.cert)], 'wrong_purpose'],
      ['expired', ['Client-Cert', headerOf(makeCredentials(authority, now_ms - 91 * DAY_MS).cert)], 'expired'],
      ['not yet', ['Client-Cert', headerOf(makeCredentials(authority, now_ms + 2 * DAY_MS).cert)], 'not_yet_valid'],
      ['unknown', ['Client-Cert', headerOf(makeCredentials(authority, now_ms).cert)], 'unknown'],
      ['its own', ['Client-Cert', headerOf(own.certificate_pem)], 'proxy'],
      ['the CA', ['Client-Cert', headerOf(authority.ca_pem)], 'unverifiable'],
      ['twice', ['Client-Cert', device_header, 'Client-Cert', device_header], 'malformed'],
      ['twice in one line', ['Client-Cert', `${device_header}, ${device_header}`], 'malformed'],
      ['empty', ['Client-Cert', ''], 'malformed'],
      ['no bytes', ['Client-Cert', '::'], 'malformed'],
      ['no colons', ['Client-Cert', device_header.slice(1, -1)], 'malformed'],
      ['no certificate', ['Client-Cert', ':AAAA:'], 'malformed'],
      ['PEM', ['Client-Cert', encodeURIComponent(cert)], 'malformed'],
      ['bits that say nothing', ['Client-Cert', ':MAB=:'], 'malformed'],
      ['more behind it', ['Client-Cert', withBytes(cert)], 'malformed'],
      ['a chain twice', ['Client-Cert', device_header, ...chain(), ...chain()], 'malformed'],
      ['a chain of something', ['Client-Cert', device_header, 'Client-Cert-Chain', ':AAAA:'], 'malformed'],
      ['a chain alone', chain(), 'malformed'],
      ['a proper chain', ['Client-Cert', device_header, ...chain()], 'served'],
      ['a long one', ['Client-Cert', device_header, 'Client-Cert-Chain', Array(9).fill(ca()).join(', ')], 'malformed'],
      ['proper', ['Client-Cert', device_header], 'served'],
      ['nothing', [], 'missing'],
    ];
    for (const [says, headers, code] of cases) {
      const answer = await straight(own, headers);
      t.equal(codeOf(answer), code, says);
      if (code === 'malformed') t.equal(answer.status, 400, says);
    }
    function ca() {
      return headerOf(authority.ca_pem);
    }
    function chain() {
      return ['Client-Cert-Chain', ca()];
    }
    function withBytes(pem: string) {
      return `:${Buffer.concat([new X509Certificate(pem).raw, Buffer.from('more')]).toString('base64')}:`;
    }
  });

  await t.test('H-002 a header of the client does not come through beside that of the proxy', async (t) => {
    proxy.adds = [['Client-Cert', device_header]];
    t.equal(codeOf(await behind(held).send('GET', BINDING)), 'malformed', 'a proxy that lets it through');
    proxy.adds = [];
    t.equal((await behind(held).send('GET', BINDING)).status, 200);
  });

  await t.test('H-001 H-002 renewal, revocation and expiry hold behind the proxy as well', async (t) => {
    const made = await spool.operator.provision('personal');
    const device = behind(made);
    const request = newKeyRequest();
    const renewed = await device.ask<{ certificate_pem: string }>('POST', '/device/certificates/renew', {
      csr_pem: request.csr_pem,
    });
    const next = behind({
      ...made,
      certificate_pem: renewed.certificate_pem,
      private_key_pem: request.private_key_pem,
    });
    t.equal(codeOf(await next.send('GET', BINDING)), 'DEVICE_UNBOUND');
    t.equal(codeOf(await device.send('GET', BINDING)), 'superseded');
    await spool.operator.ask('DELETE', `/ops/devices/${made.device_id}/certificate`);
    t.equal(codeOf(await next.send('GET', BINDING)), 'revoked');
    t.equal((await behind(held).send('GET', BINDING)).status, 200, 'the connection of the proxy stays');
  });

  await t.test('H-002 a proxy whose certificate is revoked is believed no more', async (t) => {
    t.equal((await spool.operator.send('DELETE', `/ops/device-proxies/${'0'.repeat(64)}`)).status, 404);
    const { fingerprint } = own;
    const device_fingerprint = new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase();
    t.equal((await spool.operator.send('DELETE', `/ops/device-proxies/${device_fingerprint}`)).status, 404);
    t.equal((await direct.send('GET', BINDING)).status, 200, 'a device is not revoked by it');
    t.equal((await spool.operator.send('DELETE', `/ops/device-proxies/${fingerprint}`)).status, 204);
    const again = () => behind(held).send('GET', BINDING);
    const first = await again();
    t.equal(codeOf(first.status === 502 ? await again() : first), 'revoked');
  });
});

t.test('H-002 without DEVICE_PROXIES nobody is believed', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const own = await spool.operator.ask<ProxyCredentials>('POST', '/ops/device-proxies', {});
  const { device_id } = await spool.device();
  const client = new DeviceClient(spool.device_url, own);
  t.teardown(() => client.close());
  const header = headerOf(spool.credentialsOf(device_id).cert);
  t.equal(codeOf(await client.send('GET', BINDING, { headers: { 'Client-Cert': header } })), 'proxy');
});
