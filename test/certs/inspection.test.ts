import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type SecureVersion, type TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { type Authority, openAuthority } from '../../certs/authority.js';
import {
  type CertificateInspection,
  inspectCertificate,
  judgeCertificate,
  PeerCertificates,
} from '../../certs/inspection.js';
import { tempFolder } from '../fixtures/temp_folder.js';
import {
  type Credentials,
  DAY_MS,
  forgeCredentials,
  makeCredentials,
  readIssuingKey,
  removeExtension,
} from './device_certificates.js';

const EKU_OID = '2.5.29.37';
const VERSIONS: SecureVersion[] = ['TLSv1.2', 'TLSv1.3'];

/** A line in, the judgement of the client's certificate out; the clock is the test's. */
async function startListener(t: Test, authority: Authority) {
  const { certificate_pem, private_key_pem, ca_pem } = await authority.issueListenerCertificate({
    names: ['localhost', '127.0.0.1'],
    now_ms: Date.now(),
  });
  const clock = { now_ms: Date.now() };
  const peers = new PeerCertificates(authority.issuers);
  const verdicts: (string | undefined)[] = [];
  const tls = { cert: certificate_pem, key: private_key_pem, ca: ca_pem, requestCert: true, rejectUnauthorized: false };
  const server = createServer(tls, (socket) => {
    verdicts.push(socket.authorizationError?.toString());
    socket.on('data', () => {
      const inspection = judgeCertificate(peers.of(socket), clock.now_ms);
      socket.write(`${JSON.stringify({ ...inspection, reused: socket.isSessionReused() })}\n`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { clock, verdicts, port: (server.address() as AddressInfo).port, ca_pem };
}

type Listener = Awaited<ReturnType<typeof startListener>>;
type Answer = CertificateInspection & { reused: boolean };

async function dial(
  listener: Listener,
  options: Partial<Credentials> & { session?: Buffer; maxVersion?: SecureVersion },
) {
  const socket = connect({
    port: listener.port,
    host: '127.0.0.1',
    servername: 'localhost',
    ca: listener.ca_pem,
    ...options,
  });
  const sessions: Buffer[] = [];
  socket.on('session', (session) => sessions.push(session));
  await once(socket, 'secureConnect');
  return { socket, sessions };
}

async function ask(socket: TLSSocket): Promise<Answer> {
  socket.write('?');
  const [line] = (await once(socket, 'data')) as [Buffer];
  return JSON.parse(line.toString()) as Answer;
}

async function askOnce(listener: Listener, options: Parameters<typeof dial>[1]): Promise<Answer> {
  const { socket } = await dial(listener, options);
  const answer = await ask(socket);
  socket.destroy();
  return answer;
}

function summarize(answer: Answer): string {
  return answer.ok ? 'ok' : `${answer.reason}: ${answer.message}`;
}

t.test('H-001 every wrong client certificate is refused with its reason', async (t) => {
  const folder = t.testdir({ ours: {}, other: {} });
  const now_ms = Date.now();
  const authority = await openAuthority(`${folder}/ours`, now_ms);
  const stranger = await openAuthority(`${folder}/other`, now_ms - 200 * DAY_MS);
  const listener = await startListener(t, authority);
  const issuing_key = await readIssuingKey(`${folder}/ours`);
  const signer = authority.issuers[0] as X509Certificate;
  const forged = { signer, signing_key: issuing_key, chain_pem: authority.ca_pem, now_ms };
  const good = makeCredentials(authority, now_ms);
  const leaf_pem = new X509Certificate(good.cert).toString();

  const rows: {
    name: string;
    credentials: Partial<Credentials>;
    at_ms?: number;
    verdict?: string;
    expected: RegExp;
  }[] = [
    { name: 'ours', credentials: good, expected: /^ok$/ },
    { name: 'none', credentials: {}, expected: /^missing: / },
    {
      name: 'another authority',
      credentials: makeCredentials(stranger, now_ms),
      verdict: 'SELF_SIGNED_CERT_IN_CHAIN',
      expected: /^unverifiable: .*not issued by/,
    },
    {
      name: 'no intermediate',
      credentials: { cert: leaf_pem, key: good.key },
      verdict: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      expected: /^unverifiable: the intermediate certificate is missing/,
    },
    {
      name: 'for servers',
      credentials: forgeCredentials({ ...forged, use: { kind: 'listener', names: ['localhost'] } }),
      verdict: 'INVALID_PURPOSE',
      expected: /^wrong_purpose: .*clientAuth/,
    },
    {
      name: 'for no stated purpose, which TLS accepts',
      credentials: {
        cert: removeExtension(leaf_pem, { oid: EKU_OID, signing_key: issuing_key }) + authority.ca_pem,
        key: good.key,
      },
      expected: /^wrong_purpose: .*clientAuth/,
    },
    {
      name: 'a CA under the issuing CA',
      credentials: forgeCredentials({ ...forged, use: { kind: 'issuing_authority' } }),
      expected: /^(wrong_purpose|unverifiable): /,
    },
    {
      name: 'signed by a device',
      credentials: forgeCredentials({
        ...forged,
        use: { kind: 'device' },
        signer: new X509Certificate(leaf_pem),
        signing_key: createPrivateKey(good.key),
        chain_pem: good.cert,
      }),
      expected: /^unverifiable: .*not issued by/,
    },
    {
      name: 'expired',
      credentials: makeCredentials(authority, now_ms - 100 * DAY_MS),
      verdict: 'CERT_HAS_EXPIRED',
      expected: /^expired: /,
    },
    { name: 'expired by the moved clock', credentials: good, at_ms: now_ms + 91 * DAY_MS, expected: /^expired: / },
    {
      name: 'made under a moved clock',
      credentials: makeCredentials(authority, now_ms + 200 * DAY_MS),
      at_ms: now_ms + 200 * DAY_MS,
      verdict: 'CERT_NOT_YET_VALID',
      expected: /^ok$/,
    },
    {
      name: 'not yet valid',
      credentials: makeCredentials(authority, now_ms + 200 * DAY_MS),
      verdict: 'CERT_NOT_YET_VALID',
      expected: /^not_yet_valid: /,
    },
    {
      name: 'another authority and expired, which TLS calls expired only',
      credentials: makeCredentials(stranger, now_ms - 100 * DAY_MS),
      at_ms: now_ms - 100 * DAY_MS,
      verdict: 'CERT_HAS_EXPIRED',
      expected: /^unverifiable: .*not issued by/,
    },
  ];
  for (const { name, credentials, at_ms, verdict, expected } of rows) {
    for (const maxVersion of VERSIONS) {
      listener.clock.now_ms = at_ms ?? now_ms;
      t.match(summarize(await askOnce(listener, { ...credentials, maxVersion })), expected, `${name}, ${maxVersion}`);
      if (verdict !== undefined) t.equal(listener.verdicts.at(-1), verdict, 'what TLS says');
    }
  }
});

t.test('H-001 an expired certificate of ours keeps its fingerprint, for renewal', async (t) => {
  const now_ms = Date.now();
  const authority = await openAuthority(tempFolder(t), now_ms);
  const certificate = new X509Certificate(makeCredentials(authority, now_ms).cert);
  const presented = { certificate, authorized: true, authorization_error: undefined, issuers: authority.issuers };
  const not_after_ms = Date.parse(certificate.validTo);
  const fingerprint = certificate.fingerprint256.replaceAll(':', '').toLowerCase();
  t.strictSame(inspectCertificate(presented, not_after_ms - 1), { ok: true, fingerprint, not_after_ms });
  t.match(inspectCertificate(presented, not_after_ms), { ok: false, reason: 'expired', fingerprint, not_after_ms });
  const not_before_ms = Date.parse(certificate.validFrom);
  t.match(inspectCertificate(presented, not_before_ms), { ok: true });
  t.match(inspectCertificate(presented, not_before_ms - 1), { ok: false, reason: 'not_yet_valid' });
});

t.test('H-001 kept-alive and resumed connections are judged again at each request', async (t) => {
  const now_ms = Date.now();
  const authority = await openAuthority(tempFolder(t), now_ms);
  const listener = await startListener(t, authority);
  const credentials = makeCredentials(authority, now_ms);
  for (const maxVersion of VERSIONS) {
    listener.clock.now_ms = now_ms;
    const first = await dial(listener, { ...credentials, maxVersion });
    t.match(await ask(first.socket), { ok: true, reused: false }, `${maxVersion} new`);
    listener.clock.now_ms = now_ms + 91 * DAY_MS;
    t.match(await ask(first.socket), { ok: false, reason: 'expired' }, `${maxVersion} kept alive`);
    first.socket.destroy();

    const session = first.sessions.at(-1) as Buffer;
    t.match(await askOnce(listener, { ...credentials, maxVersion, session }), {
      ok: false,
      reason: 'expired',
      reused: true,
    });
    listener.clock.now_ms = now_ms;
    t.match(await askOnce(listener, { ...credentials, maxVersion, session }), { ok: true, reused: true });
  }
});

t.test('H-001 an authority made under a moved clock serves devices', async (t) => {
  const moved_ms = Date.now() + 400 * DAY_MS;
  const authority = await openAuthority(tempFolder(t), moved_ms);
  const certificate = new X509Certificate(makeCredentials(authority, moved_ms).cert);
  const presented = { certificate, authorized: false, issuers: authority.issuers };
  t.match(inspectCertificate({ ...presented, authorization_error: 'CERT_NOT_YET_VALID' }, moved_ms), { ok: true });
  t.match(inspectCertificate({ ...presented, authorization_error: 'CERT_REVOKED' }, moved_ms), {
    reason: 'unverifiable',
  });
  t.match(inspectCertificate({ ...presented, authorization_error: undefined }, moved_ms), { reason: 'unverifiable' });
});
